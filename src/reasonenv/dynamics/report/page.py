"""`write_dynamics`: everything that runs' files say about their dynamics, on one page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reasonenv.dynamics.health import Finding, HealthLimits, check_health
from reasonenv.dynamics.report.html import page
from reasonenv.dynamics.report.overtime import overtime_panels
from reasonenv.dynamics.report.panels import Panel
from reasonenv.dynamics.report.signal import group_panel, oscillator_panel
from reasonenv.dynamics.report.style import drawing, figure, png
from reasonenv.dynamics.report.training import training_panel
from reasonenv.dynamics.runs import RunFiles
from reasonenv.errors import DataError, MissingExtraError, ReasonEnvError
from reasonenv.files import write_atomic

__all__ = ["Written", "write_dynamics"]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written.

    Attributes:
        page: the HTML file.
        pictures: the PNG files beside it.
        missing: what is not shown and why, in sentences.
        findings: what looks unhealthy, by run.
    """

    page: Path
    pictures: tuple[Path, ...]
    missing: tuple[str, ...]
    findings: Mapping[str, Sequence[Finding]]


def write_dynamics(
    runs: Sequence[str | Path],
    out: str | Path | None = None,
    *,
    base: str | Path | None = None,
    k: int = 16,
    sparsity: bool = True,
    prompts: int = 64,
    cache: Path | None = None,
    tell: Callable[[str], None] | None = None,
) -> Written:
    """Write `dynamics.html` and the pictures as PNG.

    Args:
        runs: run directories, finished or not.
        out: the folder; `dynamics/` in the only run, `dynamics-of-NAME-and-more` where the first of
            several lies.
        base: the base model's folder; None: as each run says.
        k: leading directions of the base weights; 0 leaves out what compares with them.
        sparsity: whether to stream over the merged weights.
        prompts: stored completions to measure the activation shift on, which loads the model; 0
            leaves it out.
        cache: for base spectra; None: the user's cache folder.
        tell: is called with what is done at the moment.

    Raises:
        RunDirectoryError: one of `runs` is no run.
        DataError: no run was given, two have the same name, or `base` is not there.
        StorageError: a file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    opened = _open(runs)
    folder = _folder(opened, out)
    say = tell or (lambda text: None)
    panels: list[Panel | None] = []
    say("reading metrics")
    train = {name: run.metrics("train") for name, run in opened.items()}
    evaluated = {name: run.metrics("eval") for name, run in opened.items()}
    panels.append(training_panel({n: {"train": train[n], "eval": evaluated[n]} for n in opened}))
    panels += _weights(opened, base, k, sparsity, cache, say)
    panels += overtime_panels(opened)
    if prompts:
        panels.append(_shift(opened, base, prompts, say))
    say("fitting the reward curves")
    panels.append(oscillator_panel(opened, train))
    say("comparing groups")
    try:
        panels.append(group_panel(opened))
    except MissingExtraError as error:
        next(iter(opened.values())).missing.append(f"group signal is not shown: {error}")
    kept = [panel for panel in panels if panel is not None]
    findings = {
        name: _health(run, [*train[name], *evaluated[name]]) for name, run in opened.items()
    }
    return _write(folder, opened, kept, findings)


def _health(run: RunFiles, metrics: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Return what looks unhealthy, by the limits of the run's recipe where it sets some."""
    given = (run.recipe.get("track") or {}).get("health") or {}
    try:
        limits = HealthLimits.of(given)
    except (DataError, AttributeError, TypeError):  # a recipe of another version
        limits = HealthLimits()
    try:
        return check_health(metrics, run.rollouts("train"), limits)
    except MissingExtraError:
        return check_health(metrics, limits=limits)


def _open(runs: Sequence[str | Path]) -> dict[str, RunFiles]:
    if not runs:
        raise DataError("no run was given; give one run directory or more")
    opened: dict[str, RunFiles] = {}
    for path in runs:
        run = RunFiles.open(path)
        if run.name in opened:
            raise DataError(
                f"{path} and {opened[run.name].path} are both called {run.name}: one picture could "
                "not tell them apart; rename a directory"
            )
        opened[run.name] = run
    return opened


def _folder(runs: dict[str, RunFiles], out: str | Path | None) -> Path:
    if out is not None:
        return Path(out)
    name, first = next(iter(runs.items()))
    if len(runs) == 1:
        return first.path / "dynamics"
    return first.path.parent / f"dynamics-of-{name}-and-{len(runs) - 1}-more"


def _weights(
    runs: dict[str, RunFiles],
    base: str | Path | None,
    k: int,
    sparsity: bool,
    cache: Path | None,
    say: Callable[[str], None],
) -> list[Panel]:
    reports = {}
    origins: dict[str, Path] = {}
    for name, run in runs.items():
        folder = run.weights()
        if folder is None:
            continue
        try:
            # Imported here: metrics can be shown where torch is not installed.
            from reasonenv.extras import need

            need("torch", extra="train", by="reasonenv.dynamics")
            from reasonenv.dynamics.weights.analysis import analyse_adapter, analyse_models
            from reasonenv.dynamics.weights.spectra import default_cache

            say(f"measuring the weights of {name}")
            own, place = run.base(base), cache or default_cache()
            if own is not None:
                origins[name] = own.resolve()
            if own is not None and base is not None:
                _say_other_base(run, own)
            if run.is_adapter(folder):
                report = analyse_adapter(folder, own, k=k, sparsity=sparsity, cache=place)
            elif own is None:
                continue
            else:
                report = analyse_models(own, folder, k=k, sparsity=sparsity, cache=place)
        except ReasonEnvError as error:
            run.missing.append(f"the weights are not shown: {error}")
            continue
        run.missing.extend(report.missing)
        if report.tensors:
            reports[name] = report
            target = run.path / "dynamics"
            target.mkdir(exist_ok=True)
            write_atomic(target / "weights.json", report.to_json())
    if len(set(origins.values())) > 1:
        said = ", ".join(f"{name}: {origin.name}" for name, origin in origins.items())
        for name in origins:
            runs[name].missing.append(
                f"these runs have different base models ({said}): their displacements are relative "
                "to different weights, and compare only loosely"
            )
    if not reports:
        return []
    from reasonenv.dynamics.report.weights import weight_panels

    return weight_panels(reports)


def _say_other_base(run: RunFiles, given: Path) -> None:
    """Say that a given base is called otherwise than the one that the run names."""
    named = run.named_base()
    if named and Path(named).name != given.resolve().name:
        run.missing.append(
            f"measured against {given}, while the run names {named} as its base: the figures are "
            "right only if both hold the same weights"
        )


def _shift(
    runs: dict[str, RunFiles], base: str | Path | None, prompts: int, say: Callable[[str], None]
) -> Panel | None:
    shifts = {}
    for name, run in runs.items():
        say(f"measuring the activations of {name}")
        try:
            from reasonenv.dynamics.report.shift import run_shift

            shifts[name] = run_shift(run, base, prompts)
        except ReasonEnvError as error:
            run.missing.append(f"the activation shift is not shown: {error}")
    if not shifts:
        return None
    from reasonenv.dynamics.report.shift import shift_panel

    return shift_panel(shifts)


def _write(
    folder: Path,
    runs: dict[str, RunFiles],
    panels: Sequence[Panel],
    findings: Mapping[str, Sequence[Finding]],
) -> Written:
    drawn, files = [], []
    folder.mkdir(parents=True, exist_ok=True)
    with drawing("reasonenv.dynamics"):
        for panel in panels:
            made = figure(panel.size)
            panel.draw(made)
            content = png(made)
            path = folder / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', panel.key)}.png"
            write_atomic(path, content)
            drawn.append((panel, content))
            files.append(path)
    missing = {name: list(dict.fromkeys(run.missing)) for name, run in runs.items()}
    title = f"Training dynamics of {', '.join(runs)}"
    target = folder / "dynamics.html"
    write_atomic(target, page(title, drawn, missing, findings).encode("utf-8", "replace"))
    said = [f"{n}: {line}" if len(runs) > 1 else line for n, own in missing.items() for line in own]
    return Written(target, tuple(files), tuple(said), findings)
