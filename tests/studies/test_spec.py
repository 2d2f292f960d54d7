from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonenv.errors import ReasonEnvError, StudyError
from reasonenv.studies import Plan, StudySpec
from reasonenv.studies.overrides import apply, differences, fill, flatten
from reasonenv.studies.spec import study_names
from reasonenv.trainers.recipe import recipe_names

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent.parent / "data/studies/bad.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["says"])
def test_a_study_that_is_not_valid_says_what_is(row: dict, tmp_path: Path) -> None:
    def plan() -> None:
        spec = StudySpec.make(row["study"])
        spec.base_fields(tmp_path)
        Plan.make(spec, tmp_path / "out", tmp_path)

    with pytest.raises(ReasonEnvError) as caught:
        plan()
    assert row["says"] in str(caught.value)


def test_a_study_reads_back_equal_from_its_yaml(tmp_path: Path) -> None:
    for name in study_names():
        spec, _ = StudySpec.load(name)
        (tmp_path / "s.yaml").write_text(spec.to_yaml())
        assert StudySpec.load(tmp_path / "s.yaml")[0] == spec


def test_overrides_reach_the_recipe_of_all_runs(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "base: quickstart\nset: {grpo: {beta: 0.1}}\nruns: [{label: a}]"
    )
    spec, folder = StudySpec.load(tmp_path / "s.yaml", ["model=DIR", "grpo.beta=1e-3"])
    fields = spec.base_fields(folder)
    assert (fields["model"], fields["grpo"]["beta"]) == ("DIR", 0.001)
    with pytest.raises(StudyError, match="write key=value"):
        StudySpec.load(tmp_path / "s.yaml", ["model"])


def test_studies_and_recipes_of_the_package_are_told_apart() -> None:
    assert {"study/gsm8k", "study/arc", "study/opencoder"} <= set(recipe_names())
    assert {"study/group_size_tiny", "study/placement_deep"} <= set(study_names())
    assert not set(recipe_names()) & set(study_names())


def test_steps_replace_epochs_and_the_other_way_round() -> None:
    assert apply({"steps": None, "epochs": 2}, {"steps": 5}) == {"steps": 5, "epochs": None}
    assert apply({"steps": 5, "epochs": None}, {"epochs": 1}) == {"steps": None, "epochs": 1}


def test_braces_that_name_nothing_stay() -> None:
    assert fill("a{2} {seed} {run:x}", {"seed": 7}, {"x": "/r"}) == "a{2} 7 /r"


keys = st.text("abcd", min_size=1, max_size=2)
trees = st.recursive(
    st.integers(0, 3), lambda inner: st.dictionaries(keys, inner, min_size=1), max_leaves=8
)


@given(st.dictionaries(keys, trees, min_size=1))
def test_applying_flattened_fields_makes_them_again(fields: dict) -> None:
    assert apply({}, flatten(fields)) == fields
    assert differences(fields, apply({}, flatten(fields))) == []
