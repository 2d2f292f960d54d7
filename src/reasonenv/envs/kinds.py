"""The built-in kinds of environment: `MathEnv` and `CountdownEnv`.

Each takes the name of a problem set of the catalogue, or any problems of its kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import islice
from typing import Any, ClassVar

from reasonenv.checkers import CountdownJudge, Judge, MathJudge, judge_answer
from reasonenv.envs.core import ReasoningEnv
from reasonenv.errors import did_you_mean
from reasonenv.problems import entry_of, load
from reasonenv.problems.base import Problems, ProceduralProblems, iterate
from reasonenv.types import Problem, Status

__all__ = ["CatalogueEnv", "CountdownEnv", "MathEnv"]

_NO_ANSWER = "?!"  # unreadable, so nothing is compared with it, and spelled like no gold
GOLDS_READ_AT_LOAD = 2_000
"""How many golds are read when an environment is made: at most about half a second."""


class CatalogueEnv(ReasoningEnv):
    """An environment whose problems may be named: `MathEnv("gsm8k", split="test")`.

    Args:
        problems: a name of the catalogue (`reasonenv.problems.CATALOGUE`), or problems.
        seed: of the procedural problem sets.
        size: how many problems to take; None takes all.
        options: of the procedural problem sets (digits, operators ...).
        answer_is: what the prompt calls an answer: "Put only the {answer_is} inside ..."; None
            takes what the catalogue says of the named problem set, or the kind's own words.
        kwargs: as for `ReasoningEnv`.
    """

    def __init__(
        self,
        problems: str | Problems | Iterable[Problem] | None = None,
        *,
        seed: int = 0,
        size: int | None = None,
        options: Mapping[str, Any] | None = None,
        answer_is: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._set = problems if isinstance(problems, str) else None
        if answer_is is not None:
            self.answer_is = answer_is
        elif self._set is not None:
            self.answer_is = entry_of(self._set).answer_is
        self._load_options = {"seed": seed, "size": size, **dict(options or {})}
        super().__init__(None if isinstance(problems, str) else problems, **kwargs)

    @property
    def overlaps(self) -> Mapping[str, str]:
        """Other problem sets -> how the named one depends on theirs; empty where nothing is known.

        With `data` it is unknown whether its problems are the named set's, so nothing is said.
        """
        return {} if self._set is None or self.data is not None else entry_of(self._set).overlaps

    def load_problems(self, split: str, data: Any) -> Problems | Iterable[Problem]:
        """Return the named problem set's problems of `split`."""
        if self._set is None:
            return super().load_problems(split, data)
        return load(self._set, split=split, data=data, **self._load_options)


class MathEnv(CatalogueEnv):
    """Questions with a mathematical answer.

    Args:
        problems: as for `CatalogueEnv`.
        judge_options: options of `reasonenv.checkers.MathJudge` other than `format`, over those
            that the catalogue says the named problem set's golds need.
        kwargs: as for `CatalogueEnv`.

    Raises:
        ValueError: an option that the judge does not have, a value that it refuses, or options
            beside a `judge` of one's own.

    >>> MathEnv([Problem("1/4 of 2?", "1/2")], judge_options={"strict": True}).judge_one.strict
    True
    """

    kind: ClassVar[str] = "math"
    answer_is = "final answer"

    def __init__(
        self,
        problems: str | Problems | Iterable[Problem] | None = None,
        *,
        judge_options: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        entry = entry_of(problems) if isinstance(problems, str) else None
        self.judge_options = {**(entry.judge if entry else {}), **(judge_options or {})}
        valid = [field.name for field in fields(MathJudge) if field.name != "format"]
        for option in self.judge_options:
            if option not in valid:
                hint = did_you_mean(option, valid)
                if option == "format":
                    hint = "the layout says where answers stand: give layout="
                raise ValueError(f"judge_options: the maths judge has no option {option!r}; {hint}")
        if judge_options and kwargs.get("judge") is not None:
            raise ValueError("judge_options are the maths judge's: give them to your own judge=")
        super().__init__(problems, **kwargs)
        bad = list(islice(self.unreadable_golds(GOLDS_READ_AT_LOAD), 4))
        if isinstance(self.judge_one, MathJudge) and bad:
            shown = "; ".join(f"problem {id}: {why}" for id, why in bad[:3])
            what = f"golds that cannot be read: {shown}{' and others' if len(bad) > 3 else ''}"
            warnings.warn(f"{what}; answers spelled otherwise are checker_errors", stacklevel=2)

    def unreadable_golds(self, limit: int | None = None) -> Iterator[tuple[str, str]]:
        """Yield the id of each problem whose gold the judge cannot read, and why it cannot.

        Args:
            limit: how many problems to look at; None looks at all. Those that are made on demand
                are not looked at: their golds are numbers, and making them is what costs.
        """
        if isinstance(self.problems, ProceduralProblems):
            return
        for problem in islice(iterate(self.problems), limit):
            verdict = judge_answer(problem.answer, _NO_ANSWER)
            if verdict.status is Status.CHECKER_ERROR:
                reason = verdict.detail.get("reason") or verdict.detail.get("error") or ""
                yield problem.id, str(reason) or f"the gold {problem.answer!r:.80}"

    def make_judge(self) -> Judge:
        """Return the maths judge, reading answers from this environment's layout first."""
        return MathJudge(format=self.layout, **self.judge_options)


class CountdownEnv(CatalogueEnv):
    """Reach a target with given numbers: any expression that does is right."""

    kind: ClassVar[str] = "countdown"
    answer_is = "expression"

    def make_judge(self) -> Judge:
        """Return the judge that evaluates the expression."""
        return CountdownJudge(format=self.layout)
