"""`mix`: problem sets in given shares, such as two parts GSM8K to one part three-digit sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any

from reasonenv.errors import DataError, did_you_mean
from reasonenv.problems.base import (
    ProblemList,
    Problems,
    ProceduralProblems,
    first_distinct,
    iterate,
    split_of,
)
from reasonenv.problems.catalogue import entry_of, load
from reasonenv.problems.split import sample
from reasonenv.types import Problem

__all__ = ["MIX_SIZE", "Part", "mix", "parts_of"]

MIX_SIZE = 10_000
"""Problems of a mixture whose sets are all made on demand, where no size is given."""


@dataclass(frozen=True)
class Part:
    """One problem set of a mixture.

    Args:
        set: its name in the catalogue.
        weight: its share, relative to the others'; 0 leaves it out.
        data: a file or rows to read instead of its usual source.
        options: of the generator, where it is made on demand.

    Raises:
        DataError: an unknown set, or a weight that is no finite number from 0 on.
    """

    set: str
    weight: float = 1.0
    data: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        entry_of(self.set)
        number = isinstance(self.weight, int | float) and not isinstance(self.weight, bool)
        if not number or not isfinite(self.weight) or self.weight < 0:
            raise DataError(f"{self.set}: a weight is a number from 0 on, got {self.weight!r}")


def parts_of(given: Mapping[str, Any]) -> dict[str, Part]:
    """Return the parts of a mixture by their names.

    Args:
        given: name of a set -> its weight; or any name -> the fields of a `Part`, whose `set` is
            that name unless given, or "jsonl" where `data` is.

    Raises:
        DataError: no part with a weight above 0, or a part that is not valid.

    >>> parts_of({"gsm8k": 2, "sums": {"set": "arithmetic", "options": {"digits": 3}}})["gsm8k"]
    Part(set='gsm8k', weight=2, data=None, options={})
    """
    valid = [one.name for one in fields(Part)]
    parts = {}
    for name, told in given.items():
        own = dict(told) if isinstance(told, Mapping) else {"weight": told}
        for key in own:
            if key not in valid:
                raise DataError(f"{name}: a part has no {key!r}; {did_you_mean(key, valid)}")
        own.setdefault("set", "jsonl" if own.get("data") is not None else name)
        parts[str(name)] = Part(**own)
    if not any(part.weight for part in parts.values()):
        raise DataError(f"a mixture of {list(parts)}: at least one weight is above 0")
    return parts


def mix(
    given: Mapping[str, Any], *, split: str = "train", seed: int = 0, size: int | None = None
) -> ProblemList:
    """Return a mixture of problem sets in given shares, none of its problems twice.

    It is as large as the sets allow in these shares without repeating a problem, and at most
    `size`. Which problems are taken depends on the seed, their ids and the shares alone.

    Args:
        given: as for `parts_of`.
        split: of each set; of data that has none of its own, the problems whose ids belong to it.
        seed: of the draw, and of sets that are made on demand.
        size: at most so many; None is all, or 10,000 where all sets are made on demand.

    Raises:
        DataError: a part that is not valid, or a set from which no problem would be taken.
        HubUnavailableError: a set is neither cached nor to be had.
    """
    parts = {name: part for name, part in parts_of(given).items() if part.weight}
    total = sum(part.weight for part in parts.values())
    sources = {name: _source(part, split, seed) for name, part in parts.items()}
    limits = [
        len(sources[name]) * total / part.weight
        for name, part in parts.items()
        if not isinstance(sources[name], ProceduralProblems)
    ]
    limits += [size] if size is not None else [] if limits else [MIX_SIZE]
    # Down to whole problems, and never above a set's own number by rounding.
    taken = {
        name: min(len(sources[name]), round(min(limits) * part.weight / total))
        for name, part in parts.items()
    }
    empty = [name for name, count in taken.items() if not count]
    if empty:
        raise DataError(
            f"a mixture of {min(limits):.0f} problems holds none of {', '.join(empty)}: give it "
            "more weight, or weight 0"
        )
    problems: dict[str, Problem] = {}
    for name, count in taken.items():
        source = sources[name]
        procedural = isinstance(source, ProceduralProblems)
        chosen = first_distinct(source, count) if procedural else sample(source, count, seed=seed)
        problems |= {problem.id: problem for problem in chosen}
    return sample(ProblemList(problems.values(), " + ".join(parts)), len(problems), seed=seed)


def _source(part: Part, split: str, seed: int) -> Problems:
    """Return a part's problems of a split.

    A file is the same whatever the split: its problems are parted by their ids, as generated ones
    are, so that none is both trained on and held out.
    """
    problems = load(part.set, split=split, data=part.data, seed=seed, **part.options)
    if part.data is None or isinstance(part.data, Mapping):
        return problems
    own = [problem for problem in iterate(problems) if split_of(problem.id) == split]
    return ProblemList(own, f"{part.set}, {split}")
