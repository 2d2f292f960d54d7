"""Pairs written apart from the checker, each label from the policy: the known failures only shrink.

`heldout_known_failures.json` lists by id what is judged wrongly ("false_positives", "missed"), what
raised ("crashes"), and what took more than a second ("slow", not run here). Remove an id once the
checker gets it right; never add one.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from reasonenv.checkers import MathJudge, judge_answer
from reasonenv.types import Problem, Status

TABLE = "math/heldout.jsonl"
KNOWN = Path(__file__).parents[1] / "data" / "math" / "heldout_known_failures.json"


def judged(case):
    if case["form"] == "bare":
        return judge_answer(case["gold"], case["answer"])
    return MathJudge()(Problem("?", case["gold"]), case["answer"])


@pytest.fixture(scope="module")
def known():
    return {kind: set(ids) for kind, ids in json.loads(KNOWN.read_text(encoding="utf-8")).items()}


@pytest.fixture(scope="module")
def outcome(cases, known):
    """Return the ids paid that should not be, and those not paid that should be."""
    wrongly, missed = set(), set()
    for case in cases(TABLE):
        if case["id"] in known["slow"]:
            continue
        paid = judged(case).status is Status.CORRECT
        if paid and not case["label"]:
            wrongly.add(case["id"])
        elif case["label"] and not paid:
            missed.add(case["id"])
    return wrongly, missed


def test_no_wrong_answer_is_paid_but_the_known_ones(outcome, known):
    assert outcome[0] <= known["false_positives"]


def test_no_right_answer_is_missed_but_the_known_ones(outcome, known):
    assert outcome[1] <= known["missed"] | known["crashes"]


def test_the_table_is_of_pairs_with_distinct_ids_and_the_known_failures_are_among_them(
    cases, known
):
    rows = cases(TABLE)
    ids = Counter(row["id"] for row in rows)
    assert max(ids.values()) == 1
    assert set().union(*known.values()) <= set(ids)
    assert sum(not row["label"] for row in rows) * 2 >= len(rows)
