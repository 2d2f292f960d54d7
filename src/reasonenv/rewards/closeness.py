"""`NumericCloseness`: partial credit for a number near the gold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from reasonenv.rewards.base import Range, RewardContext, Term
from reasonenv.rewards.checks import need_number
from reasonenv.types import Group, Judged, Status

__all__ = ["NumericCloseness", "only_number"]

MAX_CHARS = 200
"""Longer answers are no number."""

# Digits in groups of three or not, a fraction or not, a power of ten or not.
_NUMBER = re.compile(
    r"[-+]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(?:\.\d+)?(?:[eE][-+]?\d{1,3})?(?:/\d+)?", re.ASCII
)
_MINUS = str.maketrans({"−": "-", "–": "-"})


def only_number(text: Any) -> Fraction | None:
    """Return the number in a text that holds exactly one, None for any other text.

    Units and currencies around it are passed over; `1,200`, `-3.5`, `2/3` and `1e3` are read.

    >>> only_number("$1,200.50 in all")
    Fraction(2401, 2)
    >>> only_number("12 or 13") is None
    True
    """
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        return None
    if isinstance(text, int) and abs(text) >= 10**MAX_CHARS:  # Python may refuse to write it
        return None
    shown = str(text).translate(_MINUS)
    if len(shown) > MAX_CHARS:
        return None
    found = [match[0] for match in _NUMBER.finditer(shown) if any(c.isdigit() for c in match[0])]
    if len(found) != 1:
        return None
    top, _, bottom = found[0].replace(",", "").partition("/")
    try:
        return Fraction(top) / Fraction(bottom or 1)
    except (ValueError, ZeroDivisionError):
        return None


@dataclass(frozen=True, repr=False)
class NumericCloseness(Term):
    """Partial credit for a wrong number that is near the gold; a right answer earns 1.

    Formula: r = 1 if right; else most * max(0, 1 - |a - g| / (width * max(|g|, 1))) where the
    extracted answer a and the gold g hold exactly one number each, and 0 where they do not. Range:
    {1} if right, [0, most] if wrong: below `most` = 1 a right answer always earns more. Not
    potential-based. What it cannot see: how the number was found. It pays for estimates, and most
    near misses of word problems are no nearer to the right way than others; a list of numbers earns
    nothing. Source: this library's, as graded numeric credit is common and has no one formula.

    Args:
        width: the relative distance at which the credit ends (absolute where |gold| < 1).
        most: what the nearest wrong answer can earn, in [0, 1].

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = Rollout(Problem("50+50=", "100"), "<answer>95</answer>")
    >>> group = [Judged(said, Verdict("incorrect", answer="95"))]
    >>> NumericCloseness(width=0.1)(group).total.tolist()
    [0.25]
    """

    width: float = 0.1
    most: float = 0.5
    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def __post_init__(self) -> None:
        need_number("NumericCloseness", "width", self.width, above=0)
        need_number("NumericCloseness", "most", self.most, least=0, most=1)

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return each member's credit."""
        return [self._credit(judged) for judged in group]

    def _credit(self, judged: Judged) -> float:
        if judged.verdict.status is Status.CORRECT:
            return 1.0
        answer, gold = (
            only_number(judged.verdict.answer),
            only_number(judged.rollout.problem.answer),
        )
        if answer is None or gold is None:
            return 0.0
        distance = abs(answer - gold) / max(abs(gold), Fraction(1)) / Fraction(self.width)
        return self.most * float(1 - distance) if distance < 1 else 0.0

    def range(self, correct: bool) -> Range:
        """Return {1} if right, [0, most] if wrong."""
        return Range(1.0, 1.0) if correct else Range(0.0, self.most)
