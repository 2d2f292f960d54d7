"""`StepCount`: whether a completion is laid out in steps."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reasonenv.rewards.base import Range, RewardContext, Term
from reasonenv.rewards.checks import need_integer
from reasonenv.types import Group

__all__ = ["StepCount"]

# A line that starts as a list's item or as a numbered step does, or a word that orders.
_STEP = re.compile(
    r"^[ \t]{0,8}(?:[-*][ \t]|\d{1,3}[.)][ \t]|step[ \t]+\d{1,3}\b)"
    r"|\b(?:first|second|third|next|then|finally),",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, repr=False)
class StepCount(Term):
    """How many steps a completion is laid out in, up to `enough`.

    Formula: r = min(1, s / enough), s = the lines that start with "Step 3", "3." or "3)", "-" or
    "*", and the words "First," "Second," "Third," "Next," "Then," "Finally,". Range: [0, 1], right
    or wrong. Not potential-based. What it cannot see: whether a step says anything; three dashes
    earn it all, so a policy learns to write lists. It knows English words only. Source: the
    reasoning-steps reward of open-r1 (min(1, count / 3)); the pattern is this library's.

    Args:
        enough: the steps that earn 1.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = Rollout(Problem("2+2=", "4"), "First, I take 2. Then, I add 2.")
    >>> StepCount(enough=4)([Judged(said, Verdict("incorrect"))]).total.tolist()
    [0.5]
    """

    enough: int = 3

    def __post_init__(self) -> None:
        need_integer("StepCount", "enough", self.enough, least=1)

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return each member's share of enough steps."""
        return [self._share(judged.rollout.text) for judged in group]

    def _share(self, text: str) -> float:
        found = 0
        for found, _ in enumerate(_STEP.finditer(text), 1):
            if found >= self.enough:
                return 1.0
        return found / self.enough

    def range(self, correct: bool) -> Range:
        """Return [0, 1]."""
        return Range(0.0, 1.0)
