"""The pictures of a run's report, drawn from its metrics lines alone.

* `Curves`: what is drawn from, a run's training and evaluation lines.
* `PANELS`: one function a picture; each draws on an empty figure and says whether it had data.
* `draw`: all pictures and their overview as PNG files' content.

Noisy training curves are a thin raw line below a bold moving average; lines are named at their
right end, so that no legend hides data. matplotlib is used without pyplot: no global state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reasonenv.dynamics.report.style import (
    BLUE,
    COLOURS,
    GREY,
    INK,
    ORANGE,
    RED,
    SKY,
    drawing,
    moving_average,
    png,
)
from reasonenv.dynamics.report.style import figure as new_figure

__all__ = ["PANELS", "Curves", "draw", "moving_average", "picture"]

Floats = npt.NDArray[np.float64]
Panel = Callable[[Any, "Curves"], bool]
_End = tuple[float, str, str]  # of a line: its last height, its name, its colour

_DASHES = ("-", "--", ":")  # a second and a third round of the colours

_SIZE = (8.0, 4.2)  # inches; at 150 dots wide enough for a README column at double density
_OVERVIEW_SIZE = (13.0, 8.2)
_POINTS = 4  # up to so many steps, a line is drawn with its points
_MAX_PARTS = 10  # more lines cannot be told apart
_MAX_NAME = 22  # characters of a line's name
_BINS = 20  # a moving average spans about one in so many of the steps


@dataclass(frozen=True)
class Curves:
    """What the pictures are drawn from.

    Args:
        train: metrics lines of kind "train", in the order of their steps.
        evaluations: metrics lines of kind "eval", likewise.
        max_length: the limit of a completion's length in tokens, None where it is not known.
    """

    train: Sequence[Mapping[str, Any]]
    evaluations: Sequence[Mapping[str, Any]]
    max_length: int | None = None

    def trained(self, name: str) -> tuple[Floats, Floats]:
        """Return (steps, values) of a training metric; NaN where a generation has none.

        Steps that reuse an earlier generation have no line of it, and are left out.
        """
        return _series([row for row in self.train if "reward" in row or "unscored" in row], name)

    def evaluated(self, name: str) -> tuple[Floats, Floats]:
        """Return (steps, values) of an evaluation metric."""
        return _series(self.evaluations, f"eval_{name}")

    @property
    def parts(self) -> list[str]:
        """The names of the reward's parts, in the order in which they were first logged."""
        names = dict.fromkeys(
            key.removeprefix("parts/") for row in self.train for key in row if key[:6] == "parts/"
        )
        return list(names)


def _series(rows: Sequence[Mapping[str, Any]], name: str) -> tuple[Floats, Floats]:
    values = [row.get(name) for row in rows]
    return (
        np.array([row["step"] for row in rows], dtype=float),
        np.array([np.nan if value is None else value for value in values], dtype=float),
    )


def draw(curves: Curves) -> dict[str, tuple[bytes, bool]]:
    """Draw all pictures.

    Returns:
        For each file name, the PNG and whether it shows any data.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    pictures = {}
    with drawing("reasonenv.trainers"):
        for name, panel in PANELS.items():
            figure = new_figure(_SIZE)
            has_data = panel(figure, curves)
            pictures[name] = (png(figure), has_data)
        figure = new_figure(_OVERVIEW_SIZE)
        cells = figure.subfigures(2, 2, wspace=0.03, hspace=0.05).flat
        shown = [panel(cell, curves) for cell, panel in zip(cells, PANELS.values(), strict=True)]
        pictures["overview.png"] = (png(figure), any(shown))
    return pictures


def picture(panel: Callable[[Any], bool]) -> bytes:
    """Return a PNG in the report's style of what `panel` draws on an empty figure.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    with drawing("reasonenv.trainers"):
        figure = new_figure(_SIZE)
        panel(figure)
        return png(figure)


def _reward(figure: Any, curves: Curves) -> bool:
    """Draw the reward and its parts by step."""
    axes = _axes(figure, "reward of a completion")
    steps, total = curves.trained("reward")
    parts = curves.parts if len(curves.parts) > 1 else []
    window = _window(len(steps))
    note = f"mean of each generation{_averaged(window)}"
    if len(parts) > _MAX_PARTS:
        note += f"; the first {_MAX_PARTS} of {len(parts)} parts"
    _title(axes, "Reward in training, total and parts" if parts else "Reward in training", note)
    ends = []
    for i, name in enumerate(parts[:_MAX_PARTS]):
        colour = COLOURS[i % len(COLOURS)]
        dashes = _DASHES[i // len(COLOURS) % len(_DASHES)]
        values = curves.trained(f"parts/{name}")[1]
        ends += _noisy(axes, steps, values, colour, name, window, faint=0.16, dashes=dashes)
    ends += _noisy(axes, steps, total, INK, "total", window, width=2.6)
    return _finish(axes, ends, "no reward has been recorded yet")


def _accuracy(figure: Any, curves: Curves) -> bool:
    """Draw held-out accuracy with 95 % intervals, training accuracy faintly behind it."""
    axes = _axes(figure, "share of completions that are right", percent=True)
    steps, training = curves.trained("accuracy")
    at, accuracy = curves.evaluated("accuracy")
    window = _window(len(steps))
    note = "bars: 95 % intervals"
    if np.isfinite(training).any():
        note += f"; grey: on training problems{_averaged(window)}"
    held_out = np.isfinite(accuracy).any()
    title = "Accuracy on held-out problems" if held_out else "Accuracy on training problems"
    _title(axes, title, note if held_out else f"mean of each generation{_averaged(window)}")
    name = "training"
    ends = _noisy(axes, steps, training, "#9A9A9A", name, window, faint=0.3, width=1.6)
    if held_out:
        low, high = (curves.evaluated(f"accuracy_{end}")[1] for end in ("low", "high"))
        bars = [np.nan_to_num(np.maximum(gap, 0.0)) for gap in (accuracy - low, high - accuracy)]
        style = {"lw": 2.4, "marker": "o", "ms": 6.5, "capsize": 4, "elinewidth": 1.6}
        axes.errorbar(at, accuracy, yerr=bars, color=BLUE, **style)
        ends += _name_points(axes, at, accuracy)
    axes.set_ylim(0, _headroom([training, accuracy, *([high] if held_out else [])]))
    return _finish(axes, ends, "no accuracy has been recorded yet")


def _name_points(axes: Any, at: Floats, accuracy: Floats) -> list[_End]:
    """Write the first value beside its point, and return the last for the line's end."""
    known = np.flatnonzero(np.isfinite(accuracy))
    first, last = known[0], known[-1]
    if first != last:
        axes.annotate(
            f"{accuracy[first]:.1%}".replace("%", " %"),
            (at[first], accuracy[first]),
            xytext=(9, -3),
            textcoords="offset points",
            va="top",
            color=BLUE,
            fontweight="bold",
            bbox={"color": "white", "alpha": 0.75, "pad": 0.5},
        )
    return [(accuracy[last], f"held out {accuracy[last]:.1%}".replace("%", " %"), BLUE)]


def _length(figure: Any, curves: Curves) -> bool:
    """Draw completion length with its spread, and below it the share that was cut off."""
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    _dress(upper, "tokens")
    _dress(lower, "share", percent=True, ticks=2)
    upper.tick_params(labelbottom=False)
    upper.set_xlabel("")
    steps, mean = curves.trained("completions/mean_length")
    low, high = (curves.trained(f"completions/{end}_length")[1] for end in ("min", "max"))
    cut = curves.trained("completions/clipped_ratio")[1]
    window = _window(len(steps))
    note = f"mean of each generation{_averaged(window)}; band: shortest to longest"
    _title(upper, "Length of completions in training", note)
    band = np.isfinite(low) & np.isfinite(high)
    upper.fill_between(steps, low, high, where=band, color=SKY, alpha=0.25, lw=0)
    ends = _noisy(upper, steps, mean, BLUE, "mean", window, width=2.4)
    longest = max((value for value in (*mean, *high) if np.isfinite(value)), default=0.0)
    limit = curves.max_length
    if limit and longest > 0.5 * limit:  # far from it, the limit would only flatten the curve
        upper.axhline(limit, color=GREY, lw=1.2, ls=(0, (4, 3)))
        ends.append((float(limit), "limit", GREY))
    upper.set_ylim(0, 1.08 * max(longest, *(y for y, *_ in ends), 1.0))
    clipped = _noisy(lower, steps, cut, RED, "cut off", window)
    lower.set_ylim(0, _headroom([cut]))
    _finish(lower, clipped, "", height=0.16)
    return _finish(upper, ends, "no length has been recorded yet", height=0.5)


def _groups(figure: Any, curves: Curves) -> bool:
    """Draw which share of the groups carries a signal."""
    axes = _axes(figure, "share of groups", percent=True)
    steps, mixed = curves.trained("mixed_groups")
    silent = curves.trained("frac_reward_zero_std")[1]
    unscored = curves.trained("unscored")[1]
    window = _window(len(steps))
    note = "mixed: right and wrong answers; silent: all rewards equal"
    lines = [(mixed, BLUE, "mixed"), (silent, ORANGE, "silent")]
    if np.nansum(unscored) > 0:
        lines.append((unscored, RED, "unscored"))
        axes.set_ylabel("share of groups or rollouts")
        note += "; unscored: of rollouts"
    _title(axes, "Groups that GRPO can learn from, and those it cannot", note)
    ends: list[_End] = []
    for values, colour, name in lines:
        ends += _noisy(axes, steps, values, colour, name, window)
    axes.set_ylim(0, 1.02)
    return _finish(axes, ends, "no groups have been recorded yet")


PANELS: dict[str, Panel] = {
    "reward.png": _reward,
    "accuracy.png": _accuracy,
    "length.png": _length,
    "groups.png": _groups,
}
"""The drawing function behind each file in a run's `plots/`; `overview.png` shows all four."""


def _axes(figure: Any, label: str, *, percent: bool = False) -> Any:
    axes = figure.subplots()
    _dress(axes, label, percent=percent)
    return axes


def _dress(axes: Any, label: str, *, percent: bool = False, ticks: int = 6) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.set_xlabel("optimizer step")
    axes.set_ylabel(label)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=ticks, min_n_ticks=2, steps=[1, 2, 5, 10]))
    axes.tick_params(length=0)
    axes.margins(x=0.02)
    if percent:
        axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))


def _title(axes: Any, title: str, note: str) -> None:
    axes.set_title(title, loc="left", pad=23)
    axes.annotate(
        note, (0, 1), xycoords="axes fraction", xytext=(0, 8), textcoords="offset points",
        fontsize=9.5, color=GREY,
    )  # fmt: skip


def _window(steps: int) -> int:
    """Return the odd width of the moving average for this many steps; 1 for a handful."""
    return max(1, steps // _BINS) // 2 * 2 + 1 if steps >= 2 * _BINS else 1


def _averaged(window: int) -> str:
    return f"; bold: moving average over {window}" if window > 1 else ""


def _noisy(
    axes: Any,
    steps: Floats,
    values: Floats,
    colour: str,
    name: str,
    window: int,
    *,
    faint: float = 0.25,
    width: float = 2.0,
    dashes: str = "-",
) -> list[_End]:
    """Draw a noisy curve; return its end, to be named, or nothing where it has no values."""
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        return []
    smooth = moving_average(values, window)
    if window > 1:
        axes.plot(steps, values, color=colour, alpha=faint, lw=0.9)
    marker = "o" if len(known) <= _POINTS else None
    axes.plot(steps, smooth, color=colour, lw=width, ls=dashes, marker=marker)
    return [(float(smooth[known[-1]]), name, colour)]


def _headroom(series: Sequence[Floats]) -> float:
    """Return the upper end of a share's axis: what is there and some air, at most all of it."""
    top = max((float(v) for values in series for v in values if np.isfinite(v)), default=0.0)
    return min(1.02, max(0.05, 1.15 * top))


def _finish(axes: Any, ends: Sequence[_End], empty: str, height: float = 0.7) -> bool:
    """Name the lines at their right ends, or say that there are none.

    Args:
        axes: with all lines drawn.
        ends: of the lines.
        empty: what to write where there is nothing to show.
        height: of the axes, as a share of the figure's: names are kept apart by it.

    Returns:
        Whether there was something to show.
    """
    if not ends:
        axes.set(xticks=[], yticks=[])
        axes.text(0.5, 0.5, empty, ha="center", va="center", color=GREY, transform=axes.transAxes)
        return False
    inches = axes.get_figure(root=False).bbox.height / axes.get_figure(root=True).dpi
    left, right = axes.get_xlim()
    if right - left < 1:  # a single step
        axes.set_xlim((left + right) / 2 - 1.5, (left + right) / 2 + 1.5)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high)  # it stays: the names are placed by it
    gap = (high - low) * 14.0 / (72.0 * inches * height)
    ordered = sorted(ends, key=lambda end: end[0])
    heights = _apart([end[0] for end in ordered], gap, low)
    for (_, name, colour), y in zip(ordered, heights, strict=True):
        axes.annotate(
            _plain(name), (1.0, y), xycoords=axes.get_yaxis_transform(), xytext=(6, 0),
            textcoords="offset points", va="center", color=colour, fontweight="bold",
            annotation_clip=False,
        )  # fmt: skip
    return True


def _apart(heights: Sequence[float], gap: float, lowest: float) -> list[float]:
    """Return ascending heights moved as little as need be to lie at least `gap` apart.

    Args:
        heights: in ascending order.
        gap: least distance of two.
        lowest: none is moved below it.

    >>> _apart([0.0, 0.0, 5.0], 1.0, -9.0)
    [-0.5, 0.5, 5.0]
    >>> _apart([0.0, 0.0, 5.0], 1.0, 0.0)
    [0.0, 1.0, 5.0]
    """
    clusters: list[list[float]] = []  # each: [centre, members]; those that touch are joined
    for height in heights:
        clusters.append([height, 1.0])
        while len(clusters) > 1:
            (a, n), (b, m) = clusters[-2:]
            if b - a >= gap * (n + m) / 2:
                break
            clusters[-2:] = [[(a * n + b * m) / (n + m), n + m]]
    moved = [c + gap * (i - (n - 1) / 2) for c, n in clusters for i in range(int(n))]
    for i, height in enumerate(moved):
        moved[i] = max(height, lowest if i == 0 else moved[i - 1] + gap)
    return moved


def _plain(name: str) -> str:
    """Return a name of any characters, cut to a label's width; `$` would start a formula."""
    shown = "".join(c if c.isprintable() else "?" for c in name)
    if len(shown) > _MAX_NAME:
        shown = f"{shown[: _MAX_NAME // 2]}…{shown[-_MAX_NAME // 2 + 1 :]}"
    return shown.replace("$", r"\$")
