"""The Countdown judge: exactly the given numbers, exactly the target."""

import pickle
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonenv.answer_format import AnswerFormat
from reasonenv.checkers import CountdownJudge
from reasonenv.problems.procedural import Countdown
from reasonenv.types import Problem, Status

PROBLEM = Problem("?", "(2 + 3) * 4", {"numbers": [2, 3, 4], "target": 20})


def status(text, problem=PROBLEM, **fields):
    return CountdownJudge(**fields)(problem, text).status


@pytest.mark.parametrize(
    "text",
    [
        "(2 + 3) * 4",
        "4 × (3 + 2) = 20",
        "<answer>4*(2+3)</answer>",
        "\\boxed{(2+3) \\times 4}",
        "So the answer is (3+2)*4.",
        "<think>2*3*4</think>\n-(-2-3)*4",
        "Let us see.\n$(2+3) \\cdot 4$",
    ],
)
def test_an_expression_that_uses_each_number_once_and_hits_the_target_is_correct(text):
    assert status(text) is Status.CORRECT


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2 * 3 * 4", "misses the target"),
        ("4 * 5", "does not use exactly the given numbers"),
        ("20", "does not use exactly the given numbers"),
        ("(2 + 3) * 4 + 2 - 2", "does not use exactly the given numbers"),
        ("2 / (3 - 3) * 4", "divides by zero"),
    ],
)
def test_a_wrong_expression_is_incorrect_and_the_detail_says_why(text, reason):
    verdict = CountdownJudge()(PROBLEM, text)
    assert verdict.status is Status.INCORRECT
    assert verdict.detail["reason"] == reason


@pytest.mark.parametrize(
    "text",
    ["(2 + 3 * 4", "2 3 4", "2 ** 3", "2(3+4)", "2.5*8", "(2+3)*4 = 21", "(2+3)*4 = 20 = 20"],
)
def test_what_is_no_expression_is_malformed(text):
    assert status(text) is Status.MALFORMED


@pytest.mark.parametrize("text", ["", "\n", "<think>(2+3)*4", "<answer></answer>"])
def test_where_nothing_is_answered_the_status_says_so(text):
    assert status(text) is Status.NO_ANSWER


def test_with_a_format_only_the_demanded_place_counts():
    layout = AnswerFormat()
    assert status(layout.render("(2+3)*4", "try"), format=layout) is Status.CORRECT
    assert status("(2+3)*4", format=layout) is Status.NO_ANSWER


def test_a_problem_without_numbers_is_a_failed_checker():
    assert status("1", Problem("?", "1")) is Status.CHECKER_ERROR


@pytest.mark.parametrize(
    "text", ["(" * 900, "-" * 900, "1+" * 400, "9" * 900, "(" * 10**6, "1/0" * 300]
)
def test_hostile_expressions_are_refused_at_once(text):
    start = time.process_time()
    assert status(text) is not Status.CORRECT
    assert time.process_time() - start < 0.5


@given(st.text(max_size=50) | st.text("0123456789+-*/()= ", max_size=40))
def test_no_text_raises(text):
    assert status(text).is_evidence


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_the_generators_own_gold_is_correct(seed, numbers):
    problem = Countdown(numbers=numbers)(np.random.default_rng(seed))
    assert status(str(problem.answer), problem) is Status.CORRECT


def test_a_judge_pickles():
    judge = CountdownJudge(AnswerFormat())
    assert pickle.loads(pickle.dumps(judge)) == judge
