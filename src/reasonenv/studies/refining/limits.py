"""Thresholds of the rules, and what a proposal is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from reasonenv.dynamics.health import HealthLimits
from reasonenv.errors import DataError, StudyError, did_you_mean

__all__ = ["Proposal", "RefineLimits"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A changed recipe, why, and the figure that speaks for it.

    Attributes:
        label: of the arm.
        changes: fields of the recipe by dotted path.
        factor: fields in which it is meant to differ from the run.
        reason: why it is tried.
        figure: the number behind the reason.
    """

    label: str
    changes: Mapping[str, Any]
    factor: tuple[str, ...]
    reason: str
    figure: str


@dataclass(frozen=True)
class RefineLimits:
    """Thresholds of the rules.

    Attributes:
        layer_share: share of the layers that a placement keeps, at least two of them and an even
            number; 1/8 makes four of 28 or 32, as in the study.
        fewest_layers: of a model, below which no placement is proposed.
        module_share: of the update's mass that the kept modules hold together.
        beta_factor: by which a KL weight is raised; 10/3 takes the study's 0.003 to 0.01.
        clip_step: added to the upper clip; the study goes from 0.2 to 0.3.
        temperature_step: added to the temperature.
        heaviest: factor of correctness above which gating alone is proposed.
        health: thresholds of the health checks that the rules read (`cv`, `kl`, `window` ...).
    """

    layer_share: float = 0.125
    fewest_layers: int = 4
    module_share: float = 0.8
    beta_factor: float = 10 / 3
    clip_step: float = 0.1
    temperature_step: float = 0.2
    heaviest: float = 8.0
    health: HealthLimits = field(default_factory=HealthLimits)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> RefineLimits:
        """Return limits with some given by name, those of the health checks among them.

        Raises:
            StudyError: an unknown name (the nearest is said), or a value that is not valid.
        """
        own = {one.name for one in fields(cls)} - {"health"}
        health = {one.name for one in fields(HealthLimits)}
        for name, value in given.items():
            if name not in own | health:
                raise StudyError(f"threshold `{name}`: {did_you_mean(name, own | health)}")
            if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
                raise StudyError(f"threshold {name}={value!r}: a number above 0")
            if name in ("layer_share", "module_share") and value > 1:
                raise StudyError(f"threshold {name}={value!r}: a share, at most 1")
        try:
            checks = HealthLimits.of({k: v for k, v in given.items() if k in health})
        except DataError as error:
            raise StudyError(str(error)) from error
        return cls(**{k: v for k, v in given.items() if k in own}, health=checks)
