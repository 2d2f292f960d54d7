"""Scoring rollouts of several groups at once, in the order in which they came."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Floats, Reward, RewardContext, Scores
from reasonenv.types import Judged

__all__ = ["comparing", "score_groups"]


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
    context = context or RewardContext()
    scored = reward.scored(judged, context)
    members = [judged[i] for i in scored]
    if not reward.needs_group:  # then it matters to nobody who is in which group
        return reward.spread(judged, scored, *reward.combine(members, context, {}))
    groups = _groups(reward, judged)
    place = {i: n for n, i in enumerate(scored)}
    measured: dict[str, Floats] = {}
    if members:  # what compares nobody is measured on all groups at once
        for leaf in _independent(reward):
            reward.measure_leaf(leaf, members, context, measured)
    terms: dict[str, Floats] = {}
    parts: dict[str, Floats] = {}
    turns: list[Floats] = [np.zeros(0)] * len(scored)
    for indices in groups.values():
        at = [place[i] for i in indices if i in place]
        if not at:
            continue
        known = {name: values[at] for name, values in measured.items()}
        found = reward.combine([members[n] for n in at], context, known)
        for whole, piece in ((terms, found[0]), (parts, found[1])):
            for name, values in piece.items():
                whole.setdefault(name, np.empty(len(scored)))[at] = values
        for n, values in zip(at, found[2] or (), strict=False):
            turns[n] = values
    if not members:
        terms, parts, _ = reward.combine([], context, {})
    return reward.spread(judged, scored, terms, parts, turns)


def comparing(reward: Reward) -> str:
    """Return which node of a reward compares the members of a group, and where it stands.

    >>> from reasonenv.rewards import Correct, ShortestCorrect
    >>> comparing(Correct() + 0.5 * ShortestCorrect())
    "the term 'shortest_correct' (in `0.5 * ShortestCorrect()`, part 2 of 2 of the reward)"
    """
    parts = reward.addends()
    for number, part in enumerate(parts, 1):
        for node in part.walk():
            below = frozenset().union(*(child.needs for child in node.children()))
            if "group" in node.needs - below:
                name = f"the term {node.label!r}" if not node.children() else f"`{node!r}`"
                return f"{name} (in `{part!r}`, part {number} of {len(parts)} of the reward)"
    return repr(reward)


def _groups(reward: Reward, judged: Sequence[Judged]) -> dict[str, list[int]]:
    """Return which members form each group; all of one problem, as they will be compared."""
    groups: dict[str, list[int]] = {}
    for i, one in enumerate(judged):
        groups.setdefault(one.rollout.group_id, []).append(i)
    for name, members in groups.items():
        ids = {judged[i].rollout.problem.id for i in members}
        if len(ids) > 1:
            raise RewardError(
                f"the group {name!r} holds rollouts of {len(ids)} problems, and "
                f"{reward!r} compares its members: give each draw of a problem its own "
                "Rollout(group_id=...)"
            )
    return groups


def _independent(reward: Reward) -> list[Reward]:
    """Return the leaves that are measured on rollouts as they stand, and compare nobody."""
    from reasonenv.rewards.shaping import PotentialBased

    states = {id(node.phi) for node in reward.walk() if isinstance(node, PotentialBased)}
    return [
        leaf for leaf in reward.leaves() if "group" not in leaf.needs and id(leaf) not in states
    ]
