"""Local files."""

import json
import random
from pathlib import Path

import pytest

from reasonenv.errors import DataError
from reasonenv.problems import load_jsonl

DATA = Path(__file__).parents[1] / "data"


def table(name):
    lines = (DATA / "problems" / name).read_text(encoding="utf-8").splitlines()
    return [pytest.param(row, id=row["case"]) for row in map(json.loads, lines)]


@pytest.mark.parametrize("case", table("bad_lines.jsonl"))
def test_a_bad_file_is_refused_with_its_name_and_line(case, tmp_path):
    path = tmp_path / "sums.jsonl"
    path.write_text(case["text"])
    with pytest.raises(DataError) as caught:
        load_jsonl(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert [part for part in case["message"] if part not in message] == []


def test_a_missing_file_is_named():
    with pytest.raises(DataError, match=r"nowhere\.jsonl: there is no such file"):
        load_jsonl("nowhere.jsonl")


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        load_jsonl(tmp_path)


def test_our_own_gsm8k_rows_are_24_maths_problems():
    problems = load_jsonl(DATA / "gsm8k_own.jsonl", kind="math")
    assert len(problems) == 24
    assert all(float(p.answer) == int(p.answer) for p in problems)
    assert all("####" in p.metadata["solution"] for p in problems)
    assert {"4900", "1050", "-5"} <= {p.answer for p in problems}


def test_our_own_arc_rows_are_12_choices_with_letters_as_golds():
    problems = load_jsonl(DATA / "arc_own.jsonl", kind="choice")
    assert len(problems) == 12
    assert {p.answer for p in problems} == set("ABCD")
    by_id = {p.id: p for p in problems}
    assert by_id["own_04"].answer == "D"  # label "4" in the file
    assert by_id["own_04"].metadata["options"][3] == "Earth turns on its axis."


def test_rows_that_repeat_an_id_are_dropped_and_counted(tmp_path):
    path = tmp_path / "sums.jsonl"
    row = '{"question": "1+1=", "answer": "2"}\n'
    path.write_text(row + row + '{"question": "1+2=", "answer": "3"}\n' + row)
    with pytest.warns(UserWarning, match=r"sums\.jsonl: 2 of 4 problems repeat the id"):
        problems = load_jsonl(path)
    assert [p.answer for p in problems] == ["2", "3"]


def test_different_rows_with_one_id_are_counted_apart(tmp_path):
    path = tmp_path / "sums.jsonl"
    path.write_text(
        '{"id": 1, "question": "1+1=", "answer": "2"}\n{"id": 1, "question": "1+2=", "answer": "3"}'
    )
    with pytest.warns(UserWarning, match="1 of them differ from that earlier one"):
        assert len(load_jsonl(path)) == 1


def test_ids_do_not_depend_on_the_order_of_the_file(tmp_path):
    lines = (DATA / "gsm8k_own.jsonl").read_text().splitlines(keepends=True)
    random.Random(1).shuffle(lines)
    path = tmp_path / "shuffled.jsonl"
    path.write_text("".join(lines))
    original = load_jsonl(DATA / "gsm8k_own.jsonl")
    assert {p.id for p in load_jsonl(path)} == {p.id for p in original}
    assert len({p.id for p in original}) == 24


def test_the_id_of_a_row_is_the_same_on_every_machine():
    assert load_jsonl(DATA / "gsm8k_own.jsonl")[0].id == "f4ee1d06dfa82aa4"
