"""`clip` and `rescale`: nodes that bend or move the values of another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from reasonenv.errors import RewardError
from reasonenv.rewards.algebra import as_node, finite, refuse_turns
from reasonenv.rewards.base import Floats, Range, Reward, RewardContext
from reasonenv.rewards.ranges import Given
from reasonenv.rewards.spelling import shown
from reasonenv.types import Group

__all__ = ["Clip", "Rescale", "clip", "rescale"]


@dataclass(frozen=True, repr=False)
class Clip(Reward):
    """A node's values, moved to the nearest end where they leave [low, high]; see `clip`."""

    node: Reward
    low: float
    high: float

    def __post_init__(self) -> None:
        finite(self.low, "clip's low")
        finite(self.high, "clip's high")
        if self.low > self.high:
            raise RewardError(f"clip needs low <= high, got {self.low!r} and {self.high!r}")
        refuse_turns(self.node, "clip")

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return the clipped values."""
        return np.clip(self.node.values(group, context, terms), self.low, self.high)

    def bounds(self, correct: bool, given: Given) -> Range:
        """Return the node's range, both ends clipped."""
        ends = self.node.bounds(correct, given)
        return Range(*(min(max(end, self.low), self.high) for end in ends))

    def children(self) -> tuple[Reward, ...]:
        """Return the clipped node."""
        return (self.node,)

    @property
    def label(self) -> str:
        """The clipped node's own name."""
        return self.node.label

    def to_config(self) -> dict[str, Any]:
        """Return `{"clip": node, "low": low, "high": high}`."""
        return {"clip": self.node.to_config(), "low": self.low, "high": self.high}

    def __repr__(self) -> str:
        return f"clip({self.node!r}, {self.low!r}, {self.high!r})"


def clip(node: Reward | float, low: float, high: float) -> Clip:
    """Keep a node's values inside [low, high].

    Formula: r = min(max(x, low), high).

    >>> from reasonenv.rewards import Correct, TagCount
    >>> clip(Correct() + 0.5 * TagCount("a"), 0, 1).range(correct=True)
    Range(low=1.0, high=1.0)
    """
    return Clip(as_node(node), _number(low), _number(high))


@dataclass(frozen=True, repr=False)
class Rescale(Reward):
    """A node's values on another scale; see `rescale`."""

    node: Reward
    from_: tuple[float, float]
    to: tuple[float, float]

    def __post_init__(self) -> None:
        refuse_turns(self.node, "rescale")

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return the values on the new scale."""
        (a, _), (c, _) = self.from_, self.to
        return c + (self.node.values(group, context, terms) - a) * self._slope

    @property
    def _slope(self) -> float:
        (a, b), (c, d) = self.from_, self.to
        return (d - c) / (b - a)

    def bounds(self, correct: bool, given: Given) -> Range:
        """Return the node's range on the new scale."""
        (a, _), (c, _) = self.from_, self.to
        slope = self._slope
        if slope == 0:
            return Range(c, c)
        ends = sorted(c + (end - a) * slope for end in self.node.bounds(correct, given))
        return Range(*ends)

    def children(self) -> tuple[Reward, ...]:
        """Return the rescaled node."""
        return (self.node,)

    @property
    def label(self) -> str:
        """The rescaled node's own name."""
        return self.node.label

    def to_config(self) -> dict[str, Any]:
        """Return `{"rescale": node, "from": [a, b], "to": [c, d]}`."""
        return {"rescale": self.node.to_config(), "from": list(self.from_), "to": list(self.to)}

    def __repr__(self) -> str:
        return f"rescale({self.node!r}, from_={shown(self.from_)}, to={shown(self.to)})"


def rescale(
    node: Reward | float,
    from_: tuple[float, float] | None = None,
    to: tuple[float, float] = (0.0, 1.0),
) -> Rescale:
    """Move a node's values from one scale to another, linearly.

    Formula: r = c + (x - a) * (d - c) / (b - a) with from_ = (a, b) and to = (c, d). Values
    outside `from_` come to lie outside `to`: clip them where that must not be.

    Args:
        node: what to rescale.
        from_: the scale of its values; None: all that it can be worth, right or wrong.
        to: the new scale; (1, 0) turns it round.

    Raises:
        RewardError: a scale of no width, ends that are not finite, or a node without finite range.

    >>> from reasonenv.rewards import Score
    >>> rescale(Score(), to=(-1, 1))
    rescale(Score(), from_=(0.0, 1.0), to=(-1.0, 1.0))
    """
    inner = as_node(node)
    if from_ is None:
        whole = inner.range(True).union(inner.range(False))
        if not (whole.is_point or math.isfinite(whole.width)):
            raise RewardError(f"{inner!r} has no finite range: give rescale its from_=(low, high)")
        from_ = whole
    ends = [_pair(name, pair) for name, pair in (("from_", from_), ("to", to))]
    if ends[0][0] >= ends[0][1]:
        raise RewardError(f"rescale needs from_=(low, high) with low < high, got {from_!r}")
    return Rescale(inner, ends[0], ends[1])


def _pair(name: str, pair: Any) -> tuple[float, float]:
    try:
        low, high = (_number(end) for end in pair)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RewardError(f"rescale's {name} is a pair of finite numbers, got {pair!r}")
    return low, high


def _number(value: Any) -> float:
    """Return a plain float; what is none is refused by the node that gets it."""
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise RewardError(f"a number is needed, got {value!r}")
    return float(value)
