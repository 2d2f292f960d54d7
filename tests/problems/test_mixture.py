"""`mix`: problem sets in given shares, none of its problems twice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reasonenv
from reasonenv import MathEnv
from reasonenv.errors import DataError
from reasonenv.problems import mix

EASY = {"set": "arithmetic", "options": {"digits": 2}}
HARD = {"set": "arithmetic", "options": {"digits": 4, "operators": "*"}}


def rows(path: Path, count: int) -> Path:
    lines = [{"question": f"What is {n} + {n}?", "answer": str(2 * n)} for n in range(count)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def shares(problems) -> Counter[str]:
    return Counter("hard" if "*" in str(one.prompt) else "easy" for one in problems)


@settings(max_examples=20, deadline=None)
@given(
    easy=st.integers(1, 9),
    hard=st.integers(1, 9),
    size=st.integers(40, 300),
    seed=st.integers(0, 3),
)
def test_shares_are_the_weights_and_no_problem_comes_twice(easy, hard, size, seed):
    parts = {"easy": {**EASY, "weight": easy}, "hard": {**HARD, "weight": hard}}
    mixed = mix(parts, size=size, seed=seed)
    assert abs(shares(mixed)["hard"] - size * hard / (easy + hard)) <= 0.5
    assert abs(len(mixed) - size) <= 1
    assert len({one.id for one in mixed}) == len(mixed)
    assert [one.id for one in mixed] == [one.id for one in mix(parts, size=size, seed=seed)]


def test_a_file_that_has_no_more_decides_how_large_a_mixture_is(tmp_path):
    own = {"data": str(rows(tmp_path / "own.jsonl", 30)), "weight": 3}
    parts = {"own": own, "hard": {**HARD, "weight": 1}}
    mixed, held_out = mix(parts), mix(parts, split="test")
    taken = [shares(mixed)["easy"], shares(held_out)["easy"]]
    assert sum(taken) == 30
    assert shares(mixed)["hard"] == round(taken[0] / 3)
    # A file knows no splits: without parting it, it would be trained on and held out.
    assert not {one.id for one in mixed} & {one.id for one in held_out}


def test_the_parts_stand_in_no_order():
    kinds = ["*" in str(one.prompt) for one in mix({"easy": EASY, "hard": HARD}, size=200)]
    assert 20 < sum(kinds[:100]) < 80


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"gsm8q": 1}, "did you mean `gsm8k`"),
        ({"easy": {**EASY, "wieght": 2}}, "did you mean `weight`"),
        ({"easy": {**EASY, "weight": -1}}, "a number from 0 on, got -1"),
        ({"easy": {**EASY, "weight": "many"}}, "got 'many'"),
        ({"easy": {**EASY, "weight": 0}}, "at least one weight is above 0"),
        ({}, "at least one weight is above 0"),
        ({"easy": {**EASY, "weight": 1000}, "hard": HARD}, "holds none of hard"),
        ({"easy": {"set": "arithmetic", "options": {"digtis": 3}}}, "digtis"),
    ],
)
def test_a_bad_mixture_says_what_is_wrong_with_it(parts, said):
    with pytest.raises(DataError, match=said):
        mix(parts, size=100)


def test_an_environment_asks_a_mixture_and_keeps_its_splits_apart():
    parts = {"easy": EASY, "hard": {**HARD, "weight": 0.5}}
    envs = [
        reasonenv.make("reasonenv/Arithmetic-v0", problems=parts, size=300, split=split)
        for split in ("train", "test")
    ]
    ids = [{one.id for one in env.problems} for env in envs]
    assert not ids[0] & ids[1]
    assert shares(envs[0].problems) == {"easy": 200, "hard": 100}
    assert envs[0].judge_options == {"must_be_evaluated": True}


def test_a_mixture_holds_one_kind():
    with pytest.raises(DataError, match="quiz is a set of choice"):
        MathEnv({"arithmetic": 1, "quiz": 1}, size=100)


def test_sets_whose_golds_need_other_options_of_the_judge_ask_for_a_decision(tmp_path):
    parts = {"arithmetic": 1, "own": {"data": str(rows(tmp_path / "own.jsonl", 30))}}
    with pytest.raises(ValueError, match=r"arithmetic: True, jsonl: False.*judge_options="):
        MathEnv(parts)
    env = MathEnv(parts, judge_options={"must_be_evaluated": False})
    assert shares(env.problems)["easy"] == len(env.problems) <= 60


def test_options_beside_a_mixture_are_told_where_they_belong():
    with pytest.raises(ValueError, match="stand with its parts"):
        MathEnv({"easy": EASY}, options={"digits": 3})
