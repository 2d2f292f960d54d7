"""A forest plot: the difference of each benchmark with its interval, around a line at zero."""

from __future__ import annotations

import io

from reasonenv.errors import EvaluationError
from reasonenv.evaluation.comparison import Comparison
from reasonenv.evaluation.comparison_tables import significant
from reasonenv.extras import need

__all__ = ["forest"]

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe and Ito's
_MAX_NAME = 40


def forest(comparison: Comparison, k: int = 1) -> bytes:
    """Return a PNG of the differences in pass@k; filled where they stand after Holm's correction.

    Raises:
        EvaluationError: the comparison holds no difference in pass@k.
        MissingExtraError: matplotlib is not installed.
    """
    figures = need("matplotlib.figure", extra="train", by="a forest plot")
    chosen = [one for one in comparison.differences if one.k == k]
    if not chosen:
        raise EvaluationError(f"the comparison holds no difference in pass@{k}")
    sides = list(dict.fromkeys(one.side for one in chosen))
    names = list(comparison.benchmarks)
    height = 1.3 + 0.32 * len(names) * max(1, len(sides))
    figure = figures.Figure(figsize=(8.0, height), dpi=150, layout="constrained")
    axes = figure.subplots()
    axes.axvline(0, color="#555555", lw=1)
    slot = 0.8 / len(sides)
    for one in chosen:
        at = names.index(one.benchmark) + slot * (sides.index(one.side) - (len(sides) - 1) / 2)
        colour = _COLOURS[sides.index(one.side) % len(_COLOURS)]
        axes.plot([100 * one.low, 100 * one.high], [at, at], color=colour, lw=1.8)
        face = colour if significant(one) else "white"
        axes.plot(100 * one.value, at, "o", color=colour, mfc=face, ms=6)
    for i, side in enumerate(sides):
        axes.plot([], [], "o-", color=_COLOURS[i % len(_COLOURS)], label=_plain(side))
    axes.set_yticks(range(len(names)), [_plain(name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlabel(
        f"difference in pass@{k} from {_plain(chosen[0].base)}, percentage points (95 % intervals)"
    )
    axes.grid(axis="x", color="#DDDDDD", lw=0.6)
    axes.set_axisbelow(True)
    for edge in ("top", "right", "left"):
        axes.spines[edge].set_visible(False)
    axes.tick_params(length=0)
    axes.set_title("filled: stands after Holm's correction at 5 %", loc="left", fontsize=9)
    if len(sides) > 1:
        axes.legend(frameon=False, fontsize=9)
    png = io.BytesIO()
    figure.savefig(png, format="png", metadata={"Software": None})
    return png.getvalue()


def _plain(name: str) -> str:
    """Return a name cut to a label's width; `$` would start a formula."""
    shown = "".join(c if c.isprintable() else "?" for c in name)
    if len(shown) > _MAX_NAME:
        shown = f"{shown[: _MAX_NAME // 2]}…{shown[-_MAX_NAME // 2 + 1 :]}"
    return shown.replace("$", r"\$")
