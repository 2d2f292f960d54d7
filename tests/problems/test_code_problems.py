"""Programming tasks out of the rows of data sets, and out of a generator."""

import base64
import json
import os
import pickle
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasonenv.checkers.code import outputs, run
from reasonenv.errors import DataError
from reasonenv.problems import CATALOGUE, OneLiners, load, to_problem, to_row
from reasonenv.problems.code_rows import CHECKERS, TEST_KINDS
from reasonenv.problems.code_tests import (
    asserts_of,
    called_function,
    class_of,
    io_of_livecodebench,
    signature,
)

ROOT = Path(__file__).parents[2]
BENCH = Path(os.environ.get("REASONENV_SHARED", ROOT.parent / "shared")) / "bench" / "code"
CODE_SETS = {name: entry for name, entry in CATALOGUE.items() if entry.kind == "code"}


def read(row):
    return to_problem(row, kind="code", where="tasks.jsonl:3")


OWN = {
    "id": "own/1",
    "prompt": "Add two numbers.",
    "entry_point": "add",
    "tests": ["assert add(1, 2) == 3"],
    "solution": "def add(a, b):\n    return a + b\n",
    "level": 1,
    "wrong": ["def add(a, b):\n    return a - b\n"],
}
CHECK = """
METADATA = {'author': 'x'}

def check(candidate):
    assert candidate(2) == 4, "two"
    assert abs(candidate(0.5) - 1) < 1e-6
    assert True
"""
HUMANEVAL = {
    "task_id": "HumanEval/999",
    "prompt": 'def double(x):\n    """Return twice x."""\n',
    "canonical_solution": "    return 2 * x\n",
    "test": CHECK,
    "entry_point": "double",
}
EVALPLUS = """import numpy as np
from math import inf

def is_floats(x) -> bool:
    return isinstance(x, float)

def assertion(out, exp, atol):
    assert out == exp

{wrap}
inputs = [[2], [0.5], [[1.0, 2.0]], [inf]]
results = [4, 1.0, (2.0, 4.0), inf]
for i, (inp, exp) in enumerate(zip(inputs, results)):
    assertion({call}(*inp), exp, 0)
"""
PLUS_TESTS = (
    "assert double(2) == 4",
    "assert abs(double(0.5) - 1.0) <= 1e-06 + 1e-07 * abs(1.0)",
    "assert all(abs(a - b) <= 1e-06 + 1e-07 * abs(b)"
    " for a, b in zip(double([1.0, 2.0]), (2.0, 4.0), strict=True))",
    "assert double(inf) == inf",
)
MBPP = {
    "task_id": 7,
    "text": "Write a function to find shared elements.",
    "code": "def shared(a, b):\r\n  return set(a) & set(b)",
    "test_list": ["assert set(shared((1, 2), (2,))) == {2}", "assert shared((), ()) == set()"],
    "test_setup_code": "",
    "challenge_test_list": [],
}
OPENCODER = {
    "seq_id": 123,
    "instruction": "Write `triple`.",
    "output": "```python\ndef triple(n):\n    return 3 * n\n```",
    "code": "def triple(n):\n    return 3 * n",
    "entry_point": "triple",
    "testcase": ["assert triple(2) == 6", "assert triple(0) == 0"],
}
APPS_STDIO = {
    "problem_id": 0,
    "question": "Print the sum.",
    "solutions": json.dumps(["print sum", "print(sum(map(int, input().split())))"]),
    "input_output": json.dumps({"inputs": ["1 2\n", ["3 4", ""]], "outputs": ["3\n", ["7"]]}),
    "difficulty": "introductory",
    "url": "https://example.org/0",
    "starter_code": "",
}
APPS_CALL = APPS_STDIO | {
    "problem_id": 1,
    "solutions": "",
    "input_output": json.dumps(
        {"fn_name": "addAll", "inputs": [[[1, 2]], [[3]]], "outputs": [[3], [3]]}
    ),
    "starter_code": "class Solution:\n    def addAll(self, xs: List[int]) -> int:\n",
}
HIDDEN = [{"input": "[4]\n5", "output": "9", "testtype": "functional"}]
PACKED = base64.b64encode(zlib.compress(pickle.dumps(json.dumps(HIDDEN)))).decode()
LIVECODEBENCH = {
    "question_title": "Sum and add",
    "question_content": "Sum and add.",
    "platform": "leetcode",
    "question_id": "q1",
    "contest_date": "2024-10-01T00:00:00",
    "starter_code": "class Solution:\n    def go(self, xs: List[int], k: int) -> int:\n        ",
    "difficulty": "easy",
    "public_test_cases": json.dumps(
        [{"input": "[1, 2]\n3", "output": "6", "testtype": "functional"}]
    ),
    "private_test_cases": PACKED,
    "metadata": json.dumps({"func_name": "go"}),
}
CODEFORCES = {
    "id": "1/A",
    "title": "Square",
    "time_limit": 2.0,
    "description": "Print the square.",
    "input_format": "One number.",
    "output_format": "Its square.",
    "interaction_format": None,
    "note": "",
    "examples": [{"input": "2\n", "output": "4\n"}],
    "rating": 800,
    "official_tests": [{"input": "3\n", "output": "9\n"}],
    "official_tests_complete": True,
    "input_mode": "stdio",
    "generated_checker": None,
    "editorial": "Multiply.",
}


def test_a_row_of_ones_own_says_what_is_run():
    problem = read(OWN)
    assert (problem.id, problem.prompt) == ("own/1", "Add two numbers.")
    assert problem.answer == ("assert add(1, 2) == 3",)
    assert dict(problem.metadata) == {
        "kind": "assert",
        "entry_point": "add",
        "solution": "def add(a, b):\n    return a + b\n",
        "level": 1,
    }


@pytest.mark.parametrize(
    ("change", "kind", "entry_point"),
    [
        ({}, "assert", "add"),
        ({"entry_point": None}, "assert", "add"),
        ({"tests": [{"input": [1, 2], "output": 3}]}, "call", "add"),
        ({"tests": [{"input": "1 2", "output": "3"}], "entry_point": None}, "stdio", None),
        ({"tests": "def check(f):\n    assert f(1, 2) == 3", "kind": "check"}, "check", "add"),
    ],
)
def test_the_form_of_the_tests_says_how_they_are_run(change, kind, entry_point):
    problem = read(OWN | change)
    assert problem.metadata["kind"] == kind
    assert problem.metadata.get("entry_point") == entry_point


def test_humanevals_check_becomes_one_assert_a_test():
    problem = read(HUMANEVAL)
    assert problem.id == read(HUMANEVAL).id
    assert problem.answer == ("assert double(2) == 4", "assert abs(double(0.5) - 1) < 1e-06")
    assert problem.metadata["kind"] == "assert"
    assert problem.metadata["prompt"] == problem.prompt == HUMANEVAL["prompt"]
    assert problem.metadata["solution"] == HUMANEVAL["prompt"] + "    return 2 * x\n"


def test_a_check_that_does_more_than_assert_stays_whole():
    script = "def check(candidate):\n    for i in range(9):\n        assert candidate(i) == 2 * i\n"
    problem = read(HUMANEVAL | {"test": script})
    assert (problem.metadata["kind"], problem.answer) == ("check", (script,))


def test_evalplus_lists_become_one_assert_a_test_with_its_tolerance():
    wrapped = EVALPLUS.format(wrap="def check(candidate):", call="candidate")
    head, _, body = wrapped.partition("def check(candidate):\n")
    script = f"{head}def check(candidate):\n" + "".join(
        f"    {line}\n" for line in body.splitlines()
    )
    problem = read(HUMANEVAL | {"test": script})
    assert problem.answer == PLUS_TESTS
    assert problem.metadata["setup"] == "from math import inf"
    row = MBPP | {"test": EVALPLUS.format(wrap="", call="double"), "prompt": "Double it."}
    row |= {"test_list": ["assert double(2) == 4"], "code": "def double(x):\n    return 2 * x"}
    assert read(row).answer == PLUS_TESTS
    space = {}
    exec("from math import inf\ndef double(x):\n    return [2 * y for y in x] if type(x) is list "
         "else 2 * x\n", space)  # fmt: skip
    for test in PLUS_TESTS:
        exec(test, space)


def test_a_script_of_no_known_form_is_run_whole_as_a_check():
    script = "text = '''\nx'''\nassert double(1) == len(text)\n"
    row = MBPP | {"test": script, "prompt": "Double it."}
    row |= {"test_list": ["assert double(2) == 4"], "code": "def double(x):\n    return 2 * x"}
    problem = read(row)
    assert problem.metadata["kind"] == "check"
    space = {}
    exec(problem.answer[0], space)
    space["check"](lambda x: 2)
    with pytest.raises(AssertionError):
        space["check"](lambda x: 3)


def test_mbpp_shows_its_first_test_and_calls_what_its_program_defines():
    problem = read(MBPP)
    assert problem.prompt == (
        "Write a function to find shared elements.\nYour code should define `shared` and satisfy "
        "this test:\nassert set(shared((1, 2), (2,))) == {2}"
    )
    assert problem.metadata["entry_point"] == "shared"
    assert "\r" not in problem.metadata["solution"]
    setup = read(MBPP | {"test_setup_code": "x = 1", "test_imports": ["import math"]})
    assert setup.metadata["setup"] == "import math\nx = 1"


def test_opencoder_rows_keep_no_text_that_holds_the_answer_but_the_solution():
    problem = read(OPENCODER)
    assert problem.answer == ("assert triple(2) == 6", "assert triple(0) == 0")
    assert set(problem.metadata) == {"kind", "entry_point", "solution"}


def test_apps_reads_both_its_kinds():
    problem = read(APPS_STDIO)
    assert [dict(test) for test in problem.answer] == [
        {"input": "1 2\n", "output": "3\n"},
        {"input": "3 4\n", "output": "7"},
    ]
    assert problem.metadata["kind"] == "stdio"
    assert problem.metadata["difficulty"] == "introductory"
    assert problem.metadata["solution"] == "print(sum(map(int, input().split())))"  # not Python 2
    problem = read(APPS_CALL)
    assert problem.metadata["entry_point"] == "Solution.addAll"
    assert [dict(test) for test in problem.answer] == [
        {"input": ((1, 2),), "output": 3},
        {"input": ((3,),), "output": 3},
    ]
    assert "class Solution" in problem.prompt


def test_livecodebench_unpacks_its_hidden_tests():
    problem = read(LIVECODEBENCH)
    assert [dict(test) for test in problem.answer] == [
        {"input": ((1, 2), 3), "output": 6},
        {"input": ((4,), 5), "output": 9},
    ]
    assert problem.metadata["entry_point"] == "Solution.go"
    assert problem.metadata["contest_date"] == "2024-10-01T00:00:00"
    plain = [{"input": "1\n", "output": "1\n", "testtype": "stdin"}]
    row = LIVECODEBENCH | {"public_test_cases": json.dumps(plain), "starter_code": ""}
    problem = read(row | {"private_test_cases": "", "metadata": "{}"})
    assert (problem.metadata["kind"], len(problem.answer)) == ("stdio", 1)


class Bomb:
    def __reduce__(self):
        return os.system, ("touch /tmp/reasonenv-was-here",)


@pytest.mark.parametrize(
    ("packed", "says"),
    [
        (pickle.dumps(Bomb()), "packed tests hold data only, not posix.system"),
        (pickle.dumps(7), "JSON text, not a int"),
        (pickle.dumps("{"), "Expecting"),
        (b"\x80", "cannot be opened"),
    ],
)
def test_packed_tests_can_run_no_code(packed, says):
    text = base64.b64encode(zlib.compress(packed)).decode()
    with pytest.raises(ValueError, match=says):
        io_of_livecodebench(text)
    with pytest.raises(DataError, match=r"tasks\.jsonl:3: the test cases cannot be read"):
        read(LIVECODEBENCH | {"private_test_cases": text})
    assert not Path("/tmp/reasonenv-was-here").exists()


def test_packed_tests_that_would_fill_the_memory_are_refused(monkeypatch):
    monkeypatch.setattr("reasonenv.problems.code_tests.MAX_UNPACKED_BYTES", 1000)
    text = base64.b64encode(zlib.compress(b"7" * 100_000)).decode()
    with pytest.raises(ValueError, match="more than 1000 bytes"):
        io_of_livecodebench(text)


def test_codeforces_puts_the_statement_together():
    problem = read(CODEFORCES)
    assert problem.prompt == (
        "Print the square.\n\nInput\nOne number.\n\nOutput\nIts square.\n\n"
        "Example input\n2\n\nExample output\n4"
    )
    assert problem.metadata["time_limit_s"] == 2.0
    assert problem.metadata["rating"] == 800
    assert problem.metadata["checker"] == "tokens"


@pytest.mark.parametrize(
    "row",
    [
        CODEFORCES | {"generated_checker": "print(1)"},
        CODEFORCES | {"interaction_format": "Ask."},
        CODEFORCES | {"input_mode": "file"},
        CODEFORCES | {"official_tests": []},
        APPS_STDIO | {"input_output": ""},
        APPS_STDIO | {"input_output": json.dumps({"inputs": [], "outputs": []})},
        OPENCODER | {"testcase": []},
        OWN | {"tests": []},
    ],
)
def test_a_row_whose_tests_decide_nothing_is_left_out_and_counted(row):
    with pytest.warns(UserWarning, match=r"code: 1 rows without a gold are left out \(code: row 2"):
        problems = load("code", data=[OWN, row])
    assert len(problems) == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"tests": None}, "no tests in this row; they are read from one of: tests, test_list"),
        ({"tests": 7}, "tests are a list, got 7"),
        ({"tests": [7], "kind": "assert"}, "test 1 is a statement as text, got 7"),
        ({"tests": ["assert add(1, 2) == 3", " "]}, "test 2 is a statement"),
        ({"kind": "asserts"}, "not of kind 'asserts'; did you mean `assert`"),
        ({"kind": "call"}, 'test 1 is an object with "input" and "output"'),
        ({"kind": "call", "tests": [{"input": 1, "output": 3}]}, "a list of arguments, got 1"),
        ({"kind": "stdio", "tests": [{"input": [1], "output": "3"}]}, "are texts"),
        ({"tests": [{"input": "1"}]}, 'an object with "input" and "output"'),
        ({"entry_point": 7}, 'field "entry_point".*is no name: 7'),
        ({"entry_point": "a b"}, "is no name: 'a b'"),
        ({"entry_point": None, "tests": ["assert True"]}, "is missing, and no test tells it"),
        ({"prompt": None}, "the statement of the task is missing"),
        ({"prompt": "  "}, "the statement of the task is missing, blank"),
        ({"time_limit_s": 0}, 'field "time_limit_s" is a number above 0, got 0'),
        ({"time_limit_s": float("nan")}, "above 0, got nan"),
        ({"time_limit_s": "4"}, "above 0, got '4'"),
        ({"tol": -1}, 'field "tol" is a number above 0'),
        ({"checker": "token"}, "not compared as 'token'; did you mean `tokens`"),
        ({"setup": 7}, "the setup is a text, got 7"),
        ({"solution": ["x"]}, "the solution is a text"),
        ({"id": 1.5}, 'field "id" is a text or an integer'),
    ],
)
def test_a_row_that_is_no_task_says_where_and_why(change, says, tmp_path):
    with pytest.raises(DataError, match=rf"tasks\.jsonl:3: {says}|tasks\.jsonl:3: .*{says}"):
        read(OWN | change)
    path = tmp_path / "own.jsonl"
    path.write_text(f"{json.dumps(OWN)}\n\n{json.dumps(OWN | {'id': 'b'} | change)}\n")
    with pytest.raises(DataError, match=r"own\.jsonl:3: "):
        load("code", data=path)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (HUMANEVAL | {"entry_point": None}, 'field "entry_point"'),
        (OPENCODER | {"entry_point": "", "code": "x"}, 'field "entry_point"'),
        (MBPP | {"code": "x = 1", "test_list": ["assert len([1]) == 1"]}, 'field "entry_point"'),
        (OPENCODER | {"instruction": None}, "the statement of the task is missing"),
        (APPS_STDIO | {"input_output": "{"}, 'field "input_output" cannot be read'),
        (APPS_STDIO | {"input_output": "[1]"}, "not an object, but a list"),
        (APPS_STDIO | {"input_output": '{"inputs": [1], "outputs": []}'}, "1 inputs and 0 outputs"),
        (LIVECODEBENCH | {"public_test_cases": "%%"}, "the test cases cannot be read"),
        (LIVECODEBENCH | {"public_test_cases": "[1]"}, "not a list of tests"),
        (LIVECODEBENCH | {"metadata": "{"}, "the test cases cannot be read"),
        (CODEFORCES | {"official_tests": [{"input": 3}]}, 'an object with "input" and "output"'),
    ],
)
def test_a_broken_row_of_a_data_set_says_where_and_why(row, says):
    with pytest.raises(DataError, match=rf"tasks\.jsonl:3: .*{says}|tasks\.jsonl:3: {says}"):
        read(row)


ROWS = [OWN, HUMANEVAL, MBPP, OPENCODER, APPS_STDIO, APPS_CALL, LIVECODEBENCH, CODEFORCES]


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_a_task_is_written_and_read_back_as_itself(row):
    problem = read(row)
    assert read(json.loads(json.dumps(to_row(problem)))) == problem
    assert pickle.loads(pickle.dumps(problem)) == problem


def test_a_row_without_an_id_has_one_of_its_content():
    first, second = (read({k: v for k, v in OWN.items() if k != "id"}) for _ in range(2))
    assert first.id == second.id != read(OWN).id


def test_names_of_functions_are_found_where_they_stand():
    assert called_function(["assert sorted(f(1)) == [1]"]) == "f"
    assert called_function(["assert g(f(1)) == 1"], "def f(x):\n    return x") == "f"
    assert called_function(["assert g(1)"], "def f(x):\n    return x") is None
    assert called_function(["not python ("]) is None
    assert class_of("class A:\n    def f(self):\n        pass", "f") == "A"
    assert class_of("def f():\n    pass", "f") is None
    assert signature("class A:\n    def f(self, x: int, *, y=1):\n", "f") == "f(x: int, *, y)"
    assert signature("x = 1", "f") is None
    assert asserts_of("def check(", "f") is None
    assert asserts_of("def check(a, b):\n    assert a(1)", "f") is None


def test_rows_are_checked_for_what_the_judge_knows():
    assert tuple(outputs.CHECKERS) == CHECKERS
    assert set(run.KINDS) == set(TEST_KINDS)


def test_every_code_entry_can_be_loaded_from_a_local_file(tmp_path):
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps(OWN) + "\n")
    assert len(CODE_SETS) == 10
    for name, entry in CODE_SETS.items():
        assert load(name, data=path)[0].answer == ("assert add(1, 2) == 3",)
        assert "python" in entry.answer_is
    with pytest.raises(DataError, match=r"code: needs data=FILE\.jsonl.*\"tests\""):
        load("code")


# OneLiners


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("split", ["train", "test"])
def test_the_solution_of_a_one_liner_passes_its_tests(parts, split):
    problems = load("one_liners", split, parts=parts)
    for i in range(60):
        problem = problems[i]
        space = {}
        exec(problem.metadata["solution"], space)
        for test in problem.answer:
            exec(test, space)
        assert problem.metadata["solution"].count("\n") == 2
        assert len(problem.answer) >= 6


def test_a_slightly_wrong_one_liner_fails():
    wrong = [
        (" if x > ", " if x >= "),
        (" if x < ", " if x <= "),
        ("x + ", "x - "),
        ("sum(", "len("),
        ("max(", "min("),
        ("''.join(", "'-'.join("),
        ("[::-1]", ""),
        (".upper()", ""),
    ]
    seen = survived = 0
    problems = load("one_liners")
    for i in range(150):
        for old, new in wrong:
            solution = problems[i].metadata["solution"]
            if old not in solution:
                continue
            space = {}
            try:
                exec(solution.replace(old, new), space)
                for test in problems[i].answer:
                    exec(test, space)
            except Exception:
                seen += 1
            else:
                seen, survived = seen + 1, survived + 1
    assert seen > 100
    assert survived / seen < 0.05


def test_a_constant_passes_no_one_liner():
    problems = load("one_liners")
    for i in range(200):
        wanted = {test.partition(" == ")[2] for test in problems[i].answer}
        assert len(wanted) > 1, problems[i]


def test_one_id_is_one_problem_and_one_split():
    train, test = load("one_liners", parts=1), load("one_liners", "test", parts=1)
    seen = {}
    for problems in (train, test):
        for i in range(300):
            problem = problems[i]
            assert seen.setdefault(problem.id, problem) == problem
    assert not {train[i].id for i in range(300)} & {test[i].id for i in range(300)}
    assert load("one_liners", seed=3)[5] == load("one_liners", seed=3)[5]
    twin = pickle.loads(pickle.dumps(train))
    assert twin[7] == train[7]


def test_making_a_one_liner_takes_less_than_a_millisecond_or_so():
    import time

    generate = OneLiners()
    rng = np.random.default_rng(0)
    generate(rng)
    started = time.process_time()
    for _ in range(200):
        generate(rng)
    assert time.process_time() - started < 2  # 0.1 s on an idle core


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(3, 12))
def test_any_draw_is_a_task_with_distinct_tests(seed, parts, tests):
    problem = OneLiners(parts=parts, tests=tests)(np.random.default_rng(seed))
    assert len(set(problem.answer)) == len(problem.answer) >= tests
    assert problem.metadata["entry_point"] in problem.prompt
    assert read(to_row(problem)) == problem


@pytest.mark.parametrize("options", [{"parts": 0}, {"parts": 4}, {"tests": 2}, {"tests": 51}])
def test_one_liners_out_of_range_are_refused(options):
    with pytest.raises(DataError, match="parts from 1 to 3 and tests from 3 to 50"):
        load("one_liners", **options)


@pytest.mark.skipif(not BENCH.is_dir(), reason="needs the shared bench files")
def test_the_shared_bench_is_read_in_full():
    problems = load("code", data=BENCH / "problems_dev.jsonl")
    assert len(problems) == 151
    kinds = [problem.metadata["kind"] for problem in problems]
    assert (kinds.count("assert"), kinds.count("stdio")) == (133, 18)
    assert all(problem.metadata.get("solution") for problem in problems)
    assert sum("prompt" in problem.metadata for problem in problems) >= 60  # HumanEval's headers
