"""`write_report`: a study's report from its files, as often as one likes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from reasonenv.dynamics.report.panels import Panel
from reasonenv.files import write_atomic
from reasonenv.studies.comparison import Compared, Trend, compare, trends
from reasonenv.studies.finding import finding
from reasonenv.studies.plan import Plan
from reasonenv.studies.report import tables
from reasonenv.studies.report.pages import Picture, Section, Table, as_html, as_markdown, draw
from reasonenv.studies.report.pictures import curve_panel, difference_panel, signal_panel
from reasonenv.studies.results import RunResult, outcome, read_result
from reasonenv.studies.signal import ArmSignal, group_signal
from reasonenv.studies.spec import StudySpec
from reasonenv.studies.store import StudyDir

__all__ = ["write_pages", "write_report", "write_study_report"]

_FEWEST_STEPS = 20  # below which no oscillator is fitted


def write_study_report(
    study: str | Path | StudySpec, out: str | Path | None = None, *, overrides: Sequence[str] = ()
) -> tuple[Path, str]:
    """Write a study's report anew, from what its runs have left so far; nothing is trained.

    Args:
        study: as of `run_study`.
        out: its directory; `studies/NAME` unless given.
        overrides: as they were given to the runs.

    Returns:
        The Markdown file, and the sentence that the study comes to.

    Raises:
        StudyError: the study is not valid.
    """
    spec, folder = (
        (study, Path()) if isinstance(study, StudySpec) else StudySpec.load(study, overrides)
    )
    target = Path(out) if out is not None else Path("studies") / (spec.name or "study")
    return write_report(Plan.make(spec, target, folder))


def write_report(plan: Plan) -> tuple[Path, str]:
    """Write report.md, study.html, plots/ and results.json; return the first and the finding.

    Raises:
        StorageError: a file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    study = StudyDir(plan.out)
    results = {run.name: read_result(run, study) for run in plan.runs}
    measure = plan.spec.measure
    compared = compare(plan, results, measure)
    found_trends = trends(plan, results, measure)
    said = finding(measure, compared, found_trends)
    signals, unsaid = group_signal(plan, results)
    missing = [*_unfinished(results), *unsaid]
    fits = _oscillator(plan, results, missing)
    panels = {
        "curves": curve_panel(plan, results, [measure, "reward", "accuracy"]),
        "differences": difference_panel(compared, measure),
        "mixed": signal_panel(signals),
        "oscillator": fits,
    }
    drawn = [panel for panel in panels.values() if panel is not None]
    pictures = dict(
        zip(
            [name for name, panel in panels.items() if panel is not None],
            draw(drawn, plan.out / "plots"),
            strict=True,
        )
    )
    for result in results.values():
        missing += [f"{result.run.name}: {line}" for line in result.missing]
    table = tables.oscillator_table(fits.rows) if fits else None
    know = list(dict.fromkeys(missing))
    sections = _sections(
        plan, results, compared, found_trends, signals, pictures, said, know, table
    )
    _write_data(plan, results, compared, found_trends, signals, said)
    return write_pages(plan, sections), said


def write_pages(plan: Plan, sections: Sequence[Section]) -> Path:
    """Write the sections as report.md and study.html; return the first."""
    title = f"Study {plan.spec.name or plan.out.name}"
    write_atomic(plan.out / "study.html", as_html(title, sections))
    report = plan.out / "report.md"
    write_atomic(report, as_markdown(title, sections, "plots"))
    return report


def _sections(
    plan: Plan,
    results: Mapping[str, RunResult],
    compared: Sequence[Compared],
    found_trends: Sequence[Trend],
    signals: Sequence[ArmSignal],
    pictures: Mapping[str, Picture],
    said: str,
    missing: Sequence[str],
    fits: Table | None,
) -> list[Section]:
    measure = plan.spec.measure
    sections = [Section("", [said])]
    if plan.spec.description:
        sections.append(Section("The question", [plan.spec.description]))
    know = [*plan.warnings, *_coarse(compared), *_other_versions(results), *missing]
    if know:
        sections.append(Section("What a reader has to know", items=know))
    reasons = [
        f"{arm.label}: {arm.reason}" + (f" ({arm.figure})" if arm.figure else "")
        for arm in plan.arms.values()
        if arm.reason
    ]
    if reasons:
        sections.append(Section("Why these arms", items=reasons))
    sections.append(
        Section(
            "Arms",
            [f"{measure} at the end of each finished run, mean and deviation over seeds, with a "
             "95 % interval by Student's t."],
            parts=[tables.arm_table(plan, results, measure)],
        )
    )  # fmt: skip
    more = tables.metric_table(plan, results, plan.spec.report.metrics)
    if len(more.heads) > 1:
        sections.append(
            Section(
                "Further figures",
                ["Mean over seeds (deviation); of training the mean over its last tenth."],
                parts=[more],
            )
        )
    if compared:
        sections.append(
            Section(
                "Against the baseline",
                ["Paired by seed, at the largest budget that all runs compared have reached. p is "
                 "of a paired t test; Holm's correction is over the arms of one kind of budget."],
                parts=[tables.comparison_table(compared),
                       *([pictures["differences"]] if "differences" in pictures else [])],
            )
        )  # fmt: skip
    if found_trends:
        sections.append(
            Section(
                "Trend",
                ["A straight line through the arms of each seed over log2 of the factor."],
                parts=[tables.trend_table(found_trends)],
            )
        )
    if "curves" in pictures:
        sections.append(Section("Curves", parts=[pictures["curves"]]))
    if signals:
        sections.append(
            Section(
                "Mixed groups, predicted and measured",
                ["The share of groups that hold a right and a wrong answer: the closed form "
                 "1 - p^G - (1 - p)^G at p from other samples than the group, and what came."],
                parts=[tables.signal_table(signals), pictures["mixed"]],
            )
        )  # fmt: skip
    if "oscillator" in pictures:
        sections.append(
            Section(
                "Reduced-order model",
                ["A damped oscillator fitted to each run's reward, beside the best of the curves "
                 "without oscillation: the difference in AICc (below 0: the oscillator is better), "
                 "and the error on the last two thirds when fitted on the first, which no curve "
                 "can bring below the noise."],
                parts=[*([fits] if fits else []), pictures["oscillator"]],
            )
        )  # fmt: skip
    logs = tables.failure_logs(results)
    if logs:
        sections.append(Section("Failed runs", ["The same command tries them again."], parts=logs))
    sections.append(Section("Runs", parts=[tables.run_table(plan, results, measure)]))
    return sections


def _unfinished(results: Mapping[str, RunResult]) -> list[str]:
    said = []
    for state, what in (
        ("failed", "failed and are left out"),
        ("unfinished", "are not finished and are left out of the figures"),
        ("not started", "have not started"),
    ):
        names = [name for name, result in results.items() if result.state == state]
        if names:
            said.append(f"{len(names)} of {len(results)} runs {what}: {', '.join(names)}")
    return said


def _coarse(compared: Sequence[Compared]) -> list[str]:
    lines = [one for one in compared if one.coarse]
    if not lines:
        return []
    widest = max(lines, key=lambda one: one.gap)
    return [
        f"values at equal {widest.axis} are read from a line between evaluations up to "
        f"{widest.gap:,.0f} {widest.axis} apart: set eval.every lower for closer ones"
    ]


def _other_versions(results: Mapping[str, RunResult]) -> list[str]:
    held: dict[str, list[str]] = {}
    for name, result in results.items():
        if result.files is None:
            continue
        try:
            facts = json.loads((result.files.path / "run.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        said = ", ".join(f"{k} {v}" for k, v in sorted(facts.get("versions", {}).items()))
        held.setdefault(said, []).append(name)
    if len(held) < 2:
        return []
    return [
        "the runs were made by different versions: "
        + "; ".join(f"{versions} ({', '.join(names)})" for versions, names in held.items())
    ]


def _oscillator(plan: Plan, results: Mapping[str, RunResult], missing: list[str]) -> Panel | None:
    if not plan.spec.report.oscillator:
        return None
    long = {
        name: result
        for name, result in results.items()
        if result.files is not None and len(result.train) >= _FEWEST_STEPS
    }
    short = [name for name, result in results.items() if result.train and name not in long]
    if short:
        missing.append(
            f"no oscillator is fitted to {', '.join(short)}: fewer than {_FEWEST_STEPS} steps"
        )
    if not long:
        return None
    from reasonenv.dynamics.report.signal import oscillator_panel

    files = {name: result.files for name, result in long.items() if result.files is not None}
    return oscillator_panel(files, {name: long[name].train for name in files})


def _write_data(
    plan: Plan,
    results: Mapping[str, RunResult],
    compared: Sequence[Compared],
    found_trends: Sequence[Trend],
    signals: Sequence[ArmSignal],
    said: str,
) -> None:
    content: dict[str, Any] = {
        "measure": plan.spec.measure,
        "finding": said,
        "warnings": list(plan.warnings),
        "runs": [
            {
                "run": name,
                "arm": result.run.arm,
                "seed": result.run.seed,
                "state": result.state,
                "steps": result.train[-1]["step"] if result.train else 0,
                "outcome": outcome(result, plan.spec.measure),
                "tail": list(result.tail),
            }
            for name, result in results.items()
        ],
        "comparisons": [asdict(one) for one in compared],
        "trends": [asdict(one) for one in found_trends],
        "mixed_groups": [asdict(one) for one in signals],
    }
    write_atomic(plan.out / "results.json", json.dumps(_strict(content), indent=1) + "\n")


def _strict(value: Any) -> Any:
    """Return plain data without NaN, which is no JSON."""
    if isinstance(value, dict):
        return {key: _strict(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(inner) for inner in value]
    return None if isinstance(value, float) and value != value else value
