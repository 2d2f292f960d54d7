"""`Repetition`: how much of a completion says again what it has said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Range, RewardContext, Term
from reasonenv.rewards.checks import need_integer
from reasonenv.types import Group

__all__ = ["Repetition", "ngrams"]

UNITS = ("word", "character")


def ngrams(text: str, n: int, unit: str = "word") -> list[tuple[str, ...]]:
    """Return the n-grams of a text in order, of lower-case words or of characters.

    >>> ngrams("A b a", 2)
    [('a', 'b'), ('b', 'a')]
    """
    lowered = text.lower()
    items: Sequence[str] = lowered.split() if unit == "word" else lowered
    return list(zip(*(items[i:] for i in range(n)), strict=False))


def need_unit(term: str, unit: object) -> None:
    """Raise a RewardError unless `unit` is one of `UNITS`."""
    if unit not in UNITS:
        raise RewardError(f"{term}: unit is {' or '.join(map(repr, UNITS))}, got {unit!r}")


@dataclass(frozen=True, repr=False)
class Repetition(Term):
    """The share of a completion's n-grams that repeat an earlier one.

    Formula: r = 1 - #different n-grams / #n-grams; 0 where there is none. Range: [0, 1], right or
    wrong. Subtract it: `Correct() - 0.5 * Repetition()`. Not potential-based. What it cannot see:
    the same thing said in other words, which earns it nothing; and that some tasks repeat rightly
    (tables, long sums, code). Blank and very short completions are the least repetitive ones.
    Source: the repetition penalty of open-r1 (max_penalty * (1 - unique / total)), sign turned
    round.

    Args:
        n: the length of an n-gram.
        unit: "word", cut at blanks; or "character", for writing that has no blanks.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = Rollout(Problem("2+2=", "4"), "so 4 so 4 so 4")
    >>> Repetition(n=2)([Judged(said, Verdict("incorrect"))]).total.tolist()
    [0.6]
    """

    n: int = 3
    unit: str = "word"

    def __post_init__(self) -> None:
        need_integer("Repetition", "n", self.n, least=1)
        need_unit("Repetition", self.unit)

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return each member's share of repeated n-grams."""
        return [self._share(ngrams(judged.rollout.text, self.n, self.unit)) for judged in group]

    def _share(self, grams: list[tuple[str, ...]]) -> float:
        return 1.0 - len(set(grams)) / len(grams) if grams else 0.0

    def range(self, correct: bool) -> Range:
        """Return [0, 1]."""
        return Range(0.0, 1.0)
