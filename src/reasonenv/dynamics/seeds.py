"""What several seeds say together: a mean and an interval, or why there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

__all__ = ["FEWEST_SEEDS", "Across", "across", "t_quantile"]

FEWEST_SEEDS = 3
"""Seeds below which no interval is given: with two, a t interval is 18 standard deviations wide."""

# The 97.5 % quantiles of Student's t, by degrees of freedom.
_T = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Across:
    """A figure over seeds.

    Attributes:
        mean: over the seeds that have it; NaN where none has.
        seeds: how many have it.
        interval: 95 %, by Student's t; None with fewer than 3.
    """

    mean: float
    seeds: int
    interval: tuple[float, float] | None

    def __str__(self) -> str:
        if not self.seeds:
            return "not measured"
        if self.interval is None:
            said = "1 seed" if self.seeds == 1 else f"{self.seeds} seeds"
            return f"{self.mean:.4g} ({said}: too few for an interval)"
        low, high = self.interval
        return f"{self.mean:.4g} [{low:.4g} to {high:.4g}], {self.seeds} seeds"


def across(values: Sequence[float | None]) -> Across:
    """Return the mean of a figure over seeds and its 95 % interval.

    >>> print(across([0.5, 0.6]))
    0.55 (2 seeds: too few for an interval)
    """
    known = [float(v) for v in values if v is not None and math.isfinite(v)]
    if not known:
        return Across(math.nan, 0, None)
    mean = fmean(known)
    if len(known) < FEWEST_SEEDS:
        return Across(mean, len(known), None)
    half = t_quantile(len(known) - 1) * stdev(known) / math.sqrt(len(known))
    return Across(mean, len(known), (mean - half, mean + half))


def t_quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t; beyond 30 by Cornish and Fisher's expansion."""
    if freedom <= len(_T):
        return _T[freedom - 1]
    z = 1.959963984540054
    return z + (z**3 + z) / (4 * freedom)
