"""Reading JSONL with the line in every error, and writing so that nothing is ever half there."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reasonenv.errors import DataError, StorageError

__all__ = ["append_jsonl", "parse_jsonl_line", "read_jsonl", "write_atomic"]


def read_jsonl(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number from 1, object) for each line of a JSONL file that is not blank.

    Raises:
        DataError: the file is missing or unreadable, or a line is no JSON object; the message
            names file and line.
    """
    try:
        with open(path, encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, parse_jsonl_line(line, f"{path}:{number}")
    except FileNotFoundError as error:
        raise DataError(f"{path}: there is no such file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as UTF-8 text ({error})") from error


def parse_jsonl_line(line: str, where: str) -> dict[str, Any]:
    """Return the JSON object in `line`.

    Raises:
        DataError: it holds none; the message starts with `where`.
    """
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        shown = line.strip()[:60]
        raise DataError(f"{where}: not valid JSON ({error}): {shown!r}") from error
    if not isinstance(row, dict):
        kind = type(row).__name__
        raise DataError(f"{where}: each line is one JSON object, got a {kind}")
    return row


def write_atomic(path: str | Path, data: str | bytes) -> None:
    """Write a file under a temporary name, then rename it: readers see all of it or none.

    Raises:
        StorageError: it cannot be written; an older file of that name is untouched.
    """
    path = Path(path)
    content = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
            temporary = Path(file.name)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise _cannot_write(path, error) from error


def append_jsonl(path: str | Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Append rows to a JSONL file, all of them or none: a failed write is taken back.

    Raises:
        StorageError: they cannot be written; what the file held before is untouched.
    """
    path = Path(path)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    text = lines.encode("utf-8", "backslashreplace")  # a lone surrogate turns into its JSON escape
    try:
        with open(path, "ab", buffering=0) as file:
            before = file.tell()
            try:
                written = 0
                while written < len(text):  # a raw write may be short on a nearly full disk
                    written += file.write(text[written:])
            except OSError:
                file.truncate(before)
                raise
    except OSError as error:
        raise _cannot_write(path, error) from error


def _cannot_write(path: Path, error: OSError) -> StorageError:
    reason = error.strerror or str(error)
    return StorageError(
        f"{path}: cannot be written ({reason}); free some space or mend the permissions, then go "
        "on with --resume: everything up to the last checkpoint is safe"
    )
