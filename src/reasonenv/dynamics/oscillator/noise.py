"""How much a run fluctuates at its plateau, and how that depends on group size.

To leading order the deterministic curve does not depend on G, and Var = eta^2 sigma^2 / (2 G B a
Gamma) falls as 1/G (arXiv 2606.30789). A logged reward fluctuates besides, by the sampling of its
own batch: p (1 - p) / (G B) for an accuracy, which falls as 1/G, too, and says nothing about the
policy. Take it away before reading an exponent as the policy's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reasonenv.dynamics.oscillator.stability import critical_gain
from reasonenv.errors import DataError
from reasonenv.intervals import t_quantile

__all__ = ["NoiseExponent", "noise_exponent", "stationary_variance"]


def stationary_variance(
    gain: float, momentum: float, noise: float, *, lag: int = 0, leading: bool = False
) -> float:
    """Return the variance of x in x_{t+1} = (1 + mu) x_t - mu x_{t-1} - a x_{t-tau} + noise.

    Args:
        gain: a.
        momentum: mu.
        noise: variance of what is added a step: eta^2 sigma^2 / (G B).
        lag: tau, updates.
        leading: return the leading order noise / (2 a Gamma), Gamma = 1 - mu - a tau, instead of
            the exact value (the solution of P = F P F^T + Q).

    Raises:
        DataError: beyond the threshold there is no stationary state.
    """
    if not 0 < gain < critical_gain(momentum, lag):
        raise DataError(
            f"gain={gain}: a stationary state needs 0 < gain < {critical_gain(momentum, lag):.4g}"
        )
    if leading:
        return noise / (2 * gain * ((1 - momentum) - gain * lag))
    size = max(1, lag) + 1
    step = np.zeros((size, size))
    step[0, 0], step[0, 1] = 1 + momentum, -momentum
    step[0, lag] -= gain
    step[1:, :-1] = np.eye(size - 1)
    driven = np.zeros((size, size))
    driven[0, 0] = noise
    solved = np.linalg.solve(np.eye(size * size) - np.kron(step, step), driven.ravel())
    return float(solved[0])


@dataclass(frozen=True, slots=True)
class NoiseExponent:
    """Var ~ G^exponent; 1/G is an exponent of -1.

    Attributes:
        exponent: slope of log variance on log G.
        interval: 95 %, by Student's t; None with fewer than 3 points or 2 sizes beyond them.
        note: why there is no interval; empty where there is one.
    """

    exponent: float
    interval: tuple[float, float] | None
    note: str


def noise_exponent(sizes: Sequence[int], variances: Sequence[float]) -> NoiseExponent:
    """Return how the variance at the plateau depends on group size.

    Args:
        sizes: G of each run; seeds of one size count each.
        variances: of the residuals around the fitted curve at the plateau, one a run.

    Raises:
        DataError: fewer than two sizes, or a variance that is not above 0.
    """
    if len(sizes) != len(variances) or len(set(sizes)) < 2:
        raise DataError(f"group sizes {list(sizes)}: at least two are needed, a variance for each")
    if any(not v > 0 for v in variances):
        raise DataError(f"variances {list(variances)}: each is above 0")
    x, y = np.log(np.asarray(sizes, float)), np.log(np.asarray(variances, float))
    centred = x - x.mean()
    spread = float(centred @ centred)
    slope = float(centred @ y) / spread
    freedom = len(x) - 2
    if freedom < 1:
        return NoiseExponent(slope, None, f"{len(x)} runs: too few for an interval")
    left = y - y.mean() - slope * centred
    half = t_quantile(0.975, freedom) * math.sqrt(float(left @ left) / freedom / spread)
    return NoiseExponent(slope, (slope - half, slope + half), "")
