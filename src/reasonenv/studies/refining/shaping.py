"""Heavier or gated correctness, where a wrong answer can outscore a right one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from statistics import fmean

from reasonenv.rewards import Reward, gate
from reasonenv.studies.refining.evidence import Evidence
from reasonenv.studies.refining.limits import Proposal, RefineLimits

__all__ = ["correctness_first"]

_FACTORS = (1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)


def correctness_first(evidence: Evidence, limits: RefineLimits) -> list[Proposal]:
    """Return the reward with heavier, and with gated, correctness, where it does not dominate."""
    reward = evidence.reward
    if reward is None or not reward.warnings():
        return []
    addends = reward.addends()
    paying = [a for a in addends if a.range(correct=True).low > a.range(correct=False).high]
    shaping = [a for a in addends if a not in paying]
    if not paying or not shaping:
        return []
    right, wrong = reward.range(correct=True), reward.range(correct=False)
    figure = f"a wrong answer can earn {wrong.high:g}, a right one may earn {right.low:g}"
    figure += _within(evidence, paying, shaping)
    proposals = []
    for factor in _FACTORS:
        heavier = _sum([*(factor * a for a in paying), *shaping])
        if factor <= limits.heaviest and not heavier.warnings():
            proposals.append(
                Proposal(
                    label=f"correctness x {factor:g}",
                    changes={"reward": repr(heavier)},
                    factor=("reward",),
                    reason="the least of the factors tried at which correctness dominates (the "
                    "study's re-weighting)",
                    figure=figure,
                )
            )
            break
    gated = _sum(
        [*paying, *(gate(a, when="solved") if a.range(correct=False).high > 0 else a
                    for a in shaping)]
    )  # fmt: skip
    if not gated.warnings():
        proposals.append(
            Proposal(
                label="gated shaping",
                changes={"reward": repr(gated)},
                factor=("reward",),
                reason="shaping pays for right answers alone; re-weighting would leave it a share "
                "of every group of wrong ones",
                figure=figure,
            )
        )
    return proposals


def _within(evidence: Evidence, paying: Sequence[Reward], shaping: Sequence[Reward]) -> str:
    """Return how much either moves rewards inside groups, where that was logged."""
    rows = evidence.train[-20:]

    def moved(parts: Sequence[Reward]) -> float | None:
        names = [f"within/{part.label}" for part in parts]
        known = [
            math.hypot(*(row[n] for n in names))
            for row in rows
            if all(isinstance(row.get(n), int | float) for n in names)
        ]
        return fmean(known) if known else None

    right, other = moved(paying), moved(shaping)
    if right is None or other is None:
        return ""
    return (
        f"; inside groups the reward moved by {right:.3g} for correctness and {other:.3g} for "
        "shaping"
    )


def _sum(parts: Sequence[Reward]) -> Reward:
    return reduce(lambda a, b: a + b, parts)
