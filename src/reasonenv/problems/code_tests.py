"""Tests of programs as data sets write them, made into assert statements or inputs and outputs.

* `asserts_of`: the statements in HumanEval's `check(candidate)` or in an EvalPlus script.
* `io_of_apps`, `io_of_livecodebench`: inputs and outputs packed in JSON.
* `called_function`, `class_of`, `defines`, `signature`: what tests call and programs define.

Nothing here runs a program: tests are parsed, rewritten and written out again.
"""

from __future__ import annotations

import ast
import base64
import binascii
import copy
import io
import json
import math
import pickle
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

__all__ = [
    "asserts_of",
    "called_function",
    "class_of",
    "defines",
    "io_of_apps",
    "io_of_livecodebench",
    "parsed",
    "signature",
]

MAX_UNPACKED_BYTES = 1 << 28
"""The most that packed tests may unpack to: 256 MiB; LiveCodeBench's largest are about 100."""

_FLOAT_TOLERANCE = 1e-6  # EvalPlus: atol of results that are floats, beside rtol 1e-7
_FLOAT_RTOL = 1e-7

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def parsed(source: str) -> ast.Module | None:
    """Return the syntax tree of a program, None where it is none."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def defines(program: str, name: str) -> bool:
    """Return whether a program defines `name` at its top level."""
    tree = parsed(program)
    return tree is not None and name in _top_level(tree)


def called_function(tests: Sequence[str], program: str = "") -> str | None:
    """Return the function that the tests call: one that `program` defines, if it is given.

    >>> called_function(["assert set(shared((1, 2), (2, 3))) == set((2,))"])
    'shared'
    """
    import builtins

    tree = parsed(program)
    own = _top_level(tree) if tree is not None else set()
    called: dict[str, None] = {}
    for test in tests:
        test_tree = parsed(test)
        for node in ast.walk(test_tree) if test_tree is not None else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                called[node.func.id] = None
    for name in called:
        if name in own:
            return name
    foreign = [name for name in called if not hasattr(builtins, name)]
    return foreign[0] if foreign and not own else None


def class_of(program: str, name: str) -> str | None:
    r"""Return the class in which `program` (whole, or a header) defines `name`; None for none.

    >>> class_of("class Solution:\n    def add(self, a, b):", "add")
    'Solution'
    """
    return _definition(program, name)[0]


def signature(program: str, name: str) -> str | None:
    """Return `name(parameters)` as `program` (whole, or a header) defines it, without defaults.

    >>> signature("def add(a: int, b=1) -> int:", "add")
    'add(a: int, b) -> int'
    """
    owner, function = _definition(program, name)
    if function is None:
        return None
    arguments = copy.deepcopy(function.args)
    arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
    positional = arguments.posonlyargs or arguments.args
    if owner is not None and positional and positional[0].arg == "self":
        del positional[0]
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"{name}({ast.unparse(arguments)}){returns}"


def _definition(program: str, name: str) -> tuple[str | None, _Function | None]:
    """Return class (if any) and definition of `name`; a header without a body will do."""
    text = program.rstrip()
    for source in (program, f"{text}\n    pass", f"{text}\n        pass"):
        tree = parsed(source)
        if tree is None:
            continue
        bodies: list[tuple[str | None, list[ast.stmt]]] = [(None, tree.body)]
        bodies += [(node.name, node.body) for node in tree.body if isinstance(node, ast.ClassDef)]
        for owner, body in bodies:
            for node in body:
                if isinstance(node, _Function) and node.name == name:
                    return owner, node
    return None, None


def _top_level(tree: ast.Module) -> set[str]:
    names = set()
    for node in tree.body:
        if isinstance(node, _Function | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


# Assert statements out of scripts


def asserts_of(script: str, entry_point: str) -> tuple[list[str], str] | None:
    r"""Return a script's tests as assert statements, and the imports that they need.

    Two forms are read: a function `check(candidate)` that holds nothing but asserts (HumanEval),
    and lists `inputs` and `results` that a loop compares (EvalPlus), at the top or in `check`.

    Returns:
        (asserts, setup), or None where the script is of neither form; it then stays whole.

    >>> asserts_of("def check(candidate):\n    assert candidate(2) == 4, 'no'", "double")
    (['assert double(2) == 4'], '')
    """
    tree = parsed(script)
    if tree is None:
        return None
    check = next(
        (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "check"), None
    )
    body, candidate = tree.body, entry_point
    if check is not None:
        if len(check.args.args) != 1:
            return None
        body, candidate = check.body, check.args.args[0].arg
    imports = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    tests = _paired(body, entry_point)
    if tests is None and check is not None:
        tests = _flat(body, candidate, entry_point)
    if not tests:
        return None
    text = "\n".join(tests)
    used = [n for n in imports if any(name in text for name in _bound(n))]
    return tests, "\n".join(ast.unparse(n) for n in used)


def _bound(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    for alias in node.names:
        yield alias.asname or alias.name.partition(".")[0]


def _flat(body: Sequence[ast.stmt], candidate: str, entry_point: str) -> list[str] | None:
    tests = []
    for node in body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring
        if not isinstance(node, ast.Assert):
            return None
        names = [n for n in ast.walk(node.test) if isinstance(n, ast.Name) and n.id == candidate]
        if not names:  # fillers such as `assert True`
            continue
        for name in names:
            name.id = entry_point
        tests.append(ast.unparse(ast.Assert(node.test, None)))
    return tests


def _paired(body: Sequence[ast.stmt], entry_point: str) -> list[str] | None:
    """Read EvalPlus' `inputs`, `results` and the loop that ends in `assertion(.., exp, atol)`."""
    lists: dict[str, list[ast.expr]] = {}
    tolerance: float | None = None
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id="inputs" | "results" as name)], value=ast.List()):
                lists[name] = node.value.elts  # type: ignore[attr-defined]
            case ast.For(body=[ast.Expr(value=ast.Call(func=ast.Name(id="assertion")) as call)]):
                if len(call.args) != 3 or not _plain_call(call.args[0]):
                    return None  # the output goes through something first, such as sorted()
                tolerance = _number(call.args[2])
            case _:
                continue
    inputs, results = lists.get("inputs"), lists.get("results")
    if inputs is None or results is None or len(inputs) != len(results) or tolerance is None:
        return None
    tests = []
    for given, expected in zip(inputs, results, strict=True):
        if not isinstance(given, ast.List):
            return None
        arguments = ", ".join(ast.unparse(argument) for argument in given.elts)
        tests.append(_comparison(f"{entry_point}({arguments})", expected, tolerance))
    return tests


def _plain_call(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(), args=[ast.Starred(value=ast.Name(id="inp"))], keywords=[]):
            return True
    return False


def _number(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, SyntaxError, TypeError):
        return None
    return float(value) if isinstance(value, int | float) else None


def _comparison(call: str, expected: ast.expr, tolerance: float) -> str:
    """Return the assert of one EvalPlus test: equal, or close where the result is of floats."""
    text = ast.unparse(expected)
    try:
        value = ast.literal_eval(expected)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        value = None
    sequence = isinstance(value, list | tuple) and bool(value)
    floats = all(isinstance(v, float) for v in value) if sequence else isinstance(value, float)
    if not tolerance and floats:
        tolerance = _FLOAT_TOLERANCE
    finite = math.isfinite(value) if isinstance(value, float) else floats
    if not tolerance or not finite:
        return f"assert {call} == {text}"
    if not sequence:
        return f"assert abs({call} - {text}) <= {tolerance} + {_FLOAT_RTOL} * abs({text})"
    near = f"abs(a - b) <= {tolerance} + {_FLOAT_RTOL} * abs(b)"
    return f"assert all({near} for a, b in zip({call}, {text}, strict=True))"


# Inputs and outputs packed in JSON


def io_of_apps(packed: str) -> tuple[list[dict[str, Any]], str | None] | None:
    """Return the tests in APPS' `input_output`, and the function they call (None: stdin, stdout).

    Returns None where there are none: APPS leaves the field empty for some problems.

    Raises:
        ValueError: it is not JSON of that form.
    """
    if not packed.strip():
        return None
    data = json.loads(packed)
    if not isinstance(data, dict):
        raise ValueError(f"not an object, but a {type(data).__name__}")
    inputs, outputs, name = data.get("inputs"), data.get("outputs"), data.get("fn_name")
    if not isinstance(inputs, list) or not isinstance(outputs, list):
        raise ValueError("no lists `inputs` and `outputs` in it")
    if len(inputs) != len(outputs):
        raise ValueError(f"{len(inputs)} inputs and {len(outputs)} outputs")
    if not inputs:
        return None
    if name is None:
        pairs = zip(map(_lines, inputs), map(_lines, outputs), strict=True)
        return [{"input": given, "output": wanted} for given, wanted in pairs], None
    # Outputs of functions stand in a list of one each: by APPS' convention, not by the program's.
    wrapped = all(isinstance(output, list) and len(output) == 1 for output in outputs)
    tests = [
        {
            "input": given if isinstance(given, list) else [given],
            "output": wanted[0] if wrapped else wanted,
        }
        for given, wanted in zip(inputs, outputs, strict=True)
    ]
    return tests, str(name)


def _lines(value: Any) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def io_of_livecodebench(*columns: Any) -> list[dict[str, Any]]:
    """Return the tests of LiveCodeBench's columns, each {"input", "output", "testtype"}.

    A column is JSON, or JSON in a pickle in zlib in base64. The pickle is opened by a reader that
    knows plain data only: what comes from a data set must not be able to run code.

    Raises:
        ValueError: it is neither, or unpacks to more than `MAX_UNPACKED_BYTES`.
    """
    tests: list[dict[str, Any]] = []
    for column in columns:
        found = column
        if isinstance(column, str):
            text = column.strip()
            found = json.loads(text if text.startswith("[") else _unpacked(text)) if text else []
        if not isinstance(found, list) or not all(isinstance(test, dict) for test in found):
            raise ValueError("not a list of tests")
        tests += found
    return tests


class _DataOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"packed tests hold data only, not {module}.{name}")


def _unpacked(text: str) -> str:
    try:
        reader = zlib.decompressobj()
        data = reader.decompress(base64.b64decode(text, validate=True), MAX_UNPACKED_BYTES)
        if reader.unconsumed_tail:
            raise ValueError(f"packed tests unpack to more than {MAX_UNPACKED_BYTES} bytes")
        value = _DataOnly(io.BytesIO(data)).load()
    except (binascii.Error, zlib.error) as error:
        raise ValueError(f"neither JSON nor packed tests ({error})") from error
    except (pickle.UnpicklingError, EOFError, AttributeError, IndexError, MemoryError) as error:
        raise ValueError(f"packed tests that cannot be opened ({error})") from error
    if not isinstance(value, str | bytes):
        raise ValueError(f"packed tests hold JSON text, not a {type(value).__name__}")
    return value if isinstance(value, str) else value.decode()
