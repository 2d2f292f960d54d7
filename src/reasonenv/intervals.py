"""Confidence intervals of an accuracy and of differences, the problem being the unit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist, fmean, variance
from typing import Any

__all__ = ["accuracy_interval", "clustered_interval", "paired_interval", "t_quantile", "wilson"]

_Z95 = 1.959963984540054  # the 97.5 % quantile of the standard normal distribution


def wilson(successes: float, trials: float, z: float = _Z95) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion (Wilson 1927).

    Args:
        successes: how many of the trials succeeded.
        trials: how many there were; 0 gives the whole of [0, 1].
        z: standard normal quantile; the default is for 95 %.

    >>> [round(end, 3) for end in wilson(8, 10)]
    [0.49, 0.943]
    """
    if trials <= 0:
        return 0.0, 1.0
    p = successes / trials
    centre = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials**2))
    return max(0.0, centre - half), min(1.0, centre + half)


def clustered_interval(
    values: Sequence[float], completions: int, level: float = 0.95
) -> tuple[float, float]:
    """Return an interval of the mean over problems of numbers in [0, 1].

    The problems are the sample; the completions of one are not independent. The variance of the
    mean is that of the problems' values over their number (Miller 2024, arXiv:2411.00640). It is
    turned into a number of trials, mean * (1 - mean) / variance, and put into Wilson's interval
    with Student's quantile (after Korn and Graubard 1998), so that the interval stays in [0, 1]
    and is no point where all problems agree.

    Args:
        values: one number a problem (its accuracy, pass@k or maj@k).
        completions: how many there are in all; the trials are at most as many.
        level: of confidence.

    >>> [round(end, 3) for end in clustered_interval([1.0, 0.0, 1.0, 1.0] * 25, 100)]
    [0.655, 0.826]
    """
    count = len(values)
    if count == 0:
        return 0.0, 1.0
    mean = min(1.0, max(0.0, fmean(values)))
    trials = float(count)
    if count > 1 and 0.0 < mean < 1.0:
        spread = variance(values) / count
        most = float(max(completions, count))
        trials = min(most, mean * (1 - mean) / spread) if spread > 0 else most
    z = t_quantile((1 + level) / 2, count - 1) if count > 1 else _Z95
    return wilson(mean * trials, trials, z)


def paired_interval(differences: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """Return an interval of the mean of paired differences by problem, each in [-1, 1].

    Student's interval after half a problem won, half a problem lost and one tied are added (as
    Agresti and Min 2005 do for matched proportions): where hardly any problem differs the plain
    one is far too narrow, and a point where none does.

    Args:
        differences: one number a problem; none at all gives (-1, 1).
        level: of confidence.

    >>> [round(end, 3) for end in paired_interval([0.0] * 98)]
    [-0.02, 0.02]
    """
    count = len(differences)
    if count == 0:
        return -1.0, 1.0
    total = count + 2
    mean = sum(differences) / total
    squares = sum(d * d for d in differences) + 1.0
    spread = max(0.0, squares / total - mean * mean) / total
    half = t_quantile((1 + level) / 2, max(1, count - 1)) * math.sqrt(spread)
    return max(-1.0, mean - half), min(1.0, mean + half)


@lru_cache(maxsize=256)
def t_quantile(p: float, df: int) -> float:
    """Return the p-quantile of Student's distribution with `df` degrees of freedom, p >= 0.5.

    By bisection on the regularised incomplete beta function, P(T > t) = I(df / (df + t^2); df/2,
    1/2) / 2; beyond 2,000 degrees of freedom the normal quantile, which differs by 0.1 %.

    >>> round(t_quantile(0.975, 10), 4)
    2.2281
    """
    if df > 2000:
        return NormalDist().inv_cdf(p)
    from mpmath import betainc  # type: ignore[import-untyped]

    low, high = 0.0, 1e4
    for _ in range(60):
        middle = (low + high) / 2
        tail = float(betainc(df / 2, 0.5, 0, df / (df + middle**2), regularized=True)) / 2
        low, high = (middle, high) if tail > 1 - p else (low, middle)
    return (low + high) / 2


def accuracy_interval(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Return a 95 % interval of the accuracy that stored rollouts show.

    Completions of one problem are not independent, so the problem is the unit: the interval is
    Wilson's with the number of trials divided by the design effect 1 + (m - 1) * rho, m samples
    a problem, rho the intraclass correlation (Kish 1965). Unscored completions widen it: the
    lower end takes all of them as wrong, the upper end as right.

    Args:
        rows: stored rollouts with `problem_id` and `solved` (1.0, 0.0, or None).
    """
    problems: dict[str, list[float | None]] = {}
    for row in rows:
        problems.setdefault(row["problem_id"], []).append(row["solved"])
    total = len(rows)
    if not total:
        return 0.0, 1.0
    ends = []
    for unscored_as in (0.0, 1.0):
        filled = [[unscored_as if s is None else s for s in one] for one in problems.values()]
        solved = sum(map(sum, filled))
        ends.append(wilson(solved / _design_effect(filled), total / _design_effect(filled)))
    return ends[0][0], ends[1][1]


def _design_effect(problems: Sequence[Sequence[float]]) -> float:
    """Return 1 + (m - 1) * rho, rho from a one-way analysis of variance, at least 1."""
    total = sum(map(len, problems))
    k = len(problems)
    m = total / k
    if m <= 1 or k < 2:
        return 1.0
    mean = sum(map(sum, problems)) / total
    means = [sum(one) / len(one) for one in problems]
    between = sum(len(p) * (x - mean) ** 2 for p, x in zip(problems, means, strict=True)) / (k - 1)
    within = sum((s - x) ** 2 for p, x in zip(problems, means, strict=True) for s in p)
    within /= max(total - k, 1)
    denominator = between + (m - 1) * within
    rho = (between - within) / denominator if denominator > 0 else 0.0
    return max(1.0, 1.0 + (m - 1) * rho)
