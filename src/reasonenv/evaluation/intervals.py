"""Confidence intervals of an accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["accuracy_interval", "wilson"]

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
