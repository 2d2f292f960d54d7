"""The choice judge: one committed option or none, never a guess."""

import json
import pickle
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasonenv.answer_format import AnswerFormat
from reasonenv.checkers import ChoiceJudge, extract_choice
from reasonenv.types import Problem, Status, thaw

# Measured when the simple extractor was written; raise them when it gets better.
DEV_FLOOR = 0.95
REAL_FLOOR = 0.95
OPTIONS = ["Sydney", "Canberra", "Melbourne", "Perth"]


def judge(gold, completion, options=OPTIONS, **fields):
    return ChoiceJudge(**fields)(Problem("?", gold, {"options": options}), completion)


def outcome(rows, label):
    """Return (the share extracted as labelled, the ids with a letter that is not the label)."""
    found = {row["id"]: extract_choice(row["completion"], row["options"]).letter for row in rows}
    agreed = sum(found[row["id"]] == row[label] for row in rows)
    wrong = {row["id"] for row in rows if found[row["id"]] not in (None, row[label])}
    return agreed / len(rows), wrong


def test_straightforward_replies_are_all_read_right(cases):
    for case in cases("choice/simple.jsonl"):
        found = extract_choice(case["completion"], case["options"])
        assert found.letter == case["expected"], (case, found)


@pytest.fixture(scope="module")
def dev(cases):
    return outcome(cases("choice/dev.jsonl"), "expected")


def test_agreement_with_the_hand_written_replies_does_not_fall(dev):
    agreement, _ = dev
    assert agreement >= DEV_FLOOR


def test_no_more_wrong_letters_are_read_than_the_known_ones(dev, cases):
    _, wrong = dev
    [known] = cases("choice/known_wrong_letters.json")
    assert wrong <= set(known)


def test_what_models_really_wrote_is_read_as_well_as_measured(shared_cases):
    agreement, wrong = outcome(shared_cases("choice/real_dev.jsonl"), "label")
    assert agreement >= REAL_FLOOR
    assert not wrong


def test_a_letter_is_correct_only_if_it_is_the_gold():
    assert judge("B", "Answer: B").status is Status.CORRECT
    assert judge("A", "Answer: B").status is Status.INCORRECT
    assert judge(None, "Answer: B").status is Status.INCORRECT


@pytest.mark.parametrize("gold", ["A", "B", "C", "D", None])
def test_no_answer_is_never_paid_whatever_the_gold(gold):
    assert judge(gold, "I cannot tell.").status is Status.NO_ANSWER
    for text in (
        "Answer: A or B",
        "Answer: E",
        "B) Sydney",
        "ABCD",
        "\\boxed{A}\\boxed{B}\\boxed{C}",
    ):
        assert judge(gold, text).status is Status.MALFORMED, text


def test_the_detail_names_the_anchor_and_its_span_in_the_completion():
    text = "<think>Answer: A</think> So: **Answer: B**"
    found = extract_choice(text, OPTIONS)
    start, end = found.detail["span"]
    assert found.letter == "B"
    assert found.detail["anchor"] == "cue"
    assert "B" in text[start:end]


def test_the_demanded_place_outranks_other_statements_and_reasoning_does_not_count():
    layout = AnswerFormat()
    text = "<reasoning>Answer: A</reasoning><answer>B</answer> The answer is C."
    assert judge("B", text, format=layout).status is Status.CORRECT
    assert judge("A", "<reasoning>Answer: A", format=layout).status is Status.NO_ANSWER


@pytest.mark.parametrize("options", [None, [], ["one"], [1, 2], "AB", ["x"] * 27])
def test_a_problem_without_usable_options_is_a_failed_checker(options):
    assert judge("A", "A", options=options).status is Status.CHECKER_ERROR


@pytest.mark.parametrize("gold", ["E", "", 1, "AB"])
def test_a_gold_that_is_no_label_is_a_failed_checker(gold):
    assert judge(gold, "A").status is Status.CHECKER_ERROR


def test_a_judge_pickles():
    judge = ChoiceJudge(AnswerFormat())
    assert pickle.loads(pickle.dumps(judge)) == judge


JUNK = ["a", "A ", "\\boxed{", "\\boxed{A}", "Answer: ", "Answer: A\n", "<think>", "</think>", " "]
JUNK += ["\n", "*", "<answer>", '"answer": "', "A) x\n", "Ａ", "~~", "is ", "(", ". ", "not "]


@pytest.mark.parametrize("piece", JUNK)
def test_half_a_megabyte_of_junk_is_read_in_well_under_a_second(piece):
    junk = piece * (500_000 // len(piece))
    start = time.process_time()
    extract_choice(junk, OPTIONS)
    assert time.process_time() - start < 2.0  # measured: below 0.5


PIECES = [
    "\\boxed{",
    "}",
    "<think>",
    "</think>",
    "<answer>",
    "</answer>",
    "Answer: ",
    "A",
    "B",
    "(C)",
]
PIECES += [" or ", ",", "not ", "Sydney", "Perth", "option ", "2", "\n", "**", '{"answer": "', "~~"]
pieces = st.sampled_from(PIECES)
texts = st.text(st.characters(), max_size=60) | st.lists(pieces, max_size=25).map("".join)


@settings(max_examples=300)
@given(texts, st.lists(st.text(max_size=8) | st.sampled_from(OPTIONS), min_size=2, max_size=6))
def test_no_text_raises_and_a_letter_is_always_one_of_the_options(completion, options):
    found = extract_choice(completion, options)
    assert found == extract_choice(completion, options)
    assert found.letter is None or found.letter in "ABCDEF"[: len(options)]
    assert (found.letter is not None) == (found.status == "answered")
    json.dumps(thaw(found.detail), allow_nan=False)


@given(st.permutations(OPTIONS), st.sampled_from(OPTIONS))
def test_an_option_text_is_read_as_its_letter_in_any_order(options, text):
    expected = "ABCD"[options.index(text)]
    for reply in (text, f"The answer is {text}.", f"<answer>{text.lower()}</answer>"):
        assert extract_choice(reply, options).letter == expected


@pytest.mark.parametrize("mark", ["{}.", "{})", "({})", "[{}]", "{}:"])
@pytest.mark.parametrize("format", [None, AnswerFormat()])
def test_every_option_listed_in_the_answer_place_is_no_choice(mark, format):
    listed = "\n".join(f"{mark.format(a)} {b}" for a, b in zip("ABCD", OPTIONS, strict=True))
    verdict = judge("A", AnswerFormat().render(listed, "Hm."), format=format)
    assert verdict.status is Status.MALFORMED
