"""How straight the way was: path length, straightness, and the cosine of successive updates.

With D_t the update after step t and d_t = D_t - D_{t-1}: the path is sum ||d_t||_F, straightness is
||D_T||_F / path, and cos(d_t, d_{t-1}) below 0 is the mark of oscillation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["cosine", "path_length", "straightness"]


def path_length(step_norms: Sequence[float]) -> float:
    """Return sum_t ||d_t||_F.

    Args:
        step_norms: ||d_t||_F of every step; where steps were left out, the path is a lower bound.
    """
    return math.fsum(step_norms)


def straightness(final_norm: float, length: float) -> float:
    """Return ||D_T||_F / path, in [0, 1]: 1 for a straight line; NaN for no movement at all.

    Args:
        final_norm: ||D_T||_F, the distance from start to end.
        length: of the path.
    """
    return min(1.0, final_norm / length) if length > 0 else math.nan


def cosine(inner: float, one_norm: float, other_norm: float) -> float:
    """Return <X, Y> / (||X|| ||Y||), in [-1, 1]; NaN where one of them is zero.

    Args:
        inner: the Frobenius inner product.
        one_norm: ||X||_F.
        other_norm: ||Y||_F.
    """
    product = one_norm * other_norm
    return max(-1.0, min(1.0, inner / product)) if product > 0 else math.nan
