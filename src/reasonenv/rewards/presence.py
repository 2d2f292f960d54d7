"""Terms that pay for what is there at all: some reasoning, some answer.

They are the cheapest to earn, so keep their weights small.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Range, RewardContext, Term
from reasonenv.types import Group, Status

__all__ = ["AnswerPresent", "ReasoningPresent"]

_WORD = re.compile(r"\w")


@dataclass(frozen=True, repr=False)
class ReasoningPresent(Term):
    """1 if the reasoning's section is closed and holds a letter or a digit.

    Formula: r = 1[the text between the first `<tag>` and the next `</tag>` holds a letter or a
    digit]. Range: {0, 1}, right or wrong. Not potential-based: it pays for the completion's text.
    What it cannot see: whether the text is reasoning, or has to do with the answer; one letter
    earns it all. Source: the study's "reasoning non-empty 0.1" (arXiv 2609.39321), whose text
    gives name and weight; that blanks and punctuation alone are not enough is this library's.

    Args:
        tag: of the section; `<reasoning>` unless given.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = Rollout(Problem("2+2=", "4"), "<reasoning>2 and 2</reasoning><answer>5</answer>")
    >>> ReasoningPresent()([Judged(said, Verdict("incorrect"))]).total.tolist()
    [1.0]
    """

    tag: str = "reasoning"

    def __post_init__(self) -> None:
        if not isinstance(self.tag, str) or not self.tag:
            raise RewardError(f"ReasoningPresent takes a tag's name, got {self.tag!r}")

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return 1.0 where the section holds something."""
        return [float(self._says_something(judged.rollout.text)) for judged in group]

    def _says_something(self, text: str) -> bool:
        opener = text.find(f"<{self.tag}>")
        if opener < 0:
            return False
        start = opener + len(self.tag) + 2
        end = text.find(f"</{self.tag}>", start)
        return end >= 0 and _WORD.search(text, start, end) is not None

    def range(self, correct: bool) -> Range:
        """Return [0, 1]: text alone decides, right or wrong."""
        return Range(0.0, 1.0)


@dataclass(frozen=True, repr=False)
class AnswerPresent(Term):
    """1 if the judge found an answer that is not blank.

    Formula: r = 1[an answer was extracted and is not blank]. Range: {1} if right, {0, 1} if wrong.
    Not potential-based. What it cannot see: whether the answer is right, or an answer to this
    question at all. Source: the study's "answer non-empty 0.1" (arXiv 2609.39321), whose text
    gives name and weight; what counts as the answer is what the judge extracts.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = Rollout(Problem("2+2=", "4"), "<answer>5</answer>")
    >>> AnswerPresent()([Judged(said, Verdict("incorrect", answer="5"))]).total.tolist()
    [1.0]
    """

    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return 1.0 where there is an answer."""
        return [
            float(
                judged.verdict.status is Status.CORRECT
                or bool((judged.verdict.answer or "").strip())
            )
            for judged in group
        ]

    def range(self, correct: bool) -> Range:
        """Return {1} if right, [0, 1] if wrong."""
        return Range(1.0 if correct else 0.0, 1.0)
