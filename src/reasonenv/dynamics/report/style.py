"""How all pictures of a run look, and PNG files from them.

matplotlib is used without pyplot: no global state, and no back end but Agg's.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from reasonenv.extras import need

__all__ = ["COLOURS", "GREY", "INK", "STYLE", "drawing", "figure", "moving_average", "png"]

Floats = npt.NDArray[np.float64]

# Okabe and Ito (2008): told apart with every common colour blindness, and in grey print.
BLUE, ORANGE, GREEN, RED, PINK, SKY = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
)
COLOURS = (BLUE, ORANGE, GREEN, PINK, RED, SKY)
"""In the order in which lines take them."""
INK, GREY = "#222222", "#6B6B6B"

DPI = 150
"""Dots an inch of every picture."""

STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same picture on every machine
    "font.size": 10.5,
    "axes.titlesize": 13,
    "axes.titleweight": "bold",
    "axes.labelcolor": GREY,
    "axes.edgecolor": "#B0B0B0",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "text.color": INK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "lines.solid_capstyle": "round",
    "figure.facecolor": "white",
}
"""matplotlib's settings for them."""


@contextlib.contextmanager
def drawing(by: str) -> Iterator[None]:
    """Draw in the house style inside the block.

    Args:
        by: which package draws, for the error's message.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    matplotlib = need("matplotlib", extra="train", by=by)
    # A user's own defaults give way to ours; their backend stays: these pictures need none.
    defaults = {key: value for key, value in matplotlib.rcParamsDefault.items() if key != "backend"}
    with matplotlib.rc_context(defaults | STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # in the names of terms
        yield


def figure(size: tuple[float, float]) -> Any:
    """Return an empty figure of this size in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made: Any = Figure(figsize=size, dpi=DPI, layout="constrained")
    FigureCanvasAgg(made)
    made.get_layout_engine().set(w_pad=0.12, h_pad=0.1)
    return made


def png(drawn: Any) -> bytes:
    """Return a figure as the content of a PNG file: the same one for the same figure."""
    sink = io.BytesIO()
    drawn.savefig(sink, format="png", metadata={"Software": None})
    return sink.getvalue()


def moving_average(values: Floats, window: int) -> Floats:
    """Return the centred moving average, over what is there of each window; NaN stays NaN.

    >>> moving_average(np.array([0.0, 3.0, np.nan, 3.0]), 3).tolist()
    [1.5, 1.5, nan, 3.0]
    >>> moving_average(np.array([]), 3).size
    0
    """
    if not values.size:
        return values
    there = np.isfinite(values)
    kernel = np.ones(window)
    total = np.convolve(np.where(there, values, 0.0), kernel, mode="same")
    count = np.convolve(there.astype(float), kernel, mode="same")
    return np.where(there, total / np.maximum(count, 1.0), np.nan)
