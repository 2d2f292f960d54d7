"""Which options may move: the table in tests/data/problems says what each question allows."""

import json
from pathlib import Path

import pytest

from reasonenv.problems.choice_references import freedom_of

TABLE = Path(__file__).parents[1] / "data" / "problems" / "choice_references.jsonl"
CASES = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_options_that_speak_of_others_hold_still_what_they_need(case):
    freedom = freedom_of(tuple(case["options"]), case["stem"])
    assert freedom.movable == tuple(case["movable"])
    assert freedom.droppable is case["droppable"]
    assert freedom.relabel is bool(case["movable"])


PARTS = ["a and ", "A and B, ", "not ", "none of the ", "(A) or ", "1, ", "the first ", "both "]


@pytest.mark.parametrize("size", [199, 20_000])
@pytest.mark.parametrize("part", PARTS)
def test_no_text_takes_long_to_read(part, size):
    """Of half a reference over and over: an exponential pattern would never end."""
    text = (part * (size // len(part) + 1))[: size - 1]
    assert freedom_of((text, text + "x", "short"), text) is not None
