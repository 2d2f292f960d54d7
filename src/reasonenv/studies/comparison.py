"""Arms against their baselines: at equal steps and at equal rollouts, seed by seed.

An arm with larger groups generates more rollouts a step unless the study holds them equal; what
it wins at equal steps it may lose at equal rollouts. So both are always given, at the largest
budget that all runs of a family (a baseline and its arms) have reached.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from reasonenv.studies.plan import Plan
from reasonenv.studies.results import RunResult, at, curve
from reasonenv.studies.statistics import Paired, Summary, corrected, paired, summarise

__all__ = ["AXES", "Compared", "Trend", "compare", "trends"]

AXES = ("steps", "rollouts")
"""What two runs may have equally much of."""

_COARSE = 0.25  # share of the budget between two evaluations, above which the line between is said


@dataclass(frozen=True, slots=True)
class Compared:
    """An arm against its baseline at one budget.

    Attributes:
        arm, baseline: labels.
        axis: "steps" or "rollouts".
        budget: how many of them.
        arm_mean, baseline_mean: of the measure over the seeds that both have.
        difference: arm less baseline, by seed.
        corrected: its p value after Holm, over the arms of the same axis.
        gap: the widest distance between the evaluations that a value was interpolated from.
        lost: seeds of either that are missing.
    """

    arm: str
    baseline: str
    axis: str
    budget: float
    arm_mean: float
    baseline_mean: float
    difference: Paired
    corrected: float | None
    gap: float
    lost: tuple[int, ...]

    @property
    def coarse(self) -> bool:
        """Whether the value hangs on a long line between two evaluations."""
        return self.gap > _COARSE * max(self.budget, 1)


@dataclass(frozen=True, slots=True)
class Trend:
    """How the measure goes with a numeric factor that is doubled.

    Attributes:
        factor: its path.
        axis, budget: where it is read.
        slope: change of the measure with each doubling, by seed.
        levels: values of the factor.
    """

    factor: str
    axis: str
    budget: float
    slope: Summary
    levels: tuple[float, ...]


def compare(plan: Plan, results: Mapping[str, RunResult], measure: str) -> list[Compared]:
    """Return every arm against its baseline, on both axes.

    Args:
        plan: of the study.
        results: of its runs, by name.
        measure: the outcome.
    """
    compared = []
    for axis in AXES:
        own = []
        for base in dict.fromkeys(plan.baselines.values()):
            family = [base, *(arm for arm, of in plan.baselines.items() if of == base)]
            budget = _budget(plan, results, measure, family, axis)
            if budget is None:
                continue
            values = {arm: _values(plan, results, measure, arm, budget, axis) for arm in family}
            for arm in family[1:]:
                shared = [s for s in plan.spec.seeds if s in values[arm] and s in values[base]]
                lost = tuple(s for s in plan.spec.seeds if s not in shared)
                pairs = [(values[arm][s], values[base][s]) for s in shared]
                own.append(
                    Compared(
                        arm=arm,
                        baseline=base,
                        axis=axis,
                        budget=budget,
                        arm_mean=fmean(a[0] for a, _ in pairs) if pairs else math.nan,
                        baseline_mean=fmean(b[0] for _, b in pairs) if pairs else math.nan,
                        difference=paired([a[0] - b[0] for a, b in pairs]),
                        corrected=None,
                        gap=max((max(a[1], b[1]) for a, b in pairs), default=0.0),
                        lost=lost,
                    )
                )
        adjusted = corrected({one.arm: one.difference.p for one in own})
        compared += [replace(one, corrected=adjusted[one.arm]) for one in own]
    return compared


def trends(plan: Plan, results: Mapping[str, RunResult], measure: str) -> list[Trend]:
    """Return the trend with a grid's only factor, where its values are positive numbers."""
    if len(plan.spec.vary) != 1:
        return []
    factor, given = next(iter(plan.spec.vary.items()))
    numbers = [x for x in given if isinstance(x, int | float) and not isinstance(x, bool)]
    levels = [float(x) for x in numbers if x > 0]
    if len(levels) < len(given) or len(set(levels)) < 2:
        return []
    found = []
    for axis in AXES:
        budget = _budget(plan, results, measure, list(plan.arms), axis)
        if budget is None:
            continue
        values = {
            label: _values(plan, results, measure, label, budget, axis) for label in plan.arms
        }
        slopes = []
        for seed in plan.spec.seeds:
            points = [
                (math.log2(arm.point[factor]), values[label][seed][0])
                for label, arm in plan.arms.items()
                if seed in values[label]
            ]
            if len(points) == len(plan.arms):  # a seed without some level has another slope
                x, y = np.array(points).T
                slopes.append(float(np.polyfit(x, y, 1)[0]))
        found.append(Trend(factor, axis, budget, summarise(slopes), tuple(levels)))
    return found


def _budget(
    plan: Plan,
    results: Mapping[str, RunResult],
    measure: str,
    family: Sequence[str],
    axis: str,
) -> float | None:
    """Return the largest budget that all finished runs of a family have reached; None for none."""
    ends = []
    for arm in family:
        for run in plan.of(arm):
            result = results[run.name]
            if result.state != "finished":
                continue
            x, _ = curve(result, measure, axis)
            if len(x) and x[-1] > 0:
                ends.append(float(x[-1]))
    return min(ends) if ends else None


def _values(
    plan: Plan,
    results: Mapping[str, RunResult],
    measure: str,
    arm: str,
    budget: float,
    axis: str,
) -> dict[int, tuple[float, float]]:
    """Return (value, gap) by seed, of the finished runs that reach the budget."""
    found = {}
    for run in plan.of(arm):
        result = results[run.name]
        value = at(result, measure, budget, axis) if result.state == "finished" else None
        if value is not None:
            found[run.seed] = value
    return found
