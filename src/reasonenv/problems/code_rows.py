"""From a row of a data set of programming tasks to a `Problem`.

These forms are read, told apart by a column that only they have:

* own rows: `prompt`, `tests`, and perhaps `entry_point`, `kind`, `setup`, `checker`, `tol`,
  `time_limit_s`, `solution`;
* HumanEval(+): `prompt`, `test`, `entry_point`, `canonical_solution`;
* MBPP(+): `text` or `prompt`, `test_list`, `code`, and for MBPP+ `test`;
* OpenCoder educational instruct: `instruction`, `testcase`, `entry_point`, `code`;
* APPS: `question`, `input_output`, `solutions`, `starter_code`;
* LiveCodeBench: `question_content`, `public_test_cases`, `private_test_cases`, `starter_code`;
* Codeforces (open-r1): `description`, `official_tests`, `time_limit` ...;
* what `to_row` writes.

The problem's answer holds the tests: assert statements, or mappings of `input` and `output`. Its
metadata say how they are run: `kind` ("assert", "check", "call" or "stdio"), `entry_point` (a
function, or `Class.method`), `setup`, `checker`, `tol`, `time_limit_s`, `prompt` (the code that a
completion may continue) and `solution`. A row without tests, or whose tests no comparison decides,
is left out with a warning that counts such rows. Other columns are kept where they are a number or
a short text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reasonenv.errors import DataError, did_you_mean
from reasonenv.problems.code_tests import (
    asserts_of,
    called_function,
    class_of,
    defines,
    io_of_apps,
    io_of_livecodebench,
    parsed,
)
from reasonenv.problems.columns import ROW_FORMS, Columns, NoGoldError
from reasonenv.types import Problem, thaw

__all__ = ["CHECKERS", "TEST_KINDS", "to_code_problem"]

TEST_KINDS = ("assert", "check", "call", "stdio")
"""How tests are run; all but "stdio" call a function by name."""

CHECKERS = ("tokens", "lines", "float")
"""How printed output is compared with what is expected."""

_SHORT = 200  # characters of a text column that is kept as metadata
_SOLUTIONS_TRIED = 20  # of APPS' solutions, many of which are Python 2

Row = Mapping[str, Any]


@dataclass
class _Task:
    """What a row says, before it is checked."""

    prompt: Any
    tests: Any
    kind: str = ""
    entry_point: Any = None
    setup: str = ""
    code_prompt: str = ""
    checker: Any = None
    tol: Any = None
    time_limit_s: Any = None
    solution: Any = None
    extra: dict[str, Any] = field(default_factory=dict)


def to_code_problem(row: Row, columns: Columns, where: str) -> Problem:
    """Return the problem that a row of a data set of programming tasks holds.

    Args:
        row: one object of a JSONL file, or one example of a data set, as plain data.
        columns: which columns hold prompt, solution and id of own rows.
        where: file and line, with which error messages start.

    Raises:
        DataError: the row is of no known form, a column is missing, or holds what it may not.
        NoGoldError: the row has no tests that can decide; it is to be left out.

    >>> row = {"prompt": "Add.", "tests": ["assert add(1, 2) == 3"], "entry_point": "add"}
    >>> problem = to_code_problem(row, Columns(), "row 1")
    >>> problem.answer, problem.metadata["kind"]
    (('assert add(1, 2) == 3',), 'assert')
    """
    read = next((reader for mark, reader in _FORMS.items() if _holds(row, mark)), None)
    if read is None:
        raise DataError(
            f"{where}: no tests in this row; they are read from one of: "
            f"{', '.join(_FORMS)}; it has: {', '.join(row) or 'no field'}; "
            f"a valid row: {ROW_FORMS['code']}"
        )
    return _finish(read(row, columns, where), row, columns, where)


def _holds(row: Row, mark: str) -> bool:
    value = row.get(mark)
    if mark == "answer":
        return isinstance(value, list) and isinstance(row.get("metadata"), Mapping)
    return value is not None


# One reader a form


def _own(row: Row, columns: Columns, where: str) -> _Task:
    return _Task(
        prompt=columns.pick(row, "prompt")[1],
        tests=row["tests"],
        kind=row.get("kind") or "",
        entry_point=row.get("entry_point"),
        setup=row.get("setup") or "",
        checker=row.get("checker"),
        tol=row.get("tol"),
        time_limit_s=row.get("time_limit_s"),
        solution=columns.pick(row, "solution")[1],
    )


def _written(row: Row, columns: Columns, where: str) -> _Task:
    """Read what `to_row` writes."""
    metadata = dict(row["metadata"])
    known = ("kind", "entry_point", "setup", "checker", "tol", "time_limit_s", "solution")
    values = {name: metadata.pop(name) for name in known if name in metadata}
    code_prompt = metadata.pop("prompt", "")
    return _Task(
        prompt=columns.pick(row, "prompt")[1],
        tests=row["answer"],
        code_prompt=code_prompt,
        extra=metadata,
        **values,
    )


def _humaneval(row: Row, columns: Columns, where: str) -> _Task:
    prompt, name = row.get("prompt"), row.get("entry_point")
    solution = row.get("canonical_solution")
    if isinstance(solution, str) and isinstance(prompt, str) and not defines(solution, str(name)):
        solution = prompt + solution
    tests, setup, kind = _script(row["test"], str(name))
    return _Task(prompt, tests, kind, name, setup, solution=solution)


def _script(script: Any, name: str) -> tuple[Any, str, str]:
    """Return tests, setup and kind of a test script; one of no known form stays whole."""
    if not isinstance(script, str):
        return script, "", "check"
    found = asserts_of(script, name)
    if found is not None:
        return *found, "assert"
    if not defines(script, "check") and parsed(script) is not None:
        body = "\n".join(f"    {line}" for line in _unparsed(script).splitlines())
        script = f"def check({name}):\n{body}\n"
    return [script], "", "check"


def _unparsed(script: str) -> str:
    """Return a script written anew, so that no text in it spans lines and it can be indented."""
    import ast

    return ast.unparse(ast.parse(script))


def _mbpp(row: Row, columns: Columns, where: str) -> _Task:
    tests, solution = row["test_list"], row.get("code")
    solution = solution.replace("\r\n", "\n") if isinstance(solution, str) else None
    texts = [test for test in tests if isinstance(test, str)] if isinstance(tests, list) else []
    name = row.get("entry_point") or called_function(texts, solution or "")
    statement = row.get("text") or row.get("prompt")
    if isinstance(statement, str) and name and texts:
        # As the set's authors ask: without an example, names and types would be guesswork.
        statement = (
            f"{statement.strip()}\nYour code should define `{name}` and satisfy this test:\n"
            f"{texts[0]}"
        )
    imports = row.get("test_imports") or []
    setup = "\n".join([*map(str, imports), row.get("test_setup_code") or ""]).strip()
    kind = "assert"
    if isinstance(row.get("test"), str) and name:
        tests, more, kind = _script(row["test"], name)
        setup = "\n".join(part for part in (setup, more) if part)
    return _Task(statement, tests, kind, name, setup, solution=solution)


def _opencoder(row: Row, columns: Columns, where: str) -> _Task:
    return _Task(
        row.get("instruction"),
        row["testcase"],
        "assert",
        row.get("entry_point"),
        solution=row.get("code"),
    )


def _apps(row: Row, columns: Columns, where: str) -> _Task:
    packed = row["input_output"]
    try:
        found = io_of_apps(packed if isinstance(packed, str) else json.dumps(packed))
    except (ValueError, RecursionError) as error:
        raise DataError(f'{where}: field "input_output" cannot be read: {error}') from error
    tests, name = found or ([], None)
    starter = row.get("starter_code") or ""
    prompt = row.get("question")
    if isinstance(prompt, str) and starter.strip():
        prompt = f"{prompt.rstrip()}\n\n```python\n{starter.strip()}\n```"
    solution = _first_program(row.get("solutions"))
    kind = "stdio" if name is None else "call"
    name = _method(name, starter, solution or "")
    return _Task(prompt, tests, kind, name, code_prompt=starter, solution=solution)


def _method(name: str | None, *programs: str) -> str | None:
    """Return `Class.name` where the programs define the function in a class, as LeetCode does."""
    if name is not None:
        for program in programs:
            owner = class_of(program, name)
            if owner:
                return f"{owner}.{name}"
    return name


def _first_program(packed: Any) -> str | None:
    """Return the first of APPS' solutions that parses as Python 3."""
    try:
        found = json.loads(packed) if isinstance(packed, str) and packed.strip() else packed
    except ValueError:
        return None
    programs = found if isinstance(found, list) else []
    texts = [text for text in programs[:_SOLUTIONS_TRIED] if isinstance(text, str)]
    return next((text for text in texts if parsed(text) is not None), None)


def _livecodebench(row: Row, columns: Columns, where: str) -> _Task:
    try:
        packed = (row["public_test_cases"], row.get("private_test_cases") or "")
        found = io_of_livecodebench(*packed)
        about = row.get("metadata") or {}
        about = json.loads(about) if isinstance(about, str) else about
        name = about.get("func_name") if isinstance(about, Mapping) else None
        if name is not None:
            found = [_functional(test) for test in found]
    except (ValueError, KeyError, AttributeError, RecursionError) as error:
        raise DataError(f"{where}: the test cases cannot be read: {error}") from error
    tests = [{"input": test.get("input"), "output": test.get("output")} for test in found]
    starter = row.get("starter_code") or ""
    prompt = row.get("question_content")
    if isinstance(prompt, str) and starter.strip():
        prompt = f"{prompt.rstrip()}\n\n```python\n{starter.strip()}\n```"
    kind = "stdio" if name is None else "call"
    return _Task(prompt, tests, kind, _method(name, starter), code_prompt=starter)


def _functional(test: Mapping[str, Any]) -> dict[str, Any]:
    """Return a test whose input is one argument a line, and its output a value, all in JSON."""
    arguments = [json.loads(line) for line in str(test["input"]).splitlines() if line.strip()]
    return {"input": arguments, "output": json.loads(str(test["output"]))}


def _codeforces(row: Row, columns: Columns, where: str) -> _Task:
    for column, why in (
        ("generated_checker", "many outputs are right, so a comparison cannot decide"),
        ("interaction_format", "the program talks with a judge"),
    ):
        if row.get(column):
            raise NoGoldError(f'{where}: field "{column}" is set: {why}')
    if row.get("input_mode") not in (None, "stdio"):
        raise NoGoldError(f"{where}: input and output are files")
    parts = [str(row.get("description") or "").strip()]
    for title, column in (
        ("Input", "input_format"),
        ("Output", "output_format"),
        ("Note", "note"),
    ):
        if row.get(column):
            parts.append(f"{title}\n{str(row[column]).strip()}")
    for example in row.get("examples") or ():
        given, wanted = str(example.get("input", "")), str(example.get("output", ""))
        parts.append(f"Example input\n{given.strip()}\n\nExample output\n{wanted.strip()}")
    tests = row["official_tests"]
    prompt = "\n\n".join(part for part in parts if part)
    return _Task(prompt, tests, "stdio", time_limit_s=row.get("time_limit"), checker="tokens")


_FORMS: Mapping[str, Callable[[Row, Columns, str], _Task]] = {
    "tests": _own,
    "test_list": _mbpp,
    "test": _humaneval,
    "testcase": _opencoder,
    "input_output": _apps,
    "public_test_cases": _livecodebench,
    "official_tests": _codeforces,
    "answer": _written,
}
"""The column that marks a form -> its reader, the first that a row holds; lazily read columns."""

_USED = frozenset(
    (
        *("prompt", "question", "text", "instruction", "description", "question_content"),
        *("input_format", "output_format", "note", "examples", "starter_code"),
        *("tests", "test", "test_list", "challenge_test_list", "testcase", "input_output"),
        *("public_test_cases", "private_test_cases", "official_tests"),
        *("solution", "canonical_solution", "code", "solutions", "output", "answer"),
        *("kind", "entry_point", "setup", "test_imports", "test_setup_code", "checker", "tol"),
        *("time_limit_s", "time_limit", "metadata"),
        *("generated_checker", "interaction_format", "input_mode"),
        *("id", "task_id", "problem_id", "question_id", "seq_id"),
    )
)
"""Columns that are read, or that would show the answer; they do not go to the metadata."""


# What all have in common


def _finish(task: _Task, row: Row, columns: Columns, where: str) -> Problem:
    if not _is_prompt(task.prompt):
        raise DataError(
            f"{where}: the statement of the task is missing, blank, or no text; this row has: "
            f"{', '.join(row)}; a valid row: {ROW_FORMS['code']}"
        )
    tests = [task.tests] if isinstance(task.tests, str) else task.tests
    if not isinstance(tests, list):
        raise DataError(f"{where}: tests are a list, got {tests!r:.80}")
    if not tests:
        raise NoGoldError(f"{where}: there is no test")
    kind = task.kind or _kind(tests, task.entry_point)
    if kind not in TEST_KINDS:
        hint = did_you_mean(str(kind), TEST_KINDS)
        raise DataError(f'{where}: field "kind": tests are not of kind {kind!r}; {hint}')
    for number, test in enumerate(tests, 1):
        _check_test(test, kind, f"{where}: test {number}")
    metadata = _kept(row) | task.extra | {"kind": kind}
    if kind != "stdio":
        metadata["entry_point"] = _entry_point(task, where)
    code_prompt = task.code_prompt
    if not code_prompt and isinstance(task.prompt, str) and kind in ("assert", "check"):
        code_prompt = _code_in(task.prompt, metadata["entry_point"])
    optional = {
        "setup": task.setup,
        "prompt": code_prompt,
        "checker": _checker(task.checker, where),
        "tol": _positive(task.tol, "tol", where),
        "time_limit_s": _positive(task.time_limit_s, "time_limit_s", where),
        "solution": task.solution,
    }
    metadata |= {name: value for name, value in optional.items() if value not in (None, "")}
    for name in ("setup", "prompt", "solution"):
        if not isinstance(metadata.get(name, ""), str):
            raise DataError(f"{where}: the {name} is a text, got {metadata[name]!r:.80}")
    return Problem(task.prompt, tests, thaw(metadata), id=_id(row, columns, where))


def _is_prompt(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(
            isinstance(one, Mapping) and {"role", "content"} <= set(one) for one in value
        )
    return isinstance(value, str) and bool(value.strip())


def _kind(tests: list[Any], entry_point: Any) -> str:
    if all(isinstance(test, str) for test in tests):
        return "assert"
    return "call" if entry_point else "stdio"


def _check_test(test: Any, kind: str, where: str) -> None:
    if kind in ("assert", "check"):
        if not isinstance(test, str) or not test.strip():
            raise DataError(f"{where} is a statement as text, got {test!r:.80}")
        return
    if not isinstance(test, Mapping) or not {"input", "output"} <= set(test):
        raise DataError(f'{where} is an object with "input" and "output", got {test!r:.80}')
    if kind == "call" and not isinstance(test["input"], list):
        raise DataError(f"{where}: the input is a list of arguments, got {test['input']!r:.80}")
    if kind == "stdio" and not all(isinstance(test[key], str) for key in ("input", "output")):
        raise DataError(f"{where}: input and output are texts, got {dict(test)!r:.80}")


def _entry_point(task: _Task, where: str) -> str:
    name = task.entry_point
    if name is None and task.kind in ("", "assert") and isinstance(task.tests, list):
        solution = task.solution if isinstance(task.solution, str) else ""
        name = called_function([test for test in task.tests if isinstance(test, str)], solution)
    if not isinstance(name, str) or not all(part.isidentifier() for part in name.split(".")):
        given = "is missing, and no test tells it" if name is None else f"is no name: {name!r:.80}"
        raise DataError(
            f'{where}: field "entry_point", the function that the tests call, {given}; '
            f"a valid row: {ROW_FORMS['code']}"
        )
    return name


def _code_in(prompt: str, entry_point: str) -> str:
    """Return a prompt that is code which a completion may continue, as HumanEval's are."""
    header = prompt if defines(prompt, entry_point) else f"{prompt.rstrip()}\n    pass"
    return prompt if defines(header, entry_point) else ""


def _checker(value: Any, where: str) -> Any:
    if value is not None and value not in CHECKERS:
        hint = did_you_mean(str(value), CHECKERS)
        raise DataError(f'{where}: field "checker": outputs are not compared as {value!r}; {hint}')
    return value


def _positive(value: Any, name: str, where: str) -> float | None:
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value <= 0:
        raise DataError(f'{where}: field "{name}" is a number above 0, got {value!r:.80}')
    return float(value)


def _kept(row: Row) -> dict[str, Any]:
    """Return the other columns that are a number or a short text."""
    return {
        name: value
        for name, value in row.items()
        if name not in _USED
        and (
            (isinstance(value, int | bool) or (isinstance(value, float) and math.isfinite(value)))
            or (isinstance(value, str) and 0 < len(value) <= _SHORT)
        )
    }


def _id(row: Row, columns: Columns, where: str) -> str:
    named = [name for name in columns.names("id") if row.get(name) not in (None, "")]
    if not named:
        return ""
    value = row[named[0]]
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    raise DataError(f'{where}: field "{named[0]}" is a text or an integer, got {value!r:.80}')
