"""The multiple-choice sets: their own columns, plain rows instead, and what the hub is asked."""

import json
from pathlib import Path

import pytest

import reasonenv
from reasonenv.envs import check_env
from reasonenv.envs.builtin_choice import BUILTIN_CHOICE
from reasonenv.errors import DataError, HubUnavailableError
from reasonenv.problems import CATALOGUE, ProblemList, catalogue, load
from reasonenv.problems.choice_rows import plain_choice_row
from reasonenv.problems.choice_sets import BBH_SUBSETS, CHOICE_SETS, MMLU_STEM
from reasonenv.types import Problem

TABLE = Path(__file__).parents[1] / "data" / "problems" / "choice_sets.jsonl"
CASES = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
SETS = [entry.name for entry in CHOICE_SETS if entry.dataset]


def test_every_set_has_a_row_in_the_table():
    assert [case["set"] for case in CASES] == SETS


@pytest.mark.parametrize("case", CASES, ids=SETS)
def test_a_row_in_the_data_sets_own_columns_is_read(case):
    problem = load(case["set"], data=[case["row"]])[0]
    assert problem.prompt == case["question"]
    assert problem.metadata["options"]["ABCDEF".index(problem.answer)] == case["right"]
    assert set(problem.metadata) == {"options", *case["kept"]}
    if "id" in case:
        assert problem.id == case["id"]


@pytest.mark.parametrize("name", SETS)
def test_a_plain_row_is_read_in_place_of_the_data_set(name):
    row = {"id": "p1", "question": "Star?", "options": ["Mars", "Sirius"], "answer": "B"}
    problem = load(name, data=[row])[0]
    assert (problem.id, problem.prompt, problem.answer) == ("p1", "Star?", "B")


@pytest.mark.parametrize("case", CASES, ids=SETS)
def test_each_built_in_environment_passes_its_check_on_rows_of_its_data_set(case):
    [id] = [info.id for info, _, kw in BUILTIN_CHOICE if kw["problems"] == case["set"]]
    again = {key: f"{value} 2" if key in ("id", "Record ID", "question_id") else value
             for key, value in case["row"].items()}  # fmt: skip
    if again == case["row"]:
        name = next(n for n in ("question", "input", "query") if n in again)
        again[name] = "Once more: " + again[name]
    report = check_env(id, data=[case["row"], again])
    assert report.ok, report.findings
    assert report.golds == 2


def test_where_a_set_gives_no_order_the_right_option_is_not_always_first():
    row = next(case["row"] for case in CASES if case["set"] == "sciq")
    rows = [{**row, "question": f"{row['question']} ({i})"} for i in range(200)]
    letters = [problem.answer for problem in load("sciq", data=rows)]
    assert {letter: letters.count(letter) > 25 for letter in "ABCD"} == dict.fromkeys("ABCD", True)
    assert letters == [problem.answer for problem in load("sciq", data=rows)]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"input": "True and False is", "target": "False"}, "tasks without options are no multip"),
        ({"input": None, "target": "(A)"}, "lists its options below 'Options:'"),
        (
            {"context": "", "query": "?", "options": ["x", "y"], "correct_option": 2},
            "counts the options from 0, got 2",
        ),
        (
            {"context": "", "query": "?", "options": "xy", "correct_option": 0},
            "counts the options from 0",
        ),
        (
            {"question": "?", "correct_answer": "", "distractor1": "x"},
            "the right answer and the wrong ones are texts, got ''",
        ),
        ({"Question": "?", "Correct Answer": 3, "Incorrect Answer 1": "x"}, "are texts, got 3"),
    ],
)
def test_a_row_that_breaks_its_form_is_refused(row, message):
    with pytest.raises(DataError, match=rf"^row 4: .*{message}"):
        plain_choice_row(row, "row 4")


def test_golds_of_mmlu_are_counted_from_zero_and_no_further_than_the_options():
    row = next(case["row"] for case in CASES if case["set"] == "mmlu_stem")
    with (
        pytest.warns(UserWarning, match="1 questions .*the gold 4 names no option"),
        pytest.raises(DataError, match="no problem in it"),
    ):
        load("mmlu_stem", data=[{**row, "answer": 4}])


@pytest.fixture
def asked(monkeypatch):
    """Keep what the hub is asked for, and give one problem for each configuration."""
    calls = []

    def load_hub(dataset, config, split, **kwargs):
        calls.append((dataset, config, split, kwargs.get("revision")))
        problem = Problem("?", "A", {"options": ["x", "y"]}, id=f"{config}")
        return ProblemList([problem], "hub")

    monkeypatch.setattr(catalogue, "load_hub", load_hub)
    return calls


def test_a_set_of_several_configurations_reads_them_all(asked):
    assert [p.id for p in load("mmlu_stem", "test")] == list(MMLU_STEM)
    assert {call[0] for call in asked} == {"cais/mmlu"}
    assert len(asked) == 18
    assert [p.id for p in load("bbh", "test")] == list(BBH_SUBSETS)
    assert [p.id for p in load("bbh", "test", config=["snarks", "hyperbaton"])] == [
        "snarks",
        "hyperbaton",
    ]
    env = reasonenv.make("reasonenv/BBH-v0", options={"config": "snarks"})
    assert [p.id for p in env.problems] == ["snarks"]


def test_logiqa_asks_for_its_parquet_branch(asked):
    load("logiqa", "validation")
    assert asked == [("lucasmccabe/logiqa", None, "validation", "refs/convert/parquet")]


@pytest.mark.parametrize("error", [DataError, HubUnavailableError])
@pytest.mark.parametrize("name", ["gpqa_main", "gpqa_diamond"])
def test_a_gated_set_says_how_to_get_access(monkeypatch, name, error):
    def refused(*args, **kwargs):
        raise error("no entry")

    monkeypatch.setattr(catalogue, "load_hub", refused)
    with pytest.raises(error, match=r"no entry .*gated: .*accept the conditions.*hf auth login"):
        load(name, "test")
    assert list(CATALOGUE[name].splits) == ["test"]  # there is nothing to train on
