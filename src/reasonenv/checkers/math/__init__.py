r"""Judging a final answer in mathematics: extract it, read it into a tree, compare the trees.

* `MathJudge`: a problem and a completion in, a `Verdict` out.
* `judge_answer(gold, answer)`: the verdict on a bare answer; `verify(gold, answer)`: just whether.
* `extract_answer(completion)`: the final answer of a completion and where it stood.
* `explain(gold, answer)`: how the verdict came about, for a person.
* `accuracy_reward`: the same as a reward function in TRL's form.
* `MathOptions`: how answers are compared, with the policy's defaults.

Inside, from text to verdict: `extract`, `chars`, `tokens`, `parse` (on `cursor`, `numerals`,
`brackets`, `environments`, `atoms`, `quantities`), `read`, `tree`, `printer`; `shapes`, `compare`,
`relations`, `realsets`; and the ladder of `scalars`: `rational`, `modular`, `decimals`, `numeric`
(mpmath), `symbolic` (sympy, in a worker). `limits` names every limit. No text is ever executed,
and what cannot be proved equal is not equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from reasonenv.answer_format import AnswerFormat
from reasonenv.checkers.math.explain import explain
from reasonenv.checkers.math.extract import Extracted, extract_answer
from reasonenv.checkers.math.judge import gold_text, judge_answer, verify
from reasonenv.checkers.math.options import MathOptions
from reasonenv.checkers.math.trl import accuracy_reward
from reasonenv.types import Problem, Status, Verdict

__all__ = [
    "Extracted",
    "MathJudge",
    "MathOptions",
    "accuracy_reward",
    "explain",
    "extract_answer",
    "judge_answer",
    "verify",
]


_options = lru_cache(maxsize=64)(MathOptions)


@dataclass(frozen=True)
class MathJudge:
    r"""Whether the final answer of a completion denotes the same object as `problem.answer`.

    Args:
        strict: whether only the place that `format` demands counts; without a `format` that place
            is a box.
        format: where the prompt demanded the answer; None reads every usual place.
        tolerance: relative, for problem sets whose golds are rounded; 0 is exact.
        percent: "strict", or "lenient": a percent sign that only one side has is ignored.
        units: whether a unit that only one side states is free.
        must_be_evaluated: whether an answer that restates the sum is refused.
        renamed_constants: whether an arbitrary constant may have another name.

    Raises:
        ValueError: an option outside its range.

    >>> MathJudge()(Problem("6*7=", "42"), "That makes \\boxed{42}.").status
    <Status.CORRECT: 'correct'>
    """

    strict: bool = False
    format: AnswerFormat | None = None
    tolerance: float = 0.0
    percent: str = "strict"
    units: bool = True
    must_be_evaluated: bool = False
    renamed_constants: bool = False

    def __post_init__(self) -> None:
        if self.strict and self.format is None:
            object.__setattr__(
                self, "format", AnswerFormat(answer=None, boxed=True, reasoning=None)
            )
        _ = self.options  # refuses bad values here, not at the first verdict

    @property
    def options(self) -> MathOptions:
        """How answers are compared."""
        return _options(
            self.tolerance,
            self.percent,
            self.units,
            self.must_be_evaluated,
            self.renamed_constants,
        )

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        """Return the verdict on `completion`; never raises, executes nothing."""
        gold = gold_text(problem.answer)
        if isinstance(gold, Verdict):
            return gold
        found = extract_answer(completion, self.format, self.strict)
        if found.answer is None:
            return Verdict(Status.NO_ANSWER, 0.0, None, {"place": found.place})
        verdict = judge_answer(gold, found.answer, self.options)
        detail = {"place": found.place, **verdict.detail}
        return Verdict(verdict.status, verdict.score, verdict.answer, detail)
