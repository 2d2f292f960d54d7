"""verl trains on our environments: `rows` writes its data, `compute_score` is its reward.

In verl's configuration:

    custom_reward_function.path=pkg://reasonenv.integrations.verl   (or this file's path)
    custom_reward_function.name=compute_score

The signature is verl's `compute_score(data_source, solution_str, ground_truth, extra_info)`, as of
verl 0.9. verl decodes completions without special tokens, so tags that are special tokens
of the model are lost before they come here. Nothing of verl is imported.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from reasonenv.envs.core import ReasoningEnv
from reasonenv.envs.registration import make
from reasonenv.errors import CheckerFailedError, DataError, GroupRequiredError
from reasonenv.problems import iterate
from reasonenv.types import Judged, Rollout

__all__ = ["compute_score", "rows"]

_TRIES = 3  # a checker that fails is asked so often before it counts as failed


def rows(env: str, *, split: str = "train", **env_args: Any) -> Iterator[dict[str, Any]]:
    """Yield an environment's problems as the rows that verl's parquet files hold.

    No gold leaves the environment: `ground_truth` is the problem's id, by which `compute_score`
    finds the problem again.

    Args:
        env: an ENV argument: `id`, `module:id` or `path/to/file.py:id`.
        split: of its problems.
        env_args: its further arguments, as plain data.

    Raises:
        ReasonEnvError: it cannot be made.
    """
    made = make(env, split=split, **env_args)
    arguments = json.dumps({"split": split, **env_args}, sort_keys=True)
    for index, problem in enumerate(iterate(made.problems)):
        yield {
            "data_source": env,
            "prompt": [dict(message) for message in made.prompt_messages(problem)],
            "ability": made.kind,
            "reward_model": {"style": "rule", "ground_truth": problem.id},
            "extra_info": {"split": split, "index": index, "env_args": arguments},
        }


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    *,
    unscored: float | None = None,
    **_: Any,
) -> dict[str, Any]:
    """Return what verl takes: the composed reward as `score`, the outcome as `acc`, the status.

    verl cannot leave a member out of its group, so a checker that failed has no true value there.

    Args:
        data_source: the ENV argument that `rows` wrote.
        solution_str: the completion.
        ground_truth: the problem's id.
        extra_info: what `rows` wrote beside it.
        unscored: the reward where the checker failed, tried again (`custom_reward_function.
            reward_kwargs.unscored`); None raises.

    Raises:
        CheckerFailedError: the checker failed, and no `unscored` was given.
        DataError: the environment has no such problem.
        GroupRequiredError: the reward compares the members of a group; verl scores one by one.
    """
    given = (extra_info or {}).get("env_args") or "{}"
    env = _env(data_source, given)
    problem = env.problems.find(ground_truth)
    judged = _judged(env, Rollout(problem, solution_str))
    if not judged.verdict.status.is_evidence:
        if unscored is None:
            raise CheckerFailedError(
                f"problem {problem.id}: the checker failed ({judged.verdict.status}), which says "
                f"nothing about the answer: {dict(judged.verdict.detail)}; mend it, or set "
                "custom_reward_function.reward_kwargs.unscored to the reward that such answers get"
            )
        return {"score": float(unscored), "acc": 0.0, "status": str(judged.verdict.status)}
    scores = env.score([judged])
    return {
        "score": float(scores.total[0]),
        "acc": float(scores.solved[0]),
        "status": str(judged.verdict.status),
    }


def _judged(env: ReasoningEnv, rollout: Rollout) -> Judged:
    for _ in range(_TRIES):
        [judged] = env.judge([rollout])
        if judged.verdict.status.is_evidence:
            break
    return judged


@lru_cache(maxsize=16)
def _env(data_source: str, arguments: str) -> ReasoningEnv:
    try:
        given = json.loads(arguments)
        env = make(data_source, **given)
    except (ValueError, TypeError) as error:
        raise DataError(f"{data_source}: extra_info.env_args {arguments!r}: {error}") from error
    if env.reward.needs_group:
        raise GroupRequiredError(
            f"{env.reward!r} compares the members of a group, and verl scores one answer at a "
            "time: leave such terms out, or train with reasonenv"
        )
    return env
