"""The generators."""

import ast
import json
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonenv.problems import Arithmetic, Countdown, ProceduralProblems, split_of
from reasonenv.types import thaw

generators = st.builds(
    Arithmetic,
    digits=st.integers(1, 18),
    operators=st.text("+-*", min_size=1, max_size=3),
    terms=st.integers(2, 6),
)
games = st.builds(Countdown, numbers=st.integers(2, 6), largest=st.integers(2, 100))
seeds = st.integers(0, 2**32)


def is_plain(value):
    return json.loads(json.dumps(value)) == value


def value_of(expression):
    """The exact value of an expression, by Python's own parser and fractions."""

    def value(node):
        if isinstance(node, ast.Constant):
            return Fraction(node.value)
        left, right = value(node.left), value(node.right)
        match node.op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                return left / right

    return value(ast.parse(expression, mode="eval").body)


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        ("train", [("85+63=", "148"), ("88+44=", "132"), ("22+62=", "84")]),
        ("test", [("52+88=", "140"), ("48+92=", "140"), ("12+59=", "71")]),
    ],
)
def test_the_first_sums_of_each_split_stay_what_they_were(split, expected):
    """Models were warmed up on the train split: moving a problem would spoil their test."""
    problems = ProceduralProblems(Arithmetic(), split)
    assert [(problems[i].prompt, problems[i].answer) for i in range(3)] == expected


@given(generators, seeds)
def test_the_gold_is_what_python_makes_of_the_expression(generator, seed):
    problem = generator(np.random.default_rng(seed))
    expression = problem.metadata["expression"]
    operands = re.sub(r"\d+", lambda m: str(int(m[0])), expression)
    assert problem.answer == str(value_of(operands))
    assert problem.prompt == f"{expression}="


@given(generators | games, seeds)
def test_everything_in_a_problem_is_plain_json_data(generator, seed):
    problem = generator(np.random.default_rng(seed))
    assert is_plain(thaw(problem.metadata))
    assert type(problem.answer) is str
    assert type(problem.prompt) is str


@given(generators | games, seeds)
def test_the_same_seed_gives_the_same_problem(generator, seed):
    assert generator(np.random.default_rng(seed)) == generator(np.random.default_rng(seed))


@given(seeds)
def test_a_sum_has_one_id_and_one_split_under_every_wording(seed):
    bare = Arithmetic()(np.random.default_rng(seed))
    asked = Arithmetic(question="What is {expression}?")(np.random.default_rng(seed))
    assert asked.prompt == f"What is {bare.metadata['expression']}?"
    assert asked.id == bare.id
    assert split_of(asked.id) == split_of(bare.id)


def test_a_sum_has_one_id_whatever_the_most_digits():
    small = {p.prompt: p.id for p in map(Arithmetic(1), map(np.random.default_rng, range(300)))}
    big = {p.prompt: p.id for p in map(Arithmetic(2), map(np.random.default_rng, range(3000)))}
    shared = set(small) & set(big)
    assert len(shared) > 5
    assert all(small[prompt] == big[prompt] for prompt in shared)


@given(games, seeds)
def test_a_countdown_gold_reaches_the_target_with_each_number_once(game, seed):
    problem = game(np.random.default_rng(seed))
    assert value_of(problem.answer) == problem.metadata["target"]
    used = sorted(int(n) for n in re.findall(r"\d+", problem.answer))
    assert used == list(problem.metadata["numbers"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"digits": 0}, "digits from 1 to 18"),
        ({"digits": 19}, "digits from 1 to 18"),
        ({"terms": 1}, "terms >= 2"),
        ({"operators": ""}, "an operator"),
        ({"operators": "+/"}, "any of '\\+-\\*', got '\\+/'"),
        ({"question": "What is it?"}, "{expression} in it"),
        ({"question": "{expression} {more}"}, "no other field"),
        ({"question": "{expression} {}"}, "no other field"),
        ({"question": "{expression"}, "no other field"),
    ],
)
def test_a_bad_option_of_arithmetic_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Arithmetic(**arguments)


@pytest.mark.parametrize("arguments", [{"numbers": 1}, {"largest": 1}])
def test_a_bad_option_of_countdown_is_refused(arguments):
    with pytest.raises(ValueError, match="at least 2"):
        Countdown(**arguments)
