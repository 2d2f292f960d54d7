"""Our environments as tasks of the installed verifiers package."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

import reasonenv
from reasonenv import Problem, Status, Verdict
from reasonenv.errors import EvaluationError, GroupRequiredError

vf = pytest.importorskip("verifiers.v1", reason="verifiers is not installed")

from reasonenv.integrations.verifiers import ReasonEnvConfig, ReasonEnvTaskset  # noqa: E402

ARGS = {"size": 4, "layout": {"reasoning": None, "instruction": ""}}


def taskset(env: str = "reasonenv/Arithmetic-v0", **fields: Any) -> Any:
    return ReasonEnvTaskset(ReasonEnvConfig(env=env, **fields))


def traced(task: Any, reply: str) -> Any:
    from verifiers.v1.configs.agent import AgentConfig

    trace = vf.Trace(
        task=vf.TraceTask(type="ReasonEnvTask", data=task.data),
        agent=vf.AgentInfo(name="agent", config=AgentConfig(model="none")),
    )
    trace.root_reply = reply
    return trace


def scored(task: Any, reply: str) -> Any:
    trace = traced(task, reply)
    asyncio.run(task.score(trace))
    return trace


def test_a_task_carries_prompt_and_id_and_no_gold() -> None:
    tasks = list(taskset(split="test", env_args=ARGS))
    assert [task.data.idx for task in tasks] == [0, 1, 2, 3]
    env = reasonenv.make("reasonenv/Arithmetic-v0", split="test", **ARGS)
    for task in tasks:
        problem = env.problems.find(task.data.id)
        assert task.data.prompt_text == problem.prompt
        assert str(problem.answer) not in task.data.model_dump_json().replace(task.data.id, "")


def test_verifiers_own_scoring_gives_the_environments_reward() -> None:
    task = next(iter(taskset(split="test", env_args=ARGS)))
    gold = str(task.problem.answer)
    right = scored(task, f"<answer>{gold}</answer>")
    assert right.rewards["reward"].value == pytest.approx(1.1)
    assert right.metrics["solved"] == 1.0
    assert right.metrics["parts/format"] == pytest.approx(0.1)
    wrong = scored(task, f"<answer>{gold}9</answer>")
    assert wrong.rewards["reward"].value == pytest.approx(0.1)
    assert wrong.metrics["solved"] == 0.0


class Failing:
    def __call__(self, problem: Problem, completion: str) -> Verdict:
        return Verdict(Status.SANDBOX_UNAVAILABLE)


def test_a_checker_that_fails_leaves_the_rollout_without_a_reward() -> None:
    reasonenv.register("integrated/Broken-v0", problems=[Problem("1+1=", "2")], judge=Failing())
    task = next(iter(taskset("integrated/Broken-v0")))
    trace = traced(task, "2")
    with pytest.raises(vf.TaskError, match="sandbox_unavailable"):
        asyncio.run(task.score(trace))
    assert trace.rewards == {"reward": None}


def test_verifiers_loads_it_by_the_name_of_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_sums.py").write_text(
        "from reasonenv.integrations.verifiers import ReasonEnvTaskset\n"
        "__all__ = ['ReasonEnvTaskset']\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    config = ReasonEnvConfig(id="my-sums", env="reasonenv/Arithmetic-v0", env_args=ARGS)
    loaded = vf.load_taskset(config)
    assert len(list(loaded)) == 4
    assert vf.task_type("my-sums").__name__ == "ReasonEnvTask"
    assert vf.taskset_config_type("my-sums") is ReasonEnvConfig
    sys.modules.pop("my_sums", None)


def test_what_verifiers_cannot_do_is_refused() -> None:
    with pytest.raises(EvaluationError, match="which environment"):
        list(taskset(""))
    with pytest.raises(GroupRequiredError, match="scored alone"):
        list(taskset(env_args={"reward": "Correct() + 0.1 * ShortestCorrect()"}))
