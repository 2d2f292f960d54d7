"""What a source of problems is, and the two ways to hold one: a list, or a generator."""

from __future__ import annotations

import operator
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, overload, runtime_checkable

import numpy as np

from reasonenv.errors import DataError
from reasonenv.types import Problem, content_hash

__all__ = [
    "Generate",
    "ProblemList",
    "Problems",
    "ProceduralProblems",
    "as_problems",
    "drop_repeats",
    "first_distinct",
    "iterate",
    "split_of",
]


@runtime_checkable
class Problems(Protocol):
    """A finite, indexable source: the same index gives the same problem in every process."""

    def __len__(self) -> int:
        """Return how many problems there are."""
        ...

    def __getitem__(self, index: int, /) -> Problem:
        """Return problem `index`, 0 <= index < len."""
        ...

    def find(self, problem_id: str) -> Problem:
        """Return the problem with this id.

        Raises:
            DataError: no problem of this source has it.
        """
        ...


class ProblemList(Sequence[Problem]):
    """Problems held in memory.

    Args:
        problems: at least one, their ids unique (`drop_repeats` makes them so).
        name: where they come from, for messages.

    Raises:
        DataError: no problem, or one id twice. An empty slice is no problem either.
    """

    def __init__(self, problems: Iterable[Problem], name: str = "problems") -> None:
        self._problems = tuple(problems)
        self.name = name
        if not self._problems:
            raise DataError(f"{name}: no problem in it; at least one is needed")
        self._index: dict[str, int] = {}
        for position, problem in enumerate(self._problems):
            first = self._index.setdefault(problem.id, position)
            if first != position:
                raise DataError(
                    f"{name}: problems number {first} and {position} share the id {problem.id!r}; "
                    "ids are unique: use reasonenv.problems.drop_repeats, or give other ids"
                )

    def __len__(self) -> int:
        return len(self._problems)

    @overload
    def __getitem__(self, index: int, /) -> Problem: ...
    @overload
    def __getitem__(self, index: slice, /) -> ProblemList: ...
    def __getitem__(self, index: int | slice, /) -> Problem | ProblemList:
        if isinstance(index, slice):
            return ProblemList(self._problems[index], self.name)
        return self._problems[index]

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._problems)

    def __repr__(self) -> str:
        return f"<ProblemList {self.name}: {len(self)} problems>"

    def find(self, problem_id: str) -> Problem:
        """Return the problem with this id.

        Raises:
            DataError: no problem has it.
        """
        if problem_id not in self._index:
            raise DataError(f"{self.name}: no problem has the id {problem_id!r}")
        return self._problems[self._index[problem_id]]


Generate = Callable[[np.random.Generator], Problem]
"""Makes one problem from a random generator, and from nothing else."""

_KEPT = 1024  # problems: a step asks for its own more than once
FIND_LIMIT = 100_000  # how many problems `find` makes at most: 10 to 40 s of arithmetic
_TEST_SHARE = 5  # one problem in five belongs to the test split
_MAX_DRAWS = 1000  # a generator with any test problem at all is all but sure to make one in these
_CONTENT_HASH = re.compile(r"[0-9a-f]{16}\Z")


def split_of(problem_id: str) -> str:
    """Return "train" or "test": the split to which a generated problem with this id belongs.

    A rule on the id alone needs no list of what is where, and holds for any seed and size.
    """
    digits = problem_id if _CONTENT_HASH.match(problem_id) else content_hash(problem_id)
    return "test" if int(digits[:8], 16) % _TEST_SHARE == 0 else "train"


@dataclass
class _Seen:
    """What one `ProceduralProblems` has made so far, for `find`; may be forgotten at any time.

    Threads may share it: single dict operations are atomic, and a cursor set back by a slower
    thread only makes `find` look twice.
    """

    index_of: dict[str, int] = field(default_factory=dict)
    made: dict[int, Problem] = field(default_factory=dict)  # some of the last ones
    searched: int = 0  # every index below this one is in `index_of`


@dataclass(frozen=True)
class ProceduralProblems:
    """Problems made on demand: number `i` depends on (generate, split, seed, i) alone.

    Train and test never share a problem: which split a problem belongs to is decided by its id
    (`split_of`). Draws are independent, so two numbers may be the same problem, as any small
    generator must repeat itself; `first_distinct` makes a list without repeats.

    Args:
        generate: makes one problem from a `numpy.random.Generator`; a module's function or a
            frozen dataclass with `__call__`, where the source is to be pickled. Problems with
            the same id must be the same question.
        split: "train" or "test".
        seed: at least 0; another seed is another sequence over the same two splits.
        size: how many there are to index, at least 1; none is made before it is asked for.
        name: where they come from, for messages.

    Raises:
        DataError: another split, or a seed or size out of range. Indexing raises it where the
            generator makes (nearly) no problem of the split.
    """

    generate: Generate
    split: str = "train"
    seed: int = 0
    size: int = 100_000
    name: str = "procedural"
    # init=False: dataclasses.replace must not hand the indices of one split to another.
    _seen: _Seen = field(default_factory=_Seen, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.split not in ("train", "test"):
            raise DataError(f"{self.name}: splits are 'train' and 'test', got {self.split!r}")
        for name, least in (("seed", 0), ("size", 1)):
            given = getattr(self, name)
            try:
                object.__setattr__(self, name, operator.index(given))
            except TypeError:
                raise DataError(f"{self.name}: {name} is an integer, got {given!r}") from None
            if given < least:
                raise DataError(f"{self.name}: {name} is at least {least}, got {given}")

    def __reduce__(self) -> tuple[Any, ...]:  # what was seen stays here: it can be large
        return type(self), (self.generate, self.split, self.seed, self.size, self.name)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Problem:
        """Return problem number `index`; negative numbers count from the end.

        Raises:
            IndexError: there is no such number.
            DataError: 1000 draws gave no problem of this split.
        """
        index = operator.index(index)
        if not -self.size <= index < self.size:
            raise IndexError(f"{self.name} has {self.size} problems, asked for number {index}")
        index %= self.size
        made = self._seen.made
        if (known := made.get(index)) is not None:
            return known
        problem = self._make(index)
        self._seen.index_of.setdefault(problem.id, index)
        if len(made) >= _KEPT:
            made.clear()
        made[index] = problem
        return problem

    def find(self, problem_id: str) -> Problem:
        """Return the problem with this id.

        One that this process has not made yet is searched for, at about 0.1 ms a number in the
        train split and 0.4 in the test split; no number is searched twice.

        Raises:
            DataError: it belongs to the other split, or is not among the first 100,000.
        """
        seen = self._seen
        if problem_id not in seen.index_of:
            if (home := split_of(problem_id)) != self.split:
                raise DataError(
                    f"{self.name}: the id {problem_id!r} belongs to the {home} split, "
                    f"this is the {self.split} split"
                )
            limit = min(self.size, FIND_LIMIT)
            for index in range(seen.searched, limit):
                found = self[index].id == problem_id
                seen.searched = index + 1
                if found:
                    break
            else:
                raise DataError(
                    f"{self.name}: none of the first {limit} problems has the id {problem_id!r} "
                    f"(split {self.split!r}, seed {self.seed}): were they made with another seed, "
                    "size or generator?"
                )
        return self._make(seen.index_of[problem_id])

    def _make(self, index: int) -> Problem:
        rng = np.random.default_rng([self.seed, self.split == "test", index])
        for _ in range(_MAX_DRAWS):
            problem = self.generate(rng)
            if split_of(problem.id) == self.split:
                return problem
        raise DataError(
            f"{self.name}: the generator made no problem of the {self.split} split in "
            f"{_MAX_DRAWS} draws; does it make more than a handful of different problems?"
        )


def iterate(problems: Problems) -> Iterator[Problem]:
    """Yield every problem of a source, in order of index."""
    return (problems[index] for index in range(len(problems)))


def drop_repeats(problems: Iterable[Problem], name: str = "problems") -> ProblemList:
    """Return a list without the problems whose id an earlier one has; warn with their count.

    Raises:
        DataError: no problem.
    """
    kept: dict[str, Problem] = {}
    dropped = different = 0
    for problem in problems:
        if problem.id in kept:
            dropped += 1
            different += kept[problem.id] != problem
        else:
            kept[problem.id] = problem
    if dropped:
        note = (
            f"{name}: {dropped} of {len(kept) + dropped} problems repeat the id of an earlier one "
            "and are dropped"
        )
        if different:
            note += (
                f"; {different} of them differ from that earlier one: "
                "give each problem its own id, or none"
            )
        warnings.warn(note, stacklevel=2)
    return ProblemList(kept.values(), name)


def first_distinct(problems: Problems, n: int) -> ProblemList:
    """Return the first `n` different problems of a source: what an evaluation should use.

    Raises:
        DataError: `n` < 1, or there are fewer.
    """
    name = getattr(problems, "name", "problems")
    kept: dict[str, Problem] = {}
    for problem in iterate(problems):
        kept.setdefault(problem.id, problem)
        if len(kept) >= n:
            break
    if not 1 <= n <= len(kept):
        raise DataError(f"{name}: {n} different problems asked for, there are {len(kept)}")
    return ProblemList(kept.values(), name)


def as_problems(source: Problems | Iterable[Problem], name: str = "problems") -> Problems:
    """Return `source` as a `Problems`: itself, or a list of the problems it yields.

    Repeats in a list are dropped with a warning (`drop_repeats`).

    Raises:
        DataError: no problem in it.
    """
    if isinstance(source, Problems):
        return source
    return drop_repeats(source, name)
