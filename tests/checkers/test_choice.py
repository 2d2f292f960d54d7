"""The choice judge: one committed option or none, never a guess."""

import pickle

import pytest

from reasonenv.answer_format import AnswerFormat
from reasonenv.checkers import ChoiceJudge, extract_choice
from reasonenv.types import Problem, Status

OPTIONS = ["Sydney", "Canberra", "Melbourne", "Perth"]


def judge(gold, completion, options=OPTIONS, metadata=None, **fields):
    problem = Problem("?", gold, {"options": options, **(metadata or {})})
    return ChoiceJudge(**fields)(problem, completion)


def test_a_letter_is_correct_only_if_it_is_the_gold():
    assert judge("B", "Answer: B").status is Status.CORRECT
    assert judge("A", "Answer: B").status is Status.INCORRECT
    assert judge(None, "Answer: B").status is Status.INCORRECT


@pytest.mark.parametrize("gold", ["A", "B", "C", "D", None])
def test_no_answer_is_never_paid_whatever_the_gold(gold):
    for text in ("I cannot tell.", "", "Answer:", "Not A.", "<answer></answer>", "\\boxed{A"):
        assert judge(gold, text).status is Status.NO_ANSWER, text
    for text in (
        "Answer: A or B",
        "Answer: E",
        "B) Sydney",
        "ABCD",
        "Answer: A. Wait, that is wrong.",
        "\\boxed{A}\\boxed{B}\\boxed{C}",
    ):
        assert judge(gold, text).status is Status.MALFORMED, text


@pytest.mark.parametrize(
    ("text", "anchor", "said"),
    [
        ("<think>Answer: A</think> So: **Answer: B**", "cue", "B"),
        ("It is \\boxed{B}, I think.", "box", "B"),
        ("<answer>B</answer>", "tag", "B"),
        ('{"answer": "B"}', "field", "B"),
        ("I would choose B since it is the seat of parliament.", "chosen", "B"),
        ("Looking at all four, B is correct.", "is right", "B is correct"),
        ("A ❌\nB ✅\nC ❌", "mark", "B ✅"),
        ("Canberra", "whole reply", "Canberra"),
        ("Parliament sits there.\n\nCanberra", "last line", "Canberra"),
    ],
)
def test_the_detail_names_the_anchor_and_its_span_in_the_completion(text, anchor, said):
    found = extract_choice(text, OPTIONS)
    start, end = found.detail["span"]
    assert (found.letter, found.detail["anchor"]) == ("B", anchor)
    assert said in text[start:end]
    assert said in found.detail["said"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Answer: A or B", "several labels"),
        ("Answer: E", "label out of range"),
        ("Answer: B) Sydney", "label and text disagree"),
        ("Answer: B. Scratch that.", "retracted"),
        ("Answer: not B", "negated"),
        ("<answer></answer>", "empty answer tag"),
        ("<answer>I would", "cut off before it was whole"),
        ("Hello.", "no answer stated"),
    ],
)
def test_the_detail_says_why_there_is_no_letter(text, reason):
    assert extract_choice(text, OPTIONS).detail["reason"] == reason


def test_the_demanded_place_outranks_other_statements_and_reasoning_does_not_count():
    layout = AnswerFormat()
    text = "<reasoning>Answer: A</reasoning><answer>B</answer> The answer is C."
    assert judge("B", text, format=layout).status is Status.CORRECT
    assert judge("A", "<reasoning>Answer: A", format=layout).status is Status.NO_ANSWER
    verdict = judge("B", "x <answer> (b) </answer>", format=layout)
    start, end = verdict.detail["span"]
    assert verdict.detail["anchor"] == "format"
    assert "(b)" in "x <answer> (b) </answer>"[start:end]


@pytest.mark.parametrize("mark", ["{}.", "{})", "({})", "[{}]", "{}:"])
@pytest.mark.parametrize("format", [None, AnswerFormat()])
def test_every_option_listed_in_the_answer_place_is_no_choice(mark, format):
    listed = "\n".join(f"{mark.format(a)} {b}" for a, b in zip("ABCD", OPTIONS, strict=True))
    verdict = judge("A", AnswerFormat().render(listed, "Hm."), format=format)
    assert verdict.status is Status.MALFORMED


def test_several_right_options_have_to_be_chosen_exactly():
    allowed = {"multiple": True}
    for gold in (["A", "C"], ("C", "A"), "A,C", "AC"[0] + " C"):
        assert judge(gold, "Answer: A and C", metadata=allowed).status is Status.CORRECT
    assert judge(["A", "C"], "Answer: C, A", metadata=allowed).answer == "A,C"
    assert judge(["A", "C"], "Answer: A", metadata=allowed).status is Status.INCORRECT
    assert judge(["A", "C"], "Answer: A, B, C", metadata=allowed).status is Status.INCORRECT
    assert judge(["B"], "Answer: B", metadata=allowed).status is Status.CORRECT
    assert judge(["A", "C"], "Answer: A and F", metadata=allowed).status is Status.MALFORMED


def test_labels_of_the_prompt_name_gold_and_answer():
    roman = {"labels": ("I", "II", "III", "IV")}
    assert judge("II", "Answer: ii", metadata=roman).answer == "II"
    assert judge("B", "Answer: II", metadata=roman).status is Status.CORRECT
    numbers = {"labels": ("1", "2", "3", "4")}
    assert judge("2", "The answer is 2.", metadata=numbers).status is Status.CORRECT
    assert judge("2", "The answer is Canberra.", metadata=numbers).answer == "2"


@pytest.mark.parametrize("options", [None, [], ["one"], [1, 2], "AB", ["x"] * 27])
def test_a_problem_without_usable_options_is_a_failed_checker(options):
    verdict = judge("A", "A", options=options)
    assert verdict.status is Status.CHECKER_ERROR
    assert "metadata['options'] holds" in verdict.detail["error"]


@pytest.mark.parametrize("gold", ["E", "", 1, "AB", ["A"]])
def test_a_gold_that_is_no_label_is_a_failed_checker(gold):
    assert judge(gold, "A").status is Status.CHECKER_ERROR


@pytest.mark.parametrize(
    "labels", [["A"], ["A", "A", "B", "C"], ["A", "B", "C", ""], [1, 2, 3, 4], "ABCD"]
)
def test_labels_that_do_not_name_each_option_once_are_a_failed_checker(labels):
    verdict = judge("A", "A", metadata={"labels": labels})
    assert verdict.status is Status.CHECKER_ERROR
    assert "labels" in verdict.detail["error"]


def test_labels_that_are_other_options_texts_are_a_failed_checker():
    verdict = judge("1", "1", ["2", "4", "1"], {"labels": ["1", "2", "3"]})
    assert verdict.status is Status.CHECKER_ERROR
    assert "is the label of another" in verdict.detail["error"]


def test_where_two_options_have_one_text_only_what_can_be_told_is_judged():
    options = ["4 and 5", "6 and 6", "6 and 6", "7 and 8"]
    assert judge("B", "Answer: B", options).status is Status.CORRECT
    assert judge("B", "Answer: D", options).status is Status.INCORRECT
    assert judge("B", "Answer: C", options).status is Status.CHECKER_ERROR
    assert judge("B", "Answer: 6 and 6", options).status is Status.MALFORMED


def test_a_judge_pickles():
    judge = ChoiceJudge(AnswerFormat())
    assert pickle.loads(pickle.dumps(judge)) == judge


def test_a_subscript_is_part_of_its_symbol():
    options = ["O_{2}", "$H_2O$", "CO2", "2"]
    assert extract_choice("Answer: O2", options).letter == "A"
    assert extract_choice("Answer: H2O", options).letter == "B"
    assert extract_choice(r"Answer: $\text{CO}_2$", options).letter == "C"
    assert extract_choice("Answer: 2", options).letter == "D"
    numbers = {"labels": ("1", "2", "3")}
    assert judge("2", "Answer: 2", ["O_{3}", "N_{2}", "O_{2}"], numbers).status is Status.CORRECT


@pytest.mark.parametrize(
    ("lines", "letter"),
    [
        (("False", "True", "False", "False"), "B"),
        (("no.", "no.", "no.", "yes."), "D"),
        (("Sydney is large. Not correct.", "Seat of parliament. Correct.", "wrong", "wrong"), "B"),
        (("True", "True", "False", "False"), None),
        (("False", "False", "False", "False"), None),
        (("False", "perhaps", "False", "True"), None),
    ],
)
def test_of_lines_that_each_judge_an_option_one_has_to_be_right(lines, letter):
    said = "\n".join(f"{label}) {line}" for label, line in zip("ABCD", lines, strict=True))
    assert extract_choice(said, OPTIONS).letter == letter
