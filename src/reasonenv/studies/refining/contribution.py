"""Layer contribution, measured: each layer trained alone (arXiv 2607.01232).

C_l = (acc_l - acc_base) / (acc_full - acc_base), acc_l after training layer l alone, acc_full after
training all of them, acc_base before. 1 means that the layer alone gains what all of them gain.
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

from reasonenv.errors import StudyError
from reasonenv.studies.plan import Plan
from reasonenv.studies.results import RunResult, curve, outcome, read_result
from reasonenv.studies.spec import StudySpec
from reasonenv.studies.store import StudyDir

__all__ = ["layer_contributions", "layer_study"]


def layer_study(base: str, layers: int, seeds: list[int], parameters: int) -> StudySpec:
    """Return the study that measures the contribution of each layer.

    Args:
        base: the recipe, of a run over all layers.
        layers: how many the model has.
        seeds: of each arm.
        parameters: that every arm trains; 0 leaves the rank as it is.
    """
    equal: dict[str, Any] = {"lora.match_parameters": parameters} if parameters else {}
    alone = [{"label": f"layer {n}", "set": {"lora.layers": [n], **equal}} for n in range(layers)]
    return StudySpec.make(
        {
            "name": "layers",
            "description": "Each layer trained alone against all of them: the contribution of a "
            "layer (arXiv 2607.01232).",
            "base": base,
            "factor": ["lora.layers", "lora.match_parameters"],
            "runs": [{"label": "all"}, *alone],
            "compare": "all",
            "seeds": seeds,
        }
    )


def layer_contributions(study: str | Path) -> dict[int, float]:
    """Return C_l of each layer from a finished study with an arm for each layer and one for all.

    Raises:
        StudyError: there is no such study, it has no such arms, or all layers together gained
            nothing, so that no share of it can be given.
    """
    folder = Path(study)
    if not (folder / "study.yaml").is_file():
        raise StudyError(f"{study}: no study is there (it would hold a study.yaml)")
    spec, where = StudySpec.load(folder / "study.yaml")
    plan = Plan.make(spec, folder, where)
    results = {run.name: read_result(run, StudyDir(folder)) for run in plan.runs}
    alone: dict[int, list[float]] = {}
    full: list[float] = []
    before: list[float] = []
    for run in plan.runs:
        layers = (run.recipe.lora or {}).get("layers", "all")
        result = results[run.name]
        value = outcome(result, spec.measure) if result.state == "finished" else None
        if value is None:
            continue
        before += _before(result, spec.measure)
        if layers == "all":
            full.append(value)
        elif isinstance(layers, list) and len(layers) == 1:
            alone.setdefault(layers[0], []).append(value)
    if not full or len(alone) < 2 or not before:
        raise StudyError(
            f"{study}: layer contributions need finished runs over all layers and over single ones "
            "(`lora.layers: [N]`), with an evaluation before training"
        )
    base, gain = fmean(before), fmean(full) - fmean(before)
    if gain <= 0:
        raise StudyError(
            f"{study}: training all layers changed {spec.measure} by {gain:.3g}, so a layer's "
            "share of it says nothing"
        )
    return {layer: (fmean(values) - base) / gain for layer, values in sorted(alone.items())}


def _before(result: RunResult, measure: str) -> list[float]:
    x, y = curve(result, measure)
    return [float(y[0])] if len(x) and x[0] == 0 else []
