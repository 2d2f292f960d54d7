"""The work that a reply costs is counted, not timed: at most linear, and bounded for long ones."""

import sys

import pytest

from reasonenv.checkers import extract_choice
from reasonenv.checkers.choice.page import LONG_CHARS

OPTIONS = ["Sydney", "Canberra", "Melbourne", "Perth"]
PIECES = ["a", "A ", "\\boxed{", "\\boxed{A}", "Answer: ", "Answer: A\n", "The answer is A. ", "\n"]
PIECES += [
    "<think>",
    "</think>",
    "<think></think>",
    "<answer>",
    "<answer>A</answer>",
    '"answer": "',
]
PIECES += [
    "A) x\n",
    "Ａ",
    "~~",
    "is correct ",
    "(",
    ". ",
    "not A ",
    "I choose A ",
    "wait, B. ",
    "so ",
]
PIECES += [
    "if the answer is A, ",
    "Sydney ",
    "答案是",
    "选A",
    "\nQuestion: ",
    "<|im_end|>",
    "*",
    "{",
    "$",
]
PIECES += [
    "A ✅ ",
    "A is correct. ",
    "-----\n",
    "Answer\n---\n",
    "\u200b",
    "é",
    "1,",
    "\ud800",
    "first ",
]


def calls(completion):
    """Return how many calls, of Python and of C, one extraction makes."""
    count = 0

    def on_event(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    extract_choice("warm up", OPTIONS)
    sys.setprofile(on_event)
    try:
        extract_choice(completion, OPTIONS)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("piece", PIECES)
def test_twice_the_text_costs_at_most_twice_the_calls(piece):
    short, long = (calls(piece * (size // len(piece))) for size in (8_000, 16_000))
    assert long <= 2.2 * short + 500


@pytest.mark.parametrize("piece", PIECES)
def test_a_long_reply_costs_no_more_calls_than_one_at_the_limit(piece):
    at_the_limit = calls(piece * (LONG_CHARS // len(piece)))
    assert calls(piece * (10 * LONG_CHARS // len(piece))) <= 1.2 * at_the_limit + 500


@pytest.mark.parametrize("where", ["start", "middle", "end"])
def test_in_a_megabyte_the_answer_is_found_wherever_it_stands(where):
    filler = "lorem ipsum dolor " * 30_000
    answer = "\nThe answer is B.\n"
    text = {"start": answer + filler * 2, "middle": filler + answer + filler}.get(
        where, filler * 2 + answer
    )
    assert extract_choice(text, OPTIONS).letter == "B"


def test_thinking_of_a_megabyte_does_not_count():
    thought = "<think>" + "The answer is A. " * 60_000
    assert extract_choice(thought + "</think>The answer is B.", OPTIONS).letter == "B"
    assert extract_choice(thought, OPTIONS).letter is None
