"""`refine`: a run's evidence, the rules, and the study file that comes of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reasonenv.errors import StudyError
from reasonenv.files import write_atomic
from reasonenv.studies.refining.contribution import layer_contributions, layer_study
from reasonenv.studies.refining.evidence import Evidence, gather
from reasonenv.studies.refining.limits import Proposal, RefineLimits
from reasonenv.studies.refining.objective import larger_beta, more_exploration
from reasonenv.studies.refining.placement import fewer_layers, fewer_modules
from reasonenv.studies.refining.shaping import correctness_first
from reasonenv.studies.spec import StudySpec

__all__ = ["RefineLimits", "Refinement", "refine", "write_layer_study"]


@dataclass(frozen=True, slots=True)
class Refinement:
    """What `refine` found.

    Attributes:
        path: the study file; None where nothing speaks for a change.
        proposals: each with its reason and figure.
        missing: what could not be judged, in sentences.
    """

    path: Path | None
    proposals: tuple[Proposal, ...]
    missing: tuple[str, ...]


def refine(
    run: str | Path,
    out: str | Path | None = None,
    *,
    seeds: Sequence[int] | None = None,
    limits: RefineLimits | None = None,
    contributions: str | Path | None = None,
) -> Refinement:
    """Propose changed recipes for a run, and write the study that tries them against it.

    Args:
        run: a finished run's directory.
        out: the study file; `RUN/refine.yaml` unless given.
        seeds: of each arm; the run's seed and the two after it unless given.
        limits: thresholds of the rules.
        contributions: the directory of a study that trained each layer alone.

    Raises:
        RunDirectoryError: there is no run.
        StudyError: it recorded no step, or `contributions` holds none.
        StorageError: the file cannot be written.
    """
    own = limits or RefineLimits()
    evidence = gather(run, own.health)
    measured = layer_contributions(contributions) if contributions is not None else None
    proposals = [
        *fewer_layers(evidence, own, measured),
        *fewer_modules(evidence, own),
        *larger_beta(evidence, own),
        *more_exploration(evidence, own),
        *correctness_first(evidence, own),
    ]
    missing = tuple(dict.fromkeys([*evidence.missing, *_few_layers(evidence, own)]))
    if not proposals:
        return Refinement(None, (), missing)
    target = Path(out) if out is not None else evidence.run / "refine.yaml"
    spec = StudySpec.make(
        {
            "name": f"refine-{evidence.run.resolve().name}",
            "description": f"What the run {evidence.run.resolve().name} suggests to try.",
            "base": _base(evidence.run, target),
            "runs": [
                {"label": "baseline"},
                *(
                    {
                        "label": one.label,
                        "set": dict(one.changes),
                        "factor": list(one.factor),
                        "reason": one.reason,
                        "figure": one.figure,
                    }
                    for one in proposals
                ),
            ],
            "compare": "baseline",
            "seeds": _seeds(evidence, seeds),
        }
    )
    write_atomic(target, spec.to_yaml())
    return Refinement(target, tuple(proposals), missing)


def write_layer_study(
    run: str | Path, out: str | Path | None = None, *, seeds: Sequence[int] | None = None
) -> Path:
    """Write the study that measures how much each layer contributes; return its file.

    Raises:
        StudyError: the run has no adapter on all layers.
    """
    evidence = gather(run, RefineLimits().health)
    section = evidence.recipe.lora
    if not evidence.layers or section is None or section.get("layers", "all") != "all":
        raise StudyError(f"{run}: needs a finished run with an adapter on all layers")
    target = Path(out) if out is not None else evidence.run / "layers.yaml"
    base = _base(evidence.run, target)
    count = max(evidence.layers) + 1
    study = layer_study(base, count, _seeds(evidence, seeds), evidence.parameters)
    write_atomic(target, study.to_yaml())
    return target


def _seeds(evidence: Evidence, given: Sequence[int] | None) -> list[int]:
    if given is not None:
        return list(given)
    return [evidence.recipe.seed + n for n in range(3)]


def _base(run: Path, target: Path) -> str:
    """Return the run's recipe as a path from the study file."""
    return os.path.relpath(run.resolve() / "recipe.yaml", target.resolve().parent)


def _few_layers(evidence: Evidence, limits: RefineLimits) -> list[str]:
    count = len(evidence.layers)
    if 0 < count < limits.fewest_layers:
        return [
            f"the adapter sits in {count} layers, fewer than {limits.fewest_layers}: no placement "
            "is proposed"
        ]
    return []
