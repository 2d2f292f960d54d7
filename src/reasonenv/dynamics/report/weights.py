"""Pictures of where the weights moved: fig. 4 and 6 of arXiv 2609.39321, and spectra."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from reasonenv.dynamics.report.panels import Cell, Panel, bars, heatmap, shown
from reasonenv.dynamics.weights.analysis import TensorReport, WeightReport

__all__ = ["weight_panels"]

_MAPS = (
    ("displacement", "displacement", "||D|| / ||W||, Frobenius; study fig. 4, eq. 10"),
    ("unchanged", "unchanged in bfloat16", "share of entries whose bfloat16 value did not change"),
    ("stable_rank", "stable rank", "||D||_F^2 / ||D||_2^2 of the update"),
    ("overlap", "principal overlap", "share of the update in the base's leading k x k directions, "
     "over what chance gives"),
    ("shift", "spectral shift", "change of the k leading singular values, relative"),
)  # fmt: skip


def weight_panels(reports: Mapping[str, WeightReport]) -> list[Panel]:
    """Return the pictures of one or several runs' weights.

    Args:
        reports: by the run's name.
    """
    panels = []
    for run, report in reports.items():
        for name, title, note in _MAPS:
            panel = _map(run, report, name, title, note, len(reports) > 1)
            if panel is not None:
                panels.append(panel)
        panels.append(_tensors(run, report))
    panels.extend(_mass(reports))
    return panels


def _value(one: TensorReport, name: str) -> float:
    if name == "overlap":
        return one.overlap / one.overlap_random if one.overlap_random > 0 else math.nan
    value: float = getattr(one, name)
    return value


def _map(
    run: str, report: WeightReport, name: str, title: str, note: str, several: bool
) -> Panel | None:
    layered = [t for t in report.tensors if t.layer is not None and t.shape[1] > 1]
    if not any(math.isfinite(_value(t, name)) for t in layered):
        return None
    modules = list(dict.fromkeys(t.module for t in layered))
    layers = sorted({t.layer for t in layered if t.layer is not None})
    grid = np.full((len(layers), len(modules)), math.nan)
    count = np.zeros_like(grid)
    for one in layered:
        assert one.layer is not None
        at = layers.index(one.layer), modules.index(one.module)
        value = _value(one, name)
        grid[at] = value if not count[at] else grid[at] + value  # experts share a place
        count[at] += 1
    grid = grid / np.maximum(count, 1)
    rows: list[list[Cell]] = [[layer, *map(float, grid[i])] for i, layer in enumerate(layers)]
    whose = f" of {run}" if several else ""
    return Panel(
        f"{name}-{run}" if several else name,
        f"{title.capitalize()} by layer and module{whose}",
        note,
        heatmap(grid, [str(layer) for layer in layers], modules, title),
        ["layer", *modules],
        rows,
        (8.0, max(3.2, 1.8 + 0.17 * len(layers))),
    )


def _mass(reports: Mapping[str, WeightReport]) -> list[Panel]:
    panels = []
    shares = {run: report.by_module() for run, report in reports.items()}
    modules = list(dict.fromkeys(m for own in shares.values() for m in own))
    panels.append(
        Panel(
            "mass-by-module",
            "Update mass by module",
            "share of the squared norm of all updates; study fig. 6",
            bars(modules, [(r, [s.get(m, 0.0) for m in modules]) for r, s in shares.items()],
                 "share of the update's mass"),
            ["module", *shares],
            [[m, *(s.get(m) for s in shares.values())] for m in modules],
            (8.0, 1.8 + 0.34 * len(modules)),
        )
    )  # fmt: skip
    layers: list[int | None] = sorted(
        {t.layer for r in reports.values() for t in r.tensors},
        key=lambda layer: (layer is None, layer or 0),
    )
    by_layer = {run: report.by_layer() for run, report in reports.items()}
    names = ["outside the layers" if layer is None else str(layer) for layer in layers]
    panels.append(
        Panel(
            "mass-by-layer",
            "Update mass by layer",
            "share of the squared norm of all updates",
            bars(names, [(r, [s.get(x, 0.0) for x in layers]) for r, s in by_layer.items()],
                 "share of the update's mass"),
            ["layer", *by_layer],
            [[n, *(s.get(x) for s in by_layer.values())]
             for n, x in zip(names, layers, strict=True)],
            (8.0, 1.8 + 0.2 * len(layers)),
        )
    )  # fmt: skip
    return panels


def _tensors(run: str, report: WeightReport) -> Panel:
    """Return the update's singular values, with all measures of all tensors behind the picture."""
    from reasonenv.dynamics.report.panels import Series, lines

    by_module: dict[str, list[Sequence[float]]] = {}
    for one in report.tensors:
        if len(one.sigma) > 1 and one.sigma[0] > 0:
            by_module.setdefault(one.module, []).append(one.sigma)
    series = []
    for module, sigmas in by_module.items():
        width = min(len(s) for s in sigmas)
        mean = np.mean([np.array(s[:width]) / s[0] for s in sigmas], axis=0)
        series.append(Series(module, np.arange(1, width + 1, dtype=float), mean))
    heads = ["tensor", "displacement", "||D||", "stable rank", "effective rank", "energy at 1",
             "energy at 4", "unchanged", "overlap", "overlap by chance", "left angle",
             "right angle", "spectral shift", "residual"]  # fmt: skip
    rows: list[list[Cell]] = [
        [t.name, t.displacement, t.update_norm, t.stable_rank, t.effective_rank,
         t.energy.get(1), t.energy.get(4), t.unchanged, t.overlap, t.overlap_random, *t.angles,
         t.shift, t.residual]
        for t in report.tensors
    ]  # fmt: skip
    return Panel(
        f"spectrum-{run}",
        f"Singular values of the updates of {run}",
        f"mean over layers, relative to the largest; pooled displacement {shown(report.pooled)}. "
        "The table holds every measure of every tensor; angles in degrees, the largest of the "
        "leading subspaces",
        lines([("", series)], "index of the singular value", "over the largest", marked=True),
        heads,
        rows,
    )
