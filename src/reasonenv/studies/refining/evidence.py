"""What a run's files say about it, gathered once for all rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reasonenv.dynamics.health import Finding, HealthLimits, check_health
from reasonenv.dynamics.runs import RunFiles
from reasonenv.dynamics.weights.displacement import pooled_displacement
from reasonenv.errors import ReasonEnvError, StudyError
from reasonenv.rewards import Reward, from_config
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.run import Run

__all__ = ["Evidence", "gather"]


@dataclass(frozen=True)
class Evidence:
    """A run's evidence.

    Attributes:
        run: its directory.
        recipe: as it was resolved.
        train: metrics of training, by step.
        findings: what its health checks found, by check.
        layers: displacement of each layer, relative where the base is there, else the share of the
            update's mass; empty without an adapter on layers.
        relative: which of the two `layers` holds.
        modules: share of the update's mass by module.
        parameters: trainable ones; 0 without an adapter.
        reward: the composed reward; None where it cannot be made again.
        missing: what could not be read, in sentences.
    """

    run: Path
    recipe: Recipe
    train: Sequence[Mapping[str, Any]]
    findings: Mapping[str, Finding]
    layers: Mapping[int, float]
    relative: bool
    modules: Mapping[str, float]
    parameters: int
    reward: Reward | None
    missing: Sequence[str]


def gather(run: str | Path, limits: HealthLimits) -> Evidence:
    """Return a run's evidence.

    Raises:
        RunDirectoryError: there is no run.
        RecipeError: its recipe is not valid in this version.
        StudyError: it recorded no training step.
    """
    opened = Run.open(run)
    files = RunFiles.open(run)
    train, evaluations = files.metrics("train"), files.metrics("eval")
    if not train:
        raise StudyError(f"{run}: no training step is recorded, so nothing speaks for a change")
    findings = {one.check: one for one in check_health([*train, *evaluations], limits=limits)}
    missing: list[str] = []
    if len(train) < 2 * limits.window:
        missing.append(
            f"{len(train)} steps are fewer than two windows of {limits.window}: hardly anything is "
            "judged; set the threshold `window` lower, or train longer"
        )
    layers, relative, modules, parameters = _weights(files, missing)
    return Evidence(
        run=opened.path,
        recipe=opened.recipe,
        train=train,
        findings=findings,
        layers=layers,
        relative=relative,
        modules=modules,
        parameters=parameters,
        reward=_reward(opened, missing),
        missing=[*missing, *files.missing],
    )


def _weights(
    files: RunFiles, missing: list[str]
) -> tuple[dict[int, float], bool, dict[str, float], int]:
    folder = files.weights()
    if folder is None:
        return {}, False, {}, 0
    if not files.is_adapter(folder):
        missing.append("the run trained all weights: neither layers nor modules are proposed")
        return {}, False, {}, 0
    from reasonenv.dynamics.weights.analysis import analyse_adapter
    from reasonenv.trainers.displacement import adapter_parameters

    try:
        report = analyse_adapter(folder, files.base(), k=0, sparsity=False)
        parameters = adapter_parameters(folder)
    except ReasonEnvError as error:
        missing.append(f"its adapter cannot be measured: {error}")
        return {}, False, {}, 0
    held = [t for t in report.tensors if t.layer is not None]
    numbers = sorted({t.layer for t in held if t.layer is not None})
    relative = bool(held) and all(t.base_norm > 0 for t in held)
    if not relative:
        shares = {n: s for n, s in report.by_layer().items() if n is not None}
        return shares, False, report.by_module(), parameters
    moved = {
        n: pooled_displacement(
            [t.update_norm for t in held if t.layer == n],
            [t.base_norm for t in held if t.layer == n],
        )
        for n in numbers
    }
    return moved, True, report.by_module(), parameters


def _reward(run: Run, missing: list[str]) -> Reward | None:
    held = run.recipe.reward if run.recipe.reward is not None else run.facts.get("reward")
    try:
        return from_config(held) if held is not None else None
    except ReasonEnvError as error:
        missing.append(f"its reward cannot be made again: {error}")
        return None
