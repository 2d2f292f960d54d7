"""Parting, drawing and comparing."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasonenv.errors import DataError
from reasonenv.problems import (
    Arithmetic,
    ProblemList,
    ProceduralProblems,
    hold_out,
    iterate,
    overlap,
    sample,
)
from reasonenv.types import Problem

SUMS = [Problem(f"{i}+1=", str(i + 1)) for i in range(101)]


def ids(problems):
    return {problem.id for problem in problems}


@given(st.permutations(SUMS), st.integers(1, 50), st.integers(0, 9))
@settings(max_examples=30, deadline=None)
def test_what_is_held_out_does_not_depend_on_the_order_of_the_file(order, n, seed):
    train, held = hold_out(ProblemList(SUMS), n, seed=seed)
    train_again, held_again = hold_out(ProblemList(order), n, seed=seed)
    assert ids(held) == ids(held_again)
    assert ids(train) == ids(train_again)
    assert len(held) == n
    assert not ids(train) & ids(held)
    assert ids(train) | ids(held) == ids(SUMS)


def test_the_parts_stay_in_the_order_of_the_source():
    train, held = hold_out(ProblemList(SUMS), 20)
    for part in (train, held):
        assert list(part) == sorted(part, key=SUMS.index)


def test_a_smaller_part_is_within_a_larger_one_and_another_seed_gives_another():
    source = ProblemList(SUMS)
    assert ids(hold_out(source, 5)[1]) < ids(hold_out(source, 30)[1])
    assert ids(hold_out(source, 30)[1]) != ids(hold_out(source, 30, seed=1)[1])


@pytest.mark.parametrize("n", [-1, 0, 51, 101])
def test_holding_out_half_or_more_is_refused_with_what_is_valid(n):
    with pytest.raises(DataError, match=f"sums: cannot hold out {n} of 101.*valid: 1 to 50"):
        hold_out(ProblemList(SUMS, "sums"), n)


def test_exactly_half_is_refused():
    with pytest.raises(DataError, match="valid: 1 to 4"):
        hold_out(ProblemList(SUMS[:10]), 5)


def test_two_problems_are_too_few_to_part():
    with pytest.raises(DataError, match="too few problems"):
        hold_out(ProblemList(SUMS[:2]), 1)


def test_a_procedural_source_is_parted_without_repeats():
    train, held = hold_out(ProceduralProblems(Arithmetic(digits=1), size=500), 10)
    assert len(held) == 10
    assert not overlap(train, held)


def test_a_source_too_large_for_memory_is_not_parted():
    with pytest.raises(DataError, match=r"too many to part in memory.*split 'test'"):
        hold_out(ProceduralProblems(Arithmetic(), size=10**9), 10)


def test_a_sample_is_shuffled_and_the_beginning_of_a_larger_one():
    source = ProblemList(SUMS)
    assert list(sample(source, 10)) == list(sample(source, 60))[:10]
    assert list(sample(source, 10)) != list(sample(source, 10, seed=1))
    assert ids(sample(source, 1000)) == ids(SUMS)
    assert list(sample(source, 1000)) != SUMS
    shuffled = ProblemList(random.Random(1).sample(SUMS, len(SUMS)))
    assert list(sample(shuffled, 10)) == list(sample(source, 10))
    with pytest.raises(DataError, match="at least 1, got 0"):
        sample(source, 0)


def test_overlap_is_by_id_or_word_for_word():
    a = ProblemList([*SUMS[:3], Problem("Why?  Because.", "1", id="a-1")])
    b = ProblemList([*SUMS[2:5], Problem("why? because.", "1", {"level": 2}, id="b-1")])
    assert overlap(a, b) == {SUMS[2].id, "a-1"}
    assert overlap(b, a) == {SUMS[2].id, "b-1"}


def test_the_same_question_with_other_options_is_another_problem():
    a = ProblemList([Problem("Which?", "A", {"options": ["x", "y"]})])
    b = ProblemList([Problem("Which?", "A", {"options": ["x", "z"]})])
    assert overlap(a, b) == set()


def test_two_splits_of_huge_procedural_sources_are_compared_at_once():
    train = ProceduralProblems(Arithmetic(), "train", size=10**12)
    test = ProceduralProblems(Arithmetic(question="{expression} is"), "test", size=10**12)
    assert overlap(train, test) == set()


def test_a_huge_procedural_source_is_compared_within_a_limit():
    huge = ProceduralProblems(Arithmetic(), "train", size=10**12)
    few = ProblemList(list({p.id: p for p in map(huge.__getitem__, range(20))}.values()))
    assert overlap(few, huge, limit=100) == ids(few)
    assert overlap(huge, few, limit=100) == ids(few)


def test_a_problem_of_the_test_split_is_not_in_the_train_split():
    train = ProceduralProblems(Arithmetic(digits=1), "train", size=2000)
    test = ProceduralProblems(Arithmetic(digits=1), "test", size=200)
    assert not ids(iterate(train)) & ids(iterate(test))
