from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reasonenv.errors import StudyError
from reasonenv.studies import Plan, StudySpec
from reasonenv.studies.spec import study_names
from reasonenv.studies.store import StudyDir
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.trl_config import batch_plan, check_sections


def test_held_completions_make_group_sizes_equal_in_compute(planned: Callable[..., Plan]) -> None:
    plan = planned(vary={"grpo.num_generations": [2, 4, 8, 16]}, hold={"completions_per_step": 256})
    assert {run.completions_per_step for run in plan.runs} == {256}
    assert [plan.of(arm)[0].recipe.prompts_per_step for arm in plan.arms] == [128, 64, 32, 16]
    assert not plan.warnings


def test_a_run_that_names_another_comes_after_it(planned: Callable[..., Plan]) -> None:
    plan = planned(
        runs=[
            {"label": "top", "set": {"lora.layers": "top:1@{run:all}"}},
            {"label": "all"},
            {"label": "random", "set": {"lora.layers": "random:1@{seed}"}},
        ],
        compare="all",
        seeds=[3, 4],
    )
    names = [run.name for run in plan.runs]
    assert names.index("all-seed4") < names.index("top-seed4")
    top = next(run for run in plan.runs if run.name == "top-seed4")
    assert top.needs == ("all-seed4",)
    assert top.recipe.lora["layers"].endswith("study/runs/all-seed4")
    assert plan.of("random")[1].recipe.lora["layers"] == "random:1@4"


def test_arms_that_differ_in_more_than_the_named_factor_are_warned_of(
    planned: Callable[..., Plan],
) -> None:
    runs = [
        {"label": "base"},
        {"label": "beta", "set": {"grpo.beta": 0.1}},
        {"label": "both", "set": {"grpo.beta": 0.1, "grpo.learning_rate": 1e-4}},
        {"label": "same", "set": {"grpo.beta": 0.0}},
    ]
    said = "\n".join(planned(runs=runs, factor="grpo.beta").warnings)
    assert "both differs from base in more than grpo.beta: in grpo.learning_rate, too" in said
    assert "beta differs" not in said
    assert "same and base are the same run" in said
    unnamed = "\n".join(planned(runs=runs).warnings)
    assert "both differs from base in 2 fields (grpo.learning_rate, grpo.beta)" in unnamed


def test_a_grid_compares_within_the_other_factors(planned: Callable[..., Plan]) -> None:
    cases = {"small": {"lora.r": 4}, "large": {"lora.r": 8, "lora.lora_alpha": 16}}
    fields = {"vary": {"size": cases, "grpo.num_generations": [4, 8]}}
    plan = planned(**fields, compare={"grpo.num_generations": 4})
    assert plan.baselines == {
        "small, num_generations=8": "small, num_generations=4",
        "large, num_generations=8": "large, num_generations=4",
    }
    crossed = planned(**fields)
    assert any("in size and grpo.num_generations at once" in w for w in crossed.warnings)


def test_variables_fill_a_formula(planned: Callable[..., Plan]) -> None:
    plan = planned(
        set={"reward": "Correct({weight}) + 0.1 * Format('answer')"}, vary={"$weight": [1, 2.5]}
    )
    assert [plan.of(arm)[0].recipe.reward for arm in plan.arms] == [
        "Correct(1) + 0.1 * Format('answer')",
        "Correct(2.5) + 0.1 * Format('answer')",
    ]
    assert not plan.warnings


def test_two_seeds_are_said_to_be_too_few(planned: Callable[..., Plan]) -> None:
    assert any("2 seeds are too few" in w for w in planned(runs=[{"label": "a"}], seeds=2).warnings)


def test_a_directory_of_another_study_is_refused(planned: Callable[..., Plan]) -> None:
    run = planned(runs=[{"label": "a", "set": {"grpo.beta": 0.0}}]).runs[0]
    study = StudyDir(planned(runs=[{"label": "a"}]).out)
    study.prepare(run)
    study.run(run.name).mkdir()
    other = planned(runs=[{"label": "a", "set": {"grpo.beta": 0.5}}]).runs[0]
    with pytest.raises(StudyError, match=r"another grpo\.beta"):
        study.prepare(other)


@pytest.mark.parametrize("name", study_names())
def test_every_study_of_the_package_can_be_planned(name: str, tmp_path: Path) -> None:
    spec, folder = StudySpec.load(name)
    plan = Plan.make(spec, tmp_path, folder)
    assert plan.baselines
    assert not [w for w in plan.warnings if "seed" not in w]


@pytest.mark.parametrize(
    ("name", "group", "prompts", "completions"),
    [
        ("gsm8k", 4, 32, 128),
        ("gsm8k", 16, 8, 128),
        ("arc", 4, 32, 128),
        ("arc", 16, 8, 128),
        ("opencoder", 4, 128, 512),
        ("opencoder", 8, 64, 512),
    ],
)
def test_the_studys_recipes_have_its_arithmetic_on_eight_gpus(
    name: str, group: int, prompts: int, completions: int
) -> None:
    recipe = Recipe.load(f"study/{name}", [f"grpo.num_generations={group}"])
    check_sections(recipe)
    plan = batch_plan(recipe, 8)
    assert (plan.prompts_per_generation, plan.completions_per_step) == (prompts, completions)
    assert (plan.steps_per_cycle, plan.iterations) == (1, 1)
