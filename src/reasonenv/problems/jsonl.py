"""Problems in a local JSONL file: one JSON object a line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reasonenv.files import read_jsonl
from reasonenv.problems.base import ProblemList, drop_repeats
from reasonenv.problems.columns import Columns, to_problems

__all__ = ["load_jsonl"]


def load_jsonl(
    path: str | Path,
    *,
    columns: Columns | Mapping[str, Any] | None = None,
    kind: str | None = None,
) -> ProblemList:
    """Return the problems of a JSONL file, in its order; `columns.py` shows the forms of a row.

    Rows that repeat an id are dropped, with a warning that counts them. The id of a row without
    one is a hash of its content, so the same row has the same id in every file.

    Args:
        path: the file.
        columns: which field holds what; None takes the usual names.
        kind: "math", "choice", "countdown"; None and "jsonl" let each row decide.

    Raises:
        DataError: the file cannot be read, holds no row, or has a line that is no problem; the
            message names file and line.
    """
    rows = ((f"{path}:{number}", row) for number, row in read_jsonl(path))
    return drop_repeats(to_problems(rows, Columns.of(columns), kind, str(path)), str(path))
