"""`lexicographic`: a tie-breaker that can never overturn the task."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from reasonenv.errors import RewardError
from reasonenv.rewards.algebra import as_node, check_names, refuse_turns
from reasonenv.rewards.base import Floats, Range, Reward, RewardContext
from reasonenv.rewards.ranges import NOTHING, Given
from reasonenv.types import Group

__all__ = ["Lexicographic", "lexicographic"]


@dataclass(frozen=True, repr=False)
class Lexicographic(Reward):
    """The task's values, and between equal ones the tie-breaker's; see `lexicographic`."""

    task: Reward
    tie_breaker: Reward
    share: float = 0.5

    def __post_init__(self) -> None:
        number = isinstance(self.share, int | float) and not isinstance(self.share, bool)
        if not (number and 0 < self.share < 1):
            raise RewardError(f"lexicographic needs 0 < share < 1, got share={self.share!r}")
        for name, node in (("task", self.task), ("tie_breaker", self.tie_breaker)):
            refuse_turns(node, "lexicographic")
            if not math.isfinite(_either(node, NOTHING).width):
                raise RewardError(
                    f"lexicographic's {name} {node!r} has no finite range: clip it, or give its "
                    "GroupNormalized a group_size="
                )
        check_names(self)

    @property
    def _levels(self) -> tuple[float, float] | None:
        """The task's two values, where a right and a wrong answer have one each."""
        right, wrong = self.task.range(True), self.task.range(False)
        if right.is_point and wrong.is_point and right != wrong:
            return right.low, wrong.low
        return None

    @property
    def needs(self) -> frozenset[str]:
        """The children's needs, and the group's where the task has more than two values."""
        own = frozenset() if self._levels else frozenset({"group"})
        return own | self.task.needs | self.tie_breaker.needs

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return task + share * gap * (tie-breaker on [0, 1])."""
        task = self.task.values(group, context, terms)
        tie = self.tie_breaker.values(group, context, terms)
        low, high = _either(self.tie_breaker, NOTHING)
        if high == low:
            return task
        unit = np.clip((tie - low) / (high - low), 0.0, 1.0)
        return task + self.share * self._gap(task) * unit

    def _gap(self, task: Floats) -> float:
        """Return the smallest distance between two of the task's values."""
        if self._levels:
            return abs(self._levels[0] - self._levels[1])
        gaps = np.diff(np.unique(task))
        return float(gaps.min()) if len(gaps) else self._widest

    @property
    def _widest(self) -> float:
        return _either(self.task, NOTHING).width or 1.0

    def bounds(self, correct: bool, given: Given) -> Range:
        """Return the task's range, and above it what the tie-breaker may add."""
        task, tie = self.task.bounds(correct, given), self.tie_breaker.bounds(correct, given)
        low, high = _either(self.tie_breaker, NOTHING)
        if high == low:
            return task
        units = [min(max((end - low) / (high - low), 0.0), 1.0) for end in tie]
        if self._levels:
            gaps = [self.share * self._gap(np.zeros(0))] * 2
        else:  # the gap is the group's own: anything up to the whole width
            gaps = [0.0, self.share * self._widest]
        return Range(task.low + gaps[0] * units[0], task.high + gaps[1] * units[1])

    def children(self) -> tuple[Reward, ...]:
        """Return task and tie-breaker."""
        return (self.task, self.tie_breaker)

    @property
    def label(self) -> str:
        """Both names: the task's before the tie-breaker's."""
        return f"{self.task.label}>{self.tie_breaker.label}"

    def to_config(self) -> dict[str, Any]:
        """Return `{"lexicographic": [task, tie_breaker], "share": share}`."""
        both = [node.to_config() for node in self.children()]
        return {"lexicographic": both, "share": self.share}

    def __repr__(self) -> str:
        more = "" if self.share == 0.5 else f", share={self.share!r}"
        return f"lexicographic({self.task!r}, {self.tie_breaker!r}{more})"


def lexicographic(
    task: Reward | float, tie_breaker: Reward | float, share: float = 0.5
) -> Lexicographic:
    """Rank by the task first, and by the tie-breaker among those whom the task ranks equal.

    Formula: r_i = x_i + share * gap * u_i, with x the task's value, u the tie-breaker's moved to
    [0, 1] by its range, and gap the smallest distance between two different values of the task: of
    its two levels where right and wrong answers have one each (as for `Correct()`), else among the
    members of the group. As share < 1, x_i > x_j gives r_i > r_j whatever the tie-breaker says.

    It orders rewards, not advantages: under group scaling a group that the task ranks all equal has
    the tie-breaker as its whole advantage, at any `share`.

    Args:
        task: what counts.
        tie_breaker: what decides between equals; its range must be finite.
        share: how much of the gap it may use, between 0 and 1.

    >>> from reasonenv.rewards import Correct, Format
    >>> lexicographic(Correct(), 10 * Format("answer")).range(correct=False)
    Range(low=0.0, high=0.5)
    """
    return Lexicographic(as_node(task), as_node(tie_breaker), share)


def _either(node: Reward, given: Given) -> Range:
    return node.bounds(True, given).union(node.bounds(False, given))
