"""The update of one weight matrix, as an operator that need never be formed.

* `LowRank`: LoRA's s B A, and differences of such updates.
* `Dora`: DoRA's, which rescales the rows of the base, too (arXiv 2402.09353).
* `Dense`: the difference of two matrices, for full fine-tuning.

All have the shape (m, n) of the weight, out by in. Sums run in float64 where the device has it.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from reasonenv.errors import DataError

__all__ = ["Dense", "Dora", "LowRank", "Update", "frobenius", "wide"]

_EXACT_SIDE = 1024
"""Up to this smaller side a dense matrix' spectrum comes from its SVD, above from its Gram matrix,
which is faster and loses singular values below 1e-8 of the largest."""


def wide(tensor: Tensor) -> Tensor:
    """Return the tensor in float64, in float32 on devices that have no float64."""
    return tensor.detach().to(torch.float32 if tensor.device.type == "mps" else torch.float64)


def frobenius(tensor: Tensor) -> Tensor:
    """Return ||W||_F, shape (), without a copy of W in a wider type.

    Rows of 1,024 entries are summed in float32 and the sums of these in float64: a relative error
    of about 1e-7, as the entries themselves have.
    """
    flat = tensor.detach().reshape(-1)
    if flat.dtype == torch.float64 or flat.numel() < 1 << 16:
        return wide(flat).square().sum().sqrt()
    whole = flat.numel() // 1024 * 1024
    total = wide(flat[whole:]).square().sum()
    for block in flat[:whole].split(1 << 20):
        rows = block.float().reshape(-1, 1024)
        total = total + wide(torch.linalg.vecdot(rows, rows)).sum()
    return total.sqrt()


class Update(Protocol):
    """What every update can do; shapes and precision as the module says."""

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n) of the weight."""

    def squared_norm(self) -> Tensor:
        """Return ||D||_F^2, shape ()."""

    def times(self, x: Tensor) -> Tensor:
        """Return D x in x's precision; x has shape (n, c)."""

    def transposed_times(self, x: Tensor) -> Tensor:
        """Return D^T x in x's precision; x has shape (m, c)."""

    def rows(self, start: int, stop: int) -> Tensor:
        """Return rows start to stop of D in float32, shape (stop - start, n)."""

    def singular_values(self) -> Tensor:
        """Return the singular values, falling; those that are zero by construction are left out."""

    def right_vectors(self, k: int) -> Tensor:
        """Return the k leading right singular vectors, shape (n, k); fewer where the rank is."""


class LowRank:
    """s B A: what LoRA adds to a weight.

    Args:
        b: shape (m, r).
        a: shape (r, n).
        scale: alpha / r, or alpha / sqrt(r) for rsLoRA (arXiv 2312.03732).

    Raises:
        DataError: the shapes do not fit.
    """

    def __init__(self, b: Tensor, a: Tensor, scale: float = 1.0) -> None:
        if b.ndim != 2 or a.ndim != 2 or b.shape[1] != a.shape[0]:
            raise DataError(
                f"LoRA factors of shapes {tuple(b.shape)} and {tuple(a.shape)} do not fit: "
                "B is (out, r) and A is (r, in)"
            )
        self.b, self.a = wide(b) * scale, wide(a)

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n)."""
        return self.b.shape[0], self.a.shape[1]

    def squared_norm(self) -> Tensor:
        """Return tr((B^T B)(A A^T)) s^2, which is ||s B A||_F^2."""
        return self.inner(self)

    def inner(self, other: LowRank) -> Tensor:
        """Return the Frobenius inner product with another update of the same shape."""
        return ((self.b.T @ other.b) * (self.a @ other.a.T)).sum()

    def minus(self, other: LowRank) -> LowRank:
        """Return this update less another, of rank r + r' at most."""
        return LowRank(torch.cat([self.b, -other.b], 1), torch.cat([self.a, other.a], 0))

    def times(self, x: Tensor) -> Tensor:
        """Return s B (A x)."""
        return self.b.to(x.dtype) @ (self.a.to(x.dtype) @ x)

    def transposed_times(self, x: Tensor) -> Tensor:
        """Return s A^T (B^T x)."""
        return self.a.T.to(x.dtype) @ (self.b.T.to(x.dtype) @ x)

    def rows(self, start: int, stop: int) -> Tensor:
        """Return a block of rows of s B A in float32."""
        return self.b[start:stop].float() @ self.a.float()

    def core(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return Q_B, the small core C and Q_A with s B A = Q_B C Q_A^T, from two QR."""
        q_b, r_b = torch.linalg.qr(self.b)
        q_a, r_a = torch.linalg.qr(self.a.T)
        return q_b, r_b @ r_a.T, q_a

    def singular_values(self) -> Tensor:
        """Return the min(r, m, n) singular values, from the SVD of the core."""
        return _values(self.core()[1])

    def right_vectors(self, k: int) -> Tensor:
        """Return the k leading right singular vectors, at most r of them."""
        _, core, q_a = self.core()
        _, _, vt = torch.linalg.svd(core, full_matrices=False)
        vectors: Tensor = q_a @ vt[:k].T
        return vectors


class Dora:
    """g (W + s B A) / ||W + s B A||_row - W: what DoRA makes of a weight.

    It is diag(e) W + B' A with e = d - 1, B' = s d B and d the magnitude over the row's norm. Norms
    come from the rows' own: ||w + s b A||^2 = ||w||^2 + 2 s b (A w) + s^2 b (A A^T) b.

    Args:
        b: shape (m, r).
        a: shape (r, n).
        scale: as for `LowRank`.
        magnitude: shape (m,), one a row.
        base: the base weight, shape (m, n).

    Raises:
        DataError: the shapes do not fit.
    """

    def __init__(self, b: Tensor, a: Tensor, scale: float, magnitude: Tensor, base: Tensor) -> None:
        plain = LowRank(b, a, scale)
        gains = wide(magnitude).reshape(-1)
        if tuple(base.shape) != plain.shape or gains.shape[0] != plain.shape[0]:
            raise DataError(
                f"DoRA on a weight of shape {tuple(base.shape)} with an update of shape "
                f"{plain.shape} and {gains.shape[0]} magnitudes: the shapes do not fit"
            )
        self.base = base.detach()
        projected = self.base.to(plain.a.dtype) @ plain.a.T  # W A^T, shape (m, r)
        self.base_squares = self.base.to(plain.a.dtype).square().sum(1)
        cross = (plain.b * projected).sum(1)
        added = ((plain.b @ (plain.a @ plain.a.T)) * plain.b).sum(1)
        squares = self.base_squares + 2 * cross + added
        self.gain = gains / squares.clamp(min=0).sqrt().clamp(min=torch.finfo(gains.dtype).tiny)
        self.extra = self.gain - 1
        self.cross = self.gain * cross
        self.low = LowRank(self.gain[:, None] * plain.b, plain.a)

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n)."""
        return self.low.shape

    def squared_norm(self) -> Tensor:
        """Return ||diag(e) W + B' A||_F^2 from row norms and small products."""
        return self.inner(self)

    def inner(self, other: Dora) -> Tensor:
        """Return the Frobenius inner product with another update of the same base."""
        own = (self.extra * other.extra * self.base_squares).sum()
        mixed = (self.extra * other.cross + other.extra * self.cross).sum()
        return own + mixed + self.low.inner(other.low)

    def times(self, x: Tensor) -> Tensor:
        """Return D x."""
        scaled = self.extra.to(x.dtype)[:, None] * (self.base.to(x.dtype) @ x)
        return scaled + self.low.times(x)

    def transposed_times(self, x: Tensor) -> Tensor:
        """Return D^T x."""
        scaled = self.base.to(x.dtype).T @ (self.extra.to(x.dtype)[:, None] * x)
        return scaled + self.low.transposed_times(x)

    def rows(self, start: int, stop: int) -> Tensor:
        """Return a block of rows in float32."""
        scaled = self.extra[start:stop, None].float() * self.base[start:stop].float()
        return scaled + self.low.rows(start, stop)

    def singular_values(self) -> Tensor:
        """Return all singular values: the update has full rank, so the matrix is formed."""
        return Dense(self.rows(0, self.shape[0])).singular_values()

    def right_vectors(self, k: int) -> Tensor:
        """Return the k leading right singular vectors."""
        return Dense(self.rows(0, self.shape[0])).right_vectors(k)


class Dense:
    """The difference of two matrices.

    Args:
        delta: shape (m, n).
    """

    def __init__(self, delta: Tensor) -> None:
        if delta.ndim != 2:
            raise DataError(f"an update is a matrix, got a tensor of shape {tuple(delta.shape)}")
        self.delta = delta.detach()

    @classmethod
    def between(cls, before: Tensor, after: Tensor) -> Dense:
        """Return after - before, subtracted in float32 at least.

        Raises:
            DataError: the shapes differ.
        """
        if before.shape != after.shape:
            raise DataError(
                f"a weight of shape {tuple(before.shape)} became one of {tuple(after.shape)}: "
                "the two models do not have the same base"
            )
        precise = torch.float64 if before.dtype == torch.float64 else torch.float32
        return cls(after.detach().to(precise) - before.detach().to(precise).to(after.device))

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n)."""
        return self.delta.shape[0], self.delta.shape[1]

    def squared_norm(self) -> Tensor:
        """Return the sum of squares."""
        return wide(self.delta).square().sum()

    def times(self, x: Tensor) -> Tensor:
        """Return D x."""
        return self.delta.to(x.dtype) @ x

    def transposed_times(self, x: Tensor) -> Tensor:
        """Return D^T x."""
        return self.delta.to(x.dtype).T @ x

    def rows(self, start: int, stop: int) -> Tensor:
        """Return a block of rows in float32."""
        return self.delta[start:stop].float()

    def singular_values(self) -> Tensor:
        """Return the min(m, n) singular values."""
        matrix = wide(self.delta)
        if min(self.shape) <= _EXACT_SIDE:
            return _values(matrix)
        gram = matrix.T @ matrix if self.shape[0] >= self.shape[1] else matrix @ matrix.T
        sigma: Tensor = torch.linalg.eigvalsh(gram).flip(0).clamp(min=0).sqrt()
        return sigma

    def right_vectors(self, k: int) -> Tensor:
        """Return the k leading right singular vectors."""
        matrix = wide(self.delta)
        vectors: Tensor
        if min(self.shape) <= _EXACT_SIDE:
            vectors = torch.linalg.svd(matrix, full_matrices=False)[2][:k].T
        elif self.shape[0] >= self.shape[1]:
            vectors = torch.linalg.eigh(matrix.T @ matrix)[1].flip(1)[:, :k]
        else:
            left = torch.linalg.eigh(matrix @ matrix.T)[1].flip(1)[:, :k]
            vectors = torch.linalg.qr(matrix.T @ left)[0]
        return vectors


def _values(matrix: Tensor) -> Tensor:
    sigma: Tensor = torch.linalg.svdvals(matrix)
    return sigma
