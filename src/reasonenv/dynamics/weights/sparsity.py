"""Which share of a merged weight bfloat16 cannot tell from the base.

The merged weight is inherently needed, so this streams over blocks of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from reasonenv.dynamics.weights.updates import Update
from reasonenv.errors import DataError

__all__ = ["Sparsity", "visible_sparsity"]

_BLOCK = 1 << 21  # entries at a time: 8 MiB in float32, which caches hold better than more


@dataclass(frozen=True, slots=True)
class Sparsity:
    """Shares of a weight's entries, in [0, 1].

    Attributes:
        unchanged: those whose bfloat16 bits are the same before and after.
        near: those with |w' - w| <= tolerance * max(|w|, |w'|), both in bfloat16.
    """

    unchanged: float
    near: float


def visible_sparsity(base: Tensor, update: Update, tolerance: float = 1e-3) -> Sparsity:
    """Return how much of W + D bfloat16 shows as unchanged.

    Sources: bitwise as in arXiv 2505.11711; with a relative tolerance as in arXiv 2606.07082,
    sp = 1 - (1/n) sum 1[changed].

    Args:
        base: W, shape (m, n), any floating type; it is rounded to bfloat16 first.
        update: D, of the same shape.
        tolerance: relative; bfloat16's own spacing is 2^-8 to 2^-7, so below that only the largest
            tolerance-free difference, equality, is left.

    Raises:
        DataError: the shapes differ.
    """
    if tuple(base.shape) != update.shape:
        raise DataError(f"base {tuple(base.shape)} and update {update.shape} differ in shape")
    rows, columns = update.shape
    height = max(1, _BLOCK // columns)
    unchanged = near = 0
    for start in range(0, rows, height):
        stop = min(rows, start + height)
        block = base[start:stop].detach()
        moved = (update.rows(start, stop) + block).to(torch.bfloat16)
        before = block.to(torch.bfloat16)
        same = moved == before
        count = int(same.sum())
        unchanged += count
        if tolerance >= 2.0**-9:
            x, y = before.float(), moved.float()
            near += int(((y - x).abs() <= tolerance * torch.maximum(x.abs(), y.abs())).sum())
        else:  # a bfloat16 that differs at all differs by 2^-8 of the larger one or more
            near += count
    total = rows * columns
    return Sparsity(unchanged / total, near / total)
