from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from reasonenv.studies import Plan
from reasonenv.studies.comparison import compare, trends
from reasonenv.studies.report.tables import oscillator_table
from reasonenv.studies.report.write import write_report
from reasonenv.studies.results import RunResult, read_result
from reasonenv.studies.statistics import corrected, paired, t_p_value
from reasonenv.studies.store import StudyDir
from tests.studies.conftest import leave


def read(plan: Plan) -> dict[str, RunResult]:
    return {run.name: read_result(run, StudyDir(plan.out)) for run in plan.runs}


def test_p_values_are_those_of_tables() -> None:
    # Student's table: t = 2.776 at 4 degrees of freedom, and 4.303 at 2, leave 5 %.
    assert t_p_value(2.776, 4) == pytest.approx(0.05, abs=1e-4)
    assert t_p_value(4.303, 2) == pytest.approx(0.05, abs=1e-4)
    assert t_p_value(0.0, 3) == 1.0
    assert corrected({"a": 0.04, "b": None, "c": 0.01}) == {"a": 0.04, "b": None, "c": 0.02}


def test_two_seeds_give_a_mean_and_neither_interval_nor_p() -> None:
    said = paired([0.1, 0.3])
    assert (said.mean, said.seeds, said.interval, said.p) == (pytest.approx(0.2), 2, None, None)
    assert paired([0.1, 0.1, 0.1]).p is None  # nothing to judge equal differences by


def test_group_sizes_are_compared_at_equal_steps_and_at_equal_rollouts(
    planned: Callable[..., Plan],
) -> None:
    # Accuracy is a function of the rollouts alone: the larger group wins at equal steps, since it
    # samples twice as many, and wins nothing at equal rollouts.
    plan = planned(vary={"grpo.num_generations": [4, 8]}, set={"prompts_per_step": 4})

    def accuracy(run, step):
        return step * run.completions_per_step / 1000 + 0.01 * run.seed

    leave(plan, accuracy)
    steps, rollouts = compare(plan, read(plan), "eval_accuracy")
    assert (steps.axis, steps.budget) == ("steps", 10)
    assert steps.difference.mean == pytest.approx(10 * 16 / 1000)
    assert (rollouts.axis, rollouts.budget) == ("rollouts", 160)
    assert rollouts.difference.mean == pytest.approx(0, abs=1e-12)
    slopes = trends(plan, read(plan), "eval_accuracy")
    assert [t.slope.mean for t in slopes] == pytest.approx([0.16, 0], abs=1e-12)


def test_rollouts_that_were_not_counted_are_the_planned_ones(planned: Callable[..., Plan]) -> None:
    plan = planned(vary={"grpo.num_generations": [4, 8]}, set={"prompts_per_step": 4})
    leave(plan, lambda run, step: step / 10, rollouts=False)
    assert {one.budget for one in compare(plan, read(plan), "eval_accuracy")} == {10, 160}


def test_the_report_states_its_finding_with_its_interval(planned: Callable[..., Plan]) -> None:
    plan = planned(vary={"grpo.num_generations": [4, 8]}, hold={"completions_per_step": 32})
    offsets = {0: 0.0, 1: 0.01, 2: -0.01}

    def accuracy(run, step):
        gain = 0.02 + offsets[run.seed] / 10 if run.group_size == 8 else 0.0
        return step / 20 + offsets[run.seed] + gain

    leave(plan, accuracy)
    report, said = write_report(plan)
    assert "changes eval_accuracy by +0.02 [0.0175 to 0.0225]" in said
    assert "equal rollouts here" in said
    assert "the interval leaves 0 out" in said
    text = report.read_text()
    assert "## Against the baseline" in text
    html = (plan.out / "study.html").read_text()
    assert html.count("data:image/png;base64,") == 2
    assert said.split(" (")[0] in html
    assert (plan.out / "plots/curves.png").read_bytes()[:4] == b"\x89PNG"
    data = json.loads((plan.out / "results.json").read_text())
    assert data["finding"] == said
    assert len(data["runs"]) == 6


def test_no_difference_is_said_as_plainly_as_one(planned: Callable[..., Plan]) -> None:
    plan = planned(runs=[{"label": "a"}, {"label": "b", "set": {"grpo.beta": 0.1}}])
    leave(plan, lambda run, step: 0.5 + (run.arm == "b") * (0.1, -0.2, 0.1)[run.seed])
    _, said = write_report(plan)
    assert "no difference is shown" in said
    assert "over 3 seeds" in said


def test_a_pair_with_other_group_sizes_is_told_on_both_axes(planned: Callable[..., Plan]) -> None:
    plan = planned(
        runs=[{"label": "a"}, {"label": "b", "set": {"grpo.num_generations": 8}}],
        set={"prompts_per_step": 4},
    )
    leave(plan, lambda run, step: step * run.completions_per_step / 1000 + run.seed / 100)
    _, said = write_report(plan)
    assert "b reaches a eval_accuracy" not in said
    assert "at equal rollouts (320)" in said
    assert "At equal steps (10) the difference is -0.32 [-0.32 to -0.32]" in said


def test_a_missing_run_leaves_its_pair_out_and_is_named(planned: Callable[..., Plan]) -> None:
    plan = planned(runs=[{"label": "a"}, {"label": "b", "set": {"grpo.beta": 0.1}}])
    leave(plan, lambda run, step: 0.5, only=["a-seed0", "a-seed1", "a-seed2", "b-seed0"])
    study = StudyDir(plan.out)
    study.log("b-seed1").write_text("loading\nModelError: \x1b[1mno\x1b[0m such model\n")
    study.fail("b-seed1", 1)
    metrics = study.run("a-seed2") / "metrics.jsonl"
    metrics.write_text(metrics.read_text()[:-9])  # cut off in the middle of its last line
    report, said = write_report(plan)
    text = report.read_text()
    assert "too few seeds" in said
    assert "1 of 6 runs failed and are left out: b-seed1" in text
    assert "1 of 6 runs have not started: b-seed2" in text
    assert "ModelError: no such model" in text
    assert "metrics.jsonl: the last line was cut off" in text.replace("\\", "")


def test_values_between_distant_evaluations_are_said_to_be_so(
    planned: Callable[..., Plan],
) -> None:
    plan = planned(vary={"grpo.num_generations": [4, 8]}, set={"prompts_per_step": 4})
    leave(plan, lambda run, step: step / 10, every=10)
    report, _ = write_report(plan)
    assert "set eval.every lower" in report.read_text().replace("\\", "")
    gaps = [one.gap for one in compare(plan, read(plan), "eval_accuracy")]
    assert gaps == [0.0, 320.0]


def test_a_metric_that_no_run_has_is_no_picture_of_nothing(planned: Callable[..., Plan]) -> None:
    plan = planned(runs=[{"label": "a"}, {"label": "b", "set": {"grpo.beta": 0.1}}], measure="kl")
    leave(plan, lambda run, step: 0.5)
    _, said = write_report(plan)
    assert said.startswith("Nothing can be said about kl")


def test_each_fit_of_the_oscillator_stands_beside_the_best_other_curve() -> None:
    rows = [
        ["a", "oscillator", 0.0, 0.9, 0.99, 0.05, 0.03, 0.09, 0.02, None],
        ["a", "logistic", 4.5, 0.1, 0.98, 0.04, 0.03, 0.06, 0.02, None],
        ["a", "constant", 200.0, 0.0, 0.0, 0.2, None, None, 0.02, None],
        ["a", "zeta (overdamped)", None, None, None, None, 1.1, 2.5, None, 1.5],
        ["b", "power law", 0.0, 0.7, 0.99, 0.03, 0.02, 0.05, 0.01, None],
        ["b", "oscillator", 1.5, 0.3, 0.98, 0.08, 0.05, 0.1, 0.01, None],
        ["b", "zeta (underdamped)", None, None, None, None, None, None, None, 0.4],
        ["all runs", "zeta: 0.95", *[None] * 7, 0.95],
    ]
    assert oscillator_table(rows).rows == [
        ["a", "overdamped", 1.5, "[1.1 to 2.5]", "logistic", -4.5, 0.05, 0.04, 0.02],
        ["b", "underdamped", 0.4, None, "power law", 1.5, 0.08, 0.03, 0.01],
    ]
