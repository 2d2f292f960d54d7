"""Terms that read how a completion is laid out: tags, structure, a number in the answer.

All read prefill + completion, and all see text alone: a policy can earn them with an empty head.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from reasonenv.answer_format import AnswerFormat
from reasonenv.errors import RewardError
from reasonenv.rewards.base import Range, RewardContext, Term
from reasonenv.types import Group

__all__ = ["Format", "NumericPresent", "TagCount", "for_format"]

_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, repr=False, init=False)
class _Tagged(Term):
    tags: tuple[str, ...]

    def __init__(self, *tags: str, name: str = "") -> None:
        if not tags or not all(isinstance(tag, str) and tag for tag in tags):
            raise RewardError(
                f"{type(self).__name__} takes tag names, as in {type(self).__name__}"
                f"('reasoning', 'answer'); got {tags!r}"
            )
        if len(set(tags)) < len(tags):
            raise RewardError(f"{type(self).__name__} counts each tag once, got {tags!r}")
        object.__setattr__(self, "tags", tags)
        object.__setattr__(self, "name", name)

    def range(self, correct: bool) -> Range:
        """Return [0, 1]: text alone decides, right or wrong."""
        return Range(0.0, 1.0)

    def __repr__(self) -> str:
        given = [repr(tag) for tag in self.tags] + [f"name={self.name!r}"] * bool(self.name)
        return f"{type(self).__name__}({', '.join(given)})"


@dataclass(frozen=True, repr=False, init=False)
class TagCount(_Tagged):
    """The share of the demanded tags that stand exactly once: `TagCount("reasoning", "answer")`.

    Formula: r = #{t in openers and closers : count(t) = 1} / (2 * number of tags). Range: [0, 1].
    Not potential-based. What it cannot see: order, content, and what stands outside the tags: empty
    sections earn it all. Source: the tag-count reward of open-r1 (0.25 for each of four tags),
    divided by what can be earned.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = Rollout(Problem("2+2=", "4"), "<answer>5</answer>")
    >>> TagCount("reasoning", "answer")([Judged(said, Verdict("incorrect"))]).total.tolist()
    [0.5]
    """

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return the share of tags that stand exactly once."""
        marks = [mark for tag in self.tags for mark in (f"<{tag}>", f"</{tag}>")]
        return [
            sum(judged.rollout.text.count(mark) == 1 for mark in marks) / len(marks)
            for judged in group
        ]


@dataclass(frozen=True, repr=False, init=False)
class Format(_Tagged):
    """1 if the completion is exactly the demanded sections in order, none of them empty.

    Formula: r = 1[text = ws <a>x</a> ws <b>y</b> ws, x and y not blank, each tag once]. Range:
    {0, 1}, right or wrong. Not potential-based. What it cannot see: what the sections say, so a
    letter in each earns it. Source: the study's "format 0.5" (arXiv 2609.39321), whose text gives
    name and weight, and the format reward of open-r1; that sections must not be empty, and that
    nothing may stand outside them, is this library's.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> texts = ("<answer>5</answer>", "<answer> </answer>", "So <answer>5</answer>")
    >>> said = [Rollout(Problem("2+2=", "4"), text) for text in texts]
    >>> Format("answer")([Judged(one, Verdict("incorrect")) for one in said]).total.tolist()
    [1.0, 0.0, 0.0]
    """

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return 1.0 where the layout is met."""
        return [float(self._is_met(judged.rollout.text)) for judged in group]

    def _is_met(self, text: str) -> bool:
        position = 0
        for tag in self.tags:  # by find, not by regex: linear whatever the completion holds
            opener, closer = f"<{tag}>", f"</{tag}>"
            if text.count(opener) != 1 or text.count(closer) != 1:
                return False
            start, end = text.find(opener), text.find(closer)
            content = text[start + len(opener) : end]
            if start < position or text[position:start].strip() or not content.strip():
                return False
            position = end + len(closer)
        return not text[position:].strip()


@dataclass(frozen=True, repr=False)
class NumericPresent(Term):
    """1 if the extracted answer holds a digit (the study's "numeric answer present").

    Formula: r = 1[answer was extracted and holds a digit]. Range: {0, 1}, right or wrong. Not
    potential-based. What it cannot see: whether the number is right, or the whole answer; any digit
    earns it. Source: the study's "numeric answer present 0.5" (arXiv 2609.39321), whose text gives
    name and weight; that a digit is enough is this library's.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = Rollout(Problem("2+2=", "4"), "<answer>5</answer>")
    >>> NumericPresent()([Judged(said, Verdict("incorrect", answer="5"))]).total.tolist()
    [1.0]
    """

    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return 1.0 where the verdict's extracted answer holds a digit."""
        return [float(bool(_DIGIT.search(judged.verdict.answer or ""))) for judged in group]

    def range(self, correct: bool) -> Range:
        """Return [0, 1]."""
        return Range(0.0, 1.0)


def for_format(layout: AnswerFormat) -> Format:
    """Return the `Format` term that pays for what `layout` demands of the prompt.

    Raises:
        RewardError: the layout has no tags (its answer is boxed and no reasoning is demanded).
    """
    if not layout.tags or layout.boxed:
        raise RewardError(f"Format pays for tags, and {layout!r} does not end in one")
    return Format(*layout.tags)
