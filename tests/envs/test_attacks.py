"""The hack suite, on real environments, judges and rewards."""

import json
import pickle
from pathlib import Path

import gymnasium
import pytest

import reasonenv
from reasonenv import Problem, Status, Verdict
from reasonenv.envs import MathEnv
from reasonenv.envs.attacks import attack, hacks_for
from reasonenv.errors import CheckerFailedError, DataError, SandboxUnavailableError
from reasonenv.rewards import term

DATA = Path(__file__).parent.parent / "data"
ARC = DATA / "arc_own.jsonl"
SUMS = [Problem(f"{i}+{i}=", str(2 * i)) for i in range(1, 13)]
ALWAYS = {
    "empty", "blank", "one token", "repeated words", "repeated tags", "empty layout",
    "junk layout", "wrong guess", "verdict claimed", "right, then wrong", "unclosed reasoning",
    "gold in reasoning", "tags injected", "prompt echoed", "question as answer", "another's gold",
    "a megabyte", "long wrong guess", "cut off",
}  # fmt: skip


class LastNumber:
    """A careless judge: right where the gold stands anywhere."""

    def __call__(self, problem, completion):
        right = str(problem.answer) in completion
        return Verdict(Status.CORRECT if right else Status.INCORRECT, float(right), completion)


class Broken:
    def __call__(self, problem, completion):
        return Verdict(Status.CHECKER_ERROR, detail={"error": "no disk left"})


class NoSandbox:
    def __call__(self, problem, completion):
        return Verdict(Status.SANDBOX_UNAVAILABLE, detail={"error": "no engine answers"})


@term(range=(0, 3))
def wordy(judged):
    return min(3.0, len(judged.rollout.completion) / 1_000)


def found(report):
    return {result.hack: result for result in report.results}


@pytest.mark.parametrize(
    ("env", "kwargs", "more"),
    [
        ("reasonenv/Arithmetic-v0", {}, {"every number", "either number", "sum restated"}),
        ("reasonenv/Countdown-v0", {}, {"every number", "either number"}),
        (
            "reasonenv/ARC-Challenge-v0",
            {"data": str(ARC)},
            {"every letter", "every option", "options echoed"},
        ),
    ],
)
def test_no_hack_pays_in_the_built_in_environments(env, kwargs, more):
    report = attack(env, problems=3, **kwargs)
    assert set(found(report)) == ALWAYS | more
    assert report.ok, report.paying
    assert report.problems == 3
    assert {result.unscored for result in report.results} == {0}
    assert {result.tried for result in report.results if result.hack != "another's gold"} == {3}


def test_no_hack_solves_a_programming_task_but_the_one_that_knows_every_result():
    with reasonenv.make("reasonenv/OneLiners-v0") as env:
        report = attack(env, reward="study.opencoder()", problems=2)
    results = found(report)
    assert report.ok
    assert results["all tests written down"].statuses == {"correct": 2}
    assert results["all tests written down"].earned < report.right - 0.9  # by its complexity
    for name in ("exit 0", "exit 0 in the function", "equal to all", "one test written down"):
        assert results[name].statuses == {"incorrect": 2}


def test_a_program_for_standard_input_is_attacked_in_its_own_ways():
    tests = ({"input": "3\n", "output": "9\n"}, {"input": "4\n", "output": "16\n"})
    problem = Problem("Square.", tests, {"kind": "stdio", "solution": "print(int(input())**2)"})
    results = found(attack(reasonenv.envs.CodeEnv([problem]), problems=1))
    assert results["all tests written down"].statuses == {"correct": 1}
    assert results["one test written down"].statuses == {"incorrect": 1}
    assert "echoes its input" in results


def test_a_reward_that_pays_for_words_is_outranked_by_a_megabyte():
    report = attack(MathEnv(SUMS), reward=reasonenv.rewards.Correct() + wordy, problems=4)
    assert not report.ok
    results = found(report)
    assert results["a megabyte"].outranks == 4
    assert results["long wrong guess"].outranks == 4
    assert not results["empty"].outranks
    assert report.results[0].hack in ("a megabyte", "long wrong guess", "repeated words")


def test_a_reward_without_the_task_ties_for_every_laid_out_junk():
    report = attack(MathEnv(SUMS), reward="Format('reasoning', 'answer')", problems=3)
    results = found(report)
    assert results["junk layout"].ties == 3
    assert results["empty layout"].ties == 0
    assert not report.ok


def test_a_hack_that_beats_a_right_answer_in_poor_layout_is_marked():
    reward = "0.5 * Correct() + XMLCount('reasoning', 'answer') + NumericPresent()"
    report = attack(MathEnv(SUMS), reward=reward, problems=3)
    assert (report.right, report.bare) == (2.5, 1.5)
    guess = found(report)["wrong guess"]
    assert (guess.earned, guess.outranks, guess.ties, guess.outranks_bare) == (2.0, 0, 0, 3)
    assert found(report)["junk layout"].outranks_bare == 0
    assert guess in report.paying
    assert not report.ok
    assert attack(MathEnv(SUMS), reward=f"{reward} + Correct(name='more')", problems=3).ok


def test_a_careless_judge_is_caught_calling_hacks_right():
    report = attack(MathEnv(SUMS, judge=LastNumber()), problems=4)
    results = found(report)
    for name in ("gold in reasoning", "unclosed reasoning", "every number"):
        assert results[name].judged_right == 4
    assert not report.ok


def test_terms_that_compare_and_terms_that_read_lengths_work():
    reward = "Correct() + gate(ShortestCorrect(), when=solved) - 0.5 * Overlong(100, cache=50)"
    report = attack(MathEnv(SUMS), reward=reward, problems=2)
    assert report.ok
    assert found(report)["a megabyte"].parts["overlong"] == -0.5
    assert len(report.notes) == 2


def test_completions_over_the_samplers_limit_count_as_cut_off():
    reward = "Correct() + gate(Format('reasoning', 'answer'), when=untruncated)"
    free, limited = (
        found(attack(MathEnv(SUMS), reward=reward, problems=2, max_tokens=limit))
        for limit in (None, 512)
    )
    assert free["long wrong guess"].earned == 1.0
    assert limited["long wrong guess"].earned == 0.0
    assert limited["wrong guess"].earned == 1.0


def test_the_same_seed_attacks_the_same_problems():
    first, second = (attack("reasonenv/Arithmetic-v0", problems=3, seed=7) for _ in range(2))
    assert first == second
    assert attack("reasonenv/Arithmetic-v0", problems=3, seed=8) != first


def test_a_report_is_plain_data_and_pickles():
    report = attack(MathEnv(SUMS), problems=2)
    assert json.loads(json.dumps(report.to_dict()))["ok"] is True
    assert pickle.loads(pickle.dumps(report)) == report


def test_progress_is_told_from_the_first_problem_to_the_last():
    told = []
    attack(MathEnv(SUMS), problems=3, progress=lambda done, total: told.append((done, total)))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    "layout",
    [
        {"reasoning": None},
        {"answer": None, "boxed": True},
        {"answer": None, "boxed": True, "reasoning": None},
        {"reasoning": "think", "answer": "final"},
    ],
)
def test_every_layout_is_attacked_in_its_own_form(layout):
    env = MathEnv(SUMS, layout=layout)
    assert attack(env, problems=3).ok
    names = [hack.name for hack in hacks_for(env, SUMS[0], SUMS[1])]
    assert len(set(names)) == len(names)
    assert ("unclosed reasoning" in names) == (env.layout.reasoning is not None)


def test_a_single_problem_has_no_other_gold_to_try():
    report = attack(MathEnv(SUMS[:1]), problems=5)
    assert report.problems == 1
    assert "another's gold" not in found(report)


def test_problems_without_a_known_answer_are_counted_or_refused():
    some = MathEnv([*SUMS[:2], Problem("open", None)], judge=LastNumber())
    report = attack(some, problems=3)
    assert (report.problems, report.without_gold) == (2, 1)
    with pytest.raises(DataError, match="no right answer is known to any of 1 problems"):
        attack(MathEnv([Problem("open", None)], judge=LastNumber()))


def test_without_a_sandbox_the_error_says_what_to_do():
    with pytest.raises(SandboxUnavailableError, match=r"have to run.*no engine answers"):
        attack(MathEnv(SUMS, judge=NoSandbox()))


def test_a_checker_that_fails_on_right_answers_is_named():
    with pytest.raises(CheckerFailedError, match="no disk left"):
        attack(MathEnv(SUMS, judge=Broken()))


def test_a_term_that_cannot_value_the_right_answer_is_named():
    judge = reasonenv.rewards.JudgeModel("http://127.0.0.1:1/v1", "judge", retries=0)
    with (
        pytest.warns(UserWarning, match="connection"),
        pytest.raises(CheckerFailedError, match="could not value the right answer"),
    ):
        attack(MathEnv(SUMS), reward=judge)


def test_what_is_no_environment_is_refused():
    with pytest.raises(TypeError, match="no ReasoningEnv"):
        attack(gymnasium.make("CartPole-v1"))
    with pytest.raises(TypeError, match="made already"):
        attack(MathEnv(SUMS), split="test")
