"""Who is at fault where correctness does not dominate, and which change of one weight mends it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from reasonenv.rewards.algebra import Scaled
from reasonenv.rewards.audit.dominance import Dominance
from reasonenv.rewards.base import Reward

__all__ = ["Change", "Fault", "changes", "faults"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A part that a wrong answer can earn more of than a right one.

    Attributes:
        part: its name.
        leak: the most that a wrong answer can earn of it, less the least of a right one.
    """

    part: str
    leak: float


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one part's weight that restores dominance, the others left as they are.

    Attributes:
        part: its name.
        weight: its weight now.
        way: "above" or "below" ...
        bound: ... this the weight must come to lie.
    """

    part: str
    weight: float
    way: str
    bound: float

    @property
    def size(self) -> float:
        """How far the weight has to go."""
        return abs(self.bound - self.weight)

    def __str__(self) -> str:
        return f"the weight of {self.part} from {self.weight:g} to {self.way} {self.bound:.4g}"


def faults(reward: Reward, found: Dominance) -> tuple[Fault, ...]:
    """Return the parts at fault, the worst first."""
    leaks = [Fault(part.label, _leak(part, found)) for part in reward.addends()]
    return tuple(sorted((f for f in leaks if f.leak > 0), key=lambda f: -f.leak))


def changes(reward: Reward, found: Dominance) -> tuple[Change, ...]:
    """Return every change of one weight that restores dominance, the smallest first.

    By the ranges: a part's leak grows with its weight. Empty where no single one does it.
    """
    if found.gap < 0 or not math.isfinite(found.gap):
        return ()
    made: list[tuple[float, bool, Change]] = []
    for part in reward.addends():
        leak = _leak(part, found)
        if leak == 0 or not math.isfinite(leak):
            continue
        factor = (leak - found.gap) / leak
        if factor <= 1e-9:
            continue  # even without this part wrong answers keep up
        weight = part.weight if isinstance(part, Scaled) else 1.0
        way = "above" if (leak < 0) == (weight > 0) else "below"
        change = Change(part.label, weight, way, weight * factor)
        # Of two changes of one size the one that pays more for being right comes first.
        made.append((round(change.size, 9), leak > 0, change))
    return tuple(change for *_, change in sorted(made, key=lambda found: found[:2]))


def _leak(part: Reward, found: Dominance) -> float:
    wrong, right = part.bounds(False, found.given), part.bounds(True, found.given)
    return wrong.high - right.low
