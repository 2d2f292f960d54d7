"""What can be said about a program before it is run, and about the code around it.

* `syntax_error`: why a program cannot run, found without a sandbox.
* `helpers_in`, `imports_in`: what a prompt or a setup defines for the tests and for the program.
"""

from __future__ import annotations

import ast
import re
import warnings

__all__ = ["MAX_PROGRAM_CHARS", "helpers_in", "imports_in", "syntax_error"]

MAX_PROGRAM_CHARS = 1 << 20
"""Longer programs are malformed."""

_PARSED_HERE = 200_000
_DEEP = re.compile(r"(?:[-+~]\s*){100}|(?:not\s+){100}|(?:\*\*\s*[\w.]+\s*){100}")
_MAX_OPEN = 90
_BRACKETS = re.compile(r"[()\[\]{}]")


def _deep(program: str) -> bool:
    depth = 0
    for found in _BRACKETS.finditer(program):
        depth += 1 if found[0] in "([{" else -1
        if depth > _MAX_OPEN:
            return True
    return _DEEP.search(program) is not None


def syntax_error(program: str) -> str | None:
    """Return why `program` does not parse; None where it does, or only a sandbox may try.

    Text that is deep enough to harm a parser is left to the sandbox's own interpreter.
    """
    if "\0" in program:
        return "it holds a NUL character"
    try:
        program.encode("utf-8")
    except UnicodeEncodeError:
        return "it holds a lone surrogate"
    if len(program) > _PARSED_HERE or _deep(program):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(program, "<program>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (RecursionError, MemoryError, OverflowError, ValueError):
        return None
    return None


def helpers_in(prompt: str, entry_point: str | None) -> str:
    """Return what a prompt that is code defines beside the function that it asks for.

    Tests may call such helpers (HumanEval/32's `poly`); they are taken from the prompt, since the
    program could have changed its own.
    """
    tree = _tree(prompt)
    if tree is None:
        return ""
    skipped = (entry_point or "").partition(".")[0]
    kept: list[ast.stmt] = []
    functions = 0
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            kept.append(node)
        elif isinstance(node, ast.FunctionDef) and node.name != skipped and not _stub(node):
            kept.append(node)
            functions += 1
    return "\n".join(map(ast.unparse, kept)) if functions else ""


def _stub(node: ast.FunctionDef) -> bool:
    body = node.body
    return len(body) == 1 and (
        isinstance(body[0], ast.Pass)
        or (isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant))
    )


def imports_in(setup: str) -> str:
    """Return the imports of a setup: all of it that the program's process gets to see."""
    tree = _tree(setup)
    if tree is None:
        return ""
    found = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return "\n".join(map(ast.unparse, found))


def _tree(source: str) -> ast.Module | None:
    if not source or ("def " not in source and "import " not in source):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
