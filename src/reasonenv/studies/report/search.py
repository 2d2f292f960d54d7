"""The report of a search: its trials, the best one, and how far to trust it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from reasonenv.dynamics.report.panels import Cell, Panel
from reasonenv.dynamics.report.style import COLOURS
from reasonenv.studies.finding import said_value
from reasonenv.studies.grid import Arm
from reasonenv.studies.plan import Plan
from reasonenv.studies.report import tables
from reasonenv.studies.report.pages import Section, Table, draw
from reasonenv.studies.report.write import write_pages
from reasonenv.studies.results import read_result
from reasonenv.studies.store import StudyDir

__all__ = ["write_search_report"]


def write_search_report(
    plan: Plan, values: Mapping[str, float], best: Arm, problems: Mapping[str, str]
) -> tuple[Path, str]:
    """Write report.md, study.html and plots/ of a search.

    Args:
        plan: with an arm for each trial.
        values: of the trials that have one, by label.
        best: the best trial's arm.
        problems: why trials could not run, by label.

    Returns:
        The Markdown file, and the sentence that the search comes to.
    """
    spec = plan.spec
    assert spec.search is not None
    space = spec.search.space
    results = {run.name: read_result(run, StudyDir(plan.out)) for run in plan.runs}
    chosen = ", ".join(f"{path} = {_said(value)}" for path, value in best.point.items())
    said = (
        f"{best.label} is the best of {len(values)}: {spec.measure} "
        f"{said_value(values[best.label])} with {chosen}; being the best of many it looks better "
        "than it is, so no interval is given before confirm.yaml has run on fresh seeds."
    )
    sign = -1 if spec.search.direction == "maximize" else 1
    labels = sorted(plan.arms, key=lambda x: (x not in values, sign * values.get(x, 0.0)))
    rows: list[list[Cell]] = [
        [
            label,
            values.get(label),
            *(_said(plan.arms[label].point.get(p)) for p in space),
        ]
        for label in labels
    ]
    panel = _panel(values, spec.measure, maximize=sign < 0)
    pictures = draw([panel], plan.out / "plots")
    know = [f"{label} is left out: {problem}" for label, problem in problems.items()]
    sections = [
        Section("", [said]),
        *([Section("The question", [spec.description])] if spec.description else []),
        *([Section("What a reader has to know", items=know)] if know else []),
        Section(
            "Trials",
            [f"Each value is the mean over the seeds {', '.join(map(str, spec.seeds))}. "
             "best.yaml holds the best recipe; confirm.yaml runs it against the base."],
            parts=[Table(["trial", spec.measure, *space], rows), pictures[0]],
        ),
        *([Section("Failed runs", parts=logs)] if (logs := tables.failure_logs(results)) else []),
        Section("Runs", parts=[tables.run_table(plan, results, spec.measure)]),
    ]  # fmt: skip
    return write_pages(plan, sections), said


def _panel(values: Mapping[str, float], measure: str, *, maximize: bool) -> Panel:
    numbers = np.array([int(label.rpartition(" ")[2]) for label in values], dtype=float)
    order = np.argsort(numbers)
    numbers, y = numbers[order], np.array(list(values.values()))[order]
    so_far = np.maximum.accumulate(y) if maximize else np.minimum.accumulate(y)

    def draw_on(figure: Any) -> None:
        axes = figure.subplots()
        axes.plot(numbers, y, "o", color=COLOURS[0], ms=5, label="trial")
        axes.step(numbers, so_far, where="post", color=COLOURS[1], lw=1.8, label="best so far")
        axes.set(xlabel="trial", ylabel=measure)
        axes.tick_params(length=0)
        axes.legend(frameon=False, fontsize=9)

    rows: list[list[Cell]] = [
        [int(n), float(v), float(b)] for n, v, b in zip(numbers, y, so_far, strict=True)
    ]
    return Panel("trials", "Trials in the order of the search", "the best so far never falls",
                 draw_on, ["trial", measure, "best so far"], rows)  # fmt: skip


def _said(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
