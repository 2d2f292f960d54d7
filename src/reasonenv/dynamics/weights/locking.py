"""Subspace locking: how early an update's leading directions are those of the end.

Source: arXiv 2606.07082, Sim_K(t, T) = (1/K) ||V_K(t)^T V_K(T)||_F^2 with K = 16.
"""

from __future__ import annotations

import math

from torch import Tensor

from reasonenv.dynamics.weights.updates import wide
from reasonenv.errors import DataError

__all__ = ["random_similarity", "subspace_similarity"]


def subspace_similarity(one: Tensor, other: Tensor) -> float:
    """Return (1/K) ||X^T Y||_F^2 of two orthonormal bases, in [0, 1]; 1 for the same subspace.

    Args:
        one: X, shape (n, K).
        other: Y, shape (n, K'); K is the smaller of both. NaN where one of them has no column.

    Raises:
        DataError: the rows differ in number.
    """
    if one.shape[0] != other.shape[0]:
        raise DataError(
            f"subspaces of {one.shape[0]} and {other.shape[0]} dimensions: not the same matrix"
        )
    k = min(one.shape[1], other.shape[1])
    if not k:
        return math.nan
    return min(1.0, float((wide(one).T @ wide(other)).square().sum()) / k)


def random_similarity(n: int, k: int) -> float:
    """Return what two random K-dimensional subspaces of n dimensions have in the mean: K / n."""
    return k / n
