"""Terms that read the verdict: `Correct` and `Score`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Floats, Range, RewardContext, Term
from reasonenv.rewards.checks import need_number
from reasonenv.types import Group, Status

__all__ = ["Correct", "Score"]


@dataclass(frozen=True, repr=False)
class Correct(Term):
    """`value` for a right answer, 0 (less what guessing is worth) for any other.

    Formula: r = value * (1[status = CORRECT] - chance) / (1 - chance). Range: {value} if right,
    {-value * chance / (1 - chance)} if wrong: with the default chance 0, {0}. A policy that guesses
    with success probability `chance` then earns 0 in the mean. Group means cancel the shift, so
    the correction only stretches the advantage, unless terms are gated or normalised by themselves;
    where the number of options varies, see `ChanceCorrected`. Not potential-based: it is the task.
    What it cannot see: how an answer was found; a lucky guess is right. Source: the accuracy reward
    of DeepSeek-R1 (arXiv 2501.12948) and of the study (arXiv 2609.39321, weight 2.0 or 1.0); the
    correction for chance is the classical one of psychometrics.

    Args:
        value: what a right answer is worth.
        chance: how often a guess is right, in [0, 1).

    >>> Correct(2.0).range(correct=True)
    Range(low=2.0, high=2.0)
    >>> Correct(3.0, chance=0.25).range(correct=False)
    Range(low=-1.0, high=-1.0)
    """

    value: float = 1.0
    chance: float = 0.0
    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def __post_init__(self) -> None:
        number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        if not (number and np.isfinite(self.value)):
            raise RewardError(f"Correct pays a finite number, got {self.value!r}")
        need_number("Correct", "chance", self.chance, least=0)
        if self.chance >= 1:
            raise RewardError(f"Correct: chance is below 1, got {self.chance!r}")

    def measure(self, group: Group, context: RewardContext) -> Floats:
        """Return `value` where the verdict is CORRECT."""
        right = [judged.verdict.status is Status.CORRECT for judged in group]
        return np.where(right, float(self.value), self._wrong())

    def _wrong(self) -> float:
        return -self.value * self.chance / (1 - self.chance) if self.chance else 0.0

    def range(self, correct: bool) -> Range:
        """Return one point: `value`, or what a wrong answer is worth."""
        value = self.value if correct else self._wrong()
        return Range(value, value)


@dataclass(frozen=True, repr=False)
class Score(Term):
    """The verdict's score: 1 for a right answer, partial success (tests passed) for a wrong one.

    Formula: r = verdict.score. Range: {1} if right, [0, 1] if wrong. Not potential-based. What it
    cannot see: what the judge does not score; for programs it pays for passing easy tests by doing
    nothing. Source: this library's verdicts.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = Rollout(Problem("f?", ("assert f(1)", "assert f(2)")), "...")
    >>> Score()([Judged(said, Verdict("incorrect", 0.5))]).total.tolist()
    [0.5]
    """

    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def measure(self, group: Group, context: RewardContext) -> Floats:
        """Return each verdict's score."""
        return np.array([judged.verdict.score for judged in group])

    def range(self, correct: bool) -> Range:
        """Return {1} if right, [0, 1] if wrong."""
        return Range(1.0, 1.0) if correct else Range(0.0, 1.0)
