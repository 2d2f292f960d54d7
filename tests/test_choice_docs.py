"""The page on multiple choice says what is so."""

import re
from pathlib import Path

import pytest

import reasonenv
from reasonenv.envs import catalogue
from reasonenv.envs.builtin_choice import BUILTIN_CHOICE
from reasonenv.problems import CATALOGUE
from reasonenv.problems.choice_references import freedom_of
from reasonenv.rewards import from_config

PAGE = (Path(__file__).parents[1] / "docs" / "multiple-choice.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_each_example_runs(example):
    names = {}
    exec(compile(example, "docs/multiple-choice.md", "exec"), names)
    if "scores" in names:
        assert names["scores"].terms["permutation_consistency"].tolist() == [0.0] * 3
    elif "extract_choice" in names:
        assert (
            names["extract_choice"]("Not A. So the answer is (b).", names["options"]).letter == "B"
        )
        found = names["extract_choice"]("Answer: A or B", names["options"])
        assert found.detail["reason"] == "several labels"
    else:
        assert names["info"] == {"problem_id": "star"}
        assert set(names["env"].problem.metadata["labels"]) <= {"1", "2", "3"}


def test_each_environment_is_in_the_table_with_its_data_set_and_licence():
    known = {info.id for info in catalogue() if info.kind == "choice"}
    assert {info.id for info, *_ in BUILTIN_CHOICE} <= known
    for info, _, kwargs in BUILTIN_CHOICE:
        name = info.id.removeprefix("reasonenv/")
        [row] = [line for line in PAGE.splitlines() if line.startswith("|") and f"`{name}`" in line]
        entry = CATALOGUE[kwargs["problems"]]
        if entry.dataset:
            assert f"`{entry.dataset}`" in row
            assert entry.licence in row
            assert all(split in row for split in entry.splits.values())
            assert ("unverified" in row) is bool(entry.unverified)


def test_each_term_is_in_the_table_with_its_range():
    rows = re.findall(r"^\| `(\w+\([^`]*\))` \| [^|]+ \| ([^|]+) \| ([^|]+) \|", PAGE, re.MULTILINE)
    assert len(rows) == 6
    for formula, right, wrong in rows:
        term = from_config(formula)
        assert repr(from_config(formula.partition("(")[0] + "()")) == repr(term)
        assert term.range(correct=True).high == (0.0 if right.strip() == "0" else 1.0)
        if not wrong.startswith("-1"):
            highest = {"0 or 1": 1.0, "0 to 1": 1.0, "0 or credit": 0.25}[wrong.strip()]
            assert term.range(correct=False) == (0.0, highest)


def test_the_examples_of_options_that_name_others_are_held_still():
    [row] = [line for line in PAGE.splitlines() if line.startswith("| options that name others")]
    named = re.findall(r'"([^"]+)"', row)
    assert len(named) == 6
    for text in named:
        assert freedom_of(("red", "blue", "green", text)).movable == (), text
    for text in ("None of these", "All of the above.", "Both", "Neither of these"):
        assert f'"{text}"' in PAGE
        assert freedom_of(("red", "blue", "green", text)).movable == (0, 1, 2)


def test_the_recipe_fragment_is_valid():
    fragment = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[1]
    import yaml

    from reasonenv import Recipe
    from reasonenv.trainers.views import check_views

    recipe = Recipe.make({**yaml.safe_load(fragment), "steps": 1})
    data = [{"question": "?", "options": ["x", "y", "z", "w"], "answer": "A"}]
    check_views(recipe, reasonenv.make(recipe.env, data=data, **recipe.env_args))
    assert from_config(recipe.reward).needs_group
