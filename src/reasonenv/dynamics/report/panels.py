"""What a picture is: a drawing, the table behind it, and the few shapes that all of them use."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reasonenv.dynamics.report.style import COLOURS, GREY, moving_average

__all__ = ["Cell", "Panel", "Series", "bars", "heatmap", "lines", "shown"]

Floats = npt.NDArray[np.float64]
Cell = str | float | int | None

_DASHES = ("-", "--", ":")  # a second and a third round of the colours


@dataclass(frozen=True)
class Panel:
    """One picture.

    Attributes:
        key: of its file, `KEY.png`.
        title: a statement of what is shown.
        note: how to read it, and its source.
        draw: draws on an empty figure.
        heads, rows: the table behind it; None in a cell is what is not known.
        size: of the figure in inches.
    """

    key: str
    title: str
    note: str
    draw: Callable[[Any], None]
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    size: tuple[float, float] = (8.0, 4.2)


@dataclass(frozen=True)
class Series:
    """A line: x and y of one length, NaN where there is no value."""

    name: str
    x: Floats
    y: Floats


def heatmap(
    values: Floats, rows: Sequence[str], columns: Sequence[str], label: str
) -> Callable[[Any], None]:
    """Return a drawing of a matrix, grey where it is not finite.

    Args:
        values: shape (rows, columns).
        rows: names, from the top.
        columns: names.
        label: of the colours.
    """

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        axes.set_facecolor("#DDDDDD")
        axes.grid(visible=False)
        image = axes.imshow(np.ma.masked_invalid(values), aspect="auto", cmap="viridis")
        axes.set_xticks(range(len(columns)), columns, rotation=35, ha="right")
        every = max(1, math.ceil(len(rows) / 20))
        axes.set_yticks(range(0, len(rows), every), list(rows)[::every])
        axes.set_ylabel("layer")
        axes.tick_params(length=0)
        bar = figure.colorbar(image, ax=axes, label=label)
        bar.outline.set_visible(False)

    return draw


def lines(
    groups: Sequence[tuple[str, Sequence[Series]]],
    x_label: str,
    y_label: str,
    *,
    smooth: bool = False,
    marked: bool = False,
) -> Callable[[Any], None]:
    """Return a drawing of one small axes for each group of lines.

    Args:
        groups: (title, lines); lines of one name have one colour in all of them.
        x_label: of all axes.
        y_label: of all axes; empty where titles say it.
        smooth: whether a bold moving average lies over the thin raw line.
        marked: whether points are drawn, too.
    """
    names = list(dict.fromkeys(s.name for _, series in groups for s in series))
    looks = {
        name: {"color": COLOURS[i % len(COLOURS)], "ls": _DASHES[i // len(COLOURS) % len(_DASHES)]}
        for i, name in enumerate(names)
    }

    def draw(figure: Any) -> None:
        wide = 1 if len(groups) == 1 else 2
        cells = np.atleast_1d(figure.subplots(math.ceil(len(groups) / wide), wide)).ravel()
        for axes, (title, series) in zip(cells, groups, strict=False):
            if title:
                axes.set_title(title, loc="left", fontsize=10.5)
            for one in series:
                _line(axes, one, looks[one.name], smooth, marked)
            axes.set_ylabel(y_label)
            axes.tick_params(length=0)
            if not series:
                axes.set(xticks=[], yticks=[])
                axes.text(0.5, 0.5, "not recorded", ha="center", va="center", color=GREY,
                          transform=axes.transAxes)  # fmt: skip
        for axes in cells[len(groups) :]:
            axes.set_visible(False)
        for axes in cells[max(0, len(groups) - wide) : len(groups)]:
            axes.set_xlabel(x_label)
        if len(names) > 1:
            handles = [cells[0].plot([], [], **looks[n], lw=2, label=n)[0] for n in names]
            # About 12 letters an inch, and the line's sample before them.
            fitting = int(12 * figure.get_figwidth() / (max(map(len, names)) + 8))
            figure.legend(
                handles=handles,
                loc="outside lower center",
                ncols=max(1, min(4, fitting, len(names))),
                frameon=False,
                fontsize=9,
            )

    return draw


def _line(axes: Any, one: Series, look: dict[str, str], smooth: bool, marked: bool) -> None:
    window = len(one.x) // 20 // 2 * 2 + 1 if smooth and len(one.x) >= 40 else 1
    if window > 1:
        axes.plot(one.x, one.y, color=look["color"], alpha=0.25, lw=0.8)
    known = np.isfinite(one.y)
    points = "o" if marked or known.sum() <= 4 else None
    values = moving_average(one.y, window)
    axes.plot(one.x[known], values[known], **look, lw=1.9, marker=points, ms=4)
    if np.all(one.x == np.round(one.x)):
        from matplotlib.ticker import MaxNLocator

        axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))


def bars(
    names: Sequence[str], series: Sequence[tuple[str, Sequence[float]]], label: str
) -> Callable[[Any], None]:
    """Return a drawing of grouped horizontal bars.

    Args:
        names: of the groups, from the top.
        series: (name, one value a group).
        label: of the values.
    """

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        axes.grid(visible=True, axis="x")
        axes.grid(visible=False, axis="y")
        height = 0.8 / max(1, len(series))
        for i, (name, values) in enumerate(series):
            at = np.arange(len(names)) + (i - (len(series) - 1) / 2) * height
            axes.barh(at, values, height, color=COLOURS[i % len(COLOURS)], label=name)
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.set_xlabel(label)
        axes.tick_params(length=0)
        if len(series) > 1:
            axes.legend(frameon=False, fontsize=9)

    return draw


def shown(value: Cell) -> str:
    """Return a cell's text: numbers with four digits, a dash for what is not known."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)
