"""How many directions an update really uses, from its singular values alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["effective_rank", "energy_at", "participation_ratio", "stable_rank"]


def stable_rank(sigma: Sequence[float] | npt.NDArray[np.float64]) -> float:
    """Return ||D||_F^2 / ||D||_2^2 (Rudelson and Vershynin 2007), in [1, rank]; NaN for zero.

    Args:
        sigma: the singular values.
    """
    s = _checked(sigma)
    return math.nan if s is None else float(np.sum(s**2))  # s is in units of the largest


def effective_rank(sigma: Sequence[float] | npt.NDArray[np.float64]) -> float:
    """Return exp(-sum p_i log p_i), p_i = s_i / sum s (Roy and Vetterli 2007); NaN for zero.

    Args:
        sigma: the singular values.
    """
    s = _checked(sigma)
    if s is None:
        return math.nan
    p = s[s > 0] / s.sum()
    return float(np.exp(-np.sum(p * np.log(p))))


def participation_ratio(sigma: Sequence[float] | npt.NDArray[np.float64]) -> float:
    """Return (sum s^2)^2 / sum s^4, in [1, rank]; NaN for zero.

    Args:
        sigma: the singular values.
    """
    s = _checked(sigma)
    return math.nan if s is None else float(np.sum(s**2) ** 2 / np.sum(s**4))


def energy_at(sigma: Sequence[float] | npt.NDArray[np.float64], k: int) -> float:
    """Return the share of ||D||_F^2 in the k largest singular values, in [0, 1]; NaN for zero.

    Args:
        sigma: the singular values.
        k: how many, at least 0.
    """
    s = _checked(sigma)
    if s is None:
        return math.nan
    squares = np.sort(s**2)[::-1]
    return float(squares[:k].sum() / squares.sum())


def _checked(sigma: Sequence[float] | npt.NDArray[np.float64]) -> npt.NDArray[np.float64] | None:
    """Return the values over the largest (no overflow, no underflow), None for a zero update."""
    s = np.asarray(sigma, dtype=float)
    if not len(s) or not np.isfinite(s).all() or s.max() <= 0:
        return None
    scaled: npt.NDArray[np.float64] = s / s.max()
    return scaled
