"""Pictures of the reward curve against the reduced-order model, and of group signal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reasonenv.dynamics.groups import measure_groups, mixed_probability, reweighting
from reasonenv.dynamics.oscillator import OscillatorModel, compare, noise_exponent
from reasonenv.dynamics.report.panels import Cell, Panel, Series, lines
from reasonenv.dynamics.report.training import curve
from reasonenv.dynamics.runs import RunFiles
from reasonenv.dynamics.seeds import across
from reasonenv.errors import DataError

__all__ = ["group_panel", "oscillator_panel"]

Row = Mapping[str, Any]
_DRAWS = 60
_WINDOW = 20  # steps: a problem's other groups further away were sampled from another policy


def oscillator_panel(
    runs: Mapping[str, RunFiles], train: Mapping[str, Sequence[Row]]
) -> Panel | None:
    """Return each run's reward with the fitted oscillator, and its standing against the nulls."""
    groups: list[tuple[str, list[Series]]] = []
    rows: list[list[Cell]] = []
    zetas, rates, noises = [], [], {}
    for name, lines_of in train.items():
        steps, reward = curve(lines_of, "reward")
        try:
            model = OscillatorModel.fit(steps, reward, draws=_DRAWS)
            standing = compare(steps, reward, draws=_DRAWS)
        except DataError as error:
            runs[name].missing.append(f"the oscillator is not fitted: {error}")
            continue
        late = model.curve.residuals[model.curve.n // 2 :]
        noises[name] = float((late**2).mean())
        zetas.append(model.zeta)
        rates.append(model.rate)
        best = standing.candidates[0]
        fitted = [
            Series("reward", steps, reward),
            Series("oscillator", steps, model.predict(steps)),
        ]
        if best.name != "oscillator":
            fitted.append(Series(f"best: {best.name}", steps, best.fit.predict(steps)))
        groups.append((name, fitted))
        for one in standing.candidates:
            low, high = one.extrapolation_interval or (None, None)
            rows.append([name, one.name, one.behind, one.weight, one.r2, one.extrapolation, low,
                         high, standing.noise, None])  # fmt: skip
        for figure in ("plateau", "zeta", "rate"):
            low, high = model.intervals[figure]
            said = f"{figure} ({model.regime})" if figure == "zeta" else figure
            rows.append([name, said, None, None, None, None, low, high, None,
                         getattr(model, figure)])  # fmt: skip
        runs[name].missing.extend(f"reward curve: {note}" for note in standing.notes)
    if not groups:
        return None
    rows += _noise(runs, noises)
    if len(zetas) > 1:
        for figure, values in (("zeta", zetas), ("rate", rates)):
            found = across(values)
            rows.append(["all runs", f"{figure}: {found}", *[None] * 7, found.mean])
    return Panel(
        "oscillator",
        "Reward against the damped oscillator and its nulls",
        "model of arXiv 2606.30789. A high R^2 is no evidence: read the AICc differences and the "
        "error on the last two thirds, fitted on the first, beside the noise no curve can beat",
        lines(groups, "optimizer step", "reward"),
        ["run", "curve or figure", "AICc behind", "weight", "R^2", "extrapolation error", "low",
         "high", "noise", "value"],
        rows,
        (10.0, 1.2 + 2.8 * math.ceil(len(groups) / 2)),
    )  # fmt: skip


def _noise(runs: Mapping[str, RunFiles], noises: Mapping[str, float]) -> list[list[Cell]]:
    """Return how the noise of the last half depends on group size, where runs differ in it."""
    sizes = {}
    for name, noise in noises.items():
        size = (runs[name].recipe.get("grpo") or {}).get("num_generations")
        if isinstance(size, int) and noise > 0:
            sizes[name] = size
    if len(set(sizes.values())) < 2:
        return []
    found = noise_exponent(list(sizes.values()), [noises[name] for name in sizes])
    low, high = found.interval or (None, None)
    said = "exponent of G in the noise of the last half, the batch's own sampling included"
    said += f" ({found.note})" if found.note else ""
    return [["all runs", said, *[None] * 4, low, high, None, found.exponent]]


def group_panel(runs: Mapping[str, RunFiles]) -> Panel | None:
    """Return mixed-group share and difficulty weight, measured against predicted, by difficulty."""
    mixed: list[Series] = []
    weight: list[Series] = []
    rows: list[list[Cell]] = []
    for name, run in runs.items():
        for signal in measure_groups(run.rollouts("train"), run.rollouts("eval"), window=_WINDOW):
            run.missing.extend(f"group signal: {note}" for note in signal.notes)
            if signal.overall is None:
                continue
            label = f"{name}, G = {signal.group_size}"
            for stratum, of in (*((s, None) for s in signal.strata), (signal.overall, "all")):
                for figure in ("mixed", "variance", "deviation", "weight"):
                    low, high = stratum.intervals.get(figure, (None, None))
                    rows.append([label, of or f"{stratum.low:g} to {stratum.high:g}", figure,
                                 stratum.groups, stratum.problems, stratum.measured[figure],
                                 stratum.predicted[figure], low, high])  # fmt: skip
            centre = np.array([(s.low + s.high) / 2 for s in signal.strata])
            strata = ((mixed, "mixed"), (weight, "weight")) if signal.strata else ()
            for held, figure in strata:
                for said, source in (("measured", "measured"), ("from other samples", "predicted")):
                    own = [getattr(s, source)[figure] for s in signal.strata]
                    held.append(Series(f"{label}, {said}", centre, np.array(own, dtype=float)))
            p = np.linspace(0.01, 0.99, 99)
            mixed.append(
                Series(f"{label}, closed form at p", p, mixed_probability(p, signal.group_size))
            )
            weight.append(
                Series(f"{label}, closed form at p", p, reweighting(p, signal.group_size))
            )
    if not rows:
        return None
    return Panel(
        "groups",
        "Group signal by difficulty",
        "left: share of groups with a right and a wrong answer. Right: weight of a problem's "
        "gradient, c_G(p) / (p (1 - p)). A problem's p comes from other samples than the group, at "
        f"most {_WINDOW} steps away; intervals are of measured less predicted, over problems",
        lines([("mixed groups", mixed), ("difficulty weight", weight)], "p of the problem", "",
              marked=False),
        ["run", "p", "figure", "groups", "problems", "measured", "predicted", "low", "high"],
        rows,
        (10.0, 4.4),
    )  # fmt: skip
