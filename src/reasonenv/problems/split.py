"""Parting a source in two, drawing from one, and finding what two have in common.

All of it is decided by hashes of ids, so neither the order of a file nor the machine matters, and
adding a problem moves few others.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from reasonenv.errors import DataError
from reasonenv.problems.base import ProblemList, Problems, ProceduralProblems, iterate
from reasonenv.types import Problem, canonical_json, content_hash

__all__ = ["OVERLAP_LIMIT", "hold_out", "overlap", "sample"]

OVERLAP_LIMIT = 10_000  # how many problems of a procedural source `overlap` makes: 1 to 4 s
_HOLD_OUT_LIMIT = 200_000  # problems held in memory, about 2 kB each


def hold_out(problems: Problems, n: int, *, seed: int = 0) -> tuple[ProblemList, ProblemList]:
    """Part a source into problems to train on and `n` others that are kept for evaluation.

    Which ones are kept depends on the ids and the seed alone; both parts stay in the order of the
    source. A procedural source is made in full, without repeats: its own test split
    (`split="test"`) costs nothing.

    Args:
        problems: the source.
        n: how many to keep, at least 1 and less than half of the different problems.
        seed: another seed keeps others.

    Returns:
        (train, held out): disjoint, and together the source.

    Raises:
        DataError: `n` is out of range, or the source is too large to hold in memory.
    """
    name = getattr(problems, "name", "problems")
    if len(problems) > _HOLD_OUT_LIMIT:
        raise DataError(
            f"{name}: {len(problems)} problems are too many to part in memory (at most "
            f"{_HOLD_OUT_LIMIT}); take a smaller size, or the source's own split 'test'"
        )
    distinct = {problem.id: problem for problem in iterate(problems)}
    most = (len(distinct) - 1) // 2
    if not 1 <= n <= most:
        valid = f"valid: 1 to {most}" if most else "too few problems to hold any out"
        raise DataError(
            f"{name}: cannot hold out {n} of {len(distinct)} different problems: fewer than half "
            f"are held out, at least 1; {valid}"
        )
    held = {problem.id for problem in _drawn(distinct.values(), n, ["hold_out", seed])}
    return (
        ProblemList((p for p in distinct.values() if p.id not in held), f"{name} (train part)"),
        ProblemList((p for p in distinct.values() if p.id in held), f"{name} (held out)"),
    )


def sample(problems: Problems, size: int, *, seed: int = 0) -> ProblemList:
    """Return `size` problems in a shuffled order, or all of them where there are fewer.

    A smaller size gives the beginning of the same list.

    Raises:
        DataError: `size` < 1.
    """
    name = getattr(problems, "name", "problems")
    if size < 1:
        raise DataError(f"{name}: size is at least 1, got {size}")
    distinct = {problem.id: problem for problem in iterate(problems)}
    return ProblemList(_drawn(distinct.values(), size, ["sample", seed]), name)


def overlap(a: Problems, b: Problems, *, limit: int = OVERLAP_LIMIT) -> set[str]:
    """Return the ids of the problems of `a` that are in `b` too: by id, or word for word.

    The same question with the same options is the same problem, whatever its id and gold. Of a
    procedural source only the first `limit` problems are made and compared, so the answer may miss
    some; two procedural sources of different splits share none by construction, and none is made.
    """
    if (
        isinstance(a, ProceduralProblems)
        and isinstance(b, ProceduralProblems)
        and a.split != b.split
    ):
        return set()
    ids, questions = set(), set()
    for problem in _bounded(b, limit):
        ids.add(problem.id)
        questions.add(_question(problem))
    return {p.id for p in _bounded(a, limit) if p.id in ids or _question(p) in questions}


def _drawn(problems: Iterable[Problem], n: int, salt: list[object]) -> list[Problem]:
    return sorted(problems, key=lambda problem: content_hash([*salt, problem.id]))[:n]


def _bounded(problems: Problems, limit: int) -> Iterable[Problem]:
    every = iterate(problems)
    return islice(every, limit) if isinstance(problems, ProceduralProblems) else every


def _question(problem: Problem) -> str:
    text = canonical_json([problem.prompt, problem.metadata.get("options")])
    return " ".join(text.split()).casefold()
