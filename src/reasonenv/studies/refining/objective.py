"""KL weight, upper clip and temperature."""

from __future__ import annotations

import math
from statistics import fmean

from reasonenv.studies.refining.evidence import Evidence
from reasonenv.studies.refining.limits import Proposal, RefineLimits

__all__ = ["larger_beta", "more_exploration"]

_FIRST_BETA = 0.001  # for a run without a KL term, as several published ones have it
_EPSILON = 0.2  # TRL's


def larger_beta(evidence: Evidence, limits: RefineLimits) -> list[Proposal]:
    """Return a larger KL weight where the KL to the reference grows."""
    finding = evidence.findings.get("kl_growth")
    if finding is None:
        return []
    beta = float(evidence.recipe.grpo.get("beta", 0.0))
    raised = _round(beta * limits.beta_factor) if beta else _FIRST_BETA
    return [
        Proposal(
            label=f"beta={raised:g}",
            changes={"grpo.beta": raised},
            factor=("grpo.beta",),
            reason=f"a larger KL weight than {beta:g} holds the policy nearer to the reference",
            figure=finding.message,
        )
    ]


def more_exploration(evidence: Evidence, limits: RefineLimits) -> list[Proposal]:
    """Return a larger upper clip, and a higher temperature, where the reward hardly varies."""
    values = [
        row["reward_cv"]
        for row in evidence.train[-limits.health.window :]
        if isinstance(row.get("reward_cv"), int | float) and math.isfinite(row["reward_cv"])
    ]
    if "vanishing_cv" not in evidence.findings or not values:
        return []
    figure = (
        f"coefficient of variation of the reward {fmean(values):.3g} over the last {len(values)} "
        f"steps (limit {limits.health.cv:g})"
    )
    grpo = evidence.recipe.grpo
    upper = float(grpo.get("epsilon_high") or grpo.get("epsilon", _EPSILON))
    temperature = float(grpo.get("temperature", 1.0))
    clip, warm = _round(upper + limits.clip_step), _round(temperature + limits.temperature_step)
    return [
        Proposal(
            label=f"epsilon_high={clip:g}",
            changes={"grpo.epsilon_high": clip},
            factor=("grpo.epsilon_high",),
            reason=f"a larger upper clip than {upper:g} lets rare tokens grow",
            figure=figure,
        ),
        Proposal(
            label=f"temperature={warm:g}",
            changes={"grpo.temperature": warm},
            factor=("grpo.temperature",),
            reason=f"a higher temperature than {temperature:g} makes the members of a group differ",
            figure=figure,
        ),
    ]


def _round(value: float) -> float:
    return float(f"{value:.3g}")
