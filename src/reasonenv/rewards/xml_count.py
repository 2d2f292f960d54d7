"""`XMLCount`: the study's count of tags, less what is written after them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reasonenv.rewards.base import RewardContext
from reasonenv.rewards.checks import need_number
from reasonenv.rewards.layout import _Tagged
from reasonenv.types import Group

__all__ = ["XMLCount"]


@dataclass(frozen=True, repr=False, init=False)
class XMLCount(_Tagged):
    """The share of the demanded tags that stand exactly once, less text after the last of them.

    Formula: r = max(0, s - decay * c), s = #{t in openers and closers : count(t) = 1} / (2 * number
    of tags), c = the characters after the last tag's closer, blanks at both ends not counted; c = 0
    where that closer is missing. Range: [0, 1], right or wrong. Not potential-based. What it
    cannot see: order and content; empty sections earn it all. Source: the study's "XML-count 0.5"
    (arXiv 2609.39321), whose text gives name and weight only. This definition is the library's:
    it is the count that is common in published GRPO examples, divided by what can be earned.

    Args:
        tags: names of tags, in the order demanded.
        decay: what a character after the last closer costs.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = Rollout(Problem("2+2=", "4"), "<answer>4</answer>" + " so there" * 10)
    >>> XMLCount("answer")([Judged(said, Verdict("incorrect"))]).total.round(3).tolist()
    [0.911]
    """

    decay: float = 0.001

    def __init__(self, *tags: str, decay: float = 0.001, name: str = "") -> None:
        super().__init__(*tags, name=name)
        need_number("XMLCount", "decay", decay, least=0)
        object.__setattr__(self, "decay", decay)

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return each member's share of tags, less what follows them."""
        marks = [mark for tag in self.tags for mark in (f"<{tag}>", f"</{tag}>")]
        return [self._count(judged.rollout.text, marks) for judged in group]

    def _count(self, text: str, marks: list[str]) -> float:
        counts = [text.count(mark) for mark in marks]
        share = counts.count(1) / len(marks)
        if not counts[-1]:
            return share
        after = text[text.rfind(marks[-1]) + len(marks[-1]) :]
        return max(0.0, share - self.decay * len(after.strip()))

    def arguments(self) -> dict[str, Any]:
        """Return the constructor's arguments that are not at their defaults."""
        given: dict[str, Any] = {"tags": self.tags}
        if self.decay != 0.001:
            given["decay"] = self.decay
        return given | ({"name": self.name} if self.name else {})

    def __repr__(self) -> str:
        given = [repr(tag) for tag in self.tags]
        given += [f"{k}={v!r}" for k, v in self.arguments().items() if k != "tags"]
        return f"XMLCount({', '.join(given)})"
