"""The figures of a study's runs, from their files: curves, outcomes, cumulated rollouts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt

from reasonenv.dynamics.runs import RunFiles
from reasonenv.errors import RunDirectoryError
from reasonenv.studies.plan import PlannedRun
from reasonenv.studies.store import State, StudyDir

__all__ = ["RunResult", "at", "curve", "outcome", "read_result", "rollouts_at"]

Floats = npt.NDArray[np.float64]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class RunResult:
    """What a run has left.

    Attributes:
        run: as it was planned.
        state: how far it came.
        train, evaluations: lines of its metrics, by step.
        files: for what only few look at (rollouts); None where there is no directory.
        tail: of its log, where it failed.
    """

    run: PlannedRun
    state: State
    train: Sequence[Row]
    evaluations: Sequence[Row]
    files: RunFiles | None
    tail: Sequence[str] = ()

    @property
    def missing(self) -> Sequence[str]:
        """What its files lack, in sentences."""
        return self.files.missing if self.files is not None else ()


def read_result(run: PlannedRun, study: StudyDir) -> RunResult:
    """Return what a run has left; a metrics file that was cut off counts as far as it is whole."""
    state = study.state(run.name)
    failure = study.failure(run.name) if state == "failed" else None
    tail = failure["tail"] if failure else ()
    try:
        files = RunFiles.open(study.run(run.name))
    except RunDirectoryError:
        return RunResult(run, state, (), (), None, tail)
    return RunResult(run, state, files.metrics("train"), files.metrics("eval"), files, tail)


def curve(result: RunResult, measure: str, axis: str = "steps") -> tuple[Floats, Floats]:
    """Return (x, y) of a measure where it is known.

    Args:
        result: of a run.
        measure: a metric, of evaluation if it starts with `eval_`, else of training.
        axis: "steps", or "rollouts", those generated up to then.
    """
    rows = result.evaluations if measure.startswith("eval_") else result.train
    known = [(row["step"], row[measure]) for row in rows if _is(row.get(measure))]
    steps = np.array([step for step, _ in known], dtype=float)
    values = np.array([value for _, value in known], dtype=float)
    if axis == "rollouts" and len(steps):
        steps = rollouts_at(result, steps)
    return steps, values


def rollouts_at(result: RunResult, steps: Floats) -> Floats:
    """Return how many completions a run had generated for training after each of these steps.

    They are counted in its metrics, resampled groups among them; where a version did not count
    them, they are the planned ones.
    """
    at_step = np.array([row["step"] for row in result.train], dtype=float)
    if not len(at_step):
        return np.zeros_like(steps)
    counted = [row.get("rollouts") for row in result.train]
    if any(_is(count) for count in counted):
        own = np.array([count if _is(count) else 0.0 for count in counted], dtype=float)
    else:
        own = np.full(len(at_step), float(result.run.completions_per_step))
    total = np.concatenate([[0.0], np.cumsum(own)])
    return np.asarray(total[np.searchsorted(at_step, steps, side="right")])


def outcome(result: RunResult, measure: str) -> float | None:
    """Return a run's figure: the last evaluation, or the mean of training's last tenth.

    None where nothing is known; evaluation before training is no outcome.
    """
    x, y = curve(result, measure)
    if measure.startswith("eval_"):
        x, y = x[x > 0], y[x > 0]
        return float(y[-1]) if len(y) else None
    return fmean(y[-max(1, math.ceil(len(y) / 10)) :].tolist()) if len(y) else None


def at(result: RunResult, measure: str, x: float, axis: str) -> tuple[float, float] | None:
    """Return a measure at a point of an axis, and how far apart its two neighbours lie.

    An evaluation is taken as it is where one falls on the point; else the line between its two
    neighbours, whose distance tells how much that is worth. Training's metrics are noisy: the mean
    of the tenth of the run that ends there.

    Returns:
        None outside the run: nothing is extrapolated.
    """
    xs, ys = curve(result, measure, axis)
    if not len(xs) or x < xs[0] or x > xs[-1] * (1 + 1e-9):
        return None
    if not measure.startswith("eval_"):
        until = int(np.searchsorted(xs, x, side="right"))
        width = max(1, math.ceil(len(xs) / 10))
        return float(ys[max(0, until - width) : until].mean()), 0.0
    after = min(int(np.searchsorted(xs, x)), len(xs) - 1)
    if math.isclose(xs[after], x) or after == 0:
        return float(ys[after]), 0.0
    return float(np.interp(x, xs, ys)), float(xs[after] - xs[after - 1])


def _is(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
