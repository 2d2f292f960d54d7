"""Problems from whatever a caller holds already: a file, rows, a loaded data set, problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reasonenv.errors import DataError, did_you_mean
from reasonenv.problems.base import ProblemList, Problems, drop_repeats
from reasonenv.problems.columns import Columns, to_problems
from reasonenv.problems.jsonl import load_jsonl
from reasonenv.types import Problem

__all__ = ["from_data", "from_rows"]


def from_data(
    data: Any,
    *,
    split: str = "train",
    columns: Columns | Mapping[str, Any] | None = None,
    kind: str | None = None,
    name: str = "data",
) -> Problems:
    """Return the problems in `data`.

    Args:
        data: a JSONL file; a source of problems; a loaded `datasets.Dataset` or any other iterable
            of rows or of problems; or one of these for each split, `{"train": ..., "test": ...}`
            (a `datasets.DatasetDict` is one).
        split: which one of a mapping is meant; anything else is a split already.
        columns: which column of a row holds what; None takes the usual names.
        kind: "math", "choice", "countdown"; None and "jsonl" let each row decide.
        name: what messages call it.

    Raises:
        DataError: it is none of these, has no such split, or a row is no problem.
    """
    if isinstance(data, str | Path):
        return load_jsonl(data, columns=columns, kind=kind)
    if isinstance(data, Problems):
        return data
    if isinstance(data, Mapping):
        if split not in data:
            hint = did_you_mean(str(split), map(str, data), otherwise="it has")
            raise DataError(f"{name}: data has no split {split!r}; {hint}")
        return from_data(data[split], columns=columns, kind=kind, name=f"{name}[{split}]")
    if isinstance(data, Iterable):
        return from_rows(data, columns=columns, kind=kind, name=name)
    raise DataError(
        f"{name}: data is a JSONL file, a datasets.Dataset, or a list of rows or of problems, "
        f"got {type(data).__name__}"
    )


def from_rows(
    rows: Iterable[Any],
    *,
    columns: Columns | Mapping[str, Any] | None = None,
    kind: str | None = None,
    name: str = "data",
    where: str | None = None,
) -> ProblemList:
    """Return the problems in an iterable of rows, or of problems, in its order.

    Args:
        rows: mappings or `Problem`s; repeats of an id are dropped with a warning.
        columns: which column of a row holds what; None takes the usual names.
        kind: as in `from_data`.
        name: what messages about all of it start with.
        where: what messages about one row start with, before its number (from 1).

    Raises:
        DataError: no row, or one that is no problem; the message says its number.
    """

    def checked() -> Iterator[tuple[str, Mapping[str, Any] | Problem]]:
        for number, row in enumerate(rows, 1):
            at = f"{where or name}: row {number}"
            if not isinstance(row, Mapping | Problem):
                kinds = "a mapping of columns or a Problem"
                raise DataError(f"{at}: each row is {kinds}, got a {type(row).__name__}")
            yield at, row

    return drop_repeats(to_problems(checked(), Columns.of(columns), kind, name), name)
