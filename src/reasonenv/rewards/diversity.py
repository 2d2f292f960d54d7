"""Terms that pay a member of a group for what the others do not say."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from reasonenv.rewards.base import Range, RewardContext, Term
from reasonenv.rewards.checks import need_integer
from reasonenv.rewards.repetition import need_unit, ngrams
from reasonenv.types import Group

__all__ = ["AnswerDiversity", "NgramDiversity"]


@dataclass(frozen=True, repr=False)
class AnswerDiversity(Term):
    """The share of the other members whose answer is another one.

    Formula: r_i = sum over k != i of 1[a_k != a_i] / (G - 1), a = the extracted answer with blanks
    taken out and in lower case; "none" is an answer too, and the same for all. 0 where G = 1.
    Range: [0, 1], right or wrong. Not potential-based. What it cannot see: that `1/2` and `0.5` are
    one answer. It pays a wrong answer among right ones most of all: keep its weight far below
    correctness, or put it inside `gate(..., when=unsolved)`, where it rewards trying something
    else. Source: this library's, as distinct-answer counts are used to watch for collapse.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = Rollout(Problem("2+2=", "4"), "...")
    >>> group = [Judged(said, Verdict("incorrect", answer=a)) for a in ("5", "5", "6")]
    >>> AnswerDiversity()(group).total.tolist()
    [0.5, 0.5, 1.0]
    """

    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})
    group_relative: ClassVar[bool] = True

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return how many of the others answer otherwise."""
        answers = [
            None
            if judged.verdict.answer is None
            else "".join(judged.verdict.answer.lower().split())
            for judged in group
        ]
        counts = Counter(answers)
        return [(len(group) - counts[answer]) / max(len(group) - 1, 1) for answer in answers]

    def range(self, correct: bool) -> Range:
        """Return [0, 1]."""
        return Range(0.0, 1.0)


@dataclass(frozen=True, repr=False)
class NgramDiversity(Term):
    """The share of a completion's different n-grams that no other member of the group holds.

    Formula: r_i = #{g in N_i : g in no N_k, k != i} / #N_i, N = the set of a text's n-grams. 0
    where N_i is empty, or G = 1. Range: [0, 1], right or wrong. Not potential-based. What it cannot
    see: whether what is new has sense; random words are the newest of all, so gate it on success.
    Source: distinct-n of dialogue models (arXiv 1510.03055), taken over a group and leaving each
    member's own text out.

    Args:
        n: the length of an n-gram.
        unit: "word", cut at blanks; or "character", for writing that has no blanks.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> texts = ("two and two", "two and two", "count to four")
    >>> said = [Rollout(Problem("2+2=", "4"), text) for text in texts]
    >>> NgramDiversity(n=2)([Judged(one, Verdict("correct", 1.0)) for one in said]).total.tolist()
    [0.0, 0.0, 1.0]
    """

    n: int = 2
    unit: str = "word"
    group_relative: ClassVar[bool] = True

    def __post_init__(self) -> None:
        need_integer("NgramDiversity", "n", self.n, least=1)
        need_unit("NgramDiversity", self.unit)

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return the share of each member's n-grams that it holds alone."""
        held = [set(ngrams(judged.rollout.text, self.n, self.unit)) for judged in group]
        holders = Counter(gram for grams in held for gram in grams)
        if len(group) == 1:
            return [0.0]
        return [
            sum(holders[gram] == 1 for gram in grams) / len(grams) if grams else 0.0
            for grams in held
        ]

    def range(self, correct: bool) -> Range:
        """Return [0, 1]."""
        return Range(0.0, 1.0)
