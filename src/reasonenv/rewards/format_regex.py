r"""`FormatRegex`: whether a whole completion fits a pattern, matched in linear time."""

from __future__ import annotations

from dataclasses import dataclass

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Range, RewardContext, Term
from reasonenv.rewards.linear_regex import LinearPattern, compile_linear
from reasonenv.types import Group

__all__ = ["PATTERNS", "FormatRegex"]


def _section(tag: str) -> str:
    return rf"\s*<{tag}>.*\S.*</{tag}>\s*"


PATTERNS = {
    "reasoning_answer": _section("reasoning") + _section("answer"),
    "think_answer": _section("think") + _section("answer"),
    "think_then": _section("think") + r"\S.*",
    "boxed": r".*\\boxed\{.*\S.*\}.*",
}
"""Patterns with a name: `FormatRegex("think_answer")`."""


@dataclass(frozen=True, repr=False)
class FormatRegex(Term):
    r"""1 if the whole completion fits a regular expression.

    Formula: r = 1[pattern fits prefill + completion from end to end]. Range: {0, 1}, right or
    wrong. Not potential-based. What it cannot see: sense; and a pattern sees less than it seems to:
    `.*` also runs over further tags, so sections may be repeated or nested, which `Format` refuses.
    Source: the regex format rewards of DeepSeek-R1 (arXiv 2501.12948) and open-r1.

    Matching takes time linear in the completion. The dot also fits a newline. Backreferences,
    lookaround, atomic groups, anchors inside, and flags are refused: `[Aa]` says what `(?i)a` does.

    Args:
        pattern: a regular expression in Python's syntax, or a name of `PATTERNS`.

    Raises:
        RewardError: a pattern that is none, or that cannot be matched in linear time.

    >>> from reasonenv import Judged, Problem, Rollout, Verdict
    >>> said = Rollout(Problem("2+2=", "4"), "<answer>5</answer>")
    >>> FormatRegex(r"<answer>\d+</answer>")([Judged(said, Verdict("incorrect"))]).total.tolist()
    [1.0]
    """

    pattern: str

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, str):
            raise RewardError(f"FormatRegex: a pattern is a text, got {self.pattern!r}")
        try:
            self._compiled()
        except RewardError as error:
            names = ", ".join(PATTERNS)
            raise RewardError(f"FormatRegex: {error} (or give a name: {names})") from error

    def _compiled(self) -> LinearPattern:
        return compile_linear(PATTERNS.get(self.pattern, self.pattern))

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return 1.0 where the pattern fits."""
        compiled = self._compiled()
        return [float(compiled.fullmatch(judged.rollout.text)) for judged in group]

    def range(self, correct: bool) -> Range:
        """Return [0, 1]: text alone decides, right or wrong."""
        return Range(0.0, 1.0)
