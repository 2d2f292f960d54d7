"""Terms that read the layout, on junk in structure."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonenv.answer_format import AnswerFormat
from reasonenv.errors import RewardError
from reasonenv.rewards import Format, NumericPresent, TagCount
from reasonenv.rewards.layout import for_format
from reasonenv.types import Judged, Problem, Rollout, Status, Verdict

FILE = Path(__file__).parent.parent / "data" / "rewards" / "layouts.jsonl"
CASES = [json.loads(line) for line in FILE.read_text().splitlines()]
TAGS = ("reasoning", "answer")


def read(text, prefill="", answer=None):
    rollout = Rollout(Problem("p", "4"), text, prefill=prefill)
    return [Judged(rollout, Verdict(Status.INCORRECT, 0.0, answer))]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_structure_is_paid_as_the_formula_says(case):
    group = read(case["text"], case.get("prefill", ""))
    assert Format(*TAGS)(group).total.tolist() == [case["format"]]
    assert TagCount(*TAGS)(group).total.tolist() == [case["count"]]


def test_what_a_layout_renders_earns_its_format():
    for layout in (AnswerFormat(), AnswerFormat("final", "think"), AnswerFormat(reasoning=None)):
        assert for_format(layout)(read(layout.render("4", "x"))).total.tolist() == [1.0]


def test_a_boxed_layout_has_no_format_to_pay_for():
    for layout in (AnswerFormat(None, boxed=True), AnswerFormat(None, None, boxed=True)):
        with pytest.raises(RewardError, match="Format pays for tags"):
            for_format(layout)


PIECE = st.sampled_from(["<reasoning>", "</reasoning>", "<answer>", "</answer>", "x", " "])


@given(st.lists(PIECE, max_size=12).map("".join))
def test_format_is_paid_only_where_every_tag_stands_once(text):
    group = read(text)
    if Format(*TAGS)(group).total[0]:
        assert TagCount(*TAGS)(group).total[0] == 1.0
        assert AnswerFormat().extract(text)


def test_a_long_completion_of_openers_takes_no_time():
    text = "<reasoning>" * 100_000 + "<answer>" * 100_000
    started = time.process_time()
    assert Format(*TAGS)(read(text)).total[0] == 0.0
    assert TagCount(*TAGS)(read(text)).total[0] == 0.0
    assert AnswerFormat().extract(text) is None
    assert time.process_time() - started < 5  # milliseconds: a quadratic scan takes minutes


@pytest.mark.parametrize(
    ("answer", "paid"), [("4", 1), ("x = 12", 1), ("four", 0), ("", 0), (None, 0), ("٣", 1)]
)
def test_a_number_in_the_answer_is_paid_wherever_the_answer_is_wrong(answer, paid):
    assert NumericPresent()(read("99 bottles", answer=answer)).total.tolist() == [paid]
