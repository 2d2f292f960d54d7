"""`JudgeAhead`: the verdicts of its judge, some of them begun before they are asked for."""

from __future__ import annotations

import threading

import pytest

from reasonenv import MathEnv, Problem, Status, Verdict
from reasonenv.checkers import MathJudge, judge_safely
from reasonenv.checkers.ahead import JudgeAhead
from reasonenv.types import Rollout

ASKED = Problem("2+2=", "4")


def texts(count: int) -> list[str]:
    return [rf"\boxed{{{n}}}" for n in range(count)]


def test_verdicts_are_the_judges_own_whatever_was_started_before() -> None:
    plain, ahead = MathJudge(), JudgeAhead(MathJudge())
    for text in texts(6)[::2]:
        ahead.start(ASKED, text)
    assert [ahead(ASKED, text) for text in texts(6)] == [plain(ASKED, text) for text in texts(6)]


def test_what_is_under_way_is_judged_once() -> None:
    seen, go = [], threading.Event()

    def judge(problem: Problem, completion: str) -> Verdict:
        go.wait(5)
        seen.append(completion)
        return Verdict(Status.INCORRECT)

    ahead = JudgeAhead(judge)
    for _ in range(3):
        ahead.start(ASKED, "4")
    go.set()
    assert ahead(ASKED, "4").status is Status.INCORRECT
    assert seen == ["4"]


def test_a_judge_that_asks_for_one_thread_is_not_waited_for_in_a_queue() -> None:
    class OneByOne:
        concurrency = 1

        def __init__(self) -> None:
            self.go = threading.Event()

        def __call__(self, problem: Problem, completion: str) -> Verdict:
            if completion == "slow":
                self.go.wait(5)
            return Verdict(Status.INCORRECT, answer=completion)

    judge = OneByOne()
    ahead = JudgeAhead(judge)
    ahead.start(ASKED, "slow")
    ahead.start(ASKED, "next")
    assert ahead(ASKED, "next").answer == "next"  # while "slow" holds the only thread
    judge.go.set()
    assert ahead(ASKED, "slow").answer == "slow"


def test_a_judge_that_fails_ahead_is_a_checker_error_as_it_is_when_asked() -> None:
    def broken(problem: Problem, completion: str) -> Verdict:
        raise RuntimeError("no")

    ahead = JudgeAhead(broken)
    ahead.start(ASKED, "4")
    assert ahead(ASKED, "4") == judge_safely(broken, ASKED, "5")


def test_what_was_forgotten_is_judged_anew() -> None:
    answers = iter("12")
    ahead = JudgeAhead(lambda problem, text: Verdict(Status.INCORRECT, answer=next(answers)))
    ahead.start(ASKED, "4")
    assert ahead(ASKED, "4").answer == "1"
    ahead.forget()
    assert ahead(ASKED, "4").answer == "2"


def test_what_judging_cost_is_told_however_short_the_wait() -> None:
    started = threading.Event()

    def judge(problem: Problem, completion: str) -> Verdict:
        started.wait(0.05)
        return Verdict(Status.INCORRECT)

    env = MathEnv([ASKED], judge=JudgeAhead(judge))
    env.judge_one.start(ASKED, "4")  # type: ignore[attr-defined]
    threading.Event().wait(0.2)
    verdict = env.judge([Rollout(ASKED, "4")])[0].verdict
    assert verdict.cost.seconds >= 0.05


@pytest.mark.parametrize("given", [0, 1, 7])
def test_it_asks_for_as_many_threads_as_its_judge(given: int) -> None:
    class Judge:
        concurrency = given

        def __call__(self, problem: Problem, completion: str) -> Verdict:
            return Verdict(Status.INCORRECT)

    assert JudgeAhead(Judge()).concurrency == max(1, given)
