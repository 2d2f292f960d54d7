r"""Judging a final answer in mathematics: extract it, normalise it, compare it exactly.

* `MathJudge`: a problem and a completion in, a `Verdict` out.
* `judge_answer(gold, answer)`: the verdict on a bare answer; `verify(gold, answer)`: just whether.
* `extract_answer(completion)`: the final answer of a completion and where it stood.

Inside: `extract` (where the answer stands), `normal` (one form for many spellings), `units`,
`numbers` (exact rationals), `compare` (the ladder), `limits` (every limit, named). Nothing here
imports sympy or executes text. What cannot be proved equal is not equal.
"""

from __future__ import annotations

from dataclasses import dataclass

from reasonenv.answer_format import AnswerFormat
from reasonenv.checkers.math.compare import gold_text, judge_answer, verify
from reasonenv.checkers.math.extract import Extracted, extract_answer
from reasonenv.types import Problem, Status, Verdict

__all__ = ["Extracted", "MathJudge", "extract_answer", "judge_answer", "verify"]


@dataclass(frozen=True)
class MathJudge:
    r"""Whether the final answer of a completion denotes the same object as `problem.answer`.

    Args:
        strict: whether only the place that `format` demands counts.
        format: where the prompt demanded the answer; None reads every usual place.

    Raises:
        ValueError: `strict` without a `format`.

    >>> MathJudge()(Problem("6*7=", "42"), "That makes \\boxed{42}.").status
    <Status.CORRECT: 'correct'>
    """

    strict: bool = False
    format: AnswerFormat | None = None

    def __post_init__(self) -> None:
        if self.strict and self.format is None:
            raise ValueError(
                "strict=True demands a place: give format=AnswerFormat(...), or leave strict off"
            )

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        """Return the verdict on `completion`; never raises, executes nothing."""
        gold = gold_text(problem.answer)
        if isinstance(gold, Verdict):
            return gold
        found = extract_answer(completion, self.format, self.strict)
        if found.answer is None:
            return Verdict(Status.NO_ANSWER, 0.0, None, {"place": found.place})
        verdict = judge_answer(gold, found.answer)
        detail = {"place": found.place, **verdict.detail}
        return Verdict(verdict.status, verdict.score, verdict.answer, detail)
