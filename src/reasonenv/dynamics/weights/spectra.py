"""Leading singular triplets by randomised block Krylov iteration, and a cache for base weights'.

Source: Halko, Martinsson and Tropp 2011, algorithm 5.1; Musco and Musco 2015, algorithm 2. The
matrix is only multiplied, so that W + s B A is decomposed without being formed.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from reasonenv.dynamics.weights.updates import wide
from reasonenv.files import write_atomic

__all__ = ["Spectrum", "base_spectrum", "leading_triplets", "weight_hash"]

Product = Callable[[Tensor], Tensor]

_OVERSAMPLE = 8
_ITERATIONS = 3
_SEED = 0
_VERSION = "2"  # of what a cached file means


@dataclass(frozen=True, slots=True)
class Spectrum:
    """The k leading singular triplets of a matrix of shape (m, n).

    Attributes:
        u: left vectors, shape (m, k), float32.
        sigma: singular values, falling, shape (k,), float64.
        v: right vectors, shape (n, k), float32.
        residual: ||W^T u_k - s_k v_k|| / s_1: how far the last triplet is from converged.
    """

    u: Tensor
    sigma: Tensor
    v: Tensor
    residual: float

    def cut(self, k: int) -> Spectrum:
        """Return the first k triplets."""
        return Spectrum(self.u[:, :k], self.sigma[:k], self.v[:, :k], self.residual)


def leading_triplets(
    times: Product,
    transposed_times: Product,
    shape: tuple[int, int],
    k: int,
    *,
    iterations: int = _ITERATIONS,
    like: Tensor | None = None,
) -> Spectrum:
    """Return the k leading triplets of a matrix given by its products.

    The same shape and k start from the same random block, so that the errors of two nearly equal
    matrices are nearly equal and cancel in their difference, and of two equal ones wholly.

    Args:
        times: x of shape (n, c) -> W x.
        transposed_times: y of shape (m, c) -> W^T y.
        shape: (m, n).
        k: how many; at most min(m, n) come back.
        iterations: of the subspace; each multiplies twice.
        like: a tensor on the device and in the precision to work in; float32 on the CPU if None.
    """
    m, n = shape
    width = min(m, n, k + _OVERSAMPLE)
    like = torch.empty(0) if like is None else like
    generator = torch.Generator().manual_seed(_SEED)
    # Work on the smaller side: its blocks are the cheaper ones to make orthonormal.
    block = torch.randn(n, width, generator=generator, dtype=torch.float32).to(like)
    left = torch.linalg.qr(times(block))[0]
    krylov = [left]
    for _ in range(iterations):
        right = torch.linalg.qr(transposed_times(left))[0]
        left = torch.linalg.qr(times(right))[0]
        krylov.append(left)
    # All blocks and not the last alone: the same products find the directions much sooner.
    left = torch.linalg.qr(torch.cat(krylov, 1))[0]
    small = wide(transposed_times(left))  # W^T Q, shape (n, width): the SVD of the projection
    v, sigma, wt = torch.linalg.svd(small, full_matrices=False)
    u = left @ wt.T.to(left)
    k = min(k, width)
    u, sigma, v = u[:, :k], sigma[:k], v[:, :k].to(left)
    first = float(sigma[0]) if k else 0.0
    if first > 0:
        last = wide(times(v[:, -1:])) - sigma[-1] * wide(u[:, -1:])
        residual = float(last.norm()) / first
    else:
        residual = 0.0
    return Spectrum(u.float(), sigma, v.float(), residual)


def base_spectrum(weight: Tensor, k: int, cache: Path | None = None) -> Spectrum:
    """Return the k leading triplets of a base weight, from the cache where it has them.

    Args:
        weight: shape (m, n).
        k: how many.
        cache: a folder; None computes anew and stores nothing. Files are named by the weight's
            hash, so a changed weight never meets an old spectrum; a broken file is replaced.

    Raises:
        StorageError: the cache cannot be written.
    """
    file = None
    if cache is not None:
        file = cache / f"{weight_hash(weight)}-{k}.npz"
        found = _read(file, weight)
        if found is not None:
            return found
    matrix = weight.detach()
    matrix = matrix if matrix.dtype == torch.float64 else matrix.float()
    transposed = matrix.T
    spectrum = leading_triplets(
        lambda x: matrix @ x, lambda y: transposed @ y, (matrix.shape[0], matrix.shape[1]), k,
        like=matrix[:0],
    )  # fmt: skip
    if file is not None:
        sink = io.BytesIO()
        np.savez(
            sink,
            u=spectrum.u.cpu().numpy(),
            sigma=spectrum.sigma.cpu().double().numpy(),
            v=spectrum.v.cpu().numpy(),
            residual=np.float64(spectrum.residual),
        )
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, sink.getvalue())
    return spectrum


def default_cache() -> Path:
    """Return the folder for spectra: below REASONENV_CACHE, else the user's cache folder."""
    own = os.environ.get("REASONENV_CACHE")
    if own:
        return Path(own) / "spectra"
    return (
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "reasonenv" / "spectra"
    )


def weight_hash(weight: Tensor) -> str:
    """Return a hash of a weight's bytes, shape and type, and of how spectra are computed."""
    plain = weight.detach().cpu().contiguous()
    digest = hashlib.sha256()
    how = (_VERSION, _OVERSAMPLE, _ITERATIONS, _SEED)
    digest.update(repr((tuple(plain.shape), str(plain.dtype), how)).encode())
    digest.update(plain.view(torch.uint8).numpy().data if plain.numel() else b"")
    return digest.hexdigest()[:32]


def _read(file: Path, weight: Tensor) -> Spectrum | None:
    try:
        with np.load(file, allow_pickle=False) as held:
            arrays = {name: held[name] for name in ("u", "sigma", "v", "residual")}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    u, v = (torch.from_numpy(arrays[name]).to(weight.device) for name in ("u", "v"))
    sigma = wide(torch.from_numpy(arrays["sigma"]).to(weight.device))
    return Spectrum(u, sigma, v, float(arrays["residual"]))
