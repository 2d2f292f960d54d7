"""The built-in kinds of environment: `MathEnv`, `ChoiceEnv`, `CountdownEnv`.

Each takes the name of a problem set of the catalogue, or any problems of its kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from reasonenv.checkers import ChoiceJudge, CountdownJudge, Judge, MathJudge
from reasonenv.envs.core import ReasoningEnv
from reasonenv.problems import load
from reasonenv.problems.base import Problems
from reasonenv.types import Problem

__all__ = ["CatalogueEnv", "ChoiceEnv", "CountdownEnv", "MathEnv"]


class CatalogueEnv(ReasoningEnv):
    """An environment whose problems may be named: `MathEnv("gsm8k", split="test")`.

    Args:
        problems: a name of the catalogue (`reasonenv.problems.CATALOGUE`), or problems.
        seed: of the procedural problem sets.
        size: how many problems to take; None takes all.
        options: of the procedural problem sets (digits, operators ...).
        kwargs: as for `ReasoningEnv`.
    """

    def __init__(
        self,
        problems: str | Problems | Iterable[Problem] | None = None,
        *,
        seed: int = 0,
        size: int | None = None,
        options: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self._set = problems if isinstance(problems, str) else None
        self._load_options = {"seed": seed, "size": size, **dict(options or {})}
        super().__init__(None if isinstance(problems, str) else problems, **kwargs)

    def load_problems(self, split: str, data: Any) -> Problems | Iterable[Problem]:
        """Return the named problem set's problems of `split`."""
        if self._set is None:
            return super().load_problems(split, data)
        return load(self._set, split=split, data=data, **self._load_options)


class MathEnv(CatalogueEnv):
    """Questions with a mathematical answer."""

    kind: ClassVar[str] = "math"
    answer_is = "final answer"

    def make_judge(self) -> Judge:
        """Return the maths judge, reading answers from this environment's layout first."""
        return MathJudge(format=self.layout)


class ChoiceEnv(CatalogueEnv):
    """Multiple choice: the options stand below the question, each with its letter."""

    kind: ClassVar[str] = "choice"
    answer_is = "letter of the right option"

    def make_judge(self) -> Judge:
        """Return the multiple-choice judge."""
        return ChoiceJudge(format=self.layout)

    def below_question(self, problem: Problem) -> str:
        """Return the options, one a line: `A. text`."""
        options = problem.metadata["options"]
        lines = [f"{chr(ord('A') + i)}. {text}" for i, text in enumerate(options)]
        return "\n".join(["", "", *lines])


class CountdownEnv(CatalogueEnv):
    """Reach a target with given numbers: any expression that does is right."""

    kind: ClassVar[str] = "countdown"
    answer_is = "expression"

    def make_judge(self) -> Judge:
        """Return the judge that evaluates the expression."""
        return CountdownJudge(format=self.layout)
