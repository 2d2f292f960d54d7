"""An environment and a reward in plain TRL: `reward_function`, and `prompt_rows` for the data set.

    env = reasonenv.make("reasonenv/GSM8K-v0")
    trainer = GRPOTrainer(
        model=...,
        args=GRPOConfig(num_generations=8, ...),
        reward_funcs=reward_function(env, group_size=8),
        train_dataset=Dataset.from_list(prompt_rows(env)),
    )

What `GRPOLearner` does beside this and TRL's trainer does not: the loss mask of members that could
not be judged (here TRL only leaves them out of the group's statistics), state, schedules by the
run's own steps on resume, tags that are special tokens (TRL's decoding drops them), stored
verdicts.
The other way round, a reward function in TRL's form becomes a term by `reasonenv.rewards.from_trl`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reasonenv.envs.core import ReasoningEnv
from reasonenv.errors import RewardError
from reasonenv.rewards import Reward, RewardContext, check_turns, from_config, score_groups
from reasonenv.types import Rollout

__all__ = ["prompt_rows", "reward_function"]

RewardFunction = Callable[..., list[float | None]]


def prompt_rows(
    env: ReasoningEnv, count: int | None = None, *, conversational: bool = True
) -> list[dict[str, Any]]:
    """Return rows for a data set of TRL: `prompt` and `problem_id`, and no gold.

    Args:
        env: whose problems.
        count: the first so many of them; None: all.
        conversational: prompts as messages, for a model with a chat template; else as texts.
    """
    size = len(env.problems) if count is None else min(count, len(env.problems))
    rows = []
    for i in range(size):
        problem = env.problems[i]
        messages = [dict(message) for message in env.prompt_messages(problem)]
        prompt: Any = messages if conversational else env.prompt_text(problem)
        rows.append({"prompt": prompt, "problem_id": problem.id})
    return rows


def reward_function(
    env: ReasoningEnv,
    reward: Reward | str | dict[str, Any] | None = None,
    *,
    group_size: int | None = None,
    max_tokens: int | None = None,
    prefill: str = "",
) -> RewardFunction:
    """Return a reward function for `trl.GRPOTrainer`: it judges and scores.

    The rows need the column `problem_id` (see `prompt_rows`). A completion whose checker failed
    gets None, which TRL leaves out of the group's mean and deviation. Where TRL offers
    `log_metric`, the mean of each part and of the outcome (`solved`) is logged.

    Args:
        env: finds problems and judges.
        reward: a `Reward`, a formula or a config; None: the environment's own.
        group_size: TRL's `num_generations`; needed where the reward compares a group's members.
        max_tokens: TRL's `max_completion_length`; a completion so long counts as cut off.
        prefill: what the generation prompt already opened.

    Raises:
        RewardError: a reward that needs what TRL does not give: state, turns, or whole groups.
    """
    composed = env.reward if reward is None else from_config(reward)
    check_turns(composed, max_turns=env.max_turns, turn_level=False)
    if composed.init_state():
        raise RewardError(
            f"{composed!r} remembers what happened in training ({', '.join(composed.init_state())})"
            ", which nobody keeps for it in plain TRL: use reasonenv.GRPOLearner, or a Scheduled"
        )
    if composed.needs_group and group_size is None:
        raise RewardError(
            f"{composed!r} compares the members of a group: give group_size=, TRL's num_generations"
        )

    def reasonenv_reward(
        completions: Sequence[Any],
        problem_id: Sequence[str] | None = None,
        completion_ids: Sequence[Sequence[int]] | None = None,
        trainer_state: Any = None,
        log_metric: Callable[[str, float], None] | None = None,
        **_: Any,
    ) -> list[float | None]:
        if problem_id is None:
            raise RewardError(
                "the data set has no column `problem_id`: make its rows with "
                "reasonenv.integrations.trl.prompt_rows(env)"
            )
        step = int(getattr(trainer_state, "global_step", 0) or 0)
        total_steps = int(getattr(trainer_state, "max_steps", 0) or 0)
        groups = _group_ids(problem_id, group_size, composed)
        lengths = [len(ids) for ids in completion_ids or ()]
        rollouts = []
        for i, completion in enumerate(completions):
            length = lengths[i] if lengths else None
            rollouts.append(
                Rollout(
                    env.problems.find(problem_id[i]),
                    _text(completion),
                    f"{step}-{groups[i]}",
                    prefill=prefill,
                    n_tokens=length,
                    truncated=bool(max_tokens and length and length >= max_tokens),
                    step=step,
                )
            )
        judged = env.judge(rollouts)
        scores = score_groups(composed, judged, RewardContext(step, total_steps))
        if log_metric is not None:
            for name, values in {"solved": scores.solved, **scores.parts}.items():
                if not np.isnan(values).all():
                    log_metric(f"reasonenv/{name}", float(np.nanmean(values)))
        return [None if np.isnan(value) else float(value) for value in scores.total]

    return reasonenv_reward


def _text(completion: Any) -> str:
    """Return a completion's text: TRL gives a text, or a list of messages."""
    if isinstance(completion, str):
        return completion
    return "".join(
        str(message.get("content") or "")
        for message in completion
        if message.get("role") == "assistant"
    )


def _group_ids(problem_ids: Sequence[str], size: int | None, reward: Reward) -> list[int]:
    """Return which group each row belongs to: `size` rows that stand together."""
    if size is None:
        return list(range(len(problem_ids)))
    blocks = [problem_ids[i : i + size] for i in range(0, len(problem_ids), size)]
    whole = all(len(block) == size and len(set(block)) == 1 for block in blocks)
    if reward.needs_group and not whole:
        raise RewardError(
            f"a call of {len(problem_ids)} rows holds no whole number of groups of {size}: make "
            "per_device_train_batch_size x steps_per_generation a multiple of num_generations "
            "(and num_generations_eval equal to it)"
        )
    return [i // size for i in range(len(problem_ids))]
