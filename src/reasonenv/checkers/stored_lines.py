"""One stored line to one verdict: what a line of each kind must hold, and which judge reads it.

Each function checks a parsed line and returns a call that judges it, so that a bad line is told
apart from a bad answer before any judge runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from reasonenv.checkers.base import judge_safely
from reasonenv.checkers.choice import ChoiceJudge
from reasonenv.checkers.choice.labels import MAX_OPTIONS, letters
from reasonenv.checkers.code.judge import CodeJudge
from reasonenv.checkers.code.outputs import CHECKERS
from reasonenv.checkers.code.run import KINDS as CODE_KINDS
from reasonenv.checkers.code.run import judge_program
from reasonenv.checkers.math import MathJudge, judge_answer
from reasonenv.errors import DataError
from reasonenv.types import Problem, Verdict

__all__ = ["KINDS", "JudgeCall"]

JudgeCall = Callable[[], Verdict]
"""Judges one checked line; never raises."""


def _math(row: Mapping[str, Any]) -> JudgeCall:
    """`{"id", "gold", "completion"}` (a whole reply) or `{"id", "gold", "answer"}` (bare)."""
    gold = _field(row, "gold", str, int, float)
    if isinstance(gold, float) and not math.isfinite(gold):
        raise DataError(f"`gold` is a finite number or a text, got {gold}")
    which = _either(row, "completion", "answer")
    text = _field(row, which, str)
    problem = Problem("", gold)
    if which == "answer":
        return lambda: judge_safely(lambda _, answer: judge_answer(gold, answer), problem, text)
    return lambda: judge_safely(MathJudge(), problem, text)


def _choice(row: Mapping[str, Any]) -> JudgeCall:
    """`{"id", "options": [...], "gold": "B" or null, "completion"}`.

    May hold `labels`, one for each option, and `multiple`: true, with a list of labels as gold
    (or a text with commas between them).
    """
    options = _field(row, "options", list)
    if len(options) < 2 or not all(isinstance(option, str) for option in options):
        raise DataError("`options` is a list of at least two texts")
    if len(options) > MAX_OPTIONS:
        raise DataError(f"`options` holds at most {MAX_OPTIONS} texts, got {len(options)}")
    names = list(letters(len(options)))
    about: dict[str, Any] = {"options": options}
    labels = _optional(row, "labels", list)
    if labels is not None:
        if not all(isinstance(label, str) and label.strip() for label in labels):
            raise DataError("`labels` is a list of texts, none of them empty")
        if len(labels) != len(options) or len({name.strip().upper() for name in labels}) < len(
            labels
        ):
            raise DataError(
                f"`labels` names each of the {len(options)} options once, got {labels!r:.60}"
            )
        about["labels"] = names = labels
    multiple = row.get("multiple", False)
    if not isinstance(multiple, bool):
        raise DataError(f"`multiple` is true or false, got {type(multiple).__name__}")
    about["multiple"] = multiple
    gold = _field(row, "gold", str, type(None), *([list] if multiple else []))
    golds = gold.replace(",", " ").split() if multiple and isinstance(gold, str) else gold
    for one in golds if isinstance(golds, list) else [golds]:
        if one is not None and one not in names and one not in letters(len(options)):
            raise DataError(f"`gold` is null or one of {', '.join(names)}, got {one!r:.40}")
    text = _field(row, "completion", str)
    problem = Problem("", gold, about)
    return lambda: judge_safely(ChoiceJudge(), problem, text)


def _code(row: Mapping[str, Any]) -> JudgeCall:
    """`{"id", "kind", "tests", "completion" or "program", ...}`: run in the docker sandbox."""
    kind = _field(row, "kind", str)
    if kind not in CODE_KINDS:
        raise DataError(f"`kind` is one of {', '.join(CODE_KINDS)}, got {kind!r:.40}")
    tests = _field(row, "tests", list)
    if not tests:
        raise DataError("`tests` holds at least one test")
    for number, test in enumerate(tests):
        if kind in ("assert", "check") and not isinstance(test, str):
            raise DataError(f"`tests[{number}]` is a source with assert statements, as text")
        held = test if isinstance(test, dict) else {}
        if kind == "call" and not (isinstance(held.get("input"), list) and "output" in held):
            raise DataError(f'`tests[{number}]` is {{"input": [arguments], "output": value}}')
        if kind == "stdio" and not (
            isinstance(held.get("input"), str) and isinstance(held.get("output"), str)
        ):
            raise DataError(f'`tests[{number}]` is {{"input": text, "output": text}}')
    if kind in ("check", "call") and not row.get("entry_point"):
        raise DataError(f"tests of kind {kind!r} need an `entry_point`")
    _field(row, _either(row, "completion", "program"), str)
    for name in ("entry_point", "setup", "prompt"):
        _optional(row, name, str)
    checker = _optional(row, "checker", str)
    if checker is not None and checker not in CHECKERS:
        raise DataError(f"`checker` is null or one of {', '.join(CHECKERS)}, got {checker!r:.40}")
    for name in ("tol", "time_limit_s"):
        limit = _optional(row, name, int, float)
        if limit is not None and not (math.isfinite(limit) and limit > 0):
            raise DataError(f"`{name}` is null or a number above 0, got {limit}")
    about = {
        name: row[name]
        for name in ("kind", "entry_point", "setup", "prompt", "checker", "tol", "time_limit_s")
        if row.get(name) is not None
    }
    problem = Problem("", tests, about)
    if "completion" in row:
        return lambda: judge_safely(CodeJudge(), problem, row["completion"])
    return lambda: judge_safely(
        lambda _, program: judge_program(program, tests, **about), problem, row["program"]
    )


KINDS: Mapping[str, Callable[[Mapping[str, Any]], JudgeCall]] = {
    "math": _math,
    "choice": _choice,
    "code": _code,
}
"""Kind of file -> what checks a line of it; each raises DataError on a line it cannot use."""

_JSON_NAMES = {str: "text", int: "integer", float: "number", list: "list", type(None): "null"}


def _field(row: Mapping[str, Any], name: str, *types: type) -> Any:
    """Return a field of one of these types (bool is no int)."""
    valid = " or ".join(_JSON_NAMES[kind] for kind in types)
    if name not in row:
        raise DataError(f"`{name}` is missing; it is a {valid}")
    value = row[name]
    if not isinstance(value, types) or isinstance(value, bool):
        raise DataError(f"`{name}` is a {valid}, got {type(value).__name__}")
    return value


def _optional(row: Mapping[str, Any], name: str, *types: type) -> Any:
    return None if row.get(name) is None else _field(row, name, *types)


def _either(row: Mapping[str, Any], first: str, second: str) -> str:
    """Return which of two fields the line holds: exactly one of them, or that is an error."""
    held = [name for name in (first, second) if name in row]
    if len(held) != 1:
        given = "both" if held else "neither"
        raise DataError(f"a line holds `{first}` or `{second}`, got {given}")
    return held[0]
