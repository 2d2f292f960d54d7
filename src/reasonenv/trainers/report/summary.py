"""The figures of a run, from its files alone: what its report and the command line show."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from reasonenv.errors import RecipeError
from reasonenv.extras import need
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.run import Run, checkpoint_step
from reasonenv.trainers.storage import Row, read_metrics
from reasonenv.types import Status

__all__ = ["UNSCORED", "number", "parts_of", "read_lines", "read_part", "read_recipe", "summary"]

_FIRST_AND_LAST = 10  # steps that stand for the beginning and for the end of training
_DETAILS = 5  # reasons kept of rollouts that could not be judged
UNSCORED = frozenset(str(status) for status in Status if not status.is_evidence)
"""The statuses of rollouts whose checker failed."""


def summary(run: str | Path) -> dict[str, Any]:
    """Return the figures that the report and the command line show.

    Args:
        run: the run directory; it may be unfinished.

    Returns:
        Plain data; None stands for what is not known.

        * `finished`, `halted` (the unscored limit was passed), `steps`, `planned_steps`,
          `checkpoint` (step of the newest complete one);
        * `before`, `after`: the first evaluation, where it was before training, and the last of
          those after it; `first`, `last`: means over the first and last training steps
          (`averaged_steps` of them). Each maps the names of metrics, without `eval_`, to numbers;
        * `points`: gained, in percentage points; `points_low`, `points_high`: a 95 % interval;
        * `seconds_per_step`: mean; `time`: for generate, judge and update a dict of `seconds`,
          `share` (of all steps' time) and `median` (seconds of a step); `eval_seconds`;
        * `generations`, `rollouts`, `statuses` (counts of training rollouts), `details` (the
          commonest of unscored ones, with counts), `masked_share` (of training rollouts, left out
          of the loss since they could not be judged);
        * `missing`: sentences on what is not there.

    Raises:
        RunDirectoryError: there is no run.
        DataError: a metrics line before the last is broken.
    """
    opened = Run.open(run)
    recipe, problem = read_recipe(opened)
    train, evaluations = read_lines(opened, "train"), read_lines(opened, "eval")
    before, after = _before_and_after(evaluations)
    checkpoint = opened.checkpoint()
    figures: dict[str, Any] = {
        "steps": int(train[-1]["step"]) if train else 0,
        "planned_steps": opened.facts.get("steps", recipe.steps if recipe else None),
        "checkpoint": checkpoint_step(checkpoint) if checkpoint else None,
        "before": before,
        "after": after,
        **_training(train),
        **_gain(before, after),
        **_times(train, evaluations),
        **_counts(opened, recipe, train),
    }
    short = figures["planned_steps"] is not None and figures["steps"] < figures["planned_steps"]
    figures["finished"] = opened.adapter.is_dir() and not short
    figures["missing"] = [*([problem] if problem else []), *_missing(opened, figures)]
    return figures


def read_recipe(run: Run) -> tuple[Recipe | None, str]:
    """Return the recipe, or None and why: another version's recipe is no reason to fail."""
    try:
        return run.recipe, ""
    except RecipeError as error:
        said = " ".join(str(error).split())
        return None, f"The recipe cannot be read by this version of reasonenv: {said}"


def read_lines(run: Run, kind: str) -> list[Row]:
    """Return a run's metrics lines of one kind by step, the last one where a step has several."""
    if not run.metrics.is_file():
        return []
    by_step = {row["step"]: row for row in read_metrics(run.path, kind) if "step" in row}
    return [by_step[step] for step in sorted(by_step)]


def _before_and_after(evaluations: Sequence[Row]) -> tuple[Row | None, Row | None]:
    def plain(row: Row) -> Row:
        return {k.removeprefix("eval_"): v for k, v in row.items() if k != "kind"}

    before = plain(evaluations[0]) if evaluations and evaluations[0]["step"] == 0 else None
    later = [row for row in evaluations if row["step"] > 0]
    return before, plain(later[-1]) if later else None


def _training(train: Sequence[Row]) -> dict[str, Any]:
    """Return the means over the first and the last steps; both are the same for a single step."""
    count = min(_FIRST_AND_LAST, max(1, len(train) // 2))
    return {
        "averaged_steps": count if train else 0,
        "first": _means(train[:count]) if train else None,
        "last": _means(train[-count:]) if train else None,
    }


def _means(rows: Sequence[Row]) -> Row:
    names = dict.fromkeys(name for row in rows for name in row if name not in ("step", "kind"))
    values = {name: _known(row.get(name) for row in rows) for name in names}
    return {name: fmean(known) if known else None for name, known in values.items()}


def _known(values: Iterable[Any]) -> list[float]:
    return [v for v in values if isinstance(v, int | float) and math.isfinite(v)]


def _gain(before: Row | None, after: Row | None) -> dict[str, float | None]:
    """Return the points gained and a 95 % interval of them.

    The interval is put together from the two accuracies' own (Newcombe 1998, method 10; Zou and
    Donner 2008). Both evaluations ask the same problems, which it does not use: it is rather too
    wide than too narrow.
    """
    names = ("points", "points_low", "points_high")
    keys = ("accuracy", "accuracy_low", "accuracy_high")
    values = [number(row, key) for row in (before, after) for key in keys]
    (p, low, high), (q, later_low, later_high) = values[:3], values[3:]
    if p is None or q is None:
        return dict.fromkeys(names)
    if low is None or high is None or later_low is None or later_high is None:
        return {**dict.fromkeys(names), "points": 100 * (q - p)}
    down, up = math.hypot(q - later_low, high - p), math.hypot(later_high - q, p - low)
    return dict(zip(names, (100 * x for x in (q - p, q - p - down, q - p + up)), strict=True))


def number(row: Mapping[str, Any] | None, name: str) -> float | None:
    """Return a metric's value, None where it is missing or no finite number."""
    known = _known([(row or {}).get(name)])
    return known[0] if known else None


def _times(train: Sequence[Row], evaluations: Sequence[Row]) -> dict[str, Any]:
    """Return where the time went; the update is what generating and judging leave of a step."""
    steps = _known(row.get("step_time") for row in train)
    spent = {
        name: _known(row.get(f"time/{name}") for row in train)
        for name in ("generate", "judge", "update")
    }
    seconds = {name: sum(values) for name, values in spent.items()}
    total = sum(steps) or sum(seconds.values())
    if steps:  # steps that reuse a generation log no time/update of their own
        seconds["update"] = max(0.0, total - seconds["generate"] - seconds["judge"])
    evaluated = _known(row.get("eval_runtime") for row in evaluations)
    return {
        "seconds_per_step": fmean(steps) if steps else None,
        "eval_seconds": sum(evaluated) if evaluated else None,
        "time": {
            name: {
                "seconds": seconds[name],
                "share": seconds[name] / total,
                "median": median(values) if values else None,
            }
            for name, values in spent.items()
            if total and (values or seconds[name])
        },
    }


def _counts(run: Run, recipe: Recipe | None, train: Sequence[Row]) -> dict[str, Any]:
    """Count training rollouts by status, from the stored ones; shares alone where none are."""
    statuses: Counter[str] = Counter()
    details: Counter[str] = Counter()
    shares, unreadable = [], 0
    for part in parts_of(run, "train"):
        rows = read_part(part, ["status"])
        if rows is None:
            unreadable += 1
            continue
        here = Counter(row["status"] for row in rows)
        statuses += here
        failed = sum(here[status] for status in UNSCORED)
        shares.append(failed / max(len(rows), 1))
        if failed:
            found = read_part(part, ["status", "detail"]) or []
            details.update(row["detail"] for row in found if row["status"] in UNSCORED)
    logged = _known(row.get("unscored") for row in train)
    masked = sum(statuses[status] for status in UNSCORED) / max(statuses.total(), 1)
    plan = recipe.unscored if recipe else None
    streak = shares[-plan.patience :] if plan else []
    return {
        "generations": len(shares),
        "rollouts": statuses.total(),
        "statuses": dict(statuses.most_common()),
        "details": details.most_common(_DETAILS),
        "masked_share": masked if shares else (fmean(logged) if logged else None),
        "unreadable_parts": unreadable,
        "halted": bool(plan and len(streak) == plan.patience and min(streak) > plan.limit),
    }


def parts_of(run: Run, kind: str) -> list[Path]:
    """Return a run's part files of one kind, oldest first."""
    found = [p for p in run.rollouts.glob(f"{kind}-*.parquet") if p.stem[len(kind) + 1 :].isdigit()]
    return sorted(found, key=lambda part: int(part.stem[len(kind) + 1 :]))


def read_part(part: Path, columns: list[str] | None = None) -> list[Row] | None:
    """Return a part's rows, None where it cannot be read."""
    pq = need("pyarrow.parquet", extra="data", by="reasonenv.trainers")
    try:
        rows: list[Row] = pq.read_table(part, columns=columns).to_pylist()
    except (OSError, ValueError, KeyError):  # Arrow's own errors are of these kinds
        return None
    return rows


def _missing(run: Run, figures: Mapping[str, Any]) -> list[str]:
    """Return, in sentences, what a finished run would have and this one has not."""
    steps, planned = figures["steps"], figures["planned_steps"]
    said = []
    if figures["halted"] and not figures["finished"]:
        said.append("The run halted: too many rollouts could not be judged (see *Rollouts*).")
    if not figures["finished"]:
        of = f" of {planned:,}" if planned else ""
        said.append(f"The run is not finished: {steps:,}{of} steps are recorded.")
    if not run.metrics.is_file():
        said.append("There is no `metrics.jsonl`.")
    elif _is_cut_off(run.metrics):
        said.append("The last line of `metrics.jsonl` was cut off and is left out.")
    if not steps:
        said.append("No training step is recorded.")
    if figures["before"] is None and figures["after"] is None:
        said.append("Nothing was evaluated, so there is no held-out accuracy.")
    elif figures["before"] is None:
        said.append("There is no evaluation before training.")
    elif figures["after"] is None:
        said.append("There is no evaluation after the one before training.")
    if not figures["generations"]:
        said.append("No training rollouts are stored.")
    if broken := figures["unreadable_parts"]:
        said.append(f"{broken:,} file{'s' * (broken > 1)} of rollouts cannot be read.")
    if figures["rollouts"] and figures["masked_share"] == 1.0:
        said.append("None of the training rollouts could be judged.")
    if not run.facts:
        said.append("There is no `run.json`: versions and the reward's range are not known.")
    return said


def _is_cut_off(metrics: Path) -> bool:
    with open(metrics, "rb") as file:
        size = file.seek(0, 2)
        if not size:
            return False
        file.seek(size - 1)
        return file.read(1) != b"\n"
