"""Terms that read the verdict: `Correct` and `Score`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Floats, Range, RewardContext, Term
from reasonenv.types import Group, Status

__all__ = ["Correct", "Score"]


@dataclass(frozen=True, repr=False)
class Correct(Term):
    """`value` for a right answer, 0 for any other.

    Formula: r = value * 1[status = CORRECT]. Range: {value} if right, {0} if wrong.

    >>> Correct(2.0).range(correct=True)
    Range(low=2.0, high=2.0)
    """

    value: float = 1.0
    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def __post_init__(self) -> None:
        number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        if not (number and np.isfinite(self.value)):
            raise RewardError(f"Correct pays a finite number, got {self.value!r}")

    def measure(self, group: Group, context: RewardContext) -> Floats:
        """Return `value` where the verdict is CORRECT."""
        right = [judged.verdict.status is Status.CORRECT for judged in group]
        return self.value * np.array(right, dtype=float)

    def range(self, correct: bool) -> Range:
        """Return one point: `value`, or 0."""
        return Range(self.value, self.value) if correct else Range(0.0, 0.0)


@dataclass(frozen=True, repr=False)
class Score(Term):
    """The verdict's score: 1 for a right answer, partial success (tests passed) for a wrong one.

    Formula: r = verdict.score. Range: {1} if right, [0, 1] if wrong.
    """

    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def measure(self, group: Group, context: RewardContext) -> Floats:
        """Return each verdict's score."""
        return np.array([judged.verdict.score for judged in group])

    def range(self, correct: bool) -> Range:
        """Return {1} if right, [0, 1] if wrong."""
        return Range(1.0, 1.0) if correct else Range(0.0, 1.0)
