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
from reasonenv.errors import DataError, did_you_mean
from reasonenv.problems import CatalogueEntry, entry_of, load, mix, parts_of
from reasonenv.problems.base import Problems, ProceduralProblems, iterate
from reasonenv.types import Problem, Status

__all__ = ["CatalogueEnv", "CountdownEnv", "MathEnv"]

_NO_ANSWER = "?!"  # unreadable, so nothing is compared with it, and spelled like no gold
GOLDS_READ_AT_LOAD = 2_000
"""How many golds are read when an environment is made: at most about half a second."""


class CatalogueEnv(ReasoningEnv):
    """An environment whose problems may be named: `MathEnv("gsm8k", split="test")`.

    Args:
        problems: a name of the catalogue (`reasonenv.problems.CATALOGUE`), a mixture of several
            with weights (`reasonenv.problems.mix`), or problems.
        seed: of the procedural problem sets.
        size: how many problems to take; None takes all.
        options: of the procedural problem sets (digits, operators ...).
        answer_is: what the prompt calls an answer: "Put only the {answer_is} inside ..."; None
            takes what the catalogue says of the named problem set, or the kind's own words.
        kwargs: as for `ReasoningEnv`.
    """

    def __init__(
        self,
        problems: str | Mapping[str, Any] | Problems | Iterable[Problem] | None = None,
        *,
        seed: int = 0,
        size: int | None = None,
        options: Mapping[str, Any] | None = None,
        answer_is: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._set = problems if isinstance(problems, str) else None
        self._mixture = problems if isinstance(problems, Mapping) else None
        names = dict.fromkeys(entry.answer_is for entry in entries_of(problems, self.kind))
        if answer_is is not None:
            self.answer_is = answer_is
        elif len(names) == 1:
            (self.answer_is,) = names
        self._load_options = {"seed": seed, "size": size, **dict(options or {})}
        if self._mixture is not None and options:
            raise ValueError("a mixture's options stand with its parts: {set: ..., options: ...}")
        named = self._set is not None or self._mixture is not None
        super().__init__(None if named else problems, **kwargs)  # type: ignore[arg-type]

    @property
    def overlaps(self) -> Mapping[str, str]:
        """Other problem sets -> how the named one depends on theirs; empty where nothing is known.

        With `data` it is unknown whether its problems are the named set's, so nothing is said.
        """
        return {} if self._set is None or self.data is not None else entry_of(self._set).overlaps

    def load_problems(self, split: str, data: Any) -> Problems | Iterable[Problem]:
        """Return the problems of `split` of the named set, or of the mixture."""
        if self._mixture is not None and data is None:
            return mix(self._mixture, split=split, **self._load_options)
        if self._set is None:
            return super().load_problems(split, data)
        return load(self._set, split=split, data=data, **self._load_options)


def entries_of(problems: Any, kind: str) -> list[CatalogueEntry]:
    """Return the catalogue's entries that `problems` names: one, those of a mixture, or none.

    Raises:
        DataError: an unknown name, or a mixture with sets of another kind.
    """
    if isinstance(problems, str):
        return [entry_of(problems)]
    if not isinstance(problems, Mapping):
        return []
    entries = [entry_of(part.set) for part in parts_of(problems).values() if part.weight]
    for entry in entries:
        if entry.kind not in (kind, "jsonl"):
            raise DataError(
                f"{entry.name} is a set of {entry.kind}, and this environment judges {kind}: a "
                "mixture holds one kind"
            )
    return entries


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
        problems: str | Mapping[str, Any] | Problems | Iterable[Problem] | None = None,
        *,
        judge_options: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self.judge_options = _judge_options(problems, judge_options or {})
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


def _judge_options(problems: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the judge's options: those given, over those that the named sets' golds need."""
    defaults = {field.name: field.default for field in fields(MathJudge)}
    entries = entries_of(problems, MathEnv.kind)
    needed = {option for entry in entries for option in entry.judge} - set(given)
    for option in sorted(needed):
        values = {entry.name: entry.judge.get(option, defaults[option]) for entry in entries}
        if len(set(values.values())) > 1:
            raise ValueError(
                f"the sets of this mixture need different values of the judge's option {option} "
                f"({', '.join(f'{name}: {value}' for name, value in values.items())}): say which "
                f"by judge_options={{{option!r}: ...}}"
            )
    return {option: entry.judge[option] for entry in entries for option in entry.judge} | {**given}


class CountdownEnv(CatalogueEnv):
    """Reach a target with given numbers: any expression that does is right."""

    kind: ClassVar[str] = "countdown"
    answer_is = "expression"

    def make_judge(self) -> Judge:
        """Return the judge that evaluates the expression."""
        return CountdownJudge(format=self.layout)
