"""What several seeds say together: a mean and an interval, or why there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from reasonenv.intervals import t_quantile

__all__ = ["FEWEST_SEEDS", "Across", "across"]

FEWEST_SEEDS = 3
"""Seeds below which no interval is given: with two, a t interval is 18 standard deviations wide."""


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
    half = t_quantile(0.975, len(known) - 1) * stdev(known) / math.sqrt(len(known))
    return Across(mean, len(known), (mean - half, mean + half))
