"""Completions on disk: JSONL parts, each renamed into place whole, each row checked when read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reasonenv.errors import DataError
from reasonenv.evaluation.backends.base import Sample
from reasonenv.files import parse_jsonl_line, write_atomic
from reasonenv.types import Judged, Status, thaw

__all__ = ["PartFolder", "Row", "Stored", "judged_fields", "row_of"]

Row = dict[str, Any]

_PART = re.compile(r"part-(\d+)\.jsonl\Z")
_KEYS: dict[str, type | tuple[type, ...]] = {
    "problem_id": str,
    "sample": int,
    "completion": str,
    "status": str,
    "score": (int, float),
}
_STATUSES = frozenset(map(str, Status))


@dataclass
class Stored:
    """What a folder of parts holds.

    Args:
        rows: the whole rows of each part, by part number.
        damage: what is not whole, in sentences.
    """

    rows: dict[int, list[Row]] = field(default_factory=dict)
    damage: list[str] = field(default_factory=list)

    def all(self) -> list[Row]:
        """Return every whole row, in order."""
        return [row for number in sorted(self.rows) for row in self.rows[number]]


@dataclass(frozen=True)
class PartFolder:
    """A benchmark's completions: a folder of `part-00000.jsonl` and so on."""

    path: Path

    def write(self, number: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write one part; an older one of that number is replaced whole.

        Raises:
            StorageError: it cannot be written; the others are untouched.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(thaw(row), ensure_ascii=False) + "\n" for row in rows)
        write_atomic(self.path / f"part-{number:05d}.jsonl", lines)

    def read(self) -> Stored:
        """Return what is whole, and say what is not: a damaged part is no reason to lose others."""
        stored = Stored()
        for file in sorted(self.path.glob("part-*.jsonl")) if self.path.is_dir() else []:
            match = _PART.match(file.name)
            if match is None:
                continue
            rows, broken = [], 0
            try:
                lines = file.read_bytes().decode("utf-8", "replace").splitlines()
            except OSError as error:
                stored.damage.append(f"{file}: cannot be read ({error})")
                continue
            for line in lines:
                try:
                    rows.append(_checked(parse_jsonl_line(line, file.name)))
                except DataError:
                    broken += 1
            if broken:
                lost = f"{broken} of {broken + len(rows)} lines"
                stored.damage.append(f"{file}: {lost} are damaged and left out")
            stored.rows[int(match[1])] = rows
        return stored


def _checked(row: Row) -> Row:
    for key, kind in _KEYS.items():
        if not isinstance(row.get(key), kind):
            raise DataError(f"no valid {key!r}")
    if row["status"] not in _STATUSES:
        raise DataError(f"no status {row['status']!r}")
    return row


def row_of(judged: Judged, sample: int, drawn: Sample) -> Row:
    """Return a judged completion as it is stored; `sample` numbers a problem's completions."""
    rollout = judged.rollout
    return {
        "problem_id": rollout.problem.id,
        "sample": sample,
        "rendering": thaw(rollout.problem.metadata.get("rendering")),
        "completion": rollout.completion,
        "prefill": rollout.prefill,
        "n_tokens": drawn.n_tokens,
        "truncated": drawn.truncated,
        **judged_fields(judged),
    }


def judged_fields(judged: Judged) -> Row:
    """Return the fields of a row that come from the verdict."""
    verdict = judged.verdict
    correct = verdict.correct
    return {
        "status": str(verdict.status),
        "score": verdict.score,
        "answer": verdict.answer,
        "detail": thaw(verdict.detail),
        "solved": None if correct is None else float(correct),
        "seconds": round(verdict.cost.seconds, 6),
    }
