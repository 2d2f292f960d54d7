"""Judging stored answers: a JSONL file in, one verdict a line out, in the same order.

* `judge_file`: what `reasonenv judge KIND FILE` does, as one call.
* `judge_lines`: the generator under it, over any iterable of lines.
* `JudgeReport`: how many lines were judged, and how many were not.

Lines are read, judged and written one by one, so a file of any size needs the memory of one line.
A line that cannot be judged yields an error line in its place and the rest goes on.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from reasonenv.checkers.stored_lines import KINDS
from reasonenv.errors import DataError, StorageError, did_you_mean
from reasonenv.files import parse_jsonl_line
from reasonenv.types import Verdict, thaw

__all__ = ["JudgeReport", "judge_file", "judge_lines"]


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """What became of the lines of a file.

    Args:
        lines: lines that are not blank; the sum of the next three.
        judged: lines with a verdict that is evidence about the answer.
        unjudged: lines whose verdict is none (no sandbox, a failed checker).
        errors: lines that could not be read as what they should be.
        correct: judged lines whose answer is right.
    """

    lines: int = 0
    judged: int = 0
    unjudged: int = 0
    errors: int = 0
    correct: int = 0

    @property
    def ok(self) -> bool:
        """Whether every line was judged: a command exits 0 only then."""
        return self.judged == self.lines

    def __str__(self) -> str:
        return (
            f"{self.lines} lines: {self.judged} judged ({self.correct} correct), "
            f"{self.unjudged} without a verdict, {self.errors} unusable"
        )

    def plus(self, row: dict[str, Any]) -> JudgeReport:
        """Return the report with one more output row."""
        is_error, is_judged = row["status"] == "error", row["correct"] is not None
        return JudgeReport(
            lines=self.lines + 1,
            judged=self.judged + is_judged,
            unjudged=self.unjudged + (not is_error and not is_judged),
            errors=self.errors + is_error,
            correct=self.correct + (row["correct"] is True),
        )


def judge_file(
    kind: str,
    path: str | Path,
    out: str | Path | None = None,
    progress: Callable[[JudgeReport], None] | None = None,
) -> JudgeReport:
    """Judge every line of a JSONL file and write a line `id, status, correct ...` for each.

    Args:
        kind: "math", "choice" or "code".
        path: the file to read; untouched.
        out: the file to write, replaced if there; None writes to stdout.
        progress: called with the report so far after each line.

    Raises:
        DataError: an unknown kind, an input that cannot be opened, or `out` being the input.
        StorageError: the output cannot be written.
    """
    _check_kind(kind)
    try:
        source = open(path, "rb")  # noqa: SIM115 - opened before `out` is touched
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(f"{path}: cannot be opened ({reason}); give a JSONL file") from error
    with source:
        if out is None:
            return _copy(kind, source, sys.stdout, "stdout", progress)
        if os.path.exists(out) and os.path.samefile(path, out):
            raise DataError(f"{out}: is the input itself; write to another file")
        try:
            with open(out, "w", encoding="ascii", newline="\n") as target:
                return _copy(kind, source, target, str(out), progress)
        except OSError as error:
            raise _cannot_write(str(out), error) from error


def _copy(
    kind: str,
    source: Iterable[bytes],
    target: TextIO,
    name: str,
    progress: Callable[[JudgeReport], None] | None,
) -> JudgeReport:
    report = JudgeReport()
    for row in judge_lines(kind, source):
        try:
            # ASCII only: a lone surrogate in an answer must not stop the file or a terminal.
            target.write(json.dumps(row, ensure_ascii=True, allow_nan=False) + "\n")
            target.flush()
        except BrokenPipeError:
            raise  # the reader of a pipe has seen enough: not a disk that is full
        except OSError as error:
            raise _cannot_write(name, error) from error
        report = report.plus(row)
        if progress is not None:
            progress(report)
    return report


def judge_lines(kind: str, lines: Iterable[str | bytes]) -> Iterator[dict[str, Any]]:
    """Yield one output row for each line that is not blank, in order.

    Args:
        kind: "math", "choice" or "code".
        lines: JSON texts, as str or UTF-8 bytes.

    Yields:
        `{"id", "status", "correct", "score", "answer", "detail", "seconds"}`; `correct` is None
        where the verdict is no evidence, and `status` is "error" where the line is unusable.

    Raises:
        DataError: an unknown kind, at the call.
    """
    _check_kind(kind)
    return _rows(kind, lines)


def _rows(kind: str, lines: Iterable[str | bytes]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _row(kind, number, line)


def _row(kind: str, number: int, line: str | bytes) -> dict[str, Any]:
    name: str | int | None = None
    try:
        row = parse_jsonl_line(_text(line, number), f"line {number}")
        given = row.get("id")
        if isinstance(given, bool) or not isinstance(given, str | int):
            raise DataError(f"`id` is a text or an integer, got {type(given).__name__}")
        name = given
        judge = KINDS[kind](row)
    except DataError as error:
        return {
            "id": name,
            "status": "error",
            "correct": None,
            "score": None,
            "answer": None,
            "detail": {"line": number, "error": str(error)},
            "seconds": 0.0,
        }
    return _output(name, judge())


def _text(line: str | bytes, number: int) -> str:
    if isinstance(line, str):
        return line.removeprefix("\ufeff")
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"line {number}: not valid UTF-8 ({error})") from error


def _output(name: str | int | None, verdict: Verdict) -> dict[str, Any]:
    return {
        "id": name,
        "status": str(verdict.status),
        "correct": verdict.correct,
        "score": verdict.score if verdict.status.is_evidence else None,
        "answer": verdict.answer,
        "detail": thaw(verdict.detail),
        "seconds": round(verdict.cost.seconds, 6),
    }


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise DataError(f"there is no kind {kind!r} of stored answers: {did_you_mean(kind, KINDS)}")


def _cannot_write(name: str, error: OSError) -> StorageError:
    reason = error.strerror or str(error)
    return StorageError(
        f"{name}: cannot be written ({reason}); free some space, mend the permissions, or give "
        "another file, then judge again"
    )
