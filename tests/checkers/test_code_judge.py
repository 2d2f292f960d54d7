"""The judge of programs: verdicts, outcomes, kinds of tests, bad input."""

from __future__ import annotations

import json
import os
import pickle
import time
from pathlib import Path

import pytest

from reasonenv.checkers.code import CodeJudge, judge_program
from reasonenv.checkers.code.outputs import same_output
from reasonenv.checkers.code.program import helpers_in, imports_in, syntax_error
from reasonenv.errors import DataError, ReasonEnvError
from reasonenv.sandbox import SandboxConfig
from reasonenv.sandbox.docker_backend import docker_sandbox
from reasonenv.types import Problem, Status

DATA = Path(__file__).parents[1] / "data" / "code"
SHARED = Path(os.environ.get("REASONENV_SHARED", Path(__file__).parents[3] / "shared"))
REAL = SHARED / "bench" / "code" / "problems_dev.jsonl"
PROBLEMS = [json.loads(line) for line in (DATA / "problems_own.jsonl").open()]
if REAL.is_file():  # public problems do not live in the repository: one in three of those beside it
    PROBLEMS += [json.loads(line) for line in list(REAL.open())[::3]]
NAMES = {"ok": "passed", "AssertionError": "wrong_answer", "WrongAnswer": "wrong_answer"}
NAMES["Timeout"] = "timeout"


@pytest.fixture(scope="module")
def pool():
    made = docker_sandbox(SandboxConfig(size=1))
    try:
        made.warm()
    except ReasonEnvError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI has no sandbox: {error}")
        pytest.skip(f"no sandbox here: {error}")
    yield made
    made.close()


def judged(pool, row, program):
    names = ("setup", "prompt", "checker", "tol", "time_limit_s")
    about = {name: row[name] for name in names if row[name] is not None}
    return judge_program(
        program, row["tests"], row["kind"], row["entry_point"], **about, sandbox=pool
    )


@pytest.mark.parametrize("row", PROBLEMS, ids=lambda row: row["id"])
def test_right_programs_pass_and_wrong_ones_fail_as_recorded(row, pool):
    verdict = judged(pool, row, row["solution"])
    assert verdict.status is Status.CORRECT, verdict
    for program, meta in zip(row["wrong"], row["wrong_meta"], strict=True):
        verdict = judged(pool, row, program)
        assert verdict.status is Status.INCORRECT, verdict
        assert verdict.score == meta["passed"] / meta["total"]
        if row["kind"] == "assert":
            expected = [NAMES.get(name, name) for name in meta["per_test"]]
            assert list(verdict.detail["tests"]) == expected


def run(pool, program, *tests, kind="assert", entry="f", **more):
    return judge_program(program, tests, kind, entry, sandbox=pool, **more)


def test_call_tests_compare_values(pool):
    test = {"input": [[3, 1]], "output": [1, 3]}
    assert run(pool, "def f(x): return tuple(sorted(x))", test, kind="call").correct
    assert run(pool, "def f(x): return x", test, kind="call").correct is False
    method = "class Solution:\n def f(self, x): return sorted(x)"
    assert run(pool, method, test, kind="call", entry="Solution.f").correct
    near = {"input": [1], "output": 0.3}
    assert run(pool, "def f(x): return 0.1 + 0.2", near, kind="call", tol=1e-9).correct
    assert run(pool, "def f(x): return float('nan')", near, kind="call", tol=1e-9).correct is False


def test_check_tests_get_the_candidate(pool):
    check = "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(3) == 9"
    assert run(pool, "def f(x): return x * x", check, kind="check").correct
    assert run(pool, "def f(x): return 4", check, kind="check").correct is False


def test_tests_may_use_setup_other_functions_and_classes_of_the_program(pool):
    program = "def enc(s): return s[::-1]\ndef f(s): return s[::-1]"
    assert run(pool, program, "assert f(enc('abc')) == 'abc'").correct
    assert run(
        pool, "def f(x): return math.sqrt(x)", "assert f(4) == two", setup="import math\ntwo = 2"
    ).correct
    method = "class Solution:\n def go(self, x): return x + 1"
    assert run(pool, method, "assert Solution().go(1) == 2", entry="Solution.go").correct


def test_helpers_come_from_the_prompt_not_from_the_program(pool):
    prompt = "def poly(x):\n    return x - 3\n\ndef f():\n    '''Find the zero of poly.'''\n"
    cheat = "def poly(x): return 0\ndef f(): return 99"
    test = "assert poly(f()) == 0"
    assert run(pool, cheat, test, prompt=prompt).correct is False
    assert run(pool, "def f(): return 3", test, prompt=prompt).correct


def test_values_of_the_standard_containers_cross(pool):
    program = (
        "import collections, fractions, decimal\n"
        "def f(k):\n"
        " return {'c': collections.Counter('aab'), 'd': collections.deque([1]), 'r': range(3),\n"
        "  'g': (i for i in range(3)), 'b': b'x', 's': {1, (2, 3)}, 'z': frozenset([1]),\n"
        "  'j': 1 + 2j, 'big': 10 ** 5000, 'q': fractions.Fraction(1, 3), 'n': None,\n"
        "  'e': decimal.Decimal('0.1'), 'u': '\\ud800\\0', 'i': float('inf')}[k]\n"
    )
    tests = [
        "assert f('c') == {'a': 2, 'b': 1}",
        "assert list(f('d')) == [1]",
        "assert f('r') == range(3)",
        "assert list(f('g')) == [0, 1, 2]",
        "assert f('b') == b'x'",
        "assert f('s') == {1, (2, 3)}",
        "assert f('z') == {1}",
        "assert f('j') == 1 + 2j",
        "assert f('big') == 10 ** 5000",
        "import fractions\nassert f('q') * 3 == 1",
        "assert f('n') is None",
        "import decimal\nassert f('e') == decimal.Decimal('0.1')",
        "assert f('u') == '\\ud800\\0'",
        "assert f('i') == float('inf')",
    ]
    verdict = run(pool, program, *tests)
    assert verdict.correct, verdict


def test_tests_in_the_programs_process_are_marked_untrusted(pool):
    program = "class P:\n def __init__(self, x): self.x = x\ndef f(x): return P(x)"
    tests = ("assert f(1).x == 1", "assert f(2).x == 3", "f(1).y")
    assert run(pool, program, tests[0]).correct is False
    verdict = run(pool, program, *tests, in_process=True)
    assert list(verdict.detail["tests"]) == ["passed", "wrong_answer", "AttributeError"]
    assert verdict.detail["trusted"] is False
    early = run(pool, "import sys\nsys.exit(0)", tests[0], in_process=True)
    assert early.correct is False


def test_tests_may_use_library_modules_that_only_the_program_imports(pool):
    program = "import math\ndef f(x): return math.sqrt(x)"
    assert run(pool, program, "assert math.isclose(f(4), 2)").correct


def test_no_program_sees_the_memory_or_the_descriptors_of_its_tests(pool):
    program = """
import os, re
def f(x):
    for p in [q for q in os.listdir("/proc") if q.isdigit()] + ["self"]:
        names = ["mem", "environ", "cmdline", "maps"]
        try: names += ["fd/" + n for n in os.listdir(f"/proc/{p}/fd")]
        except OSError: pass
        for name in names:
            try:
                if p != "self" and name not in ("cmdline",):
                    fd = os.open(f"/proc/{p}/{name}", os.O_RDWR | os.O_NONBLOCK)
                    if int(p) != os.getpid(): return "opened " + p + name
            except OSError: pass
    return ""
"""
    verdict = run(pool, program, "assert f(1) == 'hidden-value'", "assert f(1) == ''")
    assert list(verdict.detail["tests"]) == ["wrong_answer", "passed"]


def test_a_verdict_shows_what_the_program_returned_where_it_is_wrong(pool):
    program = (
        "def f(x):\n return {0: [1, (2, 'a')], 1: 10 ** 5000, 2: list(range(10**5))}.get(x, 'y')\n"
    )
    tests = [
        "assert f(9) == 'y'",
        "assert f(0) == 1",
        "assert f(1) == 1",
        "r = f(2)\nr[:] = ['hidden']\nassert r == 1",
        "f(9).foo()",
    ]
    verdict = run(pool, program, *tests)
    shown = list(verdict.detail["returned"])
    assert shown[:2] == [None, "[1, (2, 'a')]"]
    assert shown[2] is not None
    assert shown[3].startswith("[0, 1, 2,")
    assert "hidden" not in shown[3]
    assert shown[4] is None
    assert max(len(text or "") for text in shown) <= 300
    assert "returned" not in run(pool, program, tests[0]).detail
    many = run(pool, "def f(x): return 'a' * 10**6", *["assert f(1) == 2"] * 50)
    assert sum(text is not None for text in many.detail["returned"]) == 8


def test_what_a_program_returns_is_never_taken_for_more_than_a_text(pool):
    liar = "class T:\n __repr__ = lambda s: 'passed'\n"
    program = f"{liar}def f(x): return [T()] if x else '\\x1b[2J'"
    verdict = run(pool, program, "assert f(1) == 1", "assert f(0) == 1")
    assert list(verdict.detail["tests"]) == ["wrong_answer", "wrong_answer"]
    assert list(verdict.detail["returned"]) == [None, "'\\x1b[2J'"]


def test_nothing_is_shown_that_was_told_to_another_function_of_the_program(pool):
    program = "def f(x): return 'ab'\ndef same(a, b): return {b: 0}.get(a)"
    verdict = run(pool, program, "assert same(f(1), 'hidden')")
    assert list(verdict.detail["returned"]) == ["'ab'"]


def test_a_failing_program_stops_the_tests_only_if_asked_to(pool):
    tests = ("assert f(1) == 1", "assert f(2) == 0", "assert f(3) == 3")
    program = "def f(x): return x"
    assert list(run(pool, program, *tests).detail["tests"]) == ["passed", "wrong_answer", "passed"]
    stopped = run(pool, program, *tests, stop_at_first=True)
    assert list(stopped.detail["tests"]) == ["passed", "wrong_answer", "not_run"]
    texts = [{"input": str(n), "output": str(n % 2)} for n in range(3)]
    stopped = judge_program("input()\nprint(0)", texts, "stdio", sandbox=pool, stop_at_first=True)
    assert list(stopped.detail["tests"]) == ["passed", "wrong_answer", "not_run"]


def test_thousands_of_tests_are_reported_one_by_one(pool):
    tests = [f"assert f({n}) != 7" for n in range(6000)]
    verdict = run(pool, "def f(x): return x", *tests)
    assert (verdict.detail["passed"], verdict.detail["total"]) == (5999, 6000)
    assert verdict.detail["tests"][7] == "wrong_answer"


def test_tests_that_only_the_sandbox_reads_use_what_the_program_defines(pool):
    long = f"x = sum([{'1, ' * 9000}])\nassert g(f(1)) == 4 and math.sqrt(x) > 1"
    program = "import math\ndef f(x): return x + 1\ndef g(x): return x * 2"
    assert run(pool, program, long).correct


def test_a_program_that_dies_in_one_test_is_started_again_for_the_next(pool):
    program = "import os\ndef f(x):\n if x == 1: os._exit(3)\n return x"
    verdict = run(pool, program, "assert f(0) == 0", "assert f(1) == 1", "assert f(2) == 2")
    assert list(verdict.detail["tests"]) == ["passed", "exited", "passed"]


@pytest.mark.parametrize(
    ("program", "status", "failure"),
    [
        ("", Status.NO_ANSWER, "no_code"),
        ("def f(x)\n  return 1", Status.INCORRECT, "syntax_error"),
        ("x = '\0'", Status.INCORRECT, "syntax_error"),
        ("x = '\ud800'", Status.INCORRECT, "syntax_error"),
        ("#" * (1 << 21), Status.MALFORMED, "too_long"),
        ("def g(x): return 1", Status.INCORRECT, "entry_point_missing"),
        ("f = None", Status.INCORRECT, "runtime_error"),
        ("def f(x): raise ValueError", Status.INCORRECT, "runtime_error"),
        ("import nowhere", Status.INCORRECT, "runtime_error"),
        ("x = " + "-" * 100_000 + "1", Status.INCORRECT, None),
        ("def f(x): return " + "(" * 5000 + ")" * 5000, Status.INCORRECT, "syntax_error"),
        ("#" * 900_000 + "\ndef f(x): return 1", Status.CORRECT, None),
    ],
)
def test_odd_programs_get_a_verdict(program, status, failure, pool):
    verdict = run(pool, program, "assert f(1) == 1")
    assert verdict.status is status, verdict
    assert failure is None or verdict.detail["failure"] == failure


@pytest.mark.parametrize(
    "tests", [["def :"], ["assert f(1) == 1", "assert ("], ["assert f(lambda: 1)"]]
)
def test_tests_that_cannot_run_are_no_evidence(tests, pool):
    verdict = run(pool, "def f(x): return x", *tests)
    assert verdict.status is Status.CHECKER_ERROR
    assert "test" in verdict.detail["error"]


@pytest.mark.parametrize(
    ("kind", "tests", "more"),
    [
        ("asert", ["assert 1"], {}),
        ("assert", [], {}),
        ("assert", [3], {}),
        ("stdio", ["x"], {}),
        ("call", [{"input": [1]}], {}),
        ("assert", ["assert 1"], {"time_limit_s": 0}),
        ("assert", ["assert 1"], {"time_limit_s": float("nan")}),
        ("stdio", [{"input": "", "output": ""}], {"checker": "tokns"}),
    ],
)
def test_unusable_tests_and_limits_are_data_errors(kind, tests, more):
    with pytest.raises(DataError):
        judge_program("x = 1", tests, kind, "f", **more)


def test_a_special_judge_decides_about_output(pool):
    def factors(data, expected, printed):
        a, b = map(int, printed.split())
        return a * b == int(data) and a > 1

    tests = [{"input": "15", "output": ""}]
    judge = lambda p: judge_program(p, tests, "stdio", checker=factors, sandbox=pool)  # noqa: E731
    assert judge("print(5, 3)").correct
    assert judge("print(15, 1)").correct is False or judge("print(1, 15)").correct is False


@pytest.mark.parametrize(
    ("checker", "expected", "printed", "same"),
    [
        ("tokens", "1 2\n", "1\n2", True),
        ("tokens", "1 2", "12", False),
        ("lines", "a\n b\n", "a  \n b\r\n\n", True),
        ("lines", " a", "a", False),
        ("float", "1.0", "1.0000005", True),
        ("float", "1.0", "1.1", False),
        ("float", "yes 1e9", "yes 1000000001", True),
        ("float", "1.0", "nan", False),
        ("float", "inf", "inf", False),
        ("float", "1.0", "1_0", False),
        ("float", "1 2", "1", False),
    ],
)
def test_output_checkers(checker, expected, printed, same):
    assert same_output(checker, "", expected, printed) is same


def test_code_judge_extracts_judges_and_pickles(pool):
    judge = pickle.loads(pickle.dumps(CodeJudge(config=SandboxConfig(size=1))))
    problem = Problem("double", ["assert f(2) == 4"], {"kind": "assert", "entry_point": "f"})
    verdict = judge(problem, "Sure:\n```python\ndef f(x):\n    return 2 * x\n```\n")
    assert verdict.status is Status.CORRECT
    assert verdict.detail["trusted"] is True
    assert verdict.cost.cpu_seconds > 0
    assert verdict.cost.peak_memory_bytes > 1 << 20
    assert judge(problem, "I do not know.").status is Status.NO_ANSWER


def test_without_an_engine_a_verdict_is_no_evidence(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    judge = CodeJudge(config=SandboxConfig(size=3))
    problem = Problem("double", ["assert f(2) == 4"], {"kind": "assert", "entry_point": "f"})
    began = time.monotonic()
    verdict = judge(problem, "```python\ndef f(x):\n    return 2 * x\n```")
    assert verdict.status is Status.SANDBOX_UNAVAILABLE
    assert time.monotonic() - began < 2
    assert judge(problem, "```python\ndef f(x)\n```").status is not Status.SANDBOX_UNAVAILABLE


def test_syntax_is_looked_at_before_any_sandbox():
    assert syntax_error("x = 1") is None
    assert "line 1" in syntax_error("x = (")
    assert syntax_error("return 1") is not None
    assert syntax_error("x = " + "-" * 10**5 + "1") is None


def test_only_imports_of_a_setup_reach_the_program():
    assert imports_in("import math\nsecret = 4\nfrom a import b") == "import math\nfrom a import b"
    assert helpers_in("def f():\n    '''x'''\n", "f") == ""
    assert "poly" in helpers_in("def poly(x):\n    return x\ndef f(): ...\n", "f")
