"""The pictures of a study's report: curves on both axes, differences, mixed groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reasonenv.dynamics.report.panels import Cell, Panel
from reasonenv.dynamics.report.style import COLOURS, GREY, moving_average
from reasonenv.studies.comparison import AXES, Compared
from reasonenv.studies.plan import Plan
from reasonenv.studies.results import Floats, RunResult, curve
from reasonenv.studies.signal import ArmSignal

__all__ = ["curve_panel", "difference_panel", "signal_panel"]

_POINTS = 200  # that curves over seeds are drawn at


def curve_panel(
    plan: Plan, results: Mapping[str, RunResult], measures: Sequence[str]
) -> Panel | None:
    """Return each arm's mean over seeds, with the seeds' range, over steps and over rollouts."""
    cells: list[tuple[str, str, dict[str, tuple[Floats, Floats, Floats, Floats]]]] = []
    rows: list[list[Cell]] = []
    for measure in dict.fromkeys(measures):
        for axis in AXES:
            bands = {}
            for label in plan.arms:
                band = _band(plan, results, label, measure, axis)
                if band is not None:
                    bands[label] = band
                    x, mean, low, high = band
                    for i in _some(len(x)):
                        rows.append([measure, axis, label, float(x[i]), float(mean[i]),
                                     float(low[i]), float(high[i])])  # fmt: skip
            if bands:
                cells.append((measure, axis, bands))
    if not cells:
        return None
    labels = list(plan.arms)

    def draw(figure: Any) -> None:
        grid = np.atleast_1d(figure.subplots((len(cells) + 1) // 2, 2)).ravel()
        for axes, (measure, axis, bands) in zip(grid, cells, strict=False):
            for label, (x, mean, low, high) in bands.items():
                colour = COLOURS[labels.index(label) % len(COLOURS)]
                dash = ("-", "--", ":")[labels.index(label) // len(COLOURS) % 3]
                axes.plot(x, mean, color=colour, ls=dash, lw=1.8, label=label)
                axes.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)
            axes.set_title(measure, loc="left", fontsize=10.5)
            axes.set_xlabel("optimizer steps" if axis == "steps" else "rollouts generated")
            axes.tick_params(length=0)
        for axes in grid[len(cells) :]:
            axes.set_visible(False)
        shown: dict[str, Any] = {}
        for axes in grid[: len(cells)]:  # an arm may lack the first measure
            handles, own = axes.get_legend_handles_labels()
            shown = dict(zip(own, handles, strict=True)) | shown
        handles, names = [shown[x] for x in labels if x in shown], [x for x in labels if x in shown]
        figure.legend(handles, names, loc="outside lower center", ncols=min(4, len(names)),
                      frameon=False, fontsize=9)  # fmt: skip

    return Panel(
        "curves",
        "Every arm over steps and over rollouts",
        "line: mean over seeds; band: from the lowest to the highest seed. Training's curves are "
        "moving averages over a twentieth of the run",
        draw,
        ["measure", "axis", "arm", "at", "mean", "lowest", "highest"],
        rows,
        (10.0, 0.8 + 3.0 * ((len(cells) + 1) // 2)),
    )


def difference_panel(compared: Sequence[Compared], measure: str) -> Panel | None:
    """Return each arm's difference to its baseline with its interval, on both axes."""
    usable = [one for one in compared if one.difference.seeds]
    if not usable:
        return None
    names = list(dict.fromkeys(f"{one.arm}\nagainst {one.baseline}" for one in usable))

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        axes.grid(visible=True, axis="x")
        axes.grid(visible=False, axis="y")
        axes.axvline(0, color=GREY, lw=1)
        for one in usable:
            which = AXES.index(one.axis)
            y = names.index(f"{one.arm}\nagainst {one.baseline}") + (which - 0.5) * 0.3
            axes.plot(one.difference.mean, y, "o", color=COLOURS[which], ms=6)
            if one.difference.interval is not None:
                axes.plot(one.difference.interval, (y, y), color=COLOURS[which], lw=2)
        for which, axis in enumerate(AXES):
            axes.plot([], [], "o-", color=COLOURS[which], label=f"at equal {axis}")
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlabel(f"difference in {measure}")
        axes.tick_params(length=0)
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)

    rows: list[list[Cell]] = [
        [one.arm, one.baseline, one.axis, one.difference.mean,
         *(one.difference.interval or (None, None))]
        for one in usable
    ]  # fmt: skip
    return Panel(
        "differences",
        "Difference of each arm to its baseline",
        "point: mean over seeds; line: 95 % of this pair alone, from three seeds on",
        draw,
        ["arm", "baseline", "at equal", "difference", "low", "high"],
        rows,
        (8.0, 1.6 + 0.7 * len(names)),
    )


def signal_panel(signals: Sequence[ArmSignal]) -> Panel | None:
    """Return predicted against measured mixed groups, an arm a point."""
    if not signals:
        return None
    sources = list(dict.fromkeys(one.source for one in signals))

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        axes.plot((0, 1), (0, 1), color=GREY, lw=1, ls="--")
        for one in signals:
            axes.plot(one.predicted.mean, one.measured.mean, "o", ms=6,
                      color=COLOURS[sources.index(one.source)])  # fmt: skip
            axes.annotate(f"G = {one.group_size}", (one.predicted.mean, one.measured.mean),
                          xytext=(6, -10), textcoords="offset points", fontsize=8)  # fmt: skip
        axes.set(xlim=(-0.02, 1.05), ylim=(-0.02, 1.05), xlabel="predicted share of mixed groups",
                 ylabel="measured")  # fmt: skip
        for i, source in enumerate(sources):
            axes.plot([], [], "o", color=COLOURS[i], label=f"predicted from {source}")
        figure.legend(loc="outside lower center", ncols=1, frameon=False, fontsize=9)

    rows: list[list[Cell]] = [
        [one.arm, one.group_size, one.source, one.predicted.mean, one.measured.mean]
        for one in signals
    ]
    return Panel(
        "mixed-groups",
        "Mixed groups, predicted and measured",
        "on the dashed line the prediction holds",
        draw,
        ["arm", "group size", "predicted from", "predicted", "measured"],
        rows,
        (6.0, 5.6),
    )


def _band(
    plan: Plan, results: Mapping[str, RunResult], label: str, measure: str, axis: str
) -> tuple[Floats, Floats, Floats, Floats] | None:
    """Return (x, mean, lowest, highest) over what all seeds of an arm have reached."""
    curves = []
    for run in plan.of(label):
        x, y = curve(results[run.name], measure, axis)
        if len(x):
            smooth = not measure.startswith("eval_") and len(y) >= 20
            curves.append((x, moving_average(y, len(y) // 20 * 2 + 1) if smooth else y))
    if not curves:
        return None
    start, end = max(x[0] for x, _ in curves), min(x[-1] for x, _ in curves)
    if end < start:
        return None
    known = np.unique(np.concatenate([x for x, _ in curves]))
    known = known[(known >= start) & (known <= end)]
    if len(known) > _POINTS:
        known = np.linspace(start, end, _POINTS)

    table = np.array([np.interp(known, x, y) for x, y in curves])
    return known, table.mean(0), table.min(0), table.max(0)


def _some(count: int) -> list[int]:
    """Return at most 40 of the numbers below `count`, both ends among them."""
    return sorted({round(i) for i in np.linspace(0, count - 1, min(count, 40))})
