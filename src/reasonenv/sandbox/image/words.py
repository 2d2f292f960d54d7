"""Which names a test uses that others have to provide.

The host looks, once for each test, and tells the tests' process, which looks itself where the
host's interpreter cannot parse a test.
"""

from __future__ import annotations

import ast
import builtins
import sys

__all__ = ["words_of"]


def words_of(source: str) -> tuple[list[str], list[str]]:
    """Return the free names of a test, and the library modules that it uses and does not import.

    Such modules the program imported, in its own process.

    Raises:
        SyntaxError: and what else `ast.parse` raises.
    """
    tree = ast.parse(source)
    return sorted(_free_names(tree)), sorted(_modules(tree))


def _free_names(tree: ast.AST) -> set[str]:
    nodes = list(ast.walk(tree))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    stored = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            stored.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            stored.update((a.asname or a.name).partition(".")[0] for a in node.names)
        elif isinstance(node, ast.arg):
            stored.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            stored.add(node.name)
    loaded = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    return loaded - stored - set(dir(builtins))


def _modules(tree: ast.AST) -> set[str]:
    nodes = list(ast.walk(tree))
    bases = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    names = [node for node in nodes if isinstance(node, ast.Name)]
    known = {node.id for node in names} & sys.stdlib_module_names
    return {name for name in known if all(id(n) in bases for n in names if n.id == name)}
