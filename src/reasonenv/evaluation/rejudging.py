"""`rejudge`: judges stored completions again with the present checkers, and says what moved."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reasonenv.envs.core import ReasoningEnv
from reasonenv.errors import DataError, StorageError
from reasonenv.evaluation.asking import rollout_of
from reasonenv.evaluation.parts import Row, judged_fields
from reasonenv.evaluation.stored import Collection, StoredRun, open_run
from reasonenv.extras import need
from reasonenv.files import write_atomic
from reasonenv.types import Problem, Rollout, Status, canonical_json, thaw

__all__ = ["Moved", "Rejudged", "rejudge"]

BESIDE = "rejudged"
"""The folder of a run that new verdicts are written to, unless they replace the old ones."""


@dataclass(frozen=True)
class Moved:
    """One completion whose verdict is another now."""

    collection: str
    problem_id: str
    where: str
    """Its group in training ("train-12-3-0"), the number of its completion in an evaluation."""
    before: str
    after: str
    answer_before: str | None
    answer_after: str | None


@dataclass
class Rejudged:
    """What judging a run again came to.

    Args:
        run: its directory.
        judged: completions judged again.
        transitions: (status before, status after) -> how many, also those that stayed.
        moved: those whose status or answer is another now.
        unknown: completions left as they were, since their problem is not in the source any more.
        written: files that hold the new verdicts.
        damage: what could not be read, in sentences.
    """

    run: Path
    judged: int = 0
    transitions: Counter[tuple[str, str]] = field(default_factory=Counter)
    moved: list[Moved] = field(default_factory=list)
    unknown: int = 0
    written: list[Path] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)

    @property
    def changed(self) -> int:
        """How many completions have another status now."""
        return sum(count for (old, new), count in self.transitions.items() if old != new)

    def accuracy(self, after: bool) -> float | None:
        """Return the share of judged completions that are right, before or after."""
        right = sum(count for pair, count in self.transitions.items() if pair[after] == "correct")
        return right / self.judged if self.judged else None


def rejudge(
    run: str | Path, *, write: bool = False, progress: Callable[[int], None] | None = None
) -> Rejudged:
    """Judge a run's stored completions again.

    Only what the verdict decides is new (status, score, answer, detail, solved); the rewards and
    advantages of a training run stay what it was trained on.

    Args:
        run: a training run or an evaluation.
        write: replace the stored verdicts, part by part, each renamed into place whole. Otherwise
            the new ones are written beside them, into `RUN/rejudged/`, and nothing old is touched.
        progress: told how many completions are judged so far.

    Raises:
        RunDirectoryError: no run is there.
        DataError: nothing is stored.
        ReasonEnvError: the environment cannot be made.
    """
    opened = open_run(run)
    done = Rejudged(opened.path)
    for collection in opened.collections:
        env = collection.environment()
        find = collection.find(env)
        problems: dict[str, Problem] = {}
        for file, rows in collection.read():
            found = [_rollout(env, problems, find, row) for row in rows]
            known = [i for i, rollout in enumerate(found) if rollout is not None]
            done.unknown += len(rows) - len(known)
            judged = env.judge([rollout for rollout in found if rollout is not None])
            again = [dict(row) for row in rows]
            for i, one in zip(known, judged, strict=True):
                again[i] |= judged_fields(one)
                _note(done, collection, rows[i], again[i])
            target = file if write else _beside(opened, file)
            _write(target, again, like=file)
            done.written.append(target)
            done.judged += len(known)
            if progress is not None:
                progress(done.judged)
    done.damage = opened.damage
    if not done.written:
        raise DataError(f"{run}: no rollouts are stored there")
    if not write:
        summary = opened.path / BESIDE / "moved.json"
        write_atomic(summary, json.dumps(_plain(done), indent=2, ensure_ascii=False) + "\n")
        done.written.append(summary)
    return done


def _rollout(
    env: ReasoningEnv, problems: dict[str, Problem], find: Callable[[str], Problem], row: Row
) -> Rollout | None:
    """Return a row as it was asked; None where the source has its problem, or that way, no more."""
    id = row["problem_id"]
    try:
        if id not in problems:
            problems[id] = find(id)
        return rollout_of(env, problems[id], row)
    except DataError:
        return None


def _note(done: Rejudged, collection: Collection, old: Row, new: Row) -> None:
    done.transitions[old["status"], new["status"]] += 1
    if (old["status"], old.get("answer")) != (new["status"], new["answer"]):
        where = old.get("group_id") or str(old.get("sample", ""))
        done.moved.append(
            Moved(
                collection.name,
                old["problem_id"],
                where,
                old["status"],
                new["status"],
                old.get("answer"),
                new["answer"],
            )
        )


def _beside(run: StoredRun, file: Path) -> Path:
    target = run.path / BESIDE / file.relative_to(run.path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{target.parent}: cannot be made ({error.strerror})") from error
    return target


def _write(target: Path, rows: Sequence[Row], like: Path) -> None:
    if like.suffix == ".jsonl":
        lines = "".join(json.dumps(thaw(row), ensure_ascii=False) + "\n" for row in rows)
        write_atomic(target, lines)
        return
    pa = need("pyarrow", extra="data", by="judging a training run again")
    pq = need("pyarrow.parquet", extra="data", by="judging a training run again")
    schema = pq.read_schema(like)
    table = pa.Table.from_pylist([_stored(row) for row in rows], schema=schema)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    write_atomic(target, sink.getvalue().to_pybytes())


def _stored(row: Row) -> dict[str, Any]:
    """Return a row as a training run's parts hold it: details as JSON, no lone surrogates."""
    plain = {**row, "detail": row["detail"] if _is_text(row) else canonical_json(row["detail"])}
    return {
        key: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for key, value in plain.items()
    }


def _is_text(row: Row) -> bool:
    return row["detail"] is None or isinstance(row["detail"], str)


def _plain(done: Rejudged) -> dict[str, Any]:
    return {
        "judged": done.judged,
        "changed": done.changed,
        "unknown": done.unknown,
        "accuracy_before": done.accuracy(after=False),
        "accuracy_after": done.accuracy(after=True),
        "transitions": [
            {"before": old, "after": new, "count": count}
            for (old, new), count in sorted(done.transitions.items())
        ],
        "moved": [
            {name: getattr(one, name) for name in Moved.__match_args__} for one in done.moved
        ],
    }


def rejudged_text(done: Rejudged, rows: int = 30) -> str:
    """Return what moved as text: a table of statuses, then the completions by problem."""
    lines = [f"{done.judged:,} completions judged again, {done.changed:,} have another status"]
    before, after = done.accuracy(after=False), done.accuracy(after=True)
    if before is not None and after is not None:
        lines.append(f"right before {before:.2%}, right now {after:.2%}")
    statuses = [s for s in map(str, Status) if any(s in pair for pair in done.transitions)]
    width = max(map(len, statuses), default=0)
    lines.append("\nbefore (rows), now (columns):")
    lines.append(" " * width + "".join(f"  {status:>{len(status)}}" for status in statuses))
    for old in statuses:
        cells = [f"{done.transitions[old, new] or '.':>{len(new)}}" for new in statuses]
        lines.append(f"{old:<{width}}" + "".join(f"  {cell}" for cell in cells))
    if done.moved:
        lines.append("\nwhat moved, by problem:")
    ordered = sorted(done.moved, key=lambda one: (one.collection, one.problem_id, one.where))
    for one in ordered[:rows]:
        change = f"{one.before} -> {one.after}" if one.before != one.after else one.after
        answers = f"{one.answer_before!r:.60}"
        if one.answer_before != one.answer_after:
            answers += f" -> {one.answer_after!r:.60}"
        lines.append(f"{one.collection} {one.problem_id} {one.where}: {change}, answer {answers}")
    if len(ordered) > rows:
        lines.append(f"... and {len(ordered) - rows:,} more (moved.json has all)")
    if done.unknown:
        lines.append(
            f"{done.unknown:,} completions stay as they were: their problems are not in the "
            "environment any more"
        )
    return "\n".join([*lines, *done.damage])
