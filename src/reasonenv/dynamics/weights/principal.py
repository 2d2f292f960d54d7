"""Where an update lies relative to the base's principal directions, and what it does to them.

Sources: principal angles, normalised spectral shift: arXiv 2606.07082; off-principal updates of RL:
arXiv 2511.08567. The baseline of a random update: E ||P D Q||^2 / ||D||^2 = k^2 / (m n) for
projections P, Q of rank k and D with independent directions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from reasonenv.dynamics.weights.spectra import Spectrum, leading_triplets
from reasonenv.dynamics.weights.updates import Update, wide

__all__ = [
    "PrincipalOverlap",
    "merged_spectrum",
    "principal_angles",
    "principal_overlap",
    "spectral_shift",
]


@dataclass(frozen=True, slots=True)
class PrincipalOverlap:
    """Shares of an update's mass in the base's principal subspaces, each with a random one's.

    Attributes:
        both: ||U U^T D V V^T||_F^2 / ||D||_F^2.
        left: ||U U^T D||_F^2 / ||D||_F^2.
        right: ||D V V^T||_F^2 / ||D||_F^2.
        random_both: k^2 / (m n).
        random_left: k / m.
        random_right: k / n.
    """

    both: float
    left: float
    right: float
    random_both: float
    random_left: float
    random_right: float


def principal_overlap(update: Update, base: Spectrum) -> PrincipalOverlap:
    """Return the update's overlap with the base's k leading directions; NaN for a zero update.

    Args:
        update: D, shape (m, n).
        base: U of shape (m, k) and V of shape (n, k).
    """
    (m, n), k = update.shape, base.u.shape[1]
    mass = float(update.squared_norm())
    u, v = wide(base.u), wide(base.v)
    held = update.transposed_times(u)  # D^T U, shape (n, k)
    both, left, right = (
        float(part.square().sum()) / mass if mass > 0 else math.nan
        for part in (v.T @ held, held, update.times(v))
    )
    return PrincipalOverlap(both, left, right, k * k / (m * n), k / m, k / n)


def merged_spectrum(weight: Tensor, update: Update, k: int) -> Spectrum:
    """Return the k leading triplets of W + D, which is only multiplied.

    Args:
        weight: W, shape (m, n).
        update: D, of the same shape.
        k: how many.
    """
    matrix = weight.detach()
    matrix = matrix if matrix.dtype == torch.float64 else matrix.float()
    transposed = matrix.T
    return leading_triplets(
        lambda x: matrix @ x + update.times(x),
        lambda y: transposed @ y + update.transposed_times(y),
        update.shape,
        k,
        like=matrix[:0],
    )


def principal_angles(one: Tensor, other: Tensor) -> list[float]:
    """Return the principal angles between two subspaces in degrees, rising, each in [0, 90].

    cos t_i = s_i(X^T Y); small angles come from the sine, which is exact there (Bjorck and Golub
    1973).

    Args:
        one: X, an orthonormal basis of shape (n, k).
        other: Y, of the same shape.
    """
    # Orthonormal in float32 leaves errors of 1e-7, which would count as angles of 0.02 degrees.
    x, y = (torch.linalg.qr(wide(basis))[0] for basis in (one, other))
    cosines = torch.linalg.svdvals(x.T @ y).clamp(0, 1)
    sines = torch.linalg.svdvals(y - x @ (x.T @ y)).clamp(0, 1).flip(0)
    angles = torch.where(cosines > math.sqrt(0.5), torch.asin(sines), torch.acos(cosines))
    return [math.degrees(angle) for angle in angles.tolist()]


def spectral_shift(base: Tensor, merged: Tensor) -> float:
    """Return NSS = ||s(W + D) - s(W)||_2 / ||s(W)||_2 over the given singular values.

    Args:
        base: singular values of W, falling, shape (k,); all of them, or the leading k.
        merged: as many of W + D.
    """
    norm = float(wide(base).norm())
    return float((wide(merged) - wide(base)).norm()) / norm if norm > 0 else math.nan
