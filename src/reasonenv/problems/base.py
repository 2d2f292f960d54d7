"""What a source of problems is, and the two ways to hold one: a list, or a generator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol, overload, runtime_checkable

import numpy as np

from reasonenv.errors import DataError
from reasonenv.types import Problem

__all__ = ["Generate", "Problems", "ProceduralProblems", "ProblemList", "as_problems"]


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
        problems: at least one, their ids unique.
        name: where they come from, for messages.

    Raises:
        DataError: no problem, or the same problem twice (with `unique=True`).
    """

    def __init__(self, problems: Iterable[Problem], name: str = "problems") -> None:
        self._problems = tuple(problems)
        self.name = name
        if not self._problems:
            raise DataError(f"{name}: no problem in it; at least one is needed")
        self._index = {problem.id: i for i, problem in enumerate(self._problems)}

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

    def find(self, problem_id: str) -> Problem:
        """Return the problem with this id."""
        if problem_id not in self._index:
            raise DataError(f"{self.name}: no problem has the id {problem_id!r}")
        return self._problems[self._index[problem_id]]


Generate = Callable[[np.random.Generator], Problem]
"""Makes one problem from a random generator, and from nothing else."""

_TEST_SHARE = 5  # one problem in five belongs to the test split


@dataclass(frozen=True)
class ProceduralProblems:
    """Problems made on demand: number `i` depends on (seed, split, i) alone.

    Train and test never share a problem: which split a problem belongs to is decided by its id.

    Args:
        generate: makes one problem from a `numpy.random.Generator`; picklable (a module's
            function, or a frozen dataclass with `__call__`).
        split: "train" or "test".
        seed: another seed is another sequence over the same two splits.
        size: how many there are to index; generating costs nothing until one is asked for.

    Raises:
        DataError: another split, or a generator that makes (nearly) no problem of it.
    """

    generate: Generate
    split: str = "train"
    seed: int = 0
    size: int = 100_000
    name: str = "procedural"
    _known: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.split not in ("train", "test"):
            raise DataError(f"{self.name}: splits are 'train' and 'test', got {self.split!r}")

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Problem:
        if not -self.size <= index < self.size:
            raise IndexError(f"{self.name} has {self.size} problems, asked for number {index}")
        problem = self._make(index % self.size)
        self._known[problem.id] = index % self.size
        return problem

    def find(self, problem_id: str) -> Problem:
        """Return the problem with this id; searches the first 20,000 where it was not seen yet."""
        if problem_id in self._known:
            return self._make(self._known[problem_id])
        for index in range(min(self.size, 20_000)):
            if self[index].id == problem_id:
                return self[index]
        raise DataError(f"{self.name}: no problem with the id {problem_id!r} among the first 20000")

    def _make(self, index: int) -> Problem:
        return _generate(self.generate, self.split, self.seed, index, self.name)


@lru_cache(maxsize=4096)
def _generate(generate: Generate, split: str, seed: int, index: int, name: str) -> Problem:
    rng = np.random.default_rng([seed, split == "test", index])
    for _ in range(1000):
        problem = generate(rng)
        if (int(problem.id[:8], 16) % _TEST_SHARE == 0) == (split == "test"):
            return problem
    raise DataError(f"{name}: the generator made no problem of the {split} split in 1000 draws")


def as_problems(source: Problems | Iterable[Problem], name: str = "problems") -> Problems:
    """Return `source` as a `Problems`: itself, or a list of the problems it yields."""
    if isinstance(source, Problems):
        return source
    return ProblemList(source, name)
