"""Running a program's tests in a sandbox, and reading a verdict off what came back.

* `judge_program`: a program and its tests in, a `Verdict` out.
* `OUTCOMES`, `FAILURES`: the words that verdicts use.

The program never decides: its tests run in another process, under another user, and reach it by
calls that carry plain data; what it prints is compared here.
"""

from __future__ import annotations

import math
import secrets
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from reasonenv.checkers.code.outputs import CHECKERS, OutputChecker, same_output
from reasonenv.checkers.code.program import (
    MAX_PROGRAM_CHARS,
    helpers_in,
    imports_in,
    syntax_error,
)
from reasonenv.errors import (
    DataError,
    MissingExtraError,
    SandboxUnavailableError,
    did_you_mean,
)
from reasonenv.sandbox import Job, JobResult, Sandbox, SandboxFailedError, get_sandbox
from reasonenv.types import Cost, Status, Verdict, thaw

__all__ = ["DEFAULT_TIME_LIMIT_S", "FAILURES", "KINDS", "OUTCOMES", "judge_program"]

DEFAULT_TIME_LIMIT_S = 4.0
"""CPU seconds: for all tests that call functions together, for each run of a stdio program."""

MAX_RUNS_AT_LIMIT = 6
"""A stdio program may use the time limit this often, over all its tests."""

MIN_OUTPUT_BYTES = 1 << 20
"""Standard output that a stdio program may write whatever is expected; beyond, twice that."""

HEAD_CHARS = 2000
"""How much of what a program wrote is kept in a verdict."""

KINDS = ("assert", "check", "call", "stdio")

OUTCOMES = (
    "passed",
    "wrong_answer",
    "timeout",
    "memory",
    "output_limit",
    "killed",
    "crash",
    "exited",
    "entry_point_missing",
    "not_run",
)
"""Per test; any other word is the class of the exception that the program raised."""

FAILURES = (
    "no_code",
    "too_long",
    "syntax_error",
    "entry_point_missing",
    "wrong_answer",
    "runtime_error",
    "timeout",
    "memory",
    "output_limit",
    "killed",
    "crash",
)
"""Why a program failed: `detail["failure"]`, after its first test that did."""


def _failure(outcome: str) -> str:
    if outcome in ("SyntaxError", "IndentationError", "TabError"):
        return "syntax_error"
    return outcome if outcome in FAILURES else "runtime_error"


def _head(data: bytes) -> str:
    return data[: 4 * HEAD_CHARS].decode("utf-8", "replace")[:HEAD_CHARS]


def _failed(failure: str, program: str | None, n_tests: int, **detail: Any) -> Verdict:
    """Return the verdict on a program that needs no sandbox to be wrong."""
    status = {"no_code": Status.NO_ANSWER, "too_long": Status.MALFORMED}.get(
        failure, Status.INCORRECT
    )
    outcomes = ["not_run"] * n_tests
    shared = {"tests": outcomes, "passed": 0, "total": n_tests, "failure": failure, **detail}
    return Verdict(status, 0.0, program, {"trusted": True, **shared})


def judge_program(
    program: str,
    tests: Sequence[Any],
    kind: str,
    entry_point: str | None = None,
    *,
    setup: str = "",
    prompt: str = "",
    checker: str | OutputChecker | None = None,
    tol: float | None = None,
    time_limit_s: float | None = None,
    stop_at_first: bool = False,
    in_process: bool = False,
    sandbox: Sandbox | None = None,
) -> Verdict:
    """Return the verdict on a program; a program can neither raise here nor decide.

    Args:
        program: the source.
        tests: `kind` "assert": statements; "check": sources that define `check(candidate)`; "call":
            `{"input": [arguments], "output": value}`; "stdio": `{"input": text, "output": text}`.
        kind: one of `KINDS`.
        entry_point: the function that tests call, or `Class.method`.
        setup: a source that tests need; its imports are run before the program too.
        prompt: code that the program continues; helpers in it are the tests' own.
        checker: for stdio "tokens" (default), "lines", "float", or a function.
        tol: relative tolerance of "float", and of numbers in "call" tests.
        time_limit_s: CPU seconds, see `DEFAULT_TIME_LIMIT_S`.
        stop_at_first: run no test after one that failed.
        in_process: evaluate "assert" tests in the program's own process, for tests that need its
            classes. Such a program can forge its results: the verdict says `trusted: False`. It is
            a property of the problem, set when it is loaded, never of what a program returns.
        sandbox: where to run; None takes this process' docker sandbox.

    Returns:
        `score` is the share of tests passed; `detail` holds "tests" (an outcome for each),
        "passed", "total", "failure" (one of `FAILURES`, or None), "stdout", "stderr" (heads) and
        "trusted"; "returned", where a test got a wrong value: for each test the head of that value
        as a text, or None. It is the program's own word, for people and for feedback.
        SANDBOX_UNAVAILABLE, CHECKER_TIMEOUT (the machine is overloaded) and
        CHECKER_ERROR (sandboxes that broke twice, tests that cannot run) say nothing about it.

    Raises:
        DataError: tests or limits that no program could be judged by.
    """
    tests = [thaw(test) for test in tests]
    _check(tests, kind, entry_point, checker, time_limit_s)
    checker = checker or "tokens"
    if not program.strip():
        return _failed("no_code", program or None, len(tests))
    if len(program) > MAX_PROGRAM_CHARS:
        return _failed("too_long", None, len(tests), error=f"{len(program)} characters")
    if in_process and kind != "assert":
        raise DataError(f"tests of kind {kind!r} cannot be evaluated in the program's process")
    if sandbox is None:
        sandbox = get_sandbox()
    why = syntax_error(program)
    if why is not None and not _newer(sandbox):
        return _failed("syntax_error", program, len(tests), error=why, syntax_ok=False)
    if in_process:
        mark = secrets.token_hex(16)
        tests = [
            {"input": f"{setup}\n{test}\nprint()\nprint({mark!r})", "output": mark}
            for test in tests
        ]
        kind, checker = "stdio", _ends_with_mark
    source = _EVALUATES.format(program=program) if in_process else program
    job = _job(source, tests, kind, entry_point, setup, prompt, tol, time_limit_s, stop_at_first)
    try:
        result = sandbox.run(job)
    except (SandboxUnavailableError, MissingExtraError) as error:
        return Verdict(Status.SANDBOX_UNAVAILABLE, 0.0, program, {"error": str(error)})
    except SandboxFailedError as error:
        return Verdict(Status.CHECKER_ERROR, 0.0, program, {"error": str(error)})
    outcomes = list(result.outcomes)
    if kind == "stdio":
        outcomes = _compared(result, tests, checker, tol, stop_at_first)
    if in_process:
        outcomes = ["wrong_answer" if o == "AssertionError" else o for o in outcomes]
    trusted = not in_process and "users" not in sandbox.lacks
    return _verdict(program, result, outcomes, trusted)


_EVALUATES = """{program}
exec(compile(__import__("sys").stdin.read(), "<test>", "exec"), globals())
"""


def _ends_with_mark(data: str, expected: str, printed: str) -> bool:
    return printed.rstrip().endswith(expected)


def _newer(sandbox: Sandbox) -> bool:
    """Whether the sandbox is known to read more syntax than this interpreter."""
    theirs = getattr(sandbox, "python", None)
    return theirs is not None and tuple(theirs[:2]) > sys.version_info[:2]


def _check(
    tests: list[Any],
    kind: str,
    entry_point: str | None,
    checker: str | OutputChecker | None,
    time_limit_s: float | None,
) -> None:
    if kind not in KINDS:
        raise DataError(f"there are no tests of kind {kind!r}: {did_you_mean(kind, KINDS)}")
    if not tests:
        raise DataError("a program is judged by at least one test, got none")
    if kind in ("check", "call") and not entry_point:
        raise DataError(f"tests of kind {kind!r} need an entry point")
    for number, test in enumerate(tests):
        if kind in ("assert", "check"):
            fits = isinstance(test, str)
        else:
            fits = isinstance(test, Mapping) and "input" in test and "output" in test
            if kind == "stdio" and fits:
                fits = isinstance(test["input"], str) and isinstance(test["output"], str)
        if not fits:
            raise DataError(f"test {number} is none of kind {kind!r}: {test!r:.80}")
    if isinstance(checker, str) and checker not in CHECKERS:
        raise DataError(f"no output checker {checker!r}: {did_you_mean(checker, CHECKERS)}")
    if time_limit_s is not None and not (math.isfinite(time_limit_s) and time_limit_s > 0):
        raise DataError(f"a time limit is a number of seconds above 0, got {time_limit_s}")


def _job(
    program: str,
    tests: list[Any],
    kind: str,
    entry_point: str | None,
    setup: str,
    prompt: str,
    tol: float | None,
    time_limit_s: float | None,
    stop_at_first: bool,
) -> Job:
    limit = time_limit_s or DEFAULT_TIME_LIMIT_S
    if kind != "stdio":
        return Job(
            program=program,
            kind=kind,
            tests=tuple(tests),
            entry_point=entry_point,
            setup=setup,
            helpers=helpers_in(prompt, entry_point),
            prefix=imports_in(setup),
            test_s=limit,
            job_s=limit + 0.5,
            stop_at_first=stop_at_first,
            tol=tol,
        )
    room = [max(MIN_OUTPUT_BYTES, 2 * len(test["output"].encode()) + 65536) for test in tests]
    return Job(
        program=program,
        kind=kind,
        tests=tuple(test["input"] for test in tests),
        test_s=limit,
        job_s=limit * min(len(tests), MAX_RUNS_AT_LIMIT) + 0.5,
        outputs=tuple(room),
        stop_at_first=stop_at_first,
    )


def _compared(
    result: JobResult,
    tests: list[Any],
    checker: str | OutputChecker,
    tol: float | None,
    stop_at_first: bool,
) -> list[str]:
    outcomes = ["not_run"] * len(tests)
    for index, (run, test) in enumerate(zip(result.runs, tests, strict=False)):
        outcomes[index] = run.outcome
        if run.outcome == "finished":
            printed = run.stdout.decode("utf-8", "replace")
            right = same_output(checker, test["input"], test["output"], printed, tol)
            outcomes[index] = "passed" if right else "wrong_answer"
        if stop_at_first and outcomes[index] != "passed":
            break
    return outcomes


def _verdict(program: str, result: JobResult, outcomes: list[str], trusted: bool) -> Verdict:
    cost = Cost(0.0, result.cpu_seconds, result.peak_memory_bytes)
    if result.bad_test is not None:
        detail: dict[str, Any] = {"error": f"the tests cannot be run: {result.bad_test}"}
        return Verdict(Status.CHECKER_ERROR, 0.0, program, detail, cost)
    if "test_error" in outcomes:
        number = outcomes.index("test_error")
        detail = {"error": f"test {number} passes an argument that is not plain data"}
        return Verdict(Status.CHECKER_ERROR, 0.0, program, detail, cost)
    outcomes = ["exited" if o.startswith("exit:") else o for o in outcomes]
    outcomes = ["wrong_answer" if o == "protocol" else o for o in outcomes]
    failed = next((outcome for outcome in outcomes if outcome not in ("passed", "not_run")), None)
    passed = outcomes.count("passed")
    if result.overload:
        detail = {"error": "the machine is too busy to decide", "tests": outcomes}
        return Verdict(Status.CHECKER_TIMEOUT, 0.0, program, detail, cost)
    solved = bool(outcomes) and passed == len(outcomes)
    shown = next(
        (run for run, outcome in zip(result.runs, outcomes, strict=False) if outcome != "passed"),
        result.runs[0] if result.runs else None,
    )
    failure = None if solved else _failure(failed or "not_run")
    detail = {
        "tests": outcomes,
        "passed": passed,
        "total": len(outcomes),
        "failure": failure,
        "stdout": _head(shown.stdout if shown else result.stdout),
        "stderr": _head(shown.stderr if shown else result.stderr),
        "trusted": trusted,
    }
    if any(text is not None for text in result.returned):
        detail["returned"] = list(result.returned)
    if failure == "syntax_error":
        detail["syntax_ok"] = False
    score = passed / len(outcomes) if outcomes else 0.0
    status = Status.CORRECT if solved else Status.INCORRECT
    return Verdict(status, score, program, detail, cost)
