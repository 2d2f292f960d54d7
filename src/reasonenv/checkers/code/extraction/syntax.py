"""What `ast` says about a text: whether it is a program, what it defines, which names it lacks."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from enum import IntEnum

__all__ = [
    "MAX_PROGRAM_CHARS",
    "Definition",
    "bindings",
    "definition",
    "is_code",
    "missing_names",
    "parse",
    "source_of",
]

MAX_PROGRAM_CHARS = 256 * 1024
"""Longer texts are not parsed: a syntax tree takes some 300 bytes per character of its source."""

_ESCAPE = re.compile(r"""\\(?:([^\\'"\nabfnrtvxNuU0-7])|.)""", re.DOTALL)

_BUILTINS = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__builtins__"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def parse(code: str) -> ast.Module | None:
    """Return the syntax tree of a program, None for what is none (a `return` outside, say)."""
    if len(code) > MAX_PROGRAM_CHARS:
        return None
    try:
        # Unknown escapes ("\d") are doubled: `ast` warns of each, on stderr or by raising, and
        # silencing warnings is not safe in threads.
        tree = ast.parse(_ESCAPE.sub(_double, code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # NULs, surrogates, nesting
        return None
    return None if _returns_outside(tree) else tree


def _double(escape: re.Match[str]) -> str:
    return "\\" + escape[0] if escape[1] else escape[0]


def _returns_outside(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.Return) for node in _statements(tree.body, into_classes=True))


def _statements(body: Sequence[ast.stmt], into_classes: bool = False) -> Iterator[ast.stmt]:
    """Yield the statements that run with the module itself, in order: none inside functions."""
    stack = list(reversed(body))
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, _FUNCTIONS) or (isinstance(node, ast.ClassDef) and not into_classes):
            continue
        inner: list[ast.stmt] = []
        for name in ("body", "orelse", "finalbody"):
            inner += getattr(node, name, [])
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            inner += part.body
        stack += reversed(inner)


def is_code(tree: ast.Module | None) -> bool:
    """Return whether a tree does anything: prose such as `Hello` or output such as `8` does not."""
    return tree is not None and any(_does_something(node) for node in tree.body)


def _does_something(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call | ast.Await | ast.ListComp | ast.NamedExpr)
    if isinstance(node, ast.AnnAssign):
        return node.value is not None  # "Answer: x" is an annotation
    return not isinstance(node, ast.Pass)


class Definition(IntEnum):
    """How well a program defines its entry point."""

    NONE = 0
    WEAK = 1
    """Imported, or a method of a class where a function was asked for."""
    STUB = 2
    """Defined by a body that does nothing: a signature shown, not an answer."""
    FULL = 3


def definition(tree: ast.Module, entry_point: str) -> Definition:
    """Return how well `tree` defines `entry_point`: `add`, or `Solution.add`."""
    owner, _, method = entry_point.partition(".")
    best = Definition.NONE
    for name, node in bindings(tree):
        if name == owner:
            best = _definition_by(node, method)  # the last one counts, as it does at run time
        elif not method and isinstance(node, ast.ClassDef) and _method(node, owner):
            best = max(best, Definition.WEAK)
    return best


def _definition_by(node: ast.stmt, method: str) -> Definition:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return Definition.WEAK
    if isinstance(node, ast.ClassDef) and method:
        found = _method(node, method)
        if found is None:
            return Definition.WEAK
        node = found
    if isinstance(node, ast.ClassDef | _Function):
        return Definition.STUB if all(map(_does_nothing, node.body)) else Definition.FULL
    return Definition.FULL


def _method(node: ast.ClassDef, name: str) -> _Function | None:
    found = [item for item in node.body if isinstance(item, _FUNCTIONS) and item.name == name]
    return found[-1] if found else None


def _does_nothing(node: ast.stmt) -> bool:
    if isinstance(node, ast.Raise):
        return "NotImplemented" in ast.dump(node)
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def bindings(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Yield each name that the module binds, with its statement; `*` for a star import."""
    for node in _statements(tree.body):
        if isinstance(node, ast.ClassDef | _Function):
            yield node.name, node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0], node
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        yield part.id, node


def missing_names(tree: ast.AST) -> list[str]:
    """Return the names that `tree` reads and nothing in it binds, in order of appearance."""
    read: dict[str, None] = {}
    bound = set(_BUILTINS)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                read[node.id] = None
            else:
                bound.add(node.id)
        elif isinstance(node, ast.ClassDef | _Function):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            bound.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            bound.add(node.rest)
    return [name for name in read if name not in bound]


def source_of(code: str, node: ast.stmt) -> str:
    """Return the lines of `code` that hold `node`, decorators included, dedented to the margin."""
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    lines = code.split("\n")[first - 1 : node.end_lineno]
    margin = " " * node.col_offset
    return "\n".join(line.removeprefix(margin) for line in lines)
