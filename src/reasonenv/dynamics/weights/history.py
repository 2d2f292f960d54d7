"""How trainable weights move from step to step: what `DisplacementTracker` measures.

Each history is made once and asked after every tracked step. It keeps what the last two looked like
and returns, per tensor, the distance from the start, the length of the last move, and its cosine
with the move before it.

* `LoraHistory`: stacks factors of the same shape, so that a step costs a few batched products.
* `DoraHistory`: from factors and the base's row norms, tensor by tensor.
* `DenseHistory`: whole weights; it keeps three copies of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from reasonenv.dynamics.weights.adapters import Factors
from reasonenv.dynamics.weights.updates import Dora, LowRank, Update, wide

__all__ = ["DenseHistory", "DoraHistory", "History", "LoraHistory", "Moves"]

Whole = Callable[[Tensor], Tensor]
"""Returns a parameter in one piece: itself, or gathered from all ranks."""


@dataclass(frozen=True, slots=True)
class Moves:
    """Per tensor, shape (T,) in float64; what is not defined yet is NaN.

    Attributes:
        squared: ||D_t||_F^2, of the update since the start.
        step_squared: ||D_t - D_s||_F^2, s the step measured before.
        cosine: of this move with the one before it.
    """

    squared: Tensor
    step_squared: Tensor
    cosine: Tensor

    @classmethod
    def joined(cls, parts: Sequence[Moves]) -> Moves:
        """Return the moves of several histories, one after the other."""
        return cls(
            *(
                torch.cat([getattr(part, name).cpu() for part in parts])
                for name in ("squared", "step_squared", "cosine")
            )
        )


class History(Protocol):
    """What all histories do."""

    names: list[str]

    def measure(self, whole: Whole) -> Moves:
        """Return the moves since the last call; `whole` gathers sharded parameters."""

    def update(self, index: int, whole: Whole) -> Update:
        """Return the present update of one tensor."""


class _Stack:
    """Factors of equal shapes: B (T, m, r) and A (T, r, n), in the precision they are trained in.

    A copy: the parameters train on.
    """

    def __init__(self, factors: Sequence[Factors], whole: Whole) -> None:
        self.b = torch.stack([whole(f.b).detach() for f in factors])
        self.a = torch.stack([whole(f.a).detach() for f in factors])

    def wide(self) -> tuple[Tensor, Tensor]:
        """Return B and A in float64: made once for all inner products of a step."""
        return wide(self.b), wide(self.a)


def _inner(one: tuple[Tensor, Tensor], other: tuple[Tensor, Tensor]) -> Tensor:
    """Return <B A, B' A'> of each pair, shape (T,)."""
    left = one[0].transpose(1, 2) @ other[0]
    right = one[1] @ other[1].transpose(1, 2)
    return (left * right).sum((1, 2))


class LoraHistory:
    """Moves of LoRA updates of one shape; scales may differ.

    Args:
        tensors: (name, live factors) of each.
        whole: gathers sharded parameters.
        from_zero: whether the update was zero at the start, as LoRA's is; else it starts from what
            it is now.
    """

    def __init__(
        self, tensors: Sequence[tuple[str, Factors]], whole: Whole, from_zero: bool = True
    ) -> None:
        self.names = [name for name, _ in tensors]
        self._factors = [factors for _, factors in tensors]
        now = _Stack(self._factors, whole)
        scales = [factors.scale for factors in self._factors]
        self._scales = torch.tensor(scales, device=now.b.device).to(wide(now.b[:0]))
        self._start = None if from_zero else now
        precise = now.wide()
        self._last, self._last_own = now, _inner(precise, precise)
        self._last_step = torch.zeros_like(self._last_own)
        self._before: _Stack | None = None
        self._between = self._last_own  # <last, before>

    def measure(self, whole: Whole) -> Moves:
        """Return the moves since the last call."""
        now = _Stack(self._factors, whole)
        precise = now.wide()
        own, with_last = _inner(precise, precise), _inner(precise, self._last.wide())
        squared = own
        if self._start is not None:
            start = self._start.wide()
            squared = own - 2 * _inner(precise, start) + _inner(start, start)
        step = own - 2 * with_last + self._last_own
        cosine = torch.full_like(own, torch.nan)
        if self._before is not None:
            with_before = _inner(precise, self._before.wide())
            cross = with_last - with_before - self._last_own + self._between
            cosine = _cosine(cross, step, self._last_step)
        self._before, self._between = self._last, with_last
        self._last, self._last_own, self._last_step = now, own, step
        scale = self._scales.square()
        return Moves(squared.clamp(min=0) * scale, step.clamp(min=0) * scale, cosine)

    def update(self, index: int, whole: Whole) -> LowRank:
        """Return the present update of one tensor, since the start."""
        factors = self._factors[index]
        now = LowRank(whole(factors.b), whole(factors.a), factors.scale)
        if self._start is None:
            return now
        return now.minus(LowRank(self._start.b[index], self._start.a[index], factors.scale))


class DoraHistory:
    """Moves of DoRA updates, which start at zero.

    Args:
        tensors: (name, live factors, base weight out by in) of each.
        whole: gathers sharded parameters.
    """

    def __init__(self, tensors: Sequence[tuple[str, Factors, Tensor]], whole: Whole) -> None:
        self.names = [name for name, _, _ in tensors]
        self._tensors = list(tensors)
        self._last = [self.update(i, whole) for i in range(len(tensors))]
        self._before: list[Dora] | None = None

    def measure(self, whole: Whole) -> Moves:
        """Return the moves since the last call."""
        rows = []
        current = [self.update(i, whole) for i in range(len(self._tensors))]
        for i, (now, last) in enumerate(zip(current, self._last, strict=True)):
            own, with_last, last_own = now.inner(now), now.inner(last), last.inner(last)
            step, cosine = own - 2 * with_last + last_own, torch.full_like(own, torch.nan)
            if self._before is not None:
                before = self._before[i]
                between = last.inner(before)
                cross = with_last - now.inner(before) - last_own + between
                cosine = _cosine(cross, step, last_own - 2 * between + before.inner(before))
            rows.append(torch.stack([own.clamp(min=0), step.clamp(min=0), cosine]))
        self._before, self._last = self._last, current
        squared, step, cosine = torch.stack(rows, 1)
        return Moves(squared, step, cosine)

    def update(self, index: int, whole: Whole) -> Dora:
        """Return the present update of one tensor."""
        _, f, base = self._tensors[index]
        assert f.magnitude is not None
        return Dora(
            whole(f.b).detach().clone(), whole(f.a).detach().clone(), f.scale,
            whole(f.magnitude).detach().clone(), whole(base),
        )  # fmt: skip


class DenseHistory:
    """Moves of whole weights, for full fine-tuning and for modules that LoRA trains whole.

    Args:
        tensors: (name, live parameter) of each.
        references: where each started, on the CPU; None: where it is now.
        whole: gathers sharded parameters.
    """

    def __init__(
        self,
        tensors: Sequence[tuple[str, Tensor]],
        whole: Whole,
        references: Sequence[Tensor | None] | None = None,
    ) -> None:
        self.names = [name for name, _ in tensors]
        self._parameters = [parameter for _, parameter in tensors]
        self._last = [_on_cpu(whole(p)) for p in self._parameters]
        given = references or [None] * len(self._last)
        self._start = [
            last if reference is None else _on_cpu(reference)
            for last, reference in zip(self._last, given, strict=True)
        ]
        self._moves: list[Tensor] | None = None

    def measure(self, whole: Whole) -> Moves:
        """Return the moves since the last call; one tensor at a time is on the way."""
        rows, moves = [], []
        for i, parameter in enumerate(self._parameters):
            now = _on_cpu(whole(parameter))
            move = now - self._last[i]
            step, cosine = _square(move), torch.tensor(torch.nan, dtype=torch.float64)
            if self._moves is not None:
                cross = (move.double() * self._moves[i]).sum()
                cosine = _cosine(cross, step, _square(self._moves[i]))
            rows.append(torch.stack([_square(now - self._start[i]), step, cosine]))
            self._last[i] = now
            moves.append(move)
        self._moves = moves
        squared, step, cosine = torch.stack(rows, 1)
        return Moves(squared, step, cosine)

    def update(self, index: int, whole: Whole) -> Update:
        """Return the present update of one tensor, a vector as a one-column matrix."""
        from reasonenv.dynamics.weights.updates import Dense

        delta = _on_cpu(whole(self._parameters[index])) - self._start[index]
        return Dense(delta if delta.ndim == 2 else delta.reshape(-1, 1))


def _on_cpu(tensor: Tensor) -> Tensor:
    """Return a copy on the CPU in float32, or float64 where it is."""
    precise = torch.float64 if tensor.dtype == torch.float64 else torch.float32
    return tensor.detach().to("cpu", precise, copy=True)


def _square(tensor: Tensor) -> Tensor:
    return tensor.square().sum(dtype=torch.float64)


def _cosine(inner: Tensor, one: Tensor, other: Tensor) -> Tensor:
    """Return the cosine from an inner product and two squared norms; NaN where one is zero."""
    norms = (one.clamp(min=0) * other.clamp(min=0)).sqrt()
    return torch.where(norms > 0, inner / norms, torch.nan).clamp(-1, 1)
