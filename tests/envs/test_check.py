"""`check_env`: good environments pass, and each fault is found in an environment that has it."""

import random
from pathlib import Path

import env_parts as parts
import gymnasium
import numpy as np
import pytest
from env_parts import SUMS, Sums, Tagged

import reasonenv
from reasonenv import ReasoningEnv, check_env
from reasonenv.checkers import MathJudge
from reasonenv.errors import EnvCheckError, UnknownEnvError
from reasonenv.types import Problem

DATA = Path(__file__).parent.parent / "data"
CHECKS = [
    "layout",
    "problems",
    "gold is right",
    "junk is never right",
    "same seed, same problems",
    "pickles",
    "spec round-trip",
    "Gymnasium's checker",
    "reward",
]


def errors(report):
    return {finding.check for finding in report.of("error")}


def said(report, level="error"):
    return "\n".join(f"{f.check}: {f.message}" for f in report.of(level))


@pytest.mark.parametrize(
    ("id", "kwargs", "golds"),
    [
        ("reasonenv/Arithmetic-v0", {}, 40),
        ("reasonenv/Arithmetic-v0", {"observation": "messages", "max_turns": 3}, 40),
        ("reasonenv/Arithmetic-v0", {"layout": {"answer": None, "boxed": True}}, 40),
        ("reasonenv/Countdown-v0", {}, 40),
        ("reasonenv/GSM8K-v0", {"data": str(DATA / "gsm8k_own.jsonl")}, 24),
        ("reasonenv/ARC-Challenge-v0", {"data": str(DATA / "arc_own.jsonl")}, 12),
        ("reasonenv/Arithmetic-v0", {"reward": "Correct() + 0.1 * ShortestCorrect()"}, 40),
    ],
)
def test_the_built_in_environments_hold(id, kwargs, golds):
    started = []
    report = check_env(id, problems=40, progress=started.append, **kwargs)
    assert report.ok, said(report)
    assert not report.of("warning"), said(report, "warning")
    assert (report.golds, report.unchecked) == (golds, 0)
    assert report.checks == started == CHECKS
    report.raise_if_failed()


@pytest.mark.parametrize(
    "env",
    [Sums(), ReasoningEnv(SUMS[:1], judge=Tagged()), gymnasium.wrappers.OrderEnforcing(Sums())],
    ids=["class", "one problem", "wrapped"],
)
def test_an_environment_that_is_made_already_may_be_checked(env):
    report = check_env(env)
    assert report.ok, said(report)
    assert report.env in ("Sums", "ReasoningEnv")


@pytest.mark.parametrize(
    ("env", "check", "says"),
    [
        (lambda: Sums(judge=parts.NeverRight()), "gold is right", "the gold '"),
        (lambda: Sums(judge=parts.Raising()), "gold is right", "checker_error"),
        (lambda: parts.BadExtraction(), "gold is right", "nothing found"),
        (lambda: Sums(judge=parts.AcceptsAll()), "junk is never right", "the empty completion"),
        (lambda: Sums(judge=parts.AnswerInGold()), "junk is never right", "an empty answer in"),
        (lambda: Sums(judge=parts.GoldInAnswer()), "junk is never right", "a list of golds"),
        (lambda: Sums(reward="Correct() + 0.1 * TagCount('think')"), "layout", "pays for <think>"),
        (lambda: Sums(reward="Correct() + 0.1 * Format('answer', 'think')"), "layout", "<think>"),
        (
            lambda: Sums(reward="Correct() + 0.1 * Format('answer', 'reasoning')"),
            "layout",
            "in another order",
        ),
        (
            lambda: Sums(reward="Correct() + 0.1 * Format('answer')", layout={
                "answer": "final"}, judge=Tagged()),
            "layout",
            "pays for <answer>",
        ),
        (lambda: parts.GlobalNumpy(), "same seed, same problems", "global random state of numpy"),
        (lambda: parts.GlobalRandom(), "same seed, same problems", "global random state of random"),
        (lambda: parts.Unseeded(), "same seed, same problems", "other problems in another worker"),
        (lambda: parts.OneProblem(), "same seed, same problems", "16 seeds draw one problem of 20"),
        (lambda: parts.Unpicklable(), "pickles", "cannot be pickled"),
        (lambda: parts.NoisyInfo(), "Gymnasium's checker", "info"),
    ],
)  # fmt: skip
def test_each_fault_is_found(env, check, says):
    report = check_env(env())
    assert check in errors(report), said(report)
    assert says in said(report)
    assert not report.ok
    with pytest.raises(EnvCheckError, match=f"breaks its contract:\n(.*\n)*{check}: "):
        report.raise_if_failed()


def test_a_fault_is_found_in_its_own_check_alone():
    assert errors(check_env(Sums(judge=parts.NeverRight()))) == {"gold is right"}
    assert errors(check_env(parts.GlobalNumpy())) == {"same seed, same problems"}
    assert errors(check_env(parts.Unpicklable())) == {"pickles"}
    assert errors(check_env(Sums(judge=parts.GoldInAnswer()))) == {"junk is never right"}


def test_what_is_wrong_a_hundred_times_is_counted_and_not_listed():
    report = check_env(Sums(judge=parts.NeverRight()))
    shown = [f.message for f in report.of("error")]
    assert len(shown) == 4
    assert shown[-1] == "and 17 more of this kind"


def test_a_reward_in_which_correctness_does_not_dominate_is_a_warning():
    report = check_env(Sums(reward="Correct() + 2 * Format('reasoning', 'answer')"))
    assert report.ok
    (warning,) = report.of("warning")
    assert "correctness does not dominate" in warning.message


def test_problems_without_a_reference_are_counted_as_unchecked():
    report = check_env(parts.NoGold(SUMS))
    assert report.ok, said(report)
    assert (report.golds, report.unchecked) == (15, 15)
    assert "15 of 30 problems have no reference completion" in said(report, "note")
    report = check_env(ReasoningEnv([Problem(p.prompt, None) for p in SUMS], judge=Tagged()))
    assert (report.golds, report.unchecked) == (0, 30)
    assert "no problem has a reference completion" in said(report, "warning")


def test_a_spec_of_objects_is_a_note_and_one_of_plain_data_is_none():
    reasonenv.register("acme/Objects-v0", problems=SUMS, judge=Tagged())
    report = check_env("acme/Objects-v0")
    assert report.ok
    assert "cannot be written as JSON" in said(report, "note")
    # Gymnasium writes a dataclass as a mapping, and so would read back another spec.
    reasonenv.register("acme/Strict-v0", "env_parts:Sums", judge=MathJudge(tolerance=1e-9))
    report = check_env("acme/Strict-v0")
    assert report.ok, said(report)
    assert "cannot be written as JSON" in said(report, "note")
    reasonenv.register("acme/Layout-v0", "env_parts:Sums", layout={"reasoning": None})
    assert "spec" not in said(check_env("acme/Layout-v0"), "note")


def test_the_state_of_what_is_checked_and_of_the_world_stays_as_it_was():
    env = Sums()
    env.reset(seed=3)
    asked = env._problem
    np.random.seed(1)
    random.seed(1)
    before = np.random.get_state()[1].tolist(), random.getstate()
    check_env(env)
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before
    assert env._problem is asked
    assert env.on_unscored == "raise"


def test_what_cannot_be_checked_is_an_error_at_once():
    with pytest.raises(UnknownEnvError):
        check_env("acme/Nope-v0")
    with pytest.raises(TypeError, match="CartPoleEnv is no ReasoningEnv"):
        check_env(gymnasium.make("CartPole-v1"))
    with pytest.raises(TypeError, match="split: arguments of an environment that is made already"):
        check_env(Sums(), split="test")
