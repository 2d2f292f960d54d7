"""reasoning_gym's data sets as environments, with the installed package."""

from __future__ import annotations

import pickle

import pytest

import reasonenv
from reasonenv import Status
from reasonenv.errors import DataError

gym = pytest.importorskip("reasoning_gym", reason="reasoning_gym is not installed")

from reasonenv.integrations.reasoning_gym import ReasoningGymProblems  # noqa: E402

ENV = "reasonenv.integrations.reasoning_gym:reasoning_gym/chain_sum-v0"


def test_any_data_set_is_an_environment_by_its_name() -> None:
    env = reasonenv.make(ENV, size=20)
    problem = env.problems[3]
    item = gym.create_dataset("chain_sum", seed=0, size=20)[3]
    assert (problem.prompt, problem.answer) == (item["question"], item["answer"])
    assert env.problems.find(problem.id) == problem
    observation, info = env.reset(seed=4)
    assert "<answer>" in observation
    gold = env.gold_completion(env.problems.find(info["problem_id"]))
    assert gold is not None
    _, reward, terminated, _, info = env.step(gold)
    assert terminated
    assert reward == pytest.approx(1.1)
    assert info["verdict"].status is Status.CORRECT


def test_it_holds_the_contract_of_an_environment() -> None:
    report = reasonenv.check_env(ENV, problems=5, size=30)
    assert report.ok, [finding.message for finding in report.of("error")]


def test_partial_scores_are_kept_and_are_not_right() -> None:
    env = reasonenv.make(ENV, size=5)
    problem = env.problems[0]
    verdict = env.judge_one(problem, f"<answer>it is {problem.answer}</answer>")
    assert verdict.status is Status.INCORRECT
    assert 0 < verdict.score < 1
    assert env.judge_one(problem, "no answer at all").status is Status.NO_ANSWER


def test_problems_are_the_same_anywhere_and_splits_do_not_meet() -> None:
    train = ReasoningGymProblems("basic_arithmetic", size=50)
    test = ReasoningGymProblems("basic_arithmetic", split="test", size=50)
    again = pickle.loads(pickle.dumps(train))
    assert [again[i] for i in range(50)] == [train[i] for i in range(50)]
    assert not {train[i].id for i in range(50)} & {test[i].id for i in range(50)}
    assert train[-1] == train[49]
    with pytest.raises(IndexError):
        train[50]
    with pytest.raises(DataError, match="no problem has the id"):
        train.find(test[0].id)


def test_a_config_reaches_the_data_set() -> None:
    env = reasonenv.make(ENV, size=5, config={"min_terms": 2, "max_terms": 2})
    assert all(env.problems[i].prompt.count("+") + env.problems[i].prompt.count("-") <= 3
               for i in range(5))  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"dataset": "chain_sums"}, "did you mean `chain_sum`"),
        ({"dataset": "chain_sum", "split": "valid"}, "splits are"),
        ({"dataset": "chain_sum", "config": {"terms": 3}}, "refuses its config"),
        ({"dataset": "chain_sum", "config": {"min_terms": -1}}, "refuses its config"),
    ],
)
def test_what_is_not_valid_is_told(fields: dict[str, object], said: str) -> None:
    with pytest.raises(DataError, match=said):
        ReasoningGymProblems(**fields)
