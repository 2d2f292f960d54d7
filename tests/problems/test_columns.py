"""Rows of data sets: the tables in tests/data/problems say what each becomes, or why not."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonenv.errors import DataError
from reasonenv.problems import KINDS, Columns, to_problem, to_row
from reasonenv.problems.columns import ROW_FORMS
from reasonenv.problems.golds import final_answer
from reasonenv.types import Problem, canonical_json, thaw

DATA = Path(__file__).parents[1] / "data" / "problems"


def table(name):
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [pytest.param(row, id=row["case"]) for row in map(json.loads, lines)]


@pytest.mark.parametrize("case", table("rows.jsonl"))
def test_a_row_becomes_the_problem_in_the_table(case):
    columns = Columns.of(case.get("columns"))
    problem = to_problem(case["row"], columns=columns, kind=case.get("kind"))
    expected = Problem(case["prompt"], case["answer"], case["metadata"], id=case.get("id", ""))
    assert thaw(problem.prompt) == case["prompt"]
    assert thaw(problem.answer) == case["answer"]
    assert thaw(problem.metadata) == case["metadata"]
    assert problem == expected


@pytest.mark.parametrize("case", table("bad_rows.jsonl"))
def test_a_bad_row_is_refused_with_a_message_that_says_what_is_wrong(case):
    with pytest.raises(DataError) as caught:
        to_problem(case["row"], kind=case.get("kind"), where="sums.jsonl:3")
    message = str(caught.value)
    assert message.startswith("sums.jsonl:3: ")
    assert [part for part in case["message"] if part not in message] == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_rows_that_messages_show_are_valid(kind):
    for example in ROW_FORMS[kind].split(" or {"):
        row = json.loads(example if example.startswith("{") else "{" + example)
        assert to_problem(row, kind=kind).answer in (
            *("42", "A", "4 * 6"),
            ("assert add(1, 2) == 3",),
        )


def test_a_row_that_is_written_is_read_back_as_the_same_problem():
    problem = Problem("Star?", "B", {"options": ["Mars", "Sirius"], "level": 2}, id="star-1")
    row = json.loads(json.dumps(to_row(problem)))
    assert to_problem(row) == problem


texts = st.builds("x{}".format, st.text(max_size=20))  # never blank


@given(prompt=texts, answer=st.text("ab, 1#\n", max_size=3).map("x{}".format), level=st.integers())
def test_any_text_survives_writing_and_reading(prompt, answer, level):
    problem = to_problem({"prompt": prompt, "answer": answer, "level": level})
    assert to_problem(json.loads(json.dumps(to_row(problem)))) == problem


@given(st.permutations(["id", "question", "choices", "answerKey", "level"]))
def test_the_order_of_the_columns_does_not_matter(order):
    row = {
        "id": None,
        "question": "Star?",
        "choices": ["Mars", "Sirius"],
        "answerKey": "B",
        "level": 1,
    }
    assert to_problem({name: row[name] for name in order}).id == to_problem(row).id


@given(st.integers())
def test_the_final_answer_of_a_solution_loses_its_commas_and_nothing_else(number):
    assert final_answer(f"It is so.\n#### {number:,}") == str(number)


def test_numpy_values_become_plain_data():
    row = {"question": "q", "answer": np.int64(4), "numbers": np.arange(2), "score": np.float32(1)}
    problem = to_problem(row)
    assert problem.answer == "4"
    assert canonical_json(problem.metadata) == '{"numbers":[0,1],"score":1.0}'


def test_a_column_that_is_no_json_data_is_refused_with_its_row():
    with pytest.raises(DataError, match=r"picture.*JSON data.*bytes.*this row has: .*picture"):
        to_problem({"question": "q", "answer": "1", "picture": b"x"}, where="picture")


def test_columns_that_do_not_exist_get_a_suggestion():
    with pytest.raises(DataError, match=r"`promt`.*did you mean `prompt`"):
        Columns.of({"promt": "q"})
    with pytest.raises(DataError, match="`prompt` is a column's name or several, got 3"):
        Columns.of({"prompt": 3})


def test_columns_of_nothing_are_the_usual_ones():
    assert Columns.of(None) == Columns()
    assert Columns.of(Columns(prompt="q")).names("prompt") == ("q",)
