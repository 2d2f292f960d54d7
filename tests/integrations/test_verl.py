"""verl's reward function: its signature, its own loader and reward manager, and what it refuses."""

from __future__ import annotations

import inspect
import json

import pytest

import reasonenv
from reasonenv import Problem, Status, Verdict
from reasonenv.errors import CheckerFailedError, DataError, GroupRequiredError
from reasonenv.integrations.verl import compute_score, rows

ARITHMETIC = {"size": 5, "layout": {"reasoning": None, "instruction": ""}}


def test_a_row_holds_what_verl_reads_and_no_gold() -> None:
    found = list(rows("reasonenv/Arithmetic-v0", split="test", **ARITHMETIC))
    assert len(found) == 5
    env = reasonenv.make("reasonenv/Arithmetic-v0", split="test", **ARITHMETIC)
    for row in found:
        assert set(row) == {"data_source", "prompt", "ability", "reward_model", "extra_info"}
        problem = env.problems.find(row["reward_model"]["ground_truth"])
        assert row["prompt"] == [{"role": "user", "content": problem.prompt}]
        json.dumps(row)


def test_the_reward_is_the_environments_own() -> None:
    env = reasonenv.make("reasonenv/Arithmetic-v0", split="test", **ARITHMETIC)
    for row in rows("reasonenv/Arithmetic-v0", split="test", **ARITHMETIC):
        problem = env.problems.find(row["reward_model"]["ground_truth"])
        gold, given = str(problem.answer), (row["reward_model"]["ground_truth"], row["extra_info"])
        right = compute_score(row["data_source"], f"<answer>{gold}</answer>", *given)
        assert right == {"score": 1.1, "acc": 1.0, "status": "correct"}
        wrong = compute_score(row["data_source"], f"<answer>{gold}1</answer>", *given)
        assert wrong == {"score": 0.1, "acc": 0.0, "status": "incorrect"}


class Failing:
    def __call__(self, problem: Problem, completion: str) -> Verdict:
        return Verdict(Status.CHECKER_TIMEOUT)


def test_a_checker_that_fails_is_no_wrong_answer_unless_that_is_asked_for() -> None:
    problem = Problem("1+1=", "2")
    reasonenv.register("integrated/Failing-v0", problems=[problem], judge=Failing())
    with pytest.raises(CheckerFailedError, match=r"reward_kwargs\.unscored"):
        compute_score("integrated/Failing-v0", "2", problem.id)
    asked = compute_score("integrated/Failing-v0", "2", problem.id, unscored=0.0)
    assert asked == {"score": 0.0, "acc": 0.0, "status": "checker_timeout"}


def test_what_verl_cannot_do_is_refused() -> None:
    row = next(rows("reasonenv/Arithmetic-v0", split="test", **ARITHMETIC))
    args = json.dumps({"split": "test", "reward": "Correct() + 0.1 * ShortestCorrect()"})
    with pytest.raises(GroupRequiredError, match="one answer at a time"):
        compute_score(row["data_source"], "2", "x", {"env_args": args})
    with pytest.raises(DataError, match="env_args"):
        compute_score(row["data_source"], "2", "x", {"env_args": "{"})
    with pytest.raises(DataError, match="id"):
        compute_score(row["data_source"], "2", "no-such-id", row["extra_info"])


def test_the_signature_is_the_one_that_verl_documents() -> None:
    names = list(inspect.signature(compute_score).parameters)
    assert names[:4] == ["data_source", "solution_str", "ground_truth", "extra_info"]


def test_verls_own_loader_finds_and_calls_it() -> None:
    pytest.importorskip("verl")
    from omegaconf import OmegaConf
    from verl.utils.import_utils import load_extern_object
    from verl.utils.reward_score import default_compute_score

    ours = list(inspect.signature(compute_score).parameters)[:4]
    assert ours == list(inspect.signature(default_compute_score).parameters)[:4]
    loaded = load_extern_object("pkg://reasonenv.integrations.verl", "compute_score")
    row = next(rows("reasonenv/Arithmetic-v0", split="test", **ARITHMETIC))
    config = OmegaConf.create({"unscored": 0.5})
    score = loaded(
        data_source=row["data_source"],
        solution_str="",
        ground_truth=row["reward_model"]["ground_truth"],
        extra_info={**row["extra_info"], "num_turns": None, "rollout_reward_scores": {}},
        **config,
    )
    assert score == {"score": 0.0, "acc": 0.0, "status": "no_answer"}
