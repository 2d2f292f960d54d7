"""Pictures of how weights moved over time, from the tracker's log."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reasonenv.dynamics.report.panels import Cell, Panel, Series, lines
from reasonenv.dynamics.runs import RunFiles
from reasonenv.dynamics.weights.path import path_length, straightness
from reasonenv.dynamics.weights.rank import effective_rank, stable_rank
from reasonenv.errors import ReasonEnvError
from reasonenv.extras import need

__all__ = ["overtime_panels"]

Row = Mapping[str, Any]
Bases = Mapping[str, Any]  # orthonormal columns by tensor; no columns where it had not moved


def overtime_panels(runs: Mapping[str, RunFiles]) -> list[Panel]:
    """Return displacement, step cosine, spectra and locking over time, for runs that tracked."""
    logs = {name: run.displacement() for name, run in runs.items()}
    tracked = {n: (h, s) for n, (h, s, _) in logs.items() if h is not None and s}
    panels: list[Panel | None] = [_path(tracked)] if tracked else []
    for name, (head, _, spectra) in logs.items():
        told: _Spectra | None = None
        if head is not None and len(spectra) > 1:
            told = _Spectra(head, spectra, _bases(runs[name], head, spectra))
        else:  # the checkpoints tell the same, at fewer steps
            told = _from_checkpoints(runs[name])
        if told is not None:
            panels.append(_spectra(name, told.head, told.rows))
            panels.append(_locking(name, told.head, told.bases))
    return [panel for panel in panels if panel is not None]


@dataclass(frozen=True)
class _Spectra:
    """Tensors' names and modules, a row of singular values a step, and subspaces by step."""

    head: Row
    rows: Sequence[Row]
    bases: Mapping[int, Bases]


def _from_checkpoints(run: RunFiles) -> _Spectra | None:
    """Return what the tracker would have written at the steps of saved LoRA checkpoints."""
    saved = [(step, folder) for step, folder in run.checkpoints() if run.is_adapter(folder)]
    if len(saved) < 2:
        return None
    try:
        need("torch", extra="train", by="reasonenv.dynamics")
        from reasonenv.dynamics.weights.adapters import Adapter
        from reasonenv.dynamics.weights.names import Place, short_modules
        from reasonenv.dynamics.weights.updates import LowRank

        adapters = {step: Adapter.read(folder).factors for step, folder in saved}
    except ReasonEnvError as error:
        run.missing.append(f"spectra over time are not shown: {error}")
        return None
    names = [n for n, f in next(iter(adapters.values())).items() if f.magnitude is None]
    places = [Place.of(name).module for name in names]
    short = short_modules(places)
    rows: list[Row] = []
    bases: dict[int, Bases] = {}
    for step, factors in adapters.items():
        updates = [LowRank(factors[n].b, factors[n].a, factors[n].scale) for n in names]
        finite = [math.isfinite(float(u.squared_norm())) for u in updates]
        sigma = [
            u.singular_values().tolist() if ok else [None]
            for u, ok in zip(updates, finite, strict=True)
        ]
        rows.append({"step": step, "sigma": sigma})
        bases[step] = {
            n: u.right_vectors(16).numpy() if ok else np.zeros((0, 0))
            for n, u, ok in zip(names, updates, finite, strict=True)
        }
    return _Spectra({"names": names, "modules": [short[p] for p in places]}, rows, bases)


def _bases(run: RunFiles, head: Row, spectra: Sequence[Row]) -> dict[int, Bases]:
    """Return the subspaces that the tracker kept, by step; those that are broken are said."""
    held: dict[int, Bases] = {}
    for row in spectra:
        file = run.path / "dynamics" / f"subspaces-{row['step']:06d}.npz"
        try:
            with np.load(file, allow_pickle=False) as kept:
                held[row["step"]] = {n: kept[n] for n in head["names"]}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            run.missing.append(f"subspaces of step {row['step']} cannot be read")
    return held


def _numbers(values: Sequence[Any]) -> Any:
    return np.array([math.nan if v is None else v for v in values], dtype=float)


def _path(tracked: Mapping[str, tuple[Row, Sequence[Row]]]) -> Panel:
    pooled, cosines, rows = [], [], []
    for name, (head, steps) in tracked.items():
        at = np.array([row["step"] for row in steps], dtype=float)
        pooled.append(Series(name, at, _numbers([row.get("pooled") for row in steps])))
        cosines.append(Series(name, at, np.array([_mean_cosine(row) for row in steps])))
        norms = np.stack([_numbers(row["norm"]) for row in steps])
        moves = np.stack([_numbers(row["step_norm"]) for row in steps])
        own = cosines[-1].y
        for i, tensor in enumerate(head["names"]):
            length = path_length(moves[np.isfinite(moves[:, i]), i].tolist())
            final = float(norms[-1, i])
            rows.append([name, tensor, final / (head["base_norms"][i] or math.nan), length,
                         straightness(final, length)])  # fmt: skip
        known = own[np.isfinite(own)]
        mean = float(known.mean()) if len(known) else math.nan
        rows.append([name, "cosine of successive updates, mean over steps", mean, None, None])
    table: list[list[Cell]] = [list(row) for row in rows]
    return Panel(
        "path",
        "How far, and how straight",
        "left: relative displacement, all tensors pooled. Right: cosine of a step's update with "
        "the one before it, weighted by their lengths; below 0 it oscillates. Table: path length, "
        "and straightness (distance over path)",
        lines([("relative displacement", pooled), ("cosine of successive updates", cosines)],
              "optimizer step", ""),
        ["run", "tensor", "displacement", "path length", "straightness"],
        table,
        (10.0, 4.0),
    )  # fmt: skip


def _mean_cosine(row: Row) -> float:
    cosine, weight = _numbers(row["cosine"]), _numbers(row["step_norm"])
    known = np.isfinite(cosine) & np.isfinite(weight)
    total = float((weight[known] ** 2).sum())
    return float((cosine[known] * weight[known] ** 2).sum()) / total if total > 0 else math.nan


def _by_module(head: Row, values: Sequence[Any]) -> dict[str, float]:
    held: dict[str, list[float]] = {}
    for module, value in zip(head["modules"], values, strict=True):
        if value is not None and math.isfinite(value):
            held.setdefault(module, []).append(value)
    return {module: float(np.mean(own)) for module, own in held.items()}


def _spectra(name: str, head: Row, spectra: Sequence[Row]) -> Panel:
    at = np.array([row["step"] for row in spectra], dtype=float)
    measures = (
        ("largest singular value", lambda s: s[0] if s and s[0] is not None else None),
        ("stable rank", lambda s: stable_rank(_numbers(s))),
        ("effective rank", lambda s: effective_rank(_numbers(s))),
    )
    groups: list[tuple[str, list[Series]]] = []
    rows: list[list[Cell]] = []
    for title, measure in measures:
        per_step = [_by_module(head, [measure(s) for s in row["sigma"]]) for row in spectra]
        modules = list(dict.fromkeys(m for own in per_step for m in own))
        series = []
        for module in modules:
            y = _numbers([own.get(module) for own in per_step])
            series.append(Series(module, at, y))
            rows += [[title, module, int(s), float(v)] for s, v in zip(at, y, strict=True)]
        groups.append((title, series))
    return Panel(
        f"spectra-{name}",
        f"Spectra of the updates of {name} over time",
        "mean over layers",
        lines(groups, "optimizer step", "", marked=True),
        ["measure", "module", "step", "value"],
        rows,
        (10.0, 7.0),
    )


def _locking(name: str, head: Row, held: Mapping[int, Bases]) -> Panel | None:
    """Return Sim(t, T) of the leading right directions with the last ones."""
    if len(held) < 2:
        return None
    last = held[max(held)]
    rows: list[list[Cell]] = []
    series: dict[str, list[tuple[int, float]]] = {}
    for step, bases in sorted(held.items()):
        similar = [
            float(((v.T @ last[n]) ** 2).sum()) / min(v.shape[1], last[n].shape[1])
            if v.size and last[n].size else None
            for n, v in bases.items()
        ]  # fmt: skip
        for module, value in _by_module(head, similar).items():
            series.setdefault(module, []).append((step, value))
            rows.append([module, step, value])
    drawn = [
        Series(m, np.array([s for s, _ in own], dtype=float), np.array([v for _, v in own]))
        for m, own in series.items()
    ]
    return Panel(
        f"locking-{name}",
        f"Subspace locking of {name}",
        "similarity of the update's 16 leading right directions with those of the last step, "
        "(1/K) ||V(t)^T V(T)||^2 (arXiv 2606.07082); mean over layers. With fewer than 16 ranks "
        "all of them",
        lines([("", drawn)], "optimizer step", "similarity with the end", marked=True),
        ["module", "step", "similarity"],
        rows,
    )
