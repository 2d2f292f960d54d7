"""The eight training curves (fig. 1-3 of arXiv 2609.39321), from whatever the metrics hold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reasonenv.dynamics.report.panels import Cell, Panel, Series, lines

__all__ = ["CURVES", "training_panel"]

Row = Mapping[str, Any]

CURVES: tuple[tuple[str, str, str], ...] = (
    ("eval", "eval_accuracy", "accuracy, evaluation"),
    ("eval", "eval_reward", "reward, evaluation"),
    ("eval", "eval_entropy", "entropy, evaluation"),
    ("eval", "eval_completions/mean_length", "completion length, evaluation"),
    ("train", "reward", "reward, training"),
    ("train", "reward_cv", "coefficient of variation of the reward"),
    ("train", "kl", "KL to the reference"),
    ("train", "completions/clipped_ratio", "completions cut off at the limit"),
)
"""The study's eight signals: kind of line, name, and what it is."""


def training_panel(runs: Mapping[str, Mapping[str, Sequence[Row]]]) -> Panel | None:
    """Return the eight curves of one or several runs, None where no run has any of them.

    Args:
        runs: by name, the lines by kind ("train", "eval").
    """
    groups, rows = [], []
    for kind, name, title in CURVES:
        series = []
        for run, by_kind in runs.items():
            x, y = curve(by_kind.get(kind, ()), name)
            if np.isfinite(y).any():
                series.append(Series(run, x, y))
                rows += _summary(run, title, x, y)
        groups.append((title, series))
    if not rows:
        return None
    return Panel(
        "training",
        "The eight signals of training",
        "study fig. 1 to 3; thin: each step, bold: a moving average. KL is logged where beta is "
        "above 0",
        lines(groups, "optimizer step", "", smooth=True),
        ["run", "signal", "points", "first", "lowest", "highest", "last"],
        rows,
        (10.0, 11.0),
    )


def curve(rows: Sequence[Row], name: str) -> tuple[Any, Any]:
    """Return (steps, values) of a metric; NaN where a line has none."""
    held = [(row["step"], row.get(name)) for row in rows]
    steps = np.array([step for step, _ in held], dtype=float)
    values = [v if isinstance(v, int | float) else math.nan for _, v in held]
    return steps, np.array(values, dtype=float)


def _summary(run: str, title: str, x: Any, y: Any) -> list[list[Cell]]:
    known = y[np.isfinite(y)]
    ends = (float(known[0]), float(known.min()), float(known.max()), float(known[-1]))
    return [[run, title, len(known), *ends]]
