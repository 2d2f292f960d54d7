"""The tables of a study's report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from reasonenv.dynamics.report.panels import Cell
from reasonenv.studies.comparison import Compared, Trend
from reasonenv.studies.finding import said_interval, said_value
from reasonenv.studies.plan import Plan
from reasonenv.studies.report.pages import Log, Table
from reasonenv.studies.results import RunResult, outcome
from reasonenv.studies.signal import ArmSignal
from reasonenv.studies.statistics import Summary, summarise

__all__ = [
    "arm_table",
    "comparison_table",
    "failure_logs",
    "metric_table",
    "oscillator_table",
    "run_table",
    "signal_table",
    "trend_table",
]


def arm_table(plan: Plan, results: Mapping[str, RunResult], measure: str) -> Table:
    """Return the outcome of each arm over its seeds."""
    rows: list[list[Cell]] = []
    for label in plan.arms:
        runs = plan.of(label)
        over = _over(plan, results, label, measure)
        finished = sum(results[run.name].state == "finished" for run in runs)
        rows.append(
            [
                label,
                f"{finished} of {len(runs)}",
                runs[0].group_size,
                runs[0].completions_per_step,
                over.mean,
                over.deviation if math.isfinite(over.deviation) else None,
                said_interval(over.interval),
            ]
        )
    heads = ["arm", "runs", "group size", "completions a step", measure, "deviation", "95 %"]
    return Table(heads, rows)


def metric_table(plan: Plan, results: Mapping[str, RunResult], metrics: Sequence[str]) -> Table:
    """Return further metrics of each arm: mean over seeds, deviation in brackets."""
    shown = {
        metric: [_over(plan, results, label, metric) for label in plan.arms] for metric in metrics
    }
    known = {metric: own for metric, own in shown.items() if any(one.seeds for one in own)}
    rows: list[list[Cell]] = [
        [label, *(_mean_and_deviation(own[i]) for own in known.values())]
        for i, label in enumerate(plan.arms)
    ]
    return Table(["arm", *known], rows)


def comparison_table(compared: Sequence[Compared]) -> Table:
    """Return each arm against its baseline, at equal steps and at equal rollouts."""
    rows: list[list[Cell]] = [
        [
            one.arm,
            one.baseline,
            f"{one.budget:,.0f} {one.axis}",
            one.difference.seeds,
            one.arm_mean,
            one.baseline_mean,
            said_value(one.difference.mean, signed=True),
            said_interval(one.difference.interval),
            one.difference.p,
            one.corrected,
        ]
        for one in compared
    ]
    heads = ["arm", "baseline", "at equal", "seeds", "arm's mean", "baseline's", "difference",
             "95 %", "p", "p (Holm)"]  # fmt: skip
    return Table(heads, rows)


def trend_table(trends: Sequence[Trend]) -> Table:
    """Return the change with each doubling of the factor."""
    rows: list[list[Cell]] = [
        [
            trend.factor,
            f"{trend.budget:,.0f} {trend.axis}",
            trend.slope.seeds,
            said_value(trend.slope.mean, signed=True),
            said_interval(trend.slope.interval),
        ]
        for trend in trends
    ]
    return Table(["factor", "at equal", "seeds", "change with each doubling", "95 %"], rows)


def signal_table(signals: Sequence[ArmSignal]) -> Table:
    """Return mixed groups, measured and predicted."""
    rows: list[list[Cell]] = [
        [
            one.arm,
            one.group_size,
            one.source,
            one.measured.mean,
            one.predicted.mean,
            said_value(one.gap.mean, signed=True),
            said_interval(one.gap.interval),
        ]
        for one in signals
    ]
    heads = ["arm", "group size", "predicted from", "measured", "predicted", "gap", "95 %"]
    return Table(heads, rows)


def oscillator_table(rows: Sequence[Sequence[Cell]]) -> Table:
    """Return each run's damping, and how the oscillator stands against the best other curve.

    Args:
        rows: of `dynamics.report.signal.oscillator_panel`.
    """
    shown: list[list[Cell]] = []
    for run in dict.fromkeys(row[0] for row in rows if row[0] != "all runs"):
        own = {str(row[1]): row for row in rows if row[0] == run}
        damping = next(name for name in own if name.startswith("zeta"))
        curves = [row for row in own.values() if row[2] is not None]
        ours = own["oscillator"]
        other = min((row for row in curves if row is not ours), key=lambda row: float(row[2] or 0))
        ends = [float(end) for end in own[damping][6:8] if isinstance(end, float)]
        shown.append(
            [
                run,
                damping.partition("(")[2].rstrip(")"),
                own[damping][9],
                said_interval((ends[0], ends[1])) if len(ends) == 2 else None,
                other[1],
                float(ours[2] or 0) - float(other[2] or 0),
                ours[5],
                other[5],
                ours[8],
            ]
        )
    heads = ["run", "regime", "zeta", "95 %", "best other curve", "AICc to it", "error",
             "its error", "noise"]  # fmt: skip
    return Table(heads, shown)


def run_table(plan: Plan, results: Mapping[str, RunResult], measure: str) -> Table:
    """Return each run: how far it came and what it reached."""
    rows: list[list[Cell]] = []
    for run in plan.runs:
        result = results[run.name]
        steps = result.train[-1]["step"] if result.train else 0
        rows.append([f"runs/{run.name}", run.seed, result.state, steps, outcome(result, measure)])
    return Table(["run", "seed", "state", "steps", measure], rows)


def failure_logs(results: Mapping[str, RunResult]) -> list[Log]:
    """Return the last lines of each failed run."""
    return [
        Log(f"{name} failed; the last lines of logs/{name}.log:", result.tail or ["(nothing)"])
        for name, result in results.items()
        if result.state == "failed"
    ]


def _over(plan: Plan, results: Mapping[str, RunResult], label: str, measure: str) -> Summary:
    values = [
        outcome(results[run.name], measure)
        for run in plan.of(label)
        if results[run.name].state == "finished"
    ]
    return summarise([value for value in values if value is not None])


def _mean_and_deviation(over: Summary) -> str | None:
    if not over.seeds:
        return None
    if not math.isfinite(over.deviation):
        return said_value(over.mean)
    return f"{over.mean:.3g} ({over.deviation:.2g})"
