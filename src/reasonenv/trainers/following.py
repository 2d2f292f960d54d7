"""The recipe's `track:` section as callbacks: displacement and health while a run trains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reasonenv.models.loading import resolve_model
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.run import Run

__all__ = ["followers"]


def followers(recipe: Recipe, run: Run) -> list[Any]:
    """Return the callbacks that follow a run; they stand before the one that writes metrics.

    Args:
        recipe: its `track:` section says what is followed.
        run: takes their files in `dynamics/`.
    """
    from reasonenv.dynamics import DisplacementTracker, HealthLimits, HealthWatch

    plan, folder = recipe.track, run.path / "dynamics"
    callbacks: list[Any] = []
    if plan.every is not None or plan.spectra_every is not None:
        # Without LoRA a resumed run needs the weights that it began with.
        origin = Path(resolve_model(recipe.model)) if recipe.lora is None else None
        callbacks.append(
            DisplacementTracker(
                folder,
                every=plan.every or plan.spectra_every or 1,
                spectra_every=plan.spectra_every,
                reference=origin if origin is not None and origin.is_dir() else None,
            )
        )
    if plan.health is not None:
        limits = HealthLimits.of(plan.health)
        callbacks.append(HealthWatch(limits, log=folder / "health.jsonl"))
    return callbacks
