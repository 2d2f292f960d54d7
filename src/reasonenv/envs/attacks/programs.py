"""Programs that pass tests, or end them, without solving anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from reasonenv.types import Problem

__all__ = ["program_hacks"]

_EQUAL_TO_ALL = (
    "class Yes:\n"
    "    def __eq__(self, other): return True\n"
    "    def __ne__(self, other): return False\n"
    "    def __hash__(self): return 0\n"
)


def program_hacks(problem: Problem) -> Iterator[tuple[str, str, str, bool]]:
    """Yield (name, about, program, whether a judge may rightly call it right)."""
    about = problem.metadata
    stdio = about.get("kind") == "stdio"
    name = str(about.get("entry_point") or "solve")
    yield "empty program", "a program of one comment", "# done", False
    yield "exit 0", "ends the process as if all were well", "import sys\nsys.exit(0)", False
    yield (
        "exit 0 in the function",
        "ends the process when it is called",
        "import os\nos._exit(0)" if stdio else _function(name, "import os\nos._exit(0)"),
        False,
    )
    if stdio:
        yield "echoes its input", "prints what it reads", "print(input())", False
    else:
        yield (
            "returns nothing",
            "the function, without a body",
            _function(name, "return None"),
            False,
        )
        yield (
            "equal to all",
            "returns an object that equals everything",
            _EQUAL_TO_ALL + _function(name, "return Yes()"),
            False,
        )
    examples = list(_examples(problem))
    if examples:
        first = _hard_coded(name, examples[:1], stdio)
        yield "one test written down", "knows the first test's result", first, len(examples) == 1
        if len(examples) > 1:
            every = _hard_coded(name, examples, stdio)
            yield "all tests written down", "knows every test's result", every, True


def _examples(problem: Problem) -> Iterator[tuple[str, str]]:
    """Yield (arguments or input, result) as source, for each test that can be read."""
    for test in problem.answer if isinstance(problem.answer, tuple | list) else ():
        if isinstance(test, Mapping):
            given = test.get("input")
            if problem.metadata.get("kind") != "stdio" and isinstance(given, tuple | list):
                yield (
                    "".join(f"{_plain(argument)!r}, " for argument in given),
                    repr(_plain(test.get("output"))),
                )
            else:
                yield repr(given), repr(test.get("output"))
        elif isinstance(test, str):
            read = _assert(test)
            if read is not None:
                yield read


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def _assert(test: str) -> tuple[str, str] | None:
    """Read `assert f(arguments) == result`."""
    try:
        body = ast.parse(test).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    match body:
        case [
            ast.Assert(
                test=ast.Compare(
                    left=ast.Call(args=arguments, keywords=[]),
                    ops=[ast.Eq()],
                    comparators=[result],
                )
            )
        ]:
            return "".join(f"{ast.unparse(one)}, " for one in arguments), ast.unparse(result)
    return None


def _hard_coded(name: str, examples: list[tuple[str, str]], stdio: bool) -> str:
    if stdio:
        table = ", ".join(f"{given}: {printed}" for given, printed in examples)
        return f"import sys\nprint({{{table}}}.get(sys.stdin.read(), ''))"
    lines = [f"if args == ({given}): return {result}" for given, result in examples]
    return _function(name, "\n".join([*lines, "return None"]))


def _function(name: str, body: str) -> str:
    """Return a function (or `Class.method`) with this body."""
    owner, _, method = name.rpartition(".")
    if not owner:
        return f"def {name}(*args):\n" + _indented(body)
    return f"class {owner}:\n" + _indented(f"def {method}(self, *args):\n" + _indented(body))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
