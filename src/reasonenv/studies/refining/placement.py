"""Fewer layers and fewer modules, at equal trainable parameters.

Which layers matter is open: arXiv 2609.39321 keeps the first and the last two, since activations
move there; arXiv 2607.01232 finds the middle to contribute most. So the candidates compete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reasonenv.studies.refining.evidence import Evidence
from reasonenv.studies.refining.limits import Proposal, RefineLimits

__all__ = ["fewer_layers", "fewer_modules", "kept_layers"]


def kept_layers(count: int, share: float) -> int:
    """Return how many layers a placement keeps: an even number, at least two.

    >>> kept_layers(28, 0.125), kept_layers(32, 0.125), kept_layers(8, 0.125)
    (4, 4, 2)
    """
    return min(count, max(2, 2 * round(count * share / 2)))


def fewer_layers(
    evidence: Evidence, limits: RefineLimits, contributions: Mapping[int, float] | None = None
) -> list[Proposal]:
    """Return placements in fewer layers; none for a model of few, or a run that had some only."""
    section, count = evidence.recipe.lora, len(evidence.layers)
    if section is None or count < limits.fewest_layers or section.get("layers", "all") != "all":
        return []
    keep = kept_layers(count, limits.layer_share)
    half = keep // 2
    ranked = sorted(evidence.layers, key=lambda n: -evidence.layers[n])
    middle = (count - keep) // 2
    choices: list[tuple[str, object, Sequence[int], str]] = [
        (
            "first + last",
            f"first:{half}+last:{half}",
            [*range(half), *range(count - half, count)],
            "the study's R.Layer (arXiv 2609.39321): activations move most at the ends",
        ),
        (
            "middle",
            f"middle:{keep}",
            range(middle, middle + keep),
            "single-layer training contributes most in the middle (arXiv 2607.01232)",
        ),
        (
            "top by displacement",
            sorted(ranked[:keep]),
            ranked[:keep],
            "the layers that this run moved most",
        ),
    ]
    if contributions is not None:
        best = sorted(contributions, key=lambda n: -contributions[n])[:keep]
        choices.append(
            (
                "top by contribution",
                sorted(best),
                best,
                "the layers that gain most when they are trained alone",
            )
        )
    proposals, seen = [], set()
    for label, layers, numbers, reason in choices:
        if frozenset(numbers) in seen:  # the same placement under another name
            continue
        seen.add(frozenset(numbers))
        figure = _figure(evidence, numbers)
        if label == "top by contribution" and contributions is not None:
            figure = "contribution " + ", ".join(
                f"{n}: {contributions[n]:.2f}" for n in sorted(numbers)
            )
        proposals.append(
            Proposal(
                label=label,
                changes={"lora.layers": layers, "lora.match_parameters": evidence.parameters},
                factor=("lora.layers", "lora.match_parameters"),
                reason=f"{reason}; rank raised to {evidence.parameters:,} trainable parameters",
                figure=figure,
            )
        )
    return proposals


def fewer_modules(evidence: Evidence, limits: RefineLimits) -> list[Proposal]:
    """Return the fewest modules that hold most of the update, where these are not all."""
    section = evidence.recipe.lora
    ranked = sorted(evidence.modules, key=lambda m: -evidence.modules[m])
    if section is None or len(ranked) < 2:
        return []
    kept: list[str] = []
    held = 0.0
    for module in ranked:
        if held >= limits.module_share:
            break
        kept.append(module)
        held += evidence.modules[module]
    if len(kept) == len(ranked):
        return []
    names = sorted({module.rpartition(".")[2] for module in kept})
    return [
        Proposal(
            label="fewer modules",
            changes={
                "lora.target_modules": names,
                "lora.match_parameters": evidence.parameters,
            },
            factor=("lora.target_modules", "lora.match_parameters"),
            reason=f"{', '.join(names)} carry most of the update (compare the study's R.Module)",
            figure=f"{held:.0%} of the update's mass in {len(kept)} of {len(ranked)} modules",
        )
    ]


def _figure(evidence: Evidence, numbers: Sequence[int]) -> str:
    total = sum(evidence.layers.values())
    share = sum(evidence.layers[n] for n in numbers) / total if total else 0.0
    what = "summed relative displacement" if evidence.relative else "the update's mass"
    return (
        f"{share:.0%} of {what} in {len(numbers)} of {len(evidence.layers)} layers "
        f"({len(numbers) / len(evidence.layers):.0%} if all moved alike)"
    )
