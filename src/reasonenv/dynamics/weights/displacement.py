"""How far a weight moved from its base, and which share of the movement each part has.

Source: eq. 10-12 and fig. 4 and 6 of arXiv 2609.39321.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

__all__ = ["mass_share", "pooled_displacement", "relative_displacement"]

Key = TypeVar("Key", bound=Hashable)


def relative_displacement(update_norm: float, base_norm: float) -> float:
    """Return ||D||_F / ||W||_F, 0 for no movement; NaN for a movement from a weight of zeros.

    Args:
        update_norm: ||D||_F of the update, at least 0.
        base_norm: ||W||_F of the base weight.
    """
    if base_norm > 0:
        return update_norm / base_norm
    return 0.0 if update_norm == 0 else math.nan


def pooled_displacement(
    update_norms: Sequence[float], base_norms: Sequence[float], delta: float = 0.0
) -> float:
    """Return WDisp_G = sqrt(sum ||D_g||_F^2) / sqrt(sum ||W_g||_F^2 + delta) of a set of tensors.

    Args:
        update_norms: of each tensor.
        base_norms: of the same tensors.
        delta: keeps the quotient finite where all bases are zero.
    """
    moved = math.sqrt(math.fsum(x * x for x in update_norms))
    return relative_displacement(moved, math.sqrt(math.fsum(x * x for x in base_norms) + delta))


def mass_share(update_norms: Iterable[tuple[Key, float]]) -> Mapping[Key, float]:
    """Return each key's share ||D_g||_F^2 / sum_h ||D_h||_F^2 of the update's mass.

    Args:
        update_norms: (key, ||D||_F) of each tensor; a key may occur again, as a layer does.

    Returns:
        The shares, in the order of first occurrence; they sum to 1, or are all 0 if nothing moved.
    """
    masses: dict[Key, list[float]] = {}
    for key, norm in update_norms:
        masses.setdefault(key, []).append(norm * norm)
    total = math.fsum(mass for own in masses.values() for mass in own)
    return {key: math.fsum(own) / total if total else 0.0 for key, own in masses.items()}
