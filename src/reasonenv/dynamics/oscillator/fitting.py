"""Least-squares fits of reward curves by variable projection (Golub and Pereyra 1973).

For given shape parameters, start and plateau follow from linear least squares; the one or two shape
parameters are searched on a grid and refined by Levenberg-Marquardt, in their logarithms.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reasonenv.dynamics.oscillator.shapes import Shape
from reasonenv.errors import DataError

__all__ = ["FEWEST", "Fit", "checked", "fit_constant", "fit_shape"]

Floats = npt.NDArray[np.float64]

FEWEST = 8
"""Points below which nothing is fitted: four parameters, and AICc divides by n - k - 1."""

_GRID = 28  # points of each parameter
_STARTS = 3  # of the grid, that are refined
_ROUNDS = 40


@dataclass(frozen=True)
class Fit:
    """A fitted curve.

    Attributes:
        shape: None for a constant.
        start: R at the first step.
        plateau: R*, which lies beyond the data where the curve has not reached it.
        theta: the shape's parameters, in units of the span.
        span: last less first step.
        first: the first step.
        sse: sum of squared errors.
        n: points.
        residuals: shape (n,).
    """

    shape: Shape | None
    start: float
    plateau: float
    theta: tuple[float, ...]
    span: float
    first: float
    sse: float
    n: int
    residuals: Floats

    @property
    def name(self) -> str:
        """Of the shape."""
        return self.shape.name if self.shape else "constant"

    @property
    def k(self) -> int:
        """Fitted numbers, the noise's variance among them."""
        return 2 if self.shape is None else 3 + len(self.theta)

    @property
    def aicc(self) -> float:
        """N log(SSE / n) + 2k + 2k(k + 1)/(n - k - 1) (Hurvich and Tsai 1989); lower is better."""
        n, k = self.n, self.k
        noise = max(self.sse / n, 1e-30)
        return n * math.log(noise) + 2 * k + 2 * k * (k + 1) / (n - k - 1)

    def predict(self, steps: Sequence[float] | Floats) -> Floats:
        """Return the curve at these steps."""
        t = np.maximum((np.asarray(steps, dtype=float) - self.first) / self.span, 0.0)
        if self.shape is None:
            return np.full(len(t), self.plateau)
        g = self.shape.g(t, np.array([self.theta]))[0]
        rise = _rise(self.shape, self.theta)
        curve: Floats = self.plateau + (self.start - self.plateau) * g / rise
        return curve


def checked(steps: Sequence[float], reward: Sequence[float]) -> tuple[Floats, Floats]:
    """Return steps and rewards as arrays, sorted, without what is not a number.

    Raises:
        DataError: they differ in length, or fewer than 8 points are left.
    """
    t, r = np.asarray(steps, dtype=float), np.asarray(reward, dtype=float)
    if t.ndim != 1 or t.shape != r.shape:
        raise DataError(f"steps of shape {t.shape} and rewards of shape {r.shape} do not pair up")
    known = np.isfinite(t) & np.isfinite(r)
    t, r = t[known], r[known]
    if len(np.unique(t)) < FEWEST:
        raise DataError(
            f"{len(np.unique(t))} steps with a reward: a curve with four parameters needs at "
            f"least {FEWEST}"
        )
    order = np.argsort(t, kind="stable")
    return t[order], r[order]


def fit_constant(steps: Floats, reward: Floats) -> Fit:
    """Return the mean as a fit: no dynamics at all."""
    mean = float(reward.mean())
    left = reward - mean
    first, span = float(steps[0]), float(steps[-1] - steps[0])
    return Fit(None, mean, mean, (), span, first, float(left @ left), len(left), left)


def fit_shape(
    shape: Shape,
    steps: Floats,
    reward: Floats,
    starts: Sequence[Sequence[float]] = (),
    rounds: int = _ROUNDS,
) -> Fit:
    """Return the least-squares fit of one shape.

    Args:
        shape: the family of curves.
        steps: from `checked`.
        reward: likewise.
        starts: parameters to refine from, instead of searching a grid.
        rounds: of the refinement, at most.
    """
    first, span = float(steps[0]), float(steps[-1] - steps[0])
    t = (steps - first) / span
    low, high = (np.log([bound[side] for bound in shape.bounds]) for side in (0, 1))
    if len(starts):
        points = np.log(np.array(starts, dtype=float))
    else:
        axes = [np.linspace(a, b, _GRID) for a, b in zip(low, high, strict=True)]
        grid = np.array(list(itertools.product(*axes)))
        errors = _project(shape, t, reward, grid)[0]
        points = grid[np.argsort(errors)[:_STARTS]]
    theta, sse = min(
        (_refine(shape, t, reward, point, low, high, rounds) for point in points),
        key=lambda r: r[1],
    )
    _, left, offset, slope = _project(shape, t, reward, theta[None])
    parameters = tuple(float(x) for x in np.exp(theta))
    plateau = float(offset[0])
    start = plateau + float(slope[0]) * _rise(shape, parameters)
    return Fit(shape, start, plateau, parameters, span, first, sse, len(t), left[0])


def _rise(shape: Shape, theta: Sequence[float]) -> float:
    """Return g(0): 1 but for the logistic."""
    return float(shape.g(np.zeros(1), np.array([theta]))[0, 0])


def _project(
    shape: Shape, t: Floats, r: Floats, theta: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return SSE (c,), residuals (c, n), offset (c,) and slope (c,) for c log-parameter vectors."""
    g = shape.g(t, np.exp(theta))
    mean = g.mean(1, keepdims=True)
    centred, target = g - mean, r - r.mean()
    spread = (centred**2).sum(1)
    flat = spread < 1e-14 * len(t)
    slope = np.where(flat, 0.0, centred @ target / np.where(flat, 1.0, spread))
    left = target - slope[:, None] * centred
    offset = r.mean() - slope * mean[:, 0]
    return (left**2).sum(1), left, offset, slope


def _refine(
    shape: Shape,
    t: Floats,
    r: Floats,
    theta: Floats,
    low: Floats,
    high: Floats,
    rounds: int,
) -> tuple[Floats, float]:
    """Levenberg-Marquardt on the projected residual, its derivative by differences."""
    width, damping, step = len(theta), 1e-2, 1e-5
    sse, left, _, _ = _project(shape, t, r, theta[None])
    error = float(sse[0])
    for _ in range(rounds):
        nudged = theta + step * np.eye(width)
        jacobian = (_project(shape, t, r, nudged)[1] - left) / step
        normal, gradient = jacobian @ jacobian.T, jacobian @ left[0]
        improved = False
        for _ in range(6):
            scaled = normal + damping * (np.diag(np.diag(normal)) + 1e-12 * np.eye(width))
            move = -np.linalg.lstsq(scaled, gradient, rcond=None)[0]
            tried = np.clip(theta + np.clip(move, -1.0, 1.0), low, high)
            new_sse, new_left, _, _ = _project(shape, t, r, tried[None])
            if new_sse[0] < error:
                gain = error - float(new_sse[0])
                theta, left, error = tried, new_left, float(new_sse[0])
                damping, improved = max(damping / 5, 1e-9), True
                break
            damping *= 5
        if not improved or gain < 1e-10 * (error + 1e-300):
            break
    return theta, error
