"""What holds for every reply: order, decoration, what follows, arbitrary text."""

import json
import string

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from reasonenv.checkers import ChoiceJudge, extract_choice
from reasonenv.types import Problem, thaw

OPTIONS = ["Sydney", "Canberra", "Melbourne", "Perth"]
REPLIES = [
    "The answer is {letter}.",
    "Answer: {letter}",
    "({letter}) {text}",
    "{letter}. {text}",
    "\\boxed{{{letter}}}",
    "<answer>{letter}</answer>",
    '{{"answer": "{letter}"}}',
    "{text}",
    "Final answer: {text}",
    "I would choose {letter} since it fits.",
    "{letter} is the correct answer.",
    "All others are too far west, so {letter}.",
    "The reasoning is long.\n\n{letter}",
    "Die Antwort ist {letter}.",
    "答案是{letter}。",
]
STANDING_ALONE = ("{text}", "The reasoning is long.\n\n{letter}")
"""These commit by being the whole reply or its last line."""
ENDINGS = [
    "Thus, B is correct.",
    "B is the correct answer.",
    "I would go with B.",
    "I choose (B).",
    "So the answer is Canberra.",
    "The answer is canberra",
    "I would go with E.",
    "Hence, A is right.",
    "The final answer is: Perth.",
    "Therefore, option C is correct.",
    "I'd pick option D",
]
NO_LETTERS = ["I cannot tell.", "Answer: X or Y or Z", "It depends.", "Answer:", "42"]
DISCLAIMERS = [
    "I hope this helps!",
    "Let me know if you have any other questions.",
    "Please check the facts with a reliable source.",
    "Note that this is my understanding of the matter.",
    "Have a nice day.",
    "This was fun to work out.",
]
MARKS = ["**{}**", "*{}*", "__{}__", "`{}`", "- {}", "> {}", "**{}", "{}\n\n---"]

placed = st.tuples(st.permutations(OPTIONS), st.sampled_from(OPTIONS), st.sampled_from(REPLIES))


def fill(template, options, text):
    return template.format(letter=string.ascii_uppercase[options.index(text)], text=text)


@given(placed)
def test_shuffling_options_and_letters_changes_the_letter_and_never_the_verdict(drawn):
    options, text, template = drawn
    letter = string.ascii_uppercase[options.index(text)]
    reply = fill(template, options, text)
    assert extract_choice(reply, options).letter == letter
    for gold in "ABCD":
        verdict = ChoiceJudge()(Problem("?", gold, {"options": options}), reply)
        assert verdict.correct is (gold == letter)


@given(
    placed, st.lists(st.sampled_from(DISCLAIMERS), min_size=1, max_size=3), st.sampled_from("\n ")
)
def test_a_trailing_disclaimer_that_names_no_option_changes_nothing(drawn, disclaimers, gap):
    options, text, template = drawn
    assume(template not in STANDING_ALONE)
    reply = fill(template, options, text)
    if gap == " " and template[-1] == "}":
        reply += "."
    longer = gap.join([reply, *disclaimers])
    letter = string.ascii_uppercase[options.index(text)]
    assert extract_choice(longer, options).letter == letter


@given(placed, st.sampled_from(MARKS))
def test_markdown_decoration_changes_nothing(drawn, mark):
    options, text, template = drawn
    reply = fill(template, options, text)
    assume("{{" not in template)  # code and TeX are not decorated
    assert (
        extract_choice(mark.format(reply), options).letter == extract_choice(reply, options).letter
    )
    letter = string.ascii_uppercase[options.index(text)]
    assert extract_choice(f"The answer is {mark.format(letter).strip()}", options).letter == letter


@pytest.mark.parametrize("reply", NO_LETTERS)
@pytest.mark.parametrize("disclaimer", DISCLAIMERS)
def test_a_disclaimer_makes_no_answer_out_of_none(reply, disclaimer):
    assert extract_choice(f"{reply} {disclaimer}", OPTIONS).letter is None


@given(placed, st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_what_is_thought_before_a_closed_block_changes_nothing(drawn, thought):
    options, text, template = drawn
    assume("<" not in thought and "◁" not in thought)
    reply = fill(template, options, text)
    assert (
        extract_choice(f"<think>{thought} Answer: A</think>\n{reply}", options).letter
        == extract_choice(reply, options).letter
    )


@pytest.mark.parametrize(
    "table",
    ["dev", "own", "small_models", "second_list", "third_list", "fifth_list", "sixth_list"],
)
def test_the_short_way_reads_what_the_long_one_reads(cases, table, monkeypatch):
    filler = "The first one looks plausible, but the units do not agree. So it is out.\n\n"
    rows = [(c["completion"], c["options"]) for c in cases(f"choice/{table}.jsonl")]
    rows += [(f"It rains.\n\n{ending}", OPTIONS) for ending in ENDINGS]
    rows += [(filler + completion, options) for completion, options in rows]
    short = [extract_choice(*row).letter for row in rows]
    monkeypatch.setattr("reasonenv.checkers.choice.extract.plain_ending", lambda *_: None)
    assert short == [extract_choice(*row).letter for row in rows]


PIECES = ["\\boxed{", "}", "<think>", "</think>", "<answer>", "</answer>", "Answer: ", "A", "B"]
PIECES += ["(C)", " or ", ",", "not ", "Sydney", "Perth", "option ", "2", "\n", "**", "~~", ". "]
PIECES += [
    '{"answer": "',
    "is correct",
    "I choose ",
    "so ",
    "wait, ",
    "选",
    "答案是",
    "if ",
    "\nQ: ",
]
texts = st.text(st.characters(), max_size=60) | st.lists(st.sampled_from(PIECES), max_size=25).map(
    "".join
)
labelled = st.none() | st.sampled_from([("1", "2", "3"), ("I", "II", "III"), ("x", "y", "z")])


@settings(max_examples=400)
@given(texts, st.lists(st.text(max_size=8) | st.sampled_from(OPTIONS), min_size=2, max_size=6))
@example("选(A", ["x", "y"])
@example("I choose (A", ["x", "y"])
def test_no_text_raises_and_a_letter_is_always_one_of_the_options(completion, options):
    found = extract_choice(completion, options)
    assert found == extract_choice(completion, options)
    assert found.letter is None or found.letter in "ABCDEF"[: len(options)]
    assert (found.letter is not None) == (found.status == "answered")
    json.dumps(thaw(found.detail), allow_nan=False)
    if "span" in found.detail:
        start, end = found.detail["span"]
        assert 0 <= start <= end <= len(completion)


@settings(max_examples=200)
@given(texts, labelled, st.booleans())
def test_no_text_raises_whatever_the_labels(completion, labels, multiple):
    options = OPTIONS[:3]
    found = extract_choice(completion, options, "plan", labels=labels, multiple=multiple)
    assert set(found.letters) <= set(labels or "ABC")
    assert multiple or len(found.letters) <= 1


@pytest.mark.parametrize("count", [2, 3, 10, 26])
def test_up_to_26_options_are_told_apart(count):
    options = [f"planet {index}" for index in range(count)]
    for index, letter in enumerate(string.ascii_uppercase[:count]):
        for reply in (f"Answer: {letter}", f"The answer is planet {index}.", f"{letter})"):
            assert extract_choice(reply, options).letter == letter
    beyond = string.ascii_uppercase[count : count + 1]
    if beyond:
        assert extract_choice(f"Answer: {beyond}", options).letter is None
