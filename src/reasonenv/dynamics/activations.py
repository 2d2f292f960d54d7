"""How far training moved the hidden states, layer by layer, and what that did to the next token.

Source: eq. 13 and fig. 5 of arXiv 2609.39321, Shift_l = masked Frobenius norm of the hidden states'
difference over the masked norm of the base's, per layer. One forward pass with the adapter on and
one with it off; sums are accumulated batch by batch, nothing is kept.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from reasonenv.errors import DataError, ModelError

__all__ = ["MASKS", "ActivationShift", "activation_shift"]

MASKS = ("prompt", "completion", "last")
"""Tokens that a shift is measured on: the prompt's, the completion's, the completion's last."""

_CHUNK = 64  # tokens whose logits are made at a time: a vocabulary of 150,000 takes 40 MB


@dataclass(frozen=True)
class ActivationShift:
    """The shift on a set of completions.

    Attributes:
        layers: of the hidden states: 0 is the embedding, l the output of the l-th block.
        shift: by mask, ||dH_l|| / ||H_l|| of each layer; NaN where the mask holds no token.
        tokens: by mask, how many.
        kl: mean over completion tokens of KL(trained || base) in nats; NaN without completions.
        kl_back: of KL(base || trained).
        samples: completions measured.
    """

    layers: int
    shift: dict[str, tuple[float, ...]]
    tokens: dict[str, int]
    kl: float
    kl_back: float
    samples: int


def activation_shift(
    model: Any,
    samples: Iterable[tuple[Sequence[int], Sequence[int]]],
    *,
    reference: Any = None,
    batch_size: int = 8,
    pad_id: int = 0,
    kl: bool = True,
) -> ActivationShift:
    """Measure the shift that training made.

    Args:
        model: a `PeftModel`, whose base is the adapter switched off, or a trained model.
        samples: (prompt token ids, completion token ids); a completion may be empty.
        reference: the base model, where `model` is not a `PeftModel`.
        batch_size: samples in a forward pass, padded on the right to the longest.
        pad_id: any valid token id; padding is masked.
        kl: whether to compare the next-token distributions, too.

    Raises:
        DataError: no samples, or one without a prompt token.
        ModelError: no adapter can be switched off and no reference is given, or the two differ.
    """
    if reference is None and not hasattr(model, "disable_adapter"):
        raise ModelError(
            "a model without an adapter has no base to compare with: give reference=, the model "
            "before training"
        )
    sums = _Sums(kl)
    was = [(m, m.training) for m in (model, reference) if m is not None]
    try:
        for one, _ in was:
            one.eval()
        with torch.no_grad():
            for batch in _batches(samples, batch_size):
                _measure(model, reference, batch, pad_id, sums)
    finally:
        for one, training in was:
            one.train(training)
    return sums.result()


def _batches(
    samples: Iterable[tuple[Sequence[int], Sequence[int]]], size: int
) -> Iterator[list[tuple[list[int], list[int]]]]:
    batch: list[tuple[list[int], list[int]]] = []
    for number, (prompt, completion) in enumerate(samples):
        if not len(prompt):
            raise DataError(f"sample {number} has no prompt token, so nothing predicts its first")
        batch.append((list(prompt), list(completion)))
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _measure(
    model: Any,
    reference: Any,
    batch: Sequence[tuple[list[int], list[int]]],
    pad_id: int,
    sums: _Sums,
) -> None:
    device = next(model.parameters()).device
    width = max(len(p) + len(c) for p, c in batch)
    ids = torch.full((len(batch), width), pad_id)
    masks = {name: torch.zeros(len(batch), width, dtype=torch.bool) for name in MASKS}
    attention = torch.zeros_like(ids)
    for i, (prompt, completion) in enumerate(batch):
        end = len(prompt) + len(completion)
        ids[i, :end] = torch.tensor(prompt + completion)
        attention[i, :end] = 1
        masks["prompt"][i, : len(prompt)] = True
        masks["completion"][i, len(prompt) : end] = True
        masks["last"][i, end - 1] = bool(completion)
    inputs = {"input_ids": ids.to(device), "attention_mask": attention.to(device)}
    masks = {name: mask.to(device) for name, mask in masks.items()}
    after = _hidden(model, inputs)
    if reference is None:
        with model.disable_adapter():
            before = _hidden(model, inputs)
            sums.add_states(after, before, masks)
            heads = (_head(model), _head(model))
    else:
        before = _hidden(reference, inputs)
        sums.add_states(after, before, masks)
        heads = (_head(model), _head(reference))
    if not sums.kl:
        return
    # The logits at a token predict the next one: those before completion tokens count.
    predicts = torch.zeros_like(masks["completion"])
    predicts[:, :-1] = masks["completion"][:, 1:]
    states = [final[predicts] for final in (after[-1], before[-1])]
    for start in range(0, len(states[0]), _CHUNK):
        rows = [s[start : start + _CHUNK] for s in states]
        with _off(model, False):
            now = heads[0](rows[0])
        with _off(model, reference is None):
            then = heads[1](rows[1])
        sums.add_logits(now, then)


@contextlib.contextmanager
def _off(model: Any, off: bool) -> Iterator[None]:
    with model.disable_adapter() if off else contextlib.nullcontext():
        yield


def _hidden(model: Any, inputs: dict[str, Tensor]) -> Sequence[Tensor]:
    """Return the hidden states, the last one normalised as the head sees it; no logits are made."""
    body = model.get_base_model() if hasattr(model, "get_base_model") else model
    body = getattr(body, body.base_model_prefix, body)
    output = body(**inputs, output_hidden_states=True, use_cache=False)
    states: Sequence[Tensor] = output.hidden_states
    return states


def _head(model: Any) -> Any:
    """Return hidden states -> logits, with what the model does to them."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    head, config = base.get_output_embeddings(), base.config
    scale = float(getattr(config, "logits_scaling", None) or 1.0)
    cap = getattr(config, "final_logit_softcapping", None)

    def logits(states: Tensor) -> Tensor:
        made: Tensor = head(states).float() / scale
        return torch.tanh(made / cap) * cap if cap else made

    return logits


class _Sums:
    """Running sums of squares, in float64."""

    def __init__(self, kl: bool) -> None:
        self.kl = kl
        self._moved: dict[str, Tensor] = {}
        self._base: dict[str, Tensor] = {}
        self._tokens = dict.fromkeys(MASKS, 0)
        self._kl = self._kl_back = 0.0
        self._compared = self._samples = 0

    def add_states(
        self, after: Sequence[Tensor], before: Sequence[Tensor], masks: dict[str, Tensor]
    ) -> None:
        """Add a batch; hidden states have shape (B, T, width), masks (B, T)."""
        if len(after) != len(before) or after[0].shape != before[0].shape:
            raise ModelError("the two models differ in layers or width: not the same base")
        self._samples += after[0].shape[0]
        precise = torch.float32 if after[0].device.type == "mps" else torch.float64
        moved, base = [], []
        for now, then in zip(after, before, strict=True):
            difference = (now.float() - then.float()).square().sum(-1, dtype=precise)
            moved.append(difference)
            base.append(then.float().square().sum(-1, dtype=precise))
        for name, mask in masks.items():
            for held, values in ((self._moved, moved), (self._base, base)):
                own = torch.stack([torch.where(mask, v, 0.0).sum() for v in values]).cpu()
                held[name] = held.get(name, 0.0) + own
            self._tokens[name] += int(mask.sum())

    def add_logits(self, now: Tensor, then: Tensor) -> None:
        """Add tokens' logits, shape (N, vocabulary)."""
        p, q = now.log_softmax(-1), then.log_softmax(-1)
        self._kl += float((p.exp() * (p - q)).sum(-1).double().sum())
        self._kl_back += float((q.exp() * (q - p)).sum(-1).double().sum())
        self._compared += len(p)

    def result(self) -> ActivationShift:
        """Return the quotients.

        Raises:
            DataError: there was no sample.
        """
        if not self._samples:
            raise DataError("no samples were given: there is nothing to measure a shift on")
        shift = {}
        for name in MASKS:
            quotient = (self._moved[name] / self._base[name]).sqrt()
            known = self._tokens[name] > 0
            shift[name] = tuple(float(x) if known else math.nan for x in quotient)
        compared = self._compared or math.nan
        return ActivationShift(
            len(shift["prompt"]),
            shift,
            self._tokens,
            self._kl / compared,
            self._kl_back / compared,
            self._samples,
        )
