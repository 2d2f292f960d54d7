"""Judging stored answers: one line out for each line in, and an honest report."""

import json
from pathlib import Path

import pytest

from reasonenv.checkers import JudgeReport, judge_file, judge_lines
from reasonenv.errors import DataError, StorageError

DATA = Path(__file__).resolve().parents[1] / "data"
FIELDS = ["id", "status", "correct", "score", "answer", "detail", "seconds"]


def lines(*rows):
    return [row if isinstance(row, str | bytes) else json.dumps(row) for row in rows]


def write(path, *rows):
    path.write_text("".join(line + "\n" for line in lines(*rows)), encoding="utf-8")
    return path


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


GOOD = {"id": "a", "gold": "4", "completion": "\\boxed{4}"}
WRONG = {"id": "b", "gold": "4", "answer": "5"}


def test_math_lines_hold_a_completion_or_a_bare_answer():
    right, wrong = judge_lines("math", lines(GOOD, WRONG))
    assert list(right) == FIELDS
    assert (right["status"], right["correct"], right["score"]) == ("correct", True, 1.0)
    assert (wrong["status"], wrong["correct"], wrong["answer"]) == ("incorrect", False, "5")


def test_choice_lines_give_the_letter_or_null():
    options = ["Sydney", "Canberra"]
    rows = [
        {"id": 1, "options": options, "gold": "B", "completion": "Canberra"},
        {"id": 2, "options": options, "gold": None, "completion": "Answer: A"},
        {"id": 3, "options": options, "gold": None, "completion": "I cannot say."},
        {"id": 4, "options": options, "gold": "A", "completion": "Answer: A or B"},
    ]
    found = [(row["answer"], row["status"]) for row in judge_lines("choice", lines(*rows))]
    assert found == [("B", "correct"), ("A", "incorrect"), (None, "no_answer"), (None, "malformed")]


def test_choice_lines_may_name_their_labels_and_allow_several_options():
    options = ["Sydney", "Canberra", "Perth"]
    rows = [
        {"options": options, "labels": ["1", "2", "3"], "gold": "2", "completion": "Answer: 2"},
        {"options": options, "labels": ["I", "II", "III"], "gold": "II", "completion": "(iii)"},
        {"options": options, "multiple": True, "gold": ["A", "C"], "completion": "Answer: A, C"},
        {"options": options, "multiple": True, "gold": "A,C", "completion": "Answer: A"},
        {"options": options, "multiple": False, "gold": "A", "completion": "Answer: A, C"},
    ]
    rows = [{"id": number, **row} for number, row in enumerate(rows)]
    found = [(row["answer"], row["status"]) for row in judge_lines("choice", lines(*rows))]
    assert found == [
        ("2", "correct"),
        ("III", "incorrect"),
        ("A,C", "correct"),
        ("A", "incorrect"),
        (None, "malformed"),
    ]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"labels": ["1"]}, "names each of the 2 options once"),
        ({"labels": ["1", "1"]}, "names each of the 2 options once"),
        ({"labels": ["1", ""]}, "none of them empty"),
        ({"labels": "AB"}, "`labels` is a list"),
        ({"multiple": "yes"}, "`multiple` is true or false"),
        ({"gold": ["A"]}, "`gold` is a text or null"),
        ({"multiple": True, "gold": ["A", "D"]}, "got 'D'"),
        ({"options": ["x"] * 27}, "at most 26"),
    ],
)
def test_a_choice_line_that_cannot_be_used_says_why(fields, message):
    row = {"id": 1, "options": ["Sydney", "Perth"], "gold": "A", "completion": "A", **fields}
    [error] = judge_lines("choice", lines(row))
    assert message in error["detail"]["error"]


@pytest.fixture
def no_engine(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    monkeypatch.setattr("reasonenv.sandbox._OPEN", {})


WITHOUT_ENGINE = {"sandbox_unavailable", "incorrect", "no_answer"}


def test_code_lines_without_an_engine_are_no_evidence(cases, no_engine):
    problems = json.loads((DATA / "code" / "attack_problems.json").read_text())
    rows = [
        {"id": case["id"], "kind": case["kind"], "program": case["program"]}
        | {"tests": problems[case["problem"]]["tests"], "checker": None, "tol": None}
        for case in cases("code/attacks_dev.jsonl")
    ]
    found = list(judge_lines("code", lines(*rows)))
    assert [row["id"] for row in found] == [row["id"] for row in rows]
    decided = {row["id"] for row in found if row["correct"] is not None}
    assert decided == {"AT/syntax_err", "AT/empty_program"}
    assert {row["status"] for row in found} == WITHOUT_ENGINE


def test_extraction_cases_are_readable_code_lines(cases, no_engine):
    rows = [
        case | {"tests": case["expect"]["tests"]} for case in cases("code/extraction_dev.jsonl")
    ]
    rows = [row for row in rows if row["tests"]]
    assert {row["status"] for row in judge_lines("code", lines(*rows))} <= WITHOUT_ENGINE


def test_a_code_line_without_a_sandbox_counts_as_not_judged(tmp_path, no_engine):
    program = "def f(): return 1"
    row = {"id": "c", "kind": "assert", "tests": ["assert f()"], "program": program, "setup": ""}
    report = judge_file("code", write(tmp_path / "in", row), tmp_path / "out")
    assert report == JudgeReport(lines=1, unjudged=1)
    assert not report.ok


def test_every_stored_problem_shape_is_accepted(shared_cases, no_engine):
    rows = [
        case | {"program": case["solution"]} for case in shared_cases("code/problems_dev.jsonl")
    ]
    assert {row["status"] for row in judge_lines("code", lines(*rows))} == {"sandbox_unavailable"}


BAD_MATH = [
    "not json",
    "[1, 2]",
    '{"id": "x"',
    '{"id": "x", "gold": "4"}',
    '{"gold": "4", "answer": "4"}',
    '{"id": "x", "gold": null, "answer": "4"}',
    '{"id": "x", "gold": true, "answer": "4"}',
    '{"id": "x", "gold": NaN, "answer": "4"}',
    '{"id": "x", "gold": "4", "answer": 4}',
    '{"id": "x", "gold": "4", "answer": "4", "completion": "4"}',
    '{"id": ["x"], "gold": "4", "answer": "4"}',
    b'{"id": "x", "gold": "4", "answer": "\xff"}',
    "[" * 100_000,
    '{"id": "x", "gold": ' + "9" * 5000 + ', "answer": "4"}',
]


@pytest.mark.parametrize("bad", BAD_MATH)
def test_a_bad_line_is_an_error_for_itself_and_the_rest_goes_on(bad):
    first, broken, last = judge_lines("math", lines(GOOD, bad, WRONG))
    assert (first["status"], last["status"]) == ("correct", "incorrect")
    assert list(broken) == FIELDS
    assert broken["status"] == "error"
    assert broken["correct"] is broken["score"] is broken["answer"] is None
    assert broken["detail"]["line"] == 2
    assert broken["detail"]["error"]
    assert broken["seconds"] == 0.0


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "shell"},
        {"tests": []},
        {"tests": "assert f()"},
        {"tests": [1]},
        {"kind": "stdio"},
        {"checker": "fuzzy"},
        {"tol": "small"},
        {"tol": 0},
        {"time_limit_s": -1},
        {"time_limit_s": True},
        {"entry_point": 3},
        {"program": "x"},
    ],
)
def test_a_bad_code_line_is_an_error(change):
    row = {"id": "c", "kind": "assert", "tests": ["assert f()"], "completion": "x"}
    [found] = judge_lines("code", lines(row | change))
    assert found["status"] == "error"
    assert found["id"] == "c"


@pytest.mark.parametrize(
    "change", [{"options": ["one"]}, {"options": [1, 2]}, {"gold": "C"}, {"gold": 1}]
)
def test_a_bad_choice_line_is_an_error(change):
    row = {"id": "c", "options": ["x", "y"], "gold": "A", "completion": "A"}
    [found] = judge_lines("choice", lines(row | change))
    assert found["status"] == "error"


def test_a_missing_gold_in_a_choice_line_is_no_null_gold():
    [found] = judge_lines("choice", lines({"id": "c", "options": ["x", "y"], "completion": "A"}))
    assert found["status"] == "error"


def test_the_report_counts_and_is_ok_only_if_every_line_was_judged(tmp_path):
    source = write(tmp_path / "in.jsonl", GOOD, "", WRONG, "broken", GOOD | {"gold": ""})
    report = judge_file("math", source, tmp_path / "out.jsonl")
    assert report == JudgeReport(lines=4, judged=2, unjudged=1, errors=1, correct=1)
    assert not report.ok
    assert str(report) == "4 lines: 2 judged (1 correct), 1 without a verdict, 1 unusable"
    assert [row["id"] for row in read(tmp_path / "out.jsonl")] == ["a", "b", None, "a"]
    assert judge_file("math", write(tmp_path / "good", GOOD, WRONG), tmp_path / "out.jsonl").ok


def test_lines_are_judged_as_they_come():
    def endless():
        while True:
            yield json.dumps(GOOD)

    assert next(judge_lines("math", endless()))["status"] == "correct"


def test_each_line_is_written_before_the_next_is_judged(tmp_path):
    out, seen = tmp_path / "out.jsonl", []
    source = write(tmp_path / "in.jsonl", GOOD, WRONG, GOOD)
    judge_file("math", source, out, progress=lambda report: seen.append(len(read(out))))
    assert seen == [1, 2, 3]


def test_without_a_file_to_write_the_lines_go_to_stdout(tmp_path, capsys):
    judge_file("math", write(tmp_path / "in.jsonl", GOOD))
    assert json.loads(capsys.readouterr().out)["id"] == "a"


def test_surrogates_and_a_byte_order_mark_do_no_harm(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_bytes(b'\xef\xbb\xbf{"id": "\\ud800", "gold": "4", "answer": "\\udfff4"}\r\n')
    assert judge_file("math", source, tmp_path / "out").judged == 1
    assert (tmp_path / "out").read_bytes().isascii()
    assert read(tmp_path / "out")[0]["id"] == "\ud800"


def test_a_missing_input_leaves_the_output_untouched(tmp_path):
    out = write(tmp_path / "out.jsonl", GOOD)
    before = out.read_text()
    with pytest.raises(DataError, match="cannot be opened"):
        judge_file("math", tmp_path / "none.jsonl", out)
    assert out.read_text() == before


def test_the_input_itself_is_refused_as_output(tmp_path):
    source = write(tmp_path / "in.jsonl", GOOD)
    before = source.read_text()
    with pytest.raises(DataError, match="is the input itself"):
        judge_file("math", source, source)
    assert source.read_text() == before


def test_an_unknown_kind_names_the_nearest(tmp_path):
    with pytest.raises(DataError, match="did you mean `math`"):
        judge_file("maths", tmp_path / "in.jsonl")
    with pytest.raises(DataError, match="did you mean `choice`"):
        judge_lines("choices", [])


def test_a_full_disk_and_a_missing_folder_are_storage_errors(tmp_path):
    source = write(tmp_path / "in.jsonl", GOOD)
    with pytest.raises(StorageError, match="cannot be written"):
        judge_file("math", source, tmp_path / "none" / "out.jsonl")
    with pytest.raises(StorageError, match="No space left"):
        judge_file("math", source, "/dev/full")
