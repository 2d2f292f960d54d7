"""`DisplacementTracker`: follows how weights move, step by step, in any transformers Trainer.

It writes plain lines to `displacement.jsonl` in its folder:

* `{"kind": "tensors", "names", "layers", "modules", "base_norms", ...}` once;
* `{"kind": "step", "step", "norm", "step_norm", "cosine", "pooled", ...}`, one value a tensor;
* `{"kind": "spectra", "step", "sigma", "to_last", "to_first"}`: singular values of each update, and
  how similar its 16 leading right directions are to those of the spectra before and of the first;
  `subspaces-STEP.npz` holds the directions themselves;
* `{"kind": "note", "step", "text"}` for what could not be measured.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import TrainerCallback

from reasonenv.dynamics.weights.adapters import Factors, live_factors
from reasonenv.dynamics.weights.history import (
    DenseHistory,
    DoraHistory,
    History,
    LoraHistory,
    Moves,
)
from reasonenv.dynamics.weights.locking import subspace_similarity
from reasonenv.dynamics.weights.names import Place, base_name, short_modules
from reasonenv.dynamics.weights.sharding import gathered, whole
from reasonenv.dynamics.weights.tensors import WeightFiles
from reasonenv.dynamics.weights.updates import frobenius
from reasonenv.errors import ReasonEnvError
from reasonenv.files import append_jsonl, read_jsonl, write_atomic

__all__ = ["LOG", "DisplacementTracker"]

LOG = "displacement.jsonl"
_LOCKING = 16  # leading directions compared over time, as in arXiv 2606.07082


class DisplacementTracker(TrainerCallback):
    """Measures displacement during training and writes it to files.

    LoRA, rsLoRA and DoRA updates are measured from their factors, whole weights (full fine-tuning,
    `modules_to_save`) from copies on the CPU: three of them, in float32. Sharded parameters are
    gathered; where they cannot be, a warning says so, and training goes on without the tracker.

    Args:
        folder: of the log; a run's `dynamics/`.
        every: optimizer steps between measurements. Above 1 the path length is a lower bound.
        spectra_every: optimizer steps between spectra; None: none.
        reference: a saved model's folder that displacement is measured from in full fine-tuning;
            None: the weights at the start of training. A resumed run needs it.

    Logged besides, for trackers and metrics files: `weights/displacement` (pooled over all tensors)
    and `weights/step` (the last move, relative as well).
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        every: int = 1,
        spectra_every: int | None = None,
        reference: str | Path | None = None,
    ) -> None:
        if every < 1 or (spectra_every is not None and spectra_every < 1):
            raise ValueError(
                f"every={every}, spectra_every={spectra_every}: steps between measurements are "
                "at least 1"
            )
        self.folder, self.every, self.spectra_every = Path(folder), every, spectra_every
        self.reference = reference
        self._histories: list[History] = []
        self._parameters: list[Tensor] = []
        self._base_square = 0.0
        self._first: list[Tensor] | None = None
        self._last: list[Tensor] | None = None
        self._summary: dict[str, float] = {}
        self._said: set[str] = set()
        self._writes = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Look at the model, and write down what will be followed."""
        self._histories = []
        self._writes = state.is_world_process_zero
        try:
            self._begin(kwargs["model"], state.global_step)
        except ReasonEnvError as error:
            self._give_up(str(error))

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Measure, where the step is one of those to be measured."""
        step, last = state.global_step, state.global_step == state.max_steps
        spectra = self.spectra_every is not None and (step % self.spectra_every == 0 or last)
        moves_due = step % self.every == 0 or last
        if not self._histories or not (moves_due or spectra):
            return
        try:
            with torch.no_grad(), gathered(kwargs["model"], self._parameters):
                if moves_due:
                    moves = [history.measure(whole) for history in self._histories]
                    self._write_moves(step, Moves.joined(moves))
                if spectra:
                    self._write_spectra(step)
        except ReasonEnvError as error:
            self._give_up(str(error))

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Add the pooled figures to a training step's log."""
        if logs is not None and "loss" in logs:
            logs.update(self._summary)
            self._summary = {}

    def _begin(self, model: Any, step: int) -> None:
        everything = list(model.parameters())
        with torch.no_grad(), gathered(model, everything):  # base norms need all, this once
            layers = list(live_factors(model))
            own = {id(p) for _, f, _ in layers for p in (f.a, f.b, f.magnitude) if p is not None}
            others = [
                (base_name(name), parameter)
                for name, parameter in model.named_parameters()
                if parameter.requires_grad and id(parameter) not in own
            ]
            if not layers and not others:
                self._give_up("the model has no trainable weights: there is nothing to follow")
                return
            bases = [_weight(layer) for _, _, layer in layers]
            norms = {
                name: float(frobenius(whole(base)))
                for (name, _, _), base in zip(layers, bases, strict=True)
            }
            starts = self._references(others, step)
            for (name, parameter), start in zip(others, starts, strict=True):
                norms[name] = float(frobenius(whole(parameter) if start is None else start))
            self._histories = [*_lora_histories(layers, bases, step, self._note)]
            if others:
                self._histories.append(DenseHistory(others, whole, starts))
        dora = {
            id(base)
            for (_, f, _), base in zip(layers, bases, strict=True)
            if f.magnitude is not None
        }
        needed = own | {id(p) for _, p in others} | dora
        self._parameters = [p for p in everything if id(p) in needed]
        names = [name for history in self._histories for name in history.names]
        self._base_square = math.fsum(norms[name] ** 2 for name in names)
        self._open(names, [norms[name] for name in names], step)

    def _references(self, tensors: Sequence[tuple[str, Tensor]], step: int) -> list[Tensor | None]:
        if not tensors:
            return []
        if self.reference is None:
            if step:
                self._note(step, "resumed without a reference: whole weights move from this step")
            return [None] * len(tensors)
        files = WeightFiles(self.reference)
        found = [files.find(name) for name, _ in tensors]
        return [None if name is None else files[name] for name in found]

    def _open(self, names: Sequence[str], norms: Sequence[float], step: int) -> None:
        """Begin the log, or go on with one: what is later than `step` is cut off."""
        if not self._writes:
            return
        places = [Place.of(name) for name in names]
        short = short_modules(place.module for place in places)
        head = {
            "kind": "tensors",
            "step": step,
            "every": self.every,
            "names": list(names),
            "layers": [place.layer for place in places],
            "modules": [short[place.module] for place in places],
            "base_norms": list(norms),
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        rows = [row for row in _whole_rows(self.folder / LOG) if step and row["step"] <= step]
        lines = [json.dumps(row) + "\n" for row in (rows or [head])]
        write_atomic(self.folder / LOG, "".join(lines))
        for file in self.folder.glob("subspaces-*.npz"):
            if not step or int(file.stem.rpartition("-")[2]) > step:
                file.unlink()

    def _write_moves(self, step: int, moves: Moves) -> None:
        norm, step_norm = moves.squared.sqrt(), moves.step_squared.sqrt()
        total, moved = float(moves.squared.nansum()), float(moves.step_squared.nansum())
        if not bool(torch.isfinite(moves.squared).all()):
            names = [name for history in self._histories for name in history.names]
            bad = [n for n, x in zip(names, moves.squared.tolist(), strict=True) if x != x]
            self._note(step, f"{len(bad)} tensors hold NaN or infinite values: {bad[:3]} ...")
        base = math.sqrt(self._base_square)
        self._summary = {
            "weights/displacement": math.sqrt(total) / base if base else math.nan,
            "weights/step": math.sqrt(moved) / base if base else math.nan,
        }
        row = {
            "kind": "step",
            "step": step,
            "pooled": _plain(self._summary["weights/displacement"]),
            "norm": _list(norm),
            "step_norm": _list(step_norm),
            "cosine": _list(moves.cosine),
        }
        if self._writes:
            append_jsonl(self.folder / LOG, [row])

    def _write_spectra(self, step: int) -> None:
        names, sigma, vectors = [], [], []
        for history in self._histories:
            for index, name in enumerate(history.names):
                update = history.update(index, whole)
                finite = bool(torch.isfinite(update.squared_norm()))
                values = update.singular_values() if finite else torch.full((1,), torch.nan)
                names.append(name)
                sigma.append(_list(values[:64]))
                moved = finite and bool(values[0] > 0)
                vectors.append(update.right_vectors(_LOCKING).float().cpu() if moved else None)
        now = [torch.zeros(0, 0) if v is None else v for v in vectors]
        row = {"kind": "spectra", "step": step, "sigma": sigma}
        for key, other in (("to_last", self._last), ("to_first", self._first)):
            row[key] = [None] * len(now) if other is None else _similar(now, other)
        self._last, self._first = now, self._first or now
        if not self._writes:
            return
        append_jsonl(self.folder / LOG, [row])
        sink = io.BytesIO()
        kept: dict[str, Any] = {n: v.numpy() for n, v in zip(names, now, strict=True)}
        np.savez(sink, **kept)
        write_atomic(self.folder / f"subspaces-{step:06d}.npz", sink.getvalue())

    def _note(self, step: int, text: str) -> None:
        """Say something once, and leave it in the log."""
        if text in self._said:
            return
        self._said.add(text)
        if self._writes:
            warnings.warn(f"tracking weights, step {step}: {text}", stacklevel=2)
            if (self.folder / LOG).is_file():
                append_jsonl(self.folder / LOG, [{"kind": "note", "step": step, "text": text}])

    def _give_up(self, reason: str) -> None:
        self._histories, self._summary = [], {}
        if self._writes:
            warnings.warn(f"weights are not tracked: {reason}", stacklevel=2)


def _lora_histories(
    layers: Sequence[tuple[str, Factors, Any]], bases: Sequence[Tensor], step: int, note: Any
) -> list[History]:
    """Return histories of LoRA layers, those of one shape together."""
    groups: dict[Any, list[tuple[str, Factors]]] = {}
    dora = []
    for (name, factors, _), base in zip(layers, bases, strict=True):
        if factors.magnitude is not None:
            dora.append((name, factors, whole(base).T if factors.transposed else whole(base)))
            continue
        b = whole(factors.b)
        zero = bool((b == 0).all())
        if not zero and step:  # what it started from is gone; LoRA's own start is zero
            zero = True
            note(step, "resumed: LoRA updates are taken to have started at zero")
        key = (tuple(b.shape), tuple(whole(factors.a).shape), b.dtype, b.device, zero)
        groups.setdefault(key, []).append((name, factors))
    histories: list[History] = [LoraHistory(own, whole, key[-1]) for key, own in groups.items()]
    if dora:
        histories.append(DoraHistory(dora, whole))
    return histories


def _weight(layer: Any) -> Tensor:
    """Return a base layer's weight; a quantised one is unpacked."""
    weight: Tensor = layer.weight
    if weight.is_floating_point():
        return weight
    from peft.utils.integrations import dequantize_module_weight

    unpacked: Tensor = dequantize_module_weight(layer)
    return unpacked


def _similar(now: Sequence[Tensor], other: Sequence[Tensor]) -> list[float | None]:
    return [
        _plain(subspace_similarity(x, y)) if x.numel() and y.numel() else None
        for x, y in zip(now, other, strict=True)
    ]


def _list(values: Tensor) -> list[float | None]:
    return [_plain(value) for value in values.tolist()]


def _plain(value: float) -> float | None:
    """Return a number with 9 digits, None for what JSON has no number for."""
    return float(f"{value:.9g}") if math.isfinite(value) else None


def _whole_rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    if path.is_file():
        with contextlib.suppress(ReasonEnvError):  # the last line was cut off
            rows.extend(row for _, row in read_jsonl(path))
    return rows
