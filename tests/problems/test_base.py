"""Lists and procedural sources."""

import copy
import dataclasses
import functools
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasonenv.errors import DataError
from reasonenv.problems import (
    Arithmetic,
    Countdown,
    ProblemList,
    Problems,
    ProceduralProblems,
    as_problems,
    drop_repeats,
    first_distinct,
    iterate,
    split_of,
)
from reasonenv.types import Problem

SUMS = [Problem(f"{i}+1=", str(i + 1)) for i in range(10)]


def only_one(rng):
    return Problem("1+1=", "2", id="0000000100000000")  # 1 % 5 != 0: always train


def own_ids(rng):
    number = int(rng.integers(1000))
    return Problem(str(number), "1", id=f"acme/{number}")


class Unhashable:
    __hash__ = None

    def __call__(self, rng):
        return Problem(str(rng.integers(100)), "1")


def test_lists_and_procedural_sources_are_both_problems():
    assert isinstance(ProblemList(SUMS), Problems)
    assert isinstance(ProceduralProblems(Arithmetic()), Problems)


def test_a_list_indexes_slices_and_finds():
    problems = ProblemList(SUMS, "sums")
    assert problems[-1] == SUMS[9]
    assert list(problems[2:4]) == SUMS[2:4]
    assert problems.find(SUMS[3].id) == SUMS[3]
    assert pickle.loads(pickle.dumps(problems)).find(SUMS[3].id) == SUMS[3]
    with pytest.raises(DataError, match="sums: no problem has the id 'nope'"):
        problems.find("nope")


def test_an_empty_list_is_refused():
    with pytest.raises(DataError, match="sums: no problem in it"):
        ProblemList([], "sums")


def test_a_list_with_one_id_twice_is_refused_with_both_places():
    with pytest.raises(DataError, match="problems number 0 and 2 share the id"):
        ProblemList([SUMS[0], SUMS[1], SUMS[0]])


@pytest.mark.filterwarnings("error")
def test_repeats_are_dropped_with_a_warning_and_no_repeats_without():
    with pytest.warns(UserWarning, match="sums: 1 of 11 problems"):
        assert list(drop_repeats([*SUMS, SUMS[0]], "sums")) == SUMS
    assert list(as_problems(iter(SUMS))) == SUMS


def test_a_source_is_passed_through_as_it_is():
    source = ProceduralProblems(Arithmetic())
    assert as_problems(source) is source


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"split": "dev"}, "'train' and 'test', got 'dev'"),
        ({"seed": -1}, "seed is at least 0, got -1"),
        ({"seed": "0"}, "seed is an integer, got '0'"),
        ({"size": 0}, "size is at least 1, got 0"),
        ({"size": 1.5}, "size is an integer, got 1.5"),
    ],
)
def test_a_bad_argument_of_a_procedural_source_is_named(arguments, message):
    with pytest.raises(DataError, match=message):
        ProceduralProblems(Arithmetic(), **arguments)


def test_negative_indices_count_from_the_end_and_others_are_refused():
    problems = ProceduralProblems(Arithmetic(), size=7)
    assert problems[-1] == problems[6]
    assert problems[np.int64(3)] == problems[3]
    assert list(iterate(problems)) == [problems[i] for i in range(7)]
    for index in (7, -8):
        with pytest.raises(IndexError, match="has 7 problems"):
            problems[index]
    with pytest.raises(TypeError):
        problems[1.0]


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(0, 50))
@settings(max_examples=50, deadline=None)
def test_train_and_test_never_share_a_problem_whatever_the_seeds(seed, other, index):
    for generate in (Arithmetic(), Arithmetic(digits=1, operators="+-*"), Countdown(), own_ids):
        train = ProceduralProblems(generate, "train", seed)[index]
        test = ProceduralProblems(generate, "test", other)[index]
        assert split_of(train.id) == "train"
        assert split_of(test.id) == "test"


def test_about_one_problem_in_five_is_a_test_problem():
    ids = [Arithmetic()(np.random.default_rng(i)).id for i in range(2000)]
    assert 0.17 < sum(split_of(i) == "test" for i in ids) / 2000 < 0.23


def test_an_id_that_is_no_hash_has_a_split_too():
    splits = {split_of(f"acme/{i}") for i in range(50)}
    assert splits == {"train", "test"}


def test_a_generator_with_no_test_problem_is_an_error_that_says_so():
    assert ProceduralProblems(only_one, "train")[0].answer == "2"
    with pytest.raises(DataError, match="no problem of the test split in 1000 draws"):
        ProceduralProblems(only_one, "test")[0]


def test_the_same_seed_gives_the_same_problems_in_another_process():
    code = (
        "from reasonenv.problems import *\n"
        "for g in (Arithmetic(operators='+-*', terms=3), Countdown()):\n"
        "    for s in ('train', 'test'):\n"
        "        print([p.id for p in iterate(ProceduralProblems(g, s, seed=5, size=20))])\n"
    )
    command = [sys.executable, "-c", code]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    generators = (Arithmetic(operators="+-*", terms=3), Countdown())
    expected = [
        str([p.id for p in iterate(ProceduralProblems(g, s, seed=5, size=20))])
        for g in generators
        for s in ("train", "test")
    ]
    assert lines == expected


def test_find_returns_what_another_process_has_made():
    made = ProceduralProblems(Arithmetic(digits=4), size=1000)[700]
    assert ProceduralProblems(Arithmetic(digits=4), size=1000).find(made.id) == made


def test_find_refuses_an_id_of_the_other_split_without_searching():
    problem = ProceduralProblems(Arithmetic(), "test")[0]
    train = ProceduralProblems(Arithmetic(), "train", size=10**9)
    with pytest.raises(DataError, match="belongs to the test split"):
        train.find(problem.id)


def test_find_refuses_an_id_that_is_nowhere():
    with pytest.raises(DataError, match=r"none of the first 50 problems.*another seed"):
        ProceduralProblems(Arithmetic(), size=50).find("0000000100000000")


def test_a_copy_for_another_split_does_not_inherit_what_was_seen():
    train = ProceduralProblems(Arithmetic(), "train", size=100)
    problem = train[3]
    test = dataclasses.replace(train, split="test")
    with pytest.raises(DataError, match="belongs to the train split"):
        test.find(problem.id)


def test_a_procedural_source_pickles_small_however_much_was_seen():
    problems = ProceduralProblems(Countdown(numbers=4), "test", seed=3, size=100, name="game")
    before = len(pickle.dumps(problems))
    seen = list(iterate(problems))
    assert len(pickle.dumps(problems)) == before
    again = pickle.loads(pickle.dumps(problems))
    assert again == problems
    assert hash(again) == hash(problems)
    assert list(iterate(again)) == seen
    assert copy.deepcopy(problems).name == "game"


def test_a_generator_need_not_be_hashable():
    problems = ProceduralProblems(Unhashable())
    assert problems[4] == problems[4]
    partial = ProceduralProblems(functools.partial(own_ids))
    assert partial[4] == partial[4]


def test_threads_may_share_a_source():
    problems = ProceduralProblems(Arithmetic(digits=3), size=300)
    ids = [p.id for p in iterate(ProceduralProblems(Arithmetic(digits=3), size=300))]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: problems.find(i).id, reversed(ids)))
    assert found == ids[::-1]


def test_the_first_distinct_problems_hold_no_repeat():
    source = ProceduralProblems(Arithmetic(digits=1), "train", size=800)
    few = first_distinct(source, 30)
    assert len({p.id for p in few}) == len(few) == 30
    with pytest.raises(DataError, match=r"1000 different problems asked for, there are \d\d"):
        first_distinct(source, 1000)
    with pytest.raises(DataError, match="0 different problems"):
        first_distinct(source, 0)
