"""Scoring rollouts of several groups at once, in the order in which they came."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Floats, Reward, RewardContext, Scores
from reasonenv.types import FrozenDict, Judged

__all__ = ["score_groups"]


def score_groups(
    reward: Reward, judged: Sequence[Judged], context: RewardContext | None = None
) -> Scores:
    """Score rollouts of any number of complete groups.

    Args:
        reward: scores one group at a time.
        judged: N rollouts; those with the same `group_id` form a group, wherever they stand.
        context: where in training they were sampled.

    Returns:
        Scores of shape (N,), in the order of `judged`.

    Raises:
        RewardError: a term misbehaves (see `Reward.__call__`), or a term that compares the
            members of a group would compare answers to different problems.
    """
    groups: dict[str, list[int]] = {}
    for i, one in enumerate(judged):
        groups.setdefault(one.rollout.group_id, []).append(i)
    if reward.needs_group:
        for name, members in groups.items():
            ids = {judged[i].rollout.problem.id for i in members}
            if len(ids) > 1:
                raise RewardError(
                    f"the group {name!r} holds rollouts of {len(ids)} problems, and "
                    f"{reward!r} compares its members: give each draw of a problem its own "
                    "Rollout(group_id=...)"
                )
    slow = [leaf for leaf in reward.leaves() if leaf.can_fail]
    if slow:
        evidence = [one for one in judged if one.verdict.status.is_evidence]
        for leaf in slow:
            leaf.prepare(evidence, context or RewardContext())
    scored = {
        name: reward([judged[i] for i in members], context) for name, members in groups.items()
    }

    def join(pieces: dict[str, Floats]) -> Floats:
        whole = np.full(len(judged), np.nan)
        for name, members in groups.items():
            whole[members] = pieces[name]
        return whole

    def join_named(field: str) -> FrozenDict:
        names = getattr(next(iter(scored.values())), field) if scored else {}
        return FrozenDict(
            {n: join({g: getattr(s, field)[n] for g, s in scored.items()}) for n in names}
        )

    return Scores(
        solved=join({g: s.solved for g, s in scored.items()}),
        terms=join_named("terms"),
        parts=join_named("parts"),
        total=join({g: s.total for g, s in scored.items()}),
    )
