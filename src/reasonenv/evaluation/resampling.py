"""Bootstrap, permutation test and Holm's correction, all by problem and with a fixed seed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

__all__ = ["bootstrap_interval", "holm", "sign_flip_p"]

_SEED = 20260930  # fixed: the same data give the same interval
_EXACT = 14  # problems that differ; up to here all 2^m sign patterns are tried
_CHUNK = 1_000_000  # numbers drawn at once: bounds the memory of a resampling


def bootstrap_interval(
    values: Sequence[float], *, draws: int = 4000, level: float = 0.95
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a mean, problems drawn with replacement.

    Args:
        values: one number a problem, at least one.
        draws: resamples.
        level: of confidence.

    Raises:
        ValueError: no values.

    >>> bootstrap_interval([0.5, 0.5])
    (0.5, 0.5)
    """
    data = np.asarray(values, dtype=np.float64)
    if not len(data):
        raise ValueError("a bootstrap needs at least one value")
    rng = np.random.default_rng(_SEED)
    rows = max(1, _CHUNK // len(data))
    means = np.concatenate(
        [
            data[rng.integers(len(data), size=(min(rows, draws - done), len(data)))].mean(axis=1)
            for done in range(0, draws, rows)
        ]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def sign_flip_p(differences: Sequence[float], *, draws: int = 20_000) -> float:
    """Return the two-sided p-value of a paired permutation test on differences by problem.

    Under the hypothesis that the two sides are exchangeable within each problem, the sign of each
    difference is a fair coin (Fisher 1935). Exact up to 14 differences that are not 0, by `draws`
    random patterns beyond, p = (1 + as extreme) / (1 + draws) (Phipson and Smyth 2010).

    Args:
        differences: one number a problem; zeros say nothing and drop out.
        draws: random sign patterns.

    >>> sign_flip_p([0.0, 0.0]), sign_flip_p([1.0, 1.0, 1.0])
    (1.0, 0.25)
    """
    data = np.asarray([d for d in differences if d != 0.0], dtype=np.float64)
    if not len(data):
        return 1.0
    observed = abs(data.sum()) * (1 - 1e-12)  # rounding must not part equal sums
    if len(data) <= _EXACT:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=len(data))))
        return float(np.mean(np.abs(signs @ data) >= observed))
    rng = np.random.default_rng(_SEED)
    rows = max(1, _CHUNK // len(data))
    extreme = 0
    for done in range(0, draws, rows):
        size = (min(rows, draws - done), len(data))
        flips = rng.integers(2, size=size) * 2.0 - 1.0
        extreme += int(np.count_nonzero(np.abs(flips @ data) >= observed))
    return (1 + extreme) / (1 + draws)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for their number by Holm's step-down method (Holm 1979).

    Comparing them with 0.05 keeps the chance of any false finding at 5 %.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    m = len(p_values)
    adjusted, running = [0.0] * m, 0.0
    for rank, i in enumerate(sorted(range(m), key=lambda i: p_values[i])):
        running = max(running, (m - rank) * p_values[i])
        adjusted[i] = min(1.0, running)
    return adjusted
