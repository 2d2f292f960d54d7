"""Length terms with a shape or a target of their own: cosine, L1 exact and max, lazy penalty.

All read lengths in tokens; see `length` for what a length term does outside a gate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Floats, Range, RewardContext, Term
from reasonenv.rewards.checks import need_integer, need_number
from reasonenv.rewards.length import _lengths
from reasonenv.types import Group, Status

__all__ = ["CosineLength", "L1Exact", "L1Max", "LazyLength"]

TARGET_KEY = "target_tokens"
"""Where a problem's metadata says how long its answer should be."""


def _right(group: Group) -> Floats:
    return np.array([judged.verdict.status is Status.CORRECT for judged in group], dtype=bool)


@dataclass(frozen=True, repr=False)
class CosineLength(Term):
    """Right answers earn more when short, wrong ones lose less when long, along a cosine.

    Formula: with c = (1 + cos(pi * min(n, limit) / limit)) / 2, which falls from 1 to 0,
    r = right_long + c * (right_short - right_long) if right, and
    r = wrong_long + c * (wrong_short - wrong_long) if wrong; r = `exceed` where n > limit, if that
    is given. Range: between its ends, together with `exceed`. It holds correctness itself: do not
    add `Correct()` unless you mean both. Not potential-based. What it cannot see: why a wrong
    answer is long. Padding a wrong answer is paid, so policies learn to ramble (the paper pairs it
    with a repetition penalty). Source: arXiv 2502.03373; default values are open-r1's. Past the
    limit open-r1 lets the cosine turn back; here it stays at its end.

    Args:
        limit: the length in tokens at which the cosine ends.
        right_short: for a right answer of length 0.
        right_long: for a right answer at the limit.
        wrong_short: for a wrong answer of length 0.
        wrong_long: for a wrong answer at the limit.
        exceed: for any answer over the limit; None: as at the limit.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = Rollout(Problem("2+2=", "4"), "...", n_tokens=256)
    >>> CosineLength(512)([Judged(said, Verdict("correct", 1.0))]).total.tolist()
    [0.75]
    """

    limit: int
    right_short: float = 1.0
    right_long: float = 0.5
    wrong_short: float = -1.0
    wrong_long: float = -0.5
    exceed: float | None = None
    reads: ClassVar[frozenset[str]] = frozenset({"tokens", "verdict"})

    def __post_init__(self) -> None:
        need_integer("CosineLength", "limit", self.limit, least=1)
        for name in ("right_short", "right_long", "wrong_short", "wrong_long", "exceed"):
            value = getattr(self, name)
            if name != "exceed" or value is not None:
                need_number("CosineLength", name, value)

    def measure(self, group: Group, context: RewardContext) -> Floats:
        """Return each member's point on the cosine of its outcome."""
        lengths = _lengths(self, group)
        fall = (1 + np.cos(np.pi * np.minimum(lengths, self.limit) / self.limit)) / 2
        right = self.right_long + fall * (self.right_short - self.right_long)
        wrong = self.wrong_long + fall * (self.wrong_short - self.wrong_long)
        reward = np.where(_right(group), right, wrong)
        if self.exceed is not None:
            reward = np.where(lengths > self.limit, self.exceed, reward)
        return np.asarray(reward)

    def range(self, correct: bool) -> Range:
        """Return the hull of what a right, or a wrong, answer can get."""
        ends = (
            [self.right_short, self.right_long] if correct else [self.wrong_short, self.wrong_long]
        )
        if self.exceed is not None:
            ends.append(self.exceed)
        return Range(min(ends), max(ends))


@dataclass(frozen=True, repr=False)
class _Targeted(Term):
    target: int | None = None
    alpha: float = 0.0003

    def _miss(self, group: Group) -> Floats:
        """Return target - n for each member."""
        targets = [judged.rollout.problem.metadata.get(TARGET_KEY, self.target) for judged in group]
        for judged, target in zip(group, targets, strict=True):
            if not isinstance(target, int | float) or isinstance(target, bool):
                raise RewardError(
                    f"term {self!r} needs a length to aim at, and problem "
                    f"{judged.rollout.problem.id} has none ({target!r}): give target=, or the "
                    f"problem metadata {TARGET_KEY!r}"
                )
        return np.asarray(np.array(targets, dtype=float) - _lengths(self, group))

    def _check(self) -> None:
        name = type(self).__name__
        if self.target is not None:
            need_integer(name, "target", self.target, least=1)
        need_number(name, "alpha", self.alpha, above=0)


@dataclass(frozen=True, repr=False)
class L1Exact(_Targeted):
    """Correctness, less how far the length is from the one that was asked for.

    Formula: r = 1[right] - min(most, alpha * |target - n|). Range: [1 - most, 1] if right,
    [-most, 0] if wrong. It holds correctness itself. Not potential-based: it pays for a length.
    What it cannot see: what fills the length, so padding and cutting short both hit the target; a
    wrong answer of the right length beats a long wrong one. With `most` = 1 a right answer that
    misses badly earns what a wrong one on target does. Source: LCPO-Exact of L1 (arXiv
    2503.04697, alpha 0.0003); that the loss ends at `most` is this library's, for a finite range.

    Args:
        target: tokens; a problem's metadata "target_tokens" goes before it.
        alpha: what a token of difference costs.
        most: the most that a length can cost.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = Rollout(Problem("2+2=", "4"), "...", n_tokens=500)
    >>> L1Exact(1000, alpha=0.001)([Judged(said, Verdict("correct", 1.0))]).total.tolist()
    [0.5]
    """

    most: float = 1.0
    reads: ClassVar[frozenset[str]] = frozenset({"tokens", "verdict"})

    def __post_init__(self) -> None:
        self._check()
        need_number("L1Exact", "most", self.most, above=0)

    def measure(self, group: Group, context: RewardContext) -> Floats:
        """Return correctness less the distance to the target."""
        miss = np.minimum(self.most, self.alpha * np.abs(self._miss(group)))
        return np.asarray(_right(group) - miss)

    def range(self, correct: bool) -> Range:
        """Return [1 - most, 1] if right, [-most, 0] if wrong."""
        return Range(correct - self.most, float(correct))


@dataclass(frozen=True, repr=False)
class L1Max(_Targeted):
    """Correctness, worth less the further a completion runs over its budget.

    Formula: r = 1[right] * clip(alpha * (target - n) + delta, 0, 1). Range: [0, 1] if right, {0}
    if wrong: a policy cannot earn it by failing fast. It holds correctness itself. Not
    potential-based. What it cannot see: what the length is filled with. Source: LCPO-Max of L1
    (arXiv 2503.04697, alpha 0.0003, delta 0.5).

    Args:
        target: the budget in tokens; a problem's metadata "target_tokens" goes before it.
        alpha: what a token of difference is worth.
        delta: what a right answer of exactly the budget earns, in [0, 1].

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = Rollout(Problem("2+2=", "4"), "...", n_tokens=800)
    >>> L1Max(1000, alpha=0.001)([Judged(said, Verdict("correct", 1.0))]).total.tolist()
    [0.7]
    """

    delta: float = 0.5
    reads: ClassVar[frozenset[str]] = frozenset({"tokens", "verdict"})

    def __post_init__(self) -> None:
        self._check()
        need_number("L1Max", "delta", self.delta, least=0, most=1)

    def measure(self, group: Group, context: RewardContext) -> Floats:
        """Return what each right member's length leaves of 1."""
        worth = np.clip(self.alpha * self._miss(group) + self.delta, 0.0, 1.0)
        return np.asarray(_right(group) * worth)

    def range(self, correct: bool) -> Range:
        """Return [0, 1] if right, {0} if wrong."""
        return Range(0.0, 1.0 if correct else 0.0)


@dataclass(frozen=True, repr=False)
class LazyLength(Term):
    """How far a right answer runs past the shortest right one and a tolerance, from 0 to 1.

    Formula: r = 1[right] * clip((n - (m + tolerance)) / reach, 0, 1), m = the length of the
    shortest right member of the group. Range: [0, 1] if right, {0} if wrong. Subtract it with a
    weight below correctness: `Correct() - 0.5 * LazyLength(200, reach=400)`. Not potential-based.
    What it cannot see: that a long way round was needed; a lucky guess sets m for all.

    Source: "shorten after you're right" (arXiv 2505.12284): a penalty only on right answers, only
    beyond the shortest right length and a tolerance, and only once accuracy is rising stably. The
    first two are in the formula (whose ramp is this library's); the third is a matter of when, so
    it stands outside: schedule the term's weight, or let a curriculum's stage bring it in.

    Args:
        tolerance: tokens over the shortest right answer that cost nothing.
        reach: tokens over that until the whole penalty is due.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = [Rollout(Problem("2+2=", "4"), "...", n_tokens=n) for n in (100, 250, 900)]
    >>> group = [Judged(one, Verdict("correct", 1.0)) for one in said]
    >>> LazyLength(100, reach=100)(group).total.tolist()
    [0.0, 0.5, 1.0]
    """

    tolerance: int
    reach: int = 256
    reads: ClassVar[frozenset[str]] = frozenset({"tokens", "verdict"})
    group_relative: ClassVar[bool] = True

    def __post_init__(self) -> None:
        need_number("LazyLength", "tolerance", self.tolerance, least=0)
        need_number("LazyLength", "reach", self.reach, above=0)

    def measure(self, group: Group, context: RewardContext) -> Floats:
        """Return each right member's reach past the tolerance."""
        lengths, right = _lengths(self, group), _right(group)
        if not right.any():
            return np.zeros(len(group))
        over = (lengths - lengths[right].min() - self.tolerance) / self.reach
        return np.asarray(right * np.clip(over, 0.0, 1.0))

    def range(self, correct: bool) -> Range:
        """Return [0, 1] if right, {0} if wrong."""
        return Range(0.0, 1.0 if correct else 0.0)
