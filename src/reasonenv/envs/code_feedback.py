"""What a policy is told about the tests that its program failed.

Expected values of tests are told only at level "full": a policy that reads them in one turn can
print them in the next.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from reasonenv.problems.code_tests import parsed
from reasonenv.rewards.code import PASSED, outcomes
from reasonenv.types import Judged, Problem, thaw

__all__ = ["FEEDBACK_LEVELS", "failures"]

FEEDBACK_LEVELS = ("score", "tests", "full")
"""How many tests failed; also with which input, and how; also what was expected."""

_SHOWN_TESTS = 3
_SHOWN_CHARS = 300

_WORDS: Mapping[str, str] = {
    "wrong_answer": "wrong answer",
    "timeout": "time limit exceeded",
    "memory": "memory limit exceeded",
    "output_limit": "too much output",
    "not_run": "not run",
    "exited": "the program ended before it answered",
    "crash": "the program crashed",
    "killed": "the program was killed",
    "entry_point_missing": "the program does not define the function",
    "processes": "too many processes",
}


def failures(judged: Judged, level: str) -> str:
    """Return the tests that failed, in words.

    Args:
        judged: a program that is not right.
        level: one of `FEEDBACK_LEVELS`.
    """
    problem, detail = judged.rollout.problem, judged.verdict.detail
    if detail.get("syntax_ok") is False:
        reason = _cut(str(detail.get("error") or detail.get("reason") or ""))
        return f"The program does not parse{f' ({reason})' if reason else ''}."
    results = outcomes(judged)
    if not results:
        return "The program could not be run."
    failed = [i for i, outcome in enumerate(results) if outcome != PASSED]
    lines = [f"{len(results) - len(failed)} of {len(results)} tests passed."]
    if level == "score":
        return lines[0]
    ran = [i for i in failed if results[i] != "not_run"] or failed
    for i in ran[:_SHOWN_TESTS]:
        lines.append(f"Test {i + 1}: {_WORDS.get(results[i], results[i])}.")
        lines += _about(problem, i, judged, level)
    return "\n".join(lines)


def _about(problem: Problem, index: int, judged: Judged, level: str) -> list[str]:
    test: Any = problem.answer[index] if index < len(problem.answer) else None
    lines: list[str] = []
    if isinstance(test, Mapping):
        given = test["input"]
        if isinstance(given, str):
            lines.append(f"  input: {_cut(given)!r}")
            lines += _printed(judged, index)
        else:
            function = str(problem.metadata.get("entry_point", "")).rpartition(".")[2]
            shown = ", ".join(repr(argument) for argument in thaw(given))
            lines.append(f"  call: {_cut(f'{function}({shown})')}")
            lines += _returned(judged, index)
        if level == "full":
            lines.append(f"  expected: {_cut(str(thaw(test['output'])))!r}")
    elif isinstance(test, str):
        name = str(problem.metadata.get("entry_point", ""))
        if level == "full" and problem.metadata.get("kind") == "assert":
            lines.append(f"  test: {_cut(test)}")
        elif calls := _calls(test, name):
            lines.append(f"  call: {_cut('; '.join(calls))}")
        lines += _returned(judged, index)
    return lines


def _returned(judged: Judged, index: int) -> list[str]:
    """Return what the program returned last in a test that it got wrong: its own, like output."""
    texts = judged.verdict.detail.get("returned") or ()
    if index >= len(texts) or texts[index] is None:
        return []
    return [f"  returned: {_cut(str(texts[index]))}"]


def _printed(judged: Judged, index: int) -> list[str]:
    """Return what the program printed on the test, where it is the one that the judge kept.

    All of it is the program's own: expected outputs never reach the process that runs it.
    """
    detail, results = judged.verdict.detail, outcomes(judged)
    first = next((i for i, outcome in enumerate(results) if outcome != PASSED), None)
    if index != first:
        return []
    lines = [f"  printed: {_cut(str(detail['stdout']))!r}"] if "stdout" in detail else []
    error = str(detail.get("stderr") or "").strip().splitlines()
    if error and results[index].isidentifier() and results[index] not in _WORDS:
        lines.append(f"  error: {_cut(error[-1])}")
    return lines


def _calls(test: str, name: str) -> list[str]:
    """Return the calls of the function under test in an assert: its inputs, nothing else."""
    tree = parsed(test)
    if tree is None or len(tree.body) != 1:
        return []  # of a longer script nobody can say what it compares
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in (name, "candidate")
    ]
    return list(dict.fromkeys(ast.unparse(node) for node in found))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]} ..."
