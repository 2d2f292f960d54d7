"""Intervals that a node's values lie in, and the arithmetic on them.

* `Range`: a closed interval; its ends may be infinite.
* `Given`: what is taken as known while a range is worked out: values of terms, a step, a stage.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

__all__ = ["NOTHING", "Given", "Range", "hull", "plus", "times"]


class Range(NamedTuple):
    """The closed interval that a value lies in."""

    low: float
    high: float

    def union(self, other: Range) -> Range:
        """Return the smallest interval that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))

    @property
    def width(self) -> float:
        """The distance between its ends."""
        return self.high - self.low

    @property
    def is_point(self) -> bool:
        """Whether it holds one value only."""
        return self.low == self.high

    def __str__(self) -> str:
        return f"{self.low:g}" if self.is_point else f"{self.low:g} to {self.high:g}"


class Given(NamedTuple):
    """What a range is worked out under; nothing is known unless given.

    Args:
        terms: intervals of leaves by name, in place of their own.
        step: the trainer's step; None: any step of a schedule.
        stages: which stage a curriculum is in, by its label; any stage where it is missing.
        within_group: leave out what is the same for all members of a group by construction, since
            it moves nobody past anybody.
    """

    terms: Mapping[str, Range] = {}
    step: int | None = None
    stages: Mapping[str, int] = {}
    within_group: bool = False


NOTHING = Given()


def hull(values: Iterable[float]) -> Range:
    """Return the smallest interval that holds the values."""
    listed = list(values)
    return Range(min(listed), max(listed))


def plus(ranges: Iterable[Range]) -> Range:
    """Return the interval of a sum of independent values."""
    listed = list(ranges)
    return Range(sum(r.low for r in listed), sum(r.high for r in listed))


def times(left: Range, right: Range) -> Range:
    """Return the interval of a product of independent values; 0 times infinity is 0 here."""
    return hull(_times(a, b) for a in left for b in right)


def _times(a: float, b: float) -> float:
    return (
        0.0
        if a == 0 or b == 0
        else a * b
        if math.isfinite(a * b)
        else math.copysign(math.inf, math.copysign(1, a) * math.copysign(1, b))
    )
