"""Our environments as tasks of verifiers: `ReasonEnvTaskset`, a taskset of its v1.

verifiers finds a taskset by the name of a top-level module; two lines make one:

    # my_sums.py, on the path
    from reasonenv.integrations.verifiers import ReasonEnvTaskset
    __all__ = ["ReasonEnvTaskset"]

    eval my_sums --env.taskset.env reasonenv/GSM8K-v0 --env.taskset.split test

Importing this module needs verifiers 0.4 or later (`pip install "reasonenv[verifiers]"`). A checker
that fails raises, which verifiers records as an error of the task: a rollout without a reward, not
a wrong one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from pydantic import Field

from reasonenv.envs.core import ReasoningEnv
from reasonenv.envs.registration import make
from reasonenv.errors import CheckerFailedError, EvaluationError, GroupRequiredError
from reasonenv.extras import need
from reasonenv.problems import iterate
from reasonenv.types import Problem, Rollout

need("verifiers.v1", extra="verifiers", by="reasonenv.integrations.verifiers")
import verifiers.v1 as vf  # noqa: E402

__all__ = ["ReasonEnvConfig", "ReasonEnvData", "ReasonEnvTask", "ReasonEnvTaskset"]


class ReasonEnvConfig(vf.TasksetConfig):
    """Which environment, and how it is made."""

    env: str = ""
    """An ENV argument: `id`, `module:id` or `path/to/file.py:id`."""
    split: str = "train"
    env_args: dict[str, Any] = Field(default_factory=dict)


class ReasonEnvData(vf.TaskData):
    """A problem as verifiers stores it: its prompt and id; no gold."""


class ReasonEnvTask(vf.Task[ReasonEnvData]):
    """One problem: its reward is the environment's composed one, `solved` a metric beside it."""

    problem: Problem
    env: ReasoningEnv

    @vf.reward  # type: ignore[untyped-decorator]
    async def reward(self, trace: vf.Trace) -> float:
        """Return the composed reward of the last reply."""
        rollout = Rollout(self.problem, trace.last_reply)
        [judged] = await asyncio.to_thread(self.env.judge, [rollout])
        if not judged.verdict.status.is_evidence:
            raise CheckerFailedError(
                f"problem {self.problem.id}: the checker failed ({judged.verdict.status}): "
                f"{dict(judged.verdict.detail)}"
            )
        scores = self.env.score([judged])
        trace.record_metric("solved", float(scores.solved[0]))
        for name, values in scores.parts.items():
            trace.record_metric(f"parts/{name}", float(values[0]))
        return float(scores.total[0])


class ReasonEnvTaskset(vf.Taskset[ReasonEnvTask, ReasonEnvConfig]):
    """The problems of one of our environments."""

    def load(self) -> Iterator[ReasonEnvTask]:
        """Yield a task for each problem.

        Raises:
            EvaluationError: the config names no environment.
            GroupRequiredError: the reward compares the members of a group.
        """
        if not self.config.env:
            raise EvaluationError(
                "which environment? set the taskset's `env` (--env.taskset.env reasonenv/GSM8K-v0)"
            )
        env = make(self.config.env, split=self.config.split, **self.config.env_args)
        if env.reward.needs_group:
            raise GroupRequiredError(
                f"{env.reward!r} compares the members of a group, and a task of verifiers is "
                "scored alone: leave such terms out"
            )
        for problem in iterate(env.problems):
            yield _task(env, problem, self.config.task)


def _task(env: ReasoningEnv, problem: Problem, config: Any) -> ReasonEnvTask:
    messages = env.prompt_messages(problem)
    kinds = {"user": vf.UserMessage, "assistant": vf.AssistantMessage}
    systems = [message["content"] for message in messages if message["role"] == "system"]
    data = ReasonEnvData(
        id=problem.id,
        prompt=[kinds[m["role"]](content=m["content"]) for m in messages if m["role"] in kinds],
        system_prompt="\n\n".join(systems) or None,
    )
    task = ReasonEnvTask(data, config)
    task.problem, task.env = problem, env
    return task
