"""Intervals and paired tests for the few seeds that a study has.

A t interval takes the seeds' figures as normally distributed; with three seeds nothing can show
that they are. It is given from three seeds on, and never for fewer: with two it would be 18
deviations wide, and say nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TypeVar

from reasonenv.dynamics.seeds import FEWEST_SEEDS
from reasonenv.evaluation.resampling import holm
from reasonenv.intervals import t_quantile

__all__ = ["Paired", "Summary", "corrected", "paired", "summarise", "t_p_value"]

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Summary:
    """A figure over seeds.

    Attributes:
        mean: NaN where no seed has it.
        deviation: over seeds (n - 1); NaN with fewer than two.
        seeds: how many have it.
        interval: 95 % by Student's t; None with fewer than three.
    """

    mean: float
    deviation: float
    seeds: int
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Paired:
    """A difference, seed by seed.

    Attributes:
        mean: of the differences; NaN without any.
        seeds: that both have.
        interval: 95 %, of this pair alone; None with fewer than three seeds.
        p: two-sided, paired t test; None with fewer than three seeds, or where all differences
            are the same number, so that there is nothing to judge them by.
    """

    mean: float
    seeds: int
    interval: tuple[float, float] | None
    p: float | None


def summarise(values: Sequence[float]) -> Summary:
    """Return mean, deviation and interval of a figure over seeds.

    >>> summarise([0.5, 0.6]).interval is None
    True
    """
    count = len(values)
    if not count:
        return Summary(math.nan, math.nan, 0, None)
    mean, deviation = fmean(values), stdev(values) if count > 1 else math.nan
    if count < FEWEST_SEEDS:
        return Summary(mean, deviation, count, None)
    half = t_quantile(0.975, count - 1) * deviation / math.sqrt(count)
    return Summary(mean, deviation, count, (mean - half, mean + half))


def paired(differences: Sequence[float]) -> Paired:
    """Return what differences between an arm and its baseline, one a seed, say."""
    over = summarise(differences)
    p = None
    if over.interval is not None and over.deviation > 0:
        t = over.mean / (over.deviation / math.sqrt(over.seeds))
        p = t_p_value(t, over.seeds - 1)
    return Paired(over.mean, over.seeds, over.interval, p)


def corrected(p_values: Mapping[Key, float | None]) -> dict[Key, float | None]:
    """Return p values corrected for how many there are (Holm 1979); None stays None.

    >>> corrected({"a": 0.01, "b": 0.04, "c": None})
    {'a': 0.02, 'b': 0.04, 'c': None}
    """
    known = {key: p for key, p in p_values.items() if p is not None}
    adjusted = dict(zip(known, holm(list(known.values())), strict=True))
    return {key: adjusted.get(key) for key in p_values}


def t_p_value(t: float, freedom: int) -> float:
    """Return P(|T| >= |t|) of Student's t: I_x(v/2, 1/2) at x = v / (v + t^2).

    >>> round(t_p_value(4.302653, 2), 4)
    0.05
    """
    from mpmath import betainc  # type: ignore[import-untyped]

    x = freedom / (freedom + t * t)
    return float(betainc(freedom / 2, 0.5, 0, x, regularized=True))
