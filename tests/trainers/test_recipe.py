"""Recipes: what is read, what is refused, and what the refusal says."""

from __future__ import annotations

from pathlib import Path

import pytest

from reasonenv import GRPOLearner, Recipe
from reasonenv.errors import ModelError, RecipeError, RewardError, UnknownEnvError
from reasonenv.trainers.recipe import recipe_names
from reasonenv.trainers.trl_config import OWNED, check_sections


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_of_the_package_is_valid(name: str) -> None:
    recipe = Recipe.load(name)
    check_sections(recipe)
    assert recipe.description


@pytest.mark.parametrize("name", recipe_names())
def test_a_resolved_recipe_reads_back_equal(name: str, tmp_path: Path) -> None:
    recipe = Recipe.load(name)
    file = tmp_path / "recipe.yaml"
    file.write_text(recipe.to_yaml())
    assert Recipe.load(file) == recipe


def test_overrides_reach_into_sections_and_numbers_are_numbers() -> None:
    overrides = ["grpo.learning_rate=1e-5", "eval.every=7", "lora.r=4", "lora.use_dora=true"]
    recipe = Recipe.load("quickstart", overrides, seed=3, steps=5)
    assert recipe.grpo["learning_rate"] == 1e-5
    assert recipe.eval.every == 7
    assert recipe.lora is not None
    assert (recipe.lora["r"], recipe.lora["use_dora"]) == (4, True)
    assert (recipe.seed, recipe.steps) == (3, 5)


def test_steps_on_the_command_line_replace_epochs(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text("epochs: 2\n")
    assert Recipe.load(file, steps=3).steps == 3


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        ("stepz: 3\nsteps: 1", ["unknown key `stepz`", "did you mean `steps`"]),
        ("steps: 1\neval: {evry: 2}", ["unknown key `eval.evry`", "did you mean `every`"]),
        ("steps: 0", ["steps", "greater than or equal to 1", "got 0"]),
        ("description: x", ["either `steps` or `epochs`"]),
        ("steps: 1\nepochs: 1", ["either `steps` or `epochs`"]),
        ("steps: 1\nprompt: {template: chatt}", ["prompt.template", "'chat', 'plain' or 'raw'"]),
        ("steps: 1\nprocesses: 0", ["processes=0"]),
        ("- a list", ["mapping"]),
        ("steps: [", ["not valid YAML"]),
    ],
)
def test_a_bad_recipe_is_refused_with_the_place(
    text: str, fragments: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(RecipeError) as caught:
        Recipe.load(file)
    for fragment in [str(file), *fragments]:
        assert fragment in str(caught.value)


@pytest.mark.parametrize(
    ("section", "fragments"),
    [
        ({"grpo": {"learning_rat": 1}}, ["grpo.learning_rat", "did you mean `learning_rate`"]),
        ({"grpo": {"reward_weights": [1]}}, ["grpo.reward_weights", "one composed reward"]),
        ({"grpo": {"max_steps": 3}}, ["grpo.max_steps", "`steps:`"]),
        ({"lora": {"rank": 4}}, ["lora.rank", "peft.LoraConfig"]),
        ({"lora": {"lora_alfa": 4}}, ["did you mean `lora_alpha`"]),
        ({"grpo": {"report_to": "tensorbord"}}, ["did you mean `tensorboard`"]),
        ({"grpo": {"report_to": ["tensorboard", "neptune"]}}, ["'neptune'", "not installed"]),
    ],
)
def test_keys_that_trl_or_peft_would_not_take_are_refused(
    section: dict[str, object], fragments: list[str]
) -> None:
    with pytest.raises(RecipeError) as caught:
        check_sections(Recipe.make({"steps": 1, **section}))
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_every_owned_key_is_one_that_trl_knows() -> None:
    import dataclasses

    from trl import GRPOConfig

    known = {field.name for field in dataclasses.fields(GRPOConfig)}
    # Keys that only some releases of transformers have; refusing them is harmless elsewhere.
    assert set(OWNED) - known <= {"logging_dir"}


@pytest.mark.parametrize(
    ("override", "fragment"),
    [("steps", "key=value"), ("steps.x=1", "no keys below"), ("grpo.x=[", "not valid YAML")],
)
def test_a_bad_override_says_how_to_write_one(override: str, fragment: str) -> None:
    with pytest.raises(RecipeError, match=fragment):
        Recipe.load("quickstart", [override])


def test_an_unknown_recipe_names_the_nearest() -> None:
    with pytest.raises(RecipeError, match="did you mean `quickstart`"):
        Recipe.load("quikstart")


def test_a_missing_model_folder_is_found_before_anything_is_made(tmp_path: Path) -> None:
    learner = GRPOLearner(str(tmp_path / "nowhere"), out=tmp_path / "run")
    with pytest.raises(ModelError, match="no such folder"):
        learner.train()
    assert not (tmp_path / "run").exists()


def test_a_bad_reward_formula_is_found_at_once() -> None:
    with pytest.raises(RewardError, match="did you mean `Correct`"):
        GRPOLearner(reward="Corect()")


def test_a_dry_run_describes_recipe_and_batches_without_a_model(tmp_path: Path) -> None:
    text = GRPOLearner(recipe="quickstart", out=tmp_path / "run").describe()
    assert "num_generations: 16" in text
    assert "16 prompts x 16 completions = 256 a generation" in text
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("fields", "fragments"),
    [
        ({"grpo": {"learning_rate": "abc"}}, ["grpo.learning_rate='abc'", "valid number"]),
        ({"grpo": {"num_generations": [4]}}, ["grpo.num_generations=[4]", "integer"]),
        ({"grpo": {"loss_type": "dapoo"}}, ["grpo.loss_type='dapoo'", "did you mean `dapo`"]),
        ({"lora": {"r": "many"}}, ["lora.r='many'", "integer"]),
        ({"env_args": {"layuot": {}}}, ["layuot", "did you mean `layout`"]),
        ({"env_args": {"digits": 3}}, ["option of its problems", "options: {digits: ...}"]),
        ({"env_args": {"max_turns": 0}}, ["env_args", "max_turns=0"]),
        ({"lora": {"target_modules": "nowhere"}}, ["does not fit tiny", "nowhere"]),
    ],
)
def test_a_value_that_does_not_fit_is_refused_and_nothing_is_left_behind(
    fields: dict[str, object], fragments: list[str], tmp_path: Path
) -> None:
    from reasonenv.errors import ReasonEnvError

    with pytest.raises(ReasonEnvError) as caught:
        GRPOLearner(out=tmp_path / "run", **fields).train()
    for fragment in fragments:
        assert fragment in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_a_dry_run_finds_an_unknown_environment() -> None:
    with pytest.raises(UnknownEnvError, match="did you mean"):
        GRPOLearner(env="reasonenv/Arithmetik-v0").describe()
