"""`GroupNormalized`: a node's values as deviations from its group's mean, and GDPO made of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from reasonenv.errors import RewardError
from reasonenv.rewards.algebra import Number, Scaled, add, as_node, multiply, refuse_turns
from reasonenv.rewards.base import Floats, Range, Reward, RewardContext
from reasonenv.rewards.curriculum import Curriculum, Stage
from reasonenv.rewards.gates import Gate
from reasonenv.rewards.ranges import Given
from reasonenv.rewards.scheduled import Scheduled
from reasonenv.types import Group

__all__ = ["EPSILON", "GroupNormalized", "gdpo"]

EPSILON = 1e-4
"""Added to the deviation, as TRL does."""


@dataclass(frozen=True, repr=False)
class GroupNormalized(Reward):
    """A node's values, centred on their group's mean and divided by its deviation.

    Formula, over the n scored members of a group: r_i = (x_i - mean) / (s + 1e-4), s the sample
    deviation (divisor n - 1); 0 where all are equal or n = 1. Members that are not scored are in
    neither statistic.

    Range: |r| <= (n - 1) / sqrt(n) (Samuelson 1968), below sqrt(n); unbounded unless `group_size`
    is given. A right answer is at least 0 where nothing in the group can exceed it, as for
    `Correct()`; a wrong one likewise at most 0.

    Source: the per-reward step of GDPO (arXiv 2601.05242).

    Args:
        node: what is normalised.
        group_size: the most scored members that a group has, for the range; a larger group is an
            error then.

    >>> from reasonenv.rewards import Correct
    >>> GroupNormalized(Correct(), group_size=4).range(correct=True)
    Range(low=0.0, high=1.5)
    """

    node: Reward
    group_size: int | None = None
    own_needs: ClassVar[frozenset[str]] = frozenset({"group"})

    def __post_init__(self) -> None:
        object.__setattr__(self, "node", as_node(self.node))
        size = self.group_size
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
            raise RewardError(f"GroupNormalized: group_size is a number of members, got {size!r}")
        refuse_turns(self.node, "GroupNormalized")

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return the normalised values."""
        size = len(group)
        if self.group_size is not None and size > self.group_size:
            raise RewardError(
                f"{self!r} got a group of {size}: give it the group size that is sampled"
            )
        values = self.node.values(group, context, terms)
        if size == 1 or values.max() == values.min():
            return np.zeros(size)
        return np.asarray((values - values.mean()) / (values.std(ddof=1) + EPSILON))

    def bounds(self, correct: bool, given: Given) -> Range:
        """Return the interval of deviations, cut at 0 where the node's own range says so."""
        size = self.group_size
        most = math.inf if size is None else (size - 1) / math.sqrt(size)
        own, other = self.node.bounds(correct, given), self.node.bounds(not correct, given)
        greatest = own.is_point and own.high >= other.high
        least = own.is_point and own.low <= other.low
        return Range(0.0 if greatest else -most, 0.0 if least else most)

    def children(self) -> tuple[Reward, ...]:
        """Return the normalised node."""
        return (self.node,)

    @property
    def label(self) -> str:
        """The node's own name."""
        return self.node.label

    def to_config(self) -> dict[str, Any]:
        """Return `{"group_normalized": node, "group_size": size}`."""
        return {"group_normalized": self.node.to_config(), "group_size": self.group_size}

    def __repr__(self) -> str:
        size = "" if self.group_size is None else f", group_size={self.group_size}"
        return f"GroupNormalized({self.node!r}{size})"


def gdpo(reward: Reward, group_size: int | None = None) -> Reward:
    """Return the reward with each top-level addend normalised in its group: GDPO's sum.

    Weights, schedules and a curriculum's choice stay outside the normalisation, which would undo
    them; a weight inside a gate is moved out. Constants drop out. Nodes that are normalised already
    stay as they are. With the learner's advantages scaled over the batch this is GDPO: the sum's
    mean in each group is 0, and so is the batch's.

    Source: arXiv 2601.05242; equal to TRL's `multi_objective_aggregation="normalize_then_sum"`.

    Raises:
        RewardError: a potential-based part, which no normalisation leaves one.

    >>> from reasonenv.rewards import Correct, Format
    >>> gdpo(Correct(2.0) + 0.5 * Format("answer"))
    GroupNormalized(Correct(value=2.0)) + 0.5 * GroupNormalized(Format('answer'))
    """
    refuse_turns(reward, "GDPO's normalisation")
    addends = [node for node in reward.addends() if not isinstance(node, Number)]
    total: Reward | float = 0.0
    for node in addends:
        total = add(total, _normalized(node, group_size))
    return as_node(total)


def _normalized(node: Reward, size: int | None) -> Reward:
    match node:
        case GroupNormalized():
            return node
        case Scaled(weight=weight, node=inner):
            return multiply(weight, _normalized(inner, size))
        case Scheduled(node=inner, schedule=schedule):
            return Scheduled(_normalized(inner, size), schedule)
        case Gate(node=Scaled(weight=weight, node=inner), when=when):
            return multiply(weight, _normalized(Gate(inner, when), size))
        case Curriculum(stages=stages):
            made = [
                Stage(gdpo(s.node, size), s.until, s.below, s.patience, s.at_least) for s in stages
            ]
            return Curriculum(*made[:-1], made[-1].node, name=node.name)
        case _:
            return GroupNormalized(node, size)
