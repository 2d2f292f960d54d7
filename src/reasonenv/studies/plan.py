"""`Plan`: the runs that a study asks for, each with its whole recipe, checked before any starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reasonenv.errors import ReasonEnvError, StudyError
from reasonenv.studies.grid import Arm, arms_of, baselines, slug
from reasonenv.studies.overrides import apply, differences, fill, mentioned_runs
from reasonenv.studies.spec import StudySpec
from reasonenv.trainers.launch import process_count
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.trl_config import batch_plan, check_sections

__all__ = ["Plan", "PlannedRun", "planned_run"]

_DEFAULT_GROUP = 8  # TRL's num_generations


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run: an arm with a seed.

    Attributes:
        name: of its directory below `runs/`.
        arm: the label of its arm.
        seed: of the run.
        recipe: the whole recipe.
        needs: names of runs that must have finished first, since its recipe names them.
        group_size: G.
        completions_per_step: over all ranks.
    """

    name: str
    arm: str
    seed: int
    recipe: Recipe
    needs: tuple[str, ...] = ()
    group_size: int = _DEFAULT_GROUP
    completions_per_step: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What a study comes to.

    Attributes:
        spec: the study.
        out: its directory.
        arms: by label.
        baselines: the baseline of each arm that is compared with one, by label.
        runs: all of them, in an order in which each finds what it needs.
        warnings: what a reader of the report has to know, in sentences.
    """

    spec: StudySpec
    out: Path
    arms: Mapping[str, Arm]
    baselines: Mapping[str, str]
    runs: tuple[PlannedRun, ...]
    warnings: tuple[str, ...]

    @classmethod
    def make(cls, spec: StudySpec, out: str | Path, folder: Path | None = None) -> Plan:
        """Work out the runs of a grid or a list.

        Args:
            spec: the study.
            out: its directory; nothing is written.
            folder: what the paths of the study are relative to.

        Raises:
            StudyError: the arms do not fit together.
            RecipeError: a run's recipe is not valid; the arm is named.
        """
        out = Path(out)
        fields = spec.base_fields(folder)
        arms = {arm.label: arm for arm in arms_of(spec)}
        pairs = baselines(spec, list(arms.values()))
        runs = [
            planned_run(spec, out, fields, arms[label], seed, list(arms))
            for label in _ordered(arms)
            for seed in spec.seeds
        ]
        warnings = [*_meant(spec, arms, pairs, runs), *_seeds(spec)]
        return cls(spec, out, arms, pairs, tuple(runs), tuple(warnings))

    def of(self, arm: str) -> list[PlannedRun]:
        """Return an arm's runs."""
        return [run for run in self.runs if run.arm == arm]

    def describe(self) -> str:
        """Return the runs and the arithmetic of each arm, in words."""
        lines = [f"{len(self.runs)} runs: {len(self.arms)} arms x {len(self.spec.seeds)} seeds"]
        for label in self.arms:
            run = self.of(label)[0]
            length = (
                f"{run.recipe.steps} steps" if run.recipe.steps else f"{run.recipe.epochs:g} epochs"
            )
            against = f", against {self.baselines[label]}" if label in self.baselines else ""
            lines.append(
                f"  {label}: {length} of {run.completions_per_step} completions in groups of "
                f"{run.group_size}{against}"
            )
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)


def planned_run(
    spec: StudySpec,
    out: Path,
    fields: Mapping[str, Any],
    arm: Arm,
    seed: int,
    labels: list[str],
) -> PlannedRun:
    """Return an arm's run with one seed, its recipe checked.

    Raises:
        StudyError: `{run:LABEL}` or `hold:` cannot be filled in.
        RecipeError: the recipe is not valid; the arm is named.
    """
    where = {label: str(out.resolve() / "runs" / f"{slug(label)}-seed{seed}") for label in labels}
    changed = apply(fields, {**arm.changes, "seed": seed})
    needs = mentioned_runs(changed)
    changed = fill(changed, {"seed": seed, **arm.variables}, where)
    group = (changed.get("grpo") or {}).get("num_generations", _DEFAULT_GROUP)
    held = spec.hold.completions_per_step
    if held is not None:
        if not isinstance(group, int) or held % group:
            raise StudyError(
                f"arm {arm.label}: hold.completions_per_step={held} is no multiple of the group "
                f"size {group}: valid: a common multiple of all group sizes"
            )
        for key in ("per_device_train_batch_size", "gradient_accumulation_steps"):
            changed["grpo"].pop(key, None)
        changed["prompts_per_step"] = held // group
    try:
        recipe = Recipe.make(changed, f"arm {arm.label}")
        check_sections(recipe)
        batches = batch_plan(recipe, process_count(recipe.processes))
    except ReasonEnvError as error:
        said = str(error)
        prefix = "" if said.startswith("arm ") else f"arm {arm.label}: "
        raise type(error)(f"{prefix}{said}") from error
    return PlannedRun(
        name=f"{slug(arm.label)}-seed{seed}",
        arm=arm.label,
        seed=seed,
        recipe=recipe,
        needs=tuple(Path(where[label]).name for label in sorted(needs)),
        group_size=batches.group_size,
        completions_per_step=batches.completions_per_step,
    )


def _ordered(arms: Mapping[str, Arm]) -> list[str]:
    """Return the labels so that each comes after those whose runs it names.

    Raises:
        StudyError: they name each other in a circle.
    """
    needs = {label: mentioned_runs(dict(arm.changes)) & set(arms) for label, arm in arms.items()}
    ordered: list[str] = []
    while len(ordered) < len(arms):
        ready = [x for x in arms if x not in ordered and needs[x] <= set(ordered)]
        if not ready:
            circle = ", ".join(label for label in arms if label not in ordered)
            raise StudyError(f"these arms need each other's runs in a circle: {circle}")
        ordered += ready
    return ordered


def _meant(
    spec: StudySpec,
    arms: Mapping[str, Arm],
    pairs: Mapping[str, str],
    runs: list[PlannedRun],
) -> list[str]:
    """Return in what arms differ from their baselines beside the named factor, in sentences."""
    first = {run.arm: run.recipe.model_dump(mode="json") for run in reversed(runs)}
    warnings = []
    for label, base in pairs.items():
        paths = [p for p in differences(first[label], first[base]) if not _derived(p, spec)]
        if not paths:
            warnings.append(f"{label} and {base} are the same run: nothing is compared")
            continue
        named = arms[label].factor
        if not named:
            if len(paths) > 1:
                warnings.append(
                    f"{label} differs from {base} in {len(paths)} fields ({', '.join(paths)}): an "
                    "effect belongs to all of them together; name them under `factor:` if they are "
                    "one treatment"
                )
            continue
        more = [p for p in paths if not any(p == f or p.startswith(f"{f}.") for f in named)]
        if more:
            warnings.append(
                f"{label} differs from {base} in more than {', '.join(dict.fromkeys(named))}: in "
                f"{', '.join(more)}, too; an effect cannot be put down to the named factor"
            )
        elif arms[label].point:
            moved = [
                n for n, value in arms[label].point.items() if arms[base].point.get(n) != value
            ]
            if len(moved) > 1:
                warnings.append(
                    f"{label} differs from {base} in {' and '.join(moved)} at once; for one factor "
                    "at a time give `compare:` as a mapping"
                )
    return warnings


def _derived(path: str, spec: StudySpec) -> bool:
    """Return whether a field differs only since the study holds something else equal."""
    return path == "prompts_per_step" and spec.hold.completions_per_step is not None


def _seeds(spec: StudySpec) -> list[str]:
    count = len(spec.seeds)
    if count >= 3:
        return []
    return [
        f"{count} seed{'s are' if count > 1 else ' is'} too few for an interval or a test: at "
        "least 3; the report says so instead of printing one"
    ]
