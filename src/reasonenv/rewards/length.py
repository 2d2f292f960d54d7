"""Terms that read a completion's length in tokens.

A length term outside `gate(..., when=solved)` also pays (or spares) wrong answers for being
short; each docstring says what its formula does to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Floats, Range, RewardContext, Term
from reasonenv.types import Group, Status

__all__ = ["KimiLength", "Overlong", "ShortestCorrect"]


def _lengths(term: Term, group: Group) -> Floats:
    """Return the lengths in tokens, shape (len(group),)."""
    lengths = [judged.rollout.n_tokens for judged in group]
    if None in lengths:
        raise RewardError(
            f"term {term!r} reads lengths in tokens, and a rollout has none: give the "
            "environment a count_tokens=, or the rollout its n_tokens="
        )
    return np.array(lengths, dtype=float)


@dataclass(frozen=True, repr=False)
class Overlong(Term):
    """How far a completion reaches into the last `cache` tokens before `limit`, from 0 to 1.

    Formula: r = clip((n - (limit - cache)) / cache, 0, 1). Range: [0, 1], right or wrong. Subtract
    it: `Correct() - 0.5 * Overlong(512, cache=128)`. Not potential-based. What it cannot see:
    whether the length was needed; it also punishes right answers, and a policy that fails can save
    it by giving up early. Source: the *soft overlong punishment* of DAPO (arXiv 2503.14476; TRL's
    `get_soft_overlong_punishment`), which is -r: the sign is turned round, as every penalty's here,
    so that a formula shows the minus.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = Rollout(Problem("2+2=", "4"), "...", n_tokens=448)
    >>> Overlong(512, cache=128)([Judged(said, Verdict("incorrect"))]).total.tolist()
    [0.5]
    """

    limit: int
    cache: int = 64
    reads: ClassVar[frozenset[str]] = frozenset({"tokens"})

    def __post_init__(self) -> None:
        numbers = all(isinstance(n, int | float) for n in (self.limit, self.cache))
        if not (numbers and 0 < self.cache <= self.limit < float("inf")):
            raise RewardError(f"Overlong needs 0 < cache <= limit, got {self!r}")

    def measure(self, group: Group, context: RewardContext) -> Floats:
        """Return how far each member reaches into the cache."""
        over = _lengths(self, group) - (self.limit - self.cache)
        return np.asarray(np.clip(over / self.cache, 0.0, 1.0))

    def range(self, correct: bool) -> Range:
        """Return [0, 1]."""
        return Range(0.0, 1.0)


@dataclass(frozen=True, repr=False)
class KimiLength(Term):
    """Short right answers earn, long ones pay; wrong answers can only pay.

    Formula: l = 0.5 - (n - min) / (max - min) over the group; r = l if right, min(0, l) if
    wrong; 0 where max = min. Range: [-0.5, 0.5] if right, [-0.5, 0] if wrong. Not potential-based.
    What it cannot see: whether the length was needed. One long member moves everybody's measure,
    and among wrong answers alone it pays for failing fast. Source: Kimi k1.5 (arXiv 2501.12599).

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = [Rollout(Problem("2+2=", "4"), "...", n_tokens=n) for n in (10, 20, 30)]
    >>> KimiLength()([Judged(one, Verdict("correct", 1.0)) for one in said]).total.tolist()
    [0.5, 0.0, -0.5]
    """

    group_relative: ClassVar[bool] = True
    reads: ClassVar[frozenset[str]] = frozenset({"tokens", "verdict"})

    def measure(self, group: Group, context: RewardContext) -> Floats:
        """Return the length reward of each member relative to its group."""
        lengths = _lengths(self, group)
        spread = lengths.max() - lengths.min()
        if spread == 0:
            return np.zeros(len(group))
        reward = 0.5 - (lengths - lengths.min()) / spread
        right = np.array([judged.verdict.status is Status.CORRECT for judged in group])
        return np.asarray(np.where(right, reward, np.minimum(0.0, reward)))

    def range(self, correct: bool) -> Range:
        """Return [-0.5, 0.5] if right, [-0.5, 0] if wrong."""
        return Range(-0.5, 0.5 if correct else 0.0)


@dataclass(frozen=True, repr=False)
class ShortestCorrect(Term):
    """The shortest right answer's length over this one's, for right answers; 0 for wrong ones.

    Formula: r = 1[right] * min over right members of n / n. Range: (0, 1] if right, {0} if
    wrong: a policy cannot earn it by failing fast. Not potential-based. What it cannot see: whether
    the length was needed; a lucky guess without reasoning sets the measure. Source: this library's.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = [Rollout(Problem("2+2=", "4"), "...", n_tokens=n) for n in (10, 20)]
    >>> ShortestCorrect()([Judged(one, Verdict("correct", 1.0)) for one in said]).total.tolist()
    [1.0, 0.5]
    """

    group_relative: ClassVar[bool] = True
    reads: ClassVar[frozenset[str]] = frozenset({"tokens", "verdict"})

    def measure(self, group: Group, context: RewardContext) -> Floats:
        """Return the ratio to the shortest right member."""
        lengths = np.maximum(_lengths(self, group), 1.0)
        right = np.array([judged.verdict.status is Status.CORRECT for judged in group])
        if not right.any():
            return np.zeros(len(group))
        return np.asarray(np.where(right, lengths[right].min() / lengths, 0.0))

    def range(self, correct: bool) -> Range:
        """Return [0, 1] if right, {0} if wrong."""
        return Range(0.0, 1.0 if correct else 0.0)
