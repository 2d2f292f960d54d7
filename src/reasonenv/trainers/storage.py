"""A run's files: `metrics.jsonl`, and `rollouts.parquet/` with one part file per generation.

A part is written under a temporary name and renamed, a metrics line is appended whole: what is
there is complete. `cut_back` takes both back to a checkpoint's step before a run is resumed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reasonenv.errors import DataError, StorageError
from reasonenv.extras import need
from reasonenv.files import append_jsonl, read_jsonl, write_atomic
from reasonenv.rewards import Scores
from reasonenv.rewards.scores import Floats
from reasonenv.types import Judged, Problem, canonical_json, thaw

__all__ = [
    "cut_back",
    "earlier_turns",
    "log_metrics",
    "read_metrics",
    "read_rollouts",
    "rollout_rows",
    "scores_of",
    "write_rollouts",
]

_TEXTS = {"prompt", "rendering", "prefill", "turns", "completion", "answer", "detail"}
_PART = re.compile(r"(train|eval)-(\d+)\.parquet\Z")


Row = dict[str, Any]


def rollout_rows(
    judged: Sequence[Judged],
    scores: Scores,
    prompts: Sequence[str],
    learned: Scores | None = None,
    state_version: int = 0,
) -> list[Row]:
    """Return rollouts as plain rows, as they are stored and as signals are computed from.

    Args:
        judged: N judged rollouts.
        scores: theirs, shape (N,).
        prompts: the N prompts as text.
        learned: what the loss read where that was another reward; its parts are stored, too.
        state_version: of the reward's state under which they were scored.
    """
    # Equal completions share one verdict: its detail is written once.
    details = {id(one.verdict): one.verdict.detail for one in judged}
    written = {key: canonical_json(detail) for key, detail in details.items()}
    rows: list[Row] = [
        {
            "step": one.rollout.step,
            "group_id": one.rollout.group_id,
            "problem_id": one.rollout.problem.id,
            "prompt": prompt,
            "rendering": _rendering(one.rollout.problem),
            "prefill": one.rollout.prefill,
            "turns": canonical_json(one.rollout.turns) if one.rollout.turns else None,
            "completion": one.rollout.completion,
            "n_tokens": one.rollout.n_tokens,
            "truncated": one.rollout.truncated,
            "status": str(one.verdict.status),
            "score": one.verdict.score,
            "answer": one.verdict.answer,
            "detail": written[id(one.verdict)],
            "seconds": one.verdict.cost.seconds,
            "solved": _number(scores.solved[i]),
            "reward": _number(scores.total[i]),
            "terms": {name: _number(values[i]) for name, values in scores.terms.items()},
            "parts": {name: _number(values[i]) for name, values in scores.parts.items()},
            "state_version": state_version,
            "advantage": None,
            "rank": 0,
        }
        for i, (one, prompt) in enumerate(zip(judged, prompts, strict=True))
    ]
    if learned is not None:
        for i, row in enumerate(rows):
            row["learned"] = {n: _number(values[i]) for n, values in learned.parts.items()}
    return rows


def scores_of(rows: Sequence[Mapping[str, Any]]) -> Scores:
    """Return the scores that rows hold: the inverse of `rollout_rows`, for a reward's `update`."""

    def column(values: Iterable[float | None]) -> Floats:
        return np.array([math.nan if value is None else value for value in values], dtype=float)

    def named(kind: str) -> dict[str, Floats]:
        names = rows[0][kind] if rows else {}
        return {name: column(row[kind][name] for row in rows) for name in names}

    return Scores(
        solved=column(row["solved"] for row in rows),
        terms=named("terms"),
        parts=named("parts"),
        total=column(row["reward"] for row in rows),
        group_ids=tuple(row["group_id"] for row in rows),
    )


def earlier_turns(row: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return a stored rollout's exchanges before its completion, as `Rollout.turns` has them."""
    text = row.get("turns")
    return tuple((said, heard) for said, heard in json.loads(text)) if text else ()


def _rendering(problem: Problem) -> str | None:
    """Return how a draw asked its problem (labels, order of options) as JSON; None if as it is."""
    rendering = problem.metadata.get("rendering")
    return None if rendering is None else canonical_json(rendering)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def write_rollouts(folder: Path, kind: str, step: int, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write one generation's rollouts as a part file.

    Args:
        folder: the run's `rollouts.parquet`.
        kind: "train" or "eval".
        step: the global step at which they were sampled.
        rows: from `rollout_rows`, at least one.

    Raises:
        StorageError: the part cannot be written; the others are untouched.
    """
    pa = need("pyarrow", extra="data", by="reasonenv.trainers")
    pq = need("pyarrow.parquet", extra="data", by="reasonenv.trainers")
    folder.mkdir(parents=True, exist_ok=True)
    columns: dict[str, list[Any]] = {"kind": [kind] * len(rows)}
    columns |= {name: [row[name] for row in rows] for name in rows[0]}
    for name in _TEXTS & columns.keys():  # no file format holds a lone surrogate
        columns[name] = [
            text if text is None or text.isascii() else text.encode("utf-8", "replace").decode()
            for text in columns[name]
        ]
    table = pa.table(columns, schema=_schema(pa, {"kind": kind, **rows[0]}))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    path = folder / f"{kind}-{step:06d}.parquet"
    write_atomic(path, sink.getvalue().to_pybytes())
    return path


def _schema(pa: Any, row: Mapping[str, Any]) -> Any:
    """Return the columns' types: guessing them would fail where a column holds only None."""
    types = {
        "step": pa.int64(),
        "n_tokens": pa.int64(),
        "rank": pa.int64(),
        "state_version": pa.int64(),
        "truncated": pa.bool_(),
        "episode_tokens": pa.int64(),
        "turn_advantages": pa.list_(pa.float64()),
        **dict.fromkeys(("score", "seconds", "solved", "reward", "advantage"), pa.float64()),
    }

    def of(name: str) -> Any:
        if name in ("terms", "parts", "learned"):
            return pa.struct([(inner, pa.float64()) for inner in row[name]])
        return types.get(name, pa.string())

    return pa.schema([(name, of(name)) for name in row])


def read_rollouts(run: str | Path) -> Iterator[Row]:
    """Yield the stored rollouts of a run, oldest first.

    Raises:
        DataError: the run has none.
    """
    pq = need("pyarrow.parquet", extra="data", by="reasonenv.trainers")
    parts = _parts(Path(run) / "rollouts.parquet")
    if not parts:
        raise DataError(f"{run}: no rollouts are stored there")
    for part in sorted(parts, key=lambda p: (_step_of(p), p.name)):
        yield from pq.read_table(part).to_pylist()


def log_metrics(path: Path, step: int, kind: str, values: Mapping[str, Any]) -> None:
    """Append one line to `metrics.jsonl`: `{"step", "kind", name: number or null, ...}`.

    Raises:
        StorageError: it cannot be written; the lines before it are untouched.
    """
    numbers = {
        name: (float(value) if math.isfinite(value) else None)
        for name, value in values.items()
        if isinstance(value, int | float)
    }
    append_jsonl(path, [{"step": step, "kind": kind, **numbers}])


def read_metrics(run: str | Path, kind: str | None = None) -> list[Row]:
    """Return the metrics lines of a run, of one kind ("train", "eval", "summary") or all.

    A last line that was cut off is left out; the others are whole.

    Raises:
        DataError: there is no metrics file, or a line before the last is not JSON.
    """
    path = Path(run) / "metrics.jsonl"
    rows = []
    lines = path.read_bytes().count(b"\n") if path.is_file() else 0
    try:
        for number, row in read_jsonl(path):
            if number > lines:
                break  # no newline at its end: an interrupted write
            rows.append(row)
    except DataError:
        if len(rows) < lines or not path.is_file():
            raise
    return [row for row in rows if kind is None or row.get("kind") == kind]


def cut_back(run: Path, step: int) -> None:
    """Take metrics and rollouts back to a checkpoint at `step`.

    A generation at global step s belongs to optimizer step s + 1, an evaluation at s to s.

    Raises:
        StorageError: a file cannot be rewritten or removed.
    """
    kept = [row for row in read_metrics(run) if row["step"] <= step and row["kind"] != "summary"]
    text = "".join(json.dumps(thaw(row), ensure_ascii=False) + "\n" for row in kept)
    write_atomic(run / "metrics.jsonl", text)
    for part in _parts(run / "rollouts.parquet"):
        late = _step_of(part) >= step if part.name.startswith("train") else _step_of(part) > step
        if late:
            try:
                part.unlink()
            except OSError as error:
                raise StorageError(f"{part}: cannot be removed ({error})") from error


def _parts(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*.parquet") if _PART.match(path.name)]


def _step_of(part: Path) -> int:
    match = _PART.match(part.name)
    assert match is not None
    return int(match.group(2))
