"""Mixed groups of each arm, predicted and measured.

Two predictions stand beside what was measured. `mixed_groups_expected` in the metrics comes from
the samples before the step (by problem, or by level where problems are endless). The one from the
stored rollouts takes a group's p from other groups of its problem, which needs problems that are
asked again. Neither sees the group that it predicts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from reasonenv.dynamics.groups import measure_groups
from reasonenv.errors import MissingExtraError
from reasonenv.studies.plan import Plan
from reasonenv.studies.results import RunResult, curve
from reasonenv.studies.statistics import Summary, summarise

__all__ = ["ArmSignal", "group_signal"]

_WINDOW = 20  # steps: a problem's groups further away were sampled from another policy


@dataclass(frozen=True, slots=True)
class ArmSignal:
    """Mixed groups of an arm, over seeds.

    Attributes:
        arm: its label.
        group_size: G.
        source: what the prediction comes from.
        measured: share of mixed groups, over the steps or groups that have a prediction.
        predicted: of the same.
        gap: measured less predicted, by seed.
    """

    arm: str
    group_size: int
    source: str
    measured: Summary
    predicted: Summary
    gap: Summary


def group_signal(plan: Plan, results: Mapping[str, RunResult]) -> tuple[list[ArmSignal], list[str]]:
    """Return what is known of each arm, and what is missing, in sentences."""
    found, missing = [], []
    for label in plan.arms:
        done = [results[run.name] for run in plan.of(label) if results[run.name].train]
        if not done:
            continue
        size = done[0].run.group_size
        for source, read in (("earlier samples", _from_metrics), ("other groups", _from_rollouts)):
            try:
                pairs = [pair for result in done if (pair := read(result, size)) is not None]
            except MissingExtraError as error:
                missing.append(f"group signal of {label} from rollouts: {error}")
                continue
            if not pairs:
                missing.append(f"{label}: nothing predicts its mixed groups from {source}")
                continue
            found.append(
                ArmSignal(
                    arm=label,
                    group_size=size,
                    source=source,
                    measured=summarise([m for m, _ in pairs]),
                    predicted=summarise([p for _, p in pairs]),
                    gap=summarise([m - p for m, p in pairs]),
                )
            )
    return found, missing


def _from_metrics(result: RunResult, size: int) -> tuple[float, float] | None:
    measured = dict(zip(*(x.tolist() for x in curve(result, "mixed_groups")), strict=True))
    expected = dict(zip(*(x.tolist() for x in curve(result, "mixed_groups_expected")), strict=True))
    shared = sorted(measured.keys() & expected.keys())
    if not shared:
        return None
    return fmean(measured[s] for s in shared), fmean(expected[s] for s in shared)


def _from_rollouts(result: RunResult, size: int) -> tuple[float, float] | None:
    if result.files is None:
        return None
    for signal in measure_groups(result.files.rollouts("train"), window=_WINDOW):
        if signal.group_size == size and signal.overall is not None:
            pair = signal.overall.measured["mixed"], signal.overall.predicted["mixed"]
            return pair if all(map(math.isfinite, pair)) else None
    return None
