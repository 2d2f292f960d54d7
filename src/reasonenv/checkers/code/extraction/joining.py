"""What a program needs from elsewhere: from the prompt it continues, or from other blocks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from reasonenv.checkers.code.extraction.fences import fenced_blocks
from reasonenv.checkers.code.extraction.prose import code_amid_prose, looks_like_code
from reasonenv.checkers.code.extraction.syntax import (
    Definition,
    bindings,
    definition,
    missing_names,
    parse,
    source_of,
)

__all__ = ["Source", "Stem", "continued", "prompt_source", "stem_of", "with_needs"]

MAX_BODY_STARTS = 8
"""How many indented regions of a reply are tried as the body of the prompt's function."""

INDENT = "    "
_NAME = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Source:
    """Code from which definitions may be taken."""

    code: str
    tree: ast.Module


@dataclass(frozen=True, slots=True)
class Stem:
    """Code that ends amid the function that a completion is to continue."""

    code: str
    indent: str


@lru_cache(maxsize=256)
def prompt_source(prompt: str, entry_point: str | None) -> Source | None:
    """Return the code in a prompt: all of it, its last fenced block, or its code lines."""
    if not prompt.strip():
        return None
    for text in _prompt_texts(prompt):
        tree = parse(text)
        if tree is None:
            continue
        if entry_point is None or definition(tree, entry_point) is not Definition.NONE:
            return Source(text, tree)
    found = code_amid_prose(prompt)
    tree = parse(found[0]) if found is not None else None
    return Source(found[0], tree) if found is not None and tree is not None else None


def _prompt_texts(prompt: str) -> Iterator[str]:
    yield prompt
    for block in reversed(fenced_blocks(prompt)):
        if block.is_python:
            yield block.text


@lru_cache(maxsize=256)
def stem_of(prompt: str, entry_point: str) -> Stem | None:
    """Return the prompt's code up to the body that it leaves open, None where it leaves none."""
    texts = list(_prompt_texts(prompt))
    found = code_amid_prose(prompt)
    texts += [found[0]] if found is not None else []
    for text in texts:
        code = text.rstrip(" \t\n")
        tree = parse(code)
        if tree is None:
            tree = parse(code + " pass") if code.endswith(":") else None
        if tree is None or not tree.body or definition(tree, entry_point) is Definition.NONE:
            continue
        last: ast.stmt = tree.body[-1]
        if isinstance(last, ast.ClassDef):
            last = last.body[-1]
        if isinstance(last, ast.FunctionDef | ast.AsyncFunctionDef):
            first = last.body[0]
            inside = first.lineno > last.lineno and not code.endswith(":")
            return Stem(code, " " * (first.col_offset if inside else last.col_offset + len(INDENT)))
    return None


def continued(body: str, prompt: str, entry_point: str) -> str | None:
    """Return the prompt continued by `body`, None where that makes no program."""
    before = parse(prompt)
    names = set(_NAME.findall(body))
    if not names:
        return None
    for whole in (prompt + body, *_joined(body, prompt, entry_point)):
        tree = parse(whole)
        if tree is None or definition(tree, entry_point) is not Definition.FULL:
            continue
        if before is None or len(tree.body) > len(before.body) or _adds_code(tree, before):
            return whole
    return None


def _adds_code(tree: ast.Module, before: ast.Module) -> bool:
    """Return whether `tree` has statements that do something and that `before` lacks."""
    kinds = (ast.Return, ast.Assign, ast.AugAssign, ast.Call, ast.For, ast.While, ast.If, ast.Yield)
    count = [sum(isinstance(node, kinds) for node in ast.walk(one)) for one in (tree, before)]
    return count[0] > count[1]


def _joined(body: str, prompt: str, entry_point: str) -> Iterator[str]:
    stem = stem_of(prompt, entry_point)
    if stem is None:
        return
    lines = body.strip("\n").split("\n")
    starts = [0]
    for number in range(1, len(lines)):
        if looks_like_code(lines[number - 1].strip()):
            break  # the lines below are the body of another function, not of the prompt's
        if lines[number][:1] in (" ", "\t") and lines[number - 1][:1] not in (" ", "\t"):
            starts.append(number)
    texts = [
        text for start in starts[:MAX_BODY_STARTS] for text in _indented(lines[start:], stem.indent)
    ]
    for text in texts:
        yield f"{stem.code}\n{text}"
    for text in texts:
        yield f"{stem.code}\n{_up_to_margin(text)}"


def _indented(lines: list[str], indent: str) -> Iterator[str]:
    first = lines[0]
    yield "\n".join(lines)
    if not first.startswith((" ", "\t")):
        if parse("\n".join(lines)) is not None:
            return  # a program of its own
        yield "\n".join([indent + first, *lines[1:]])  # its leading spaces were stripped
        yield "\n".join(indent + line if line.strip() else line for line in lines)
    else:
        margin = len(first) - len(first.lstrip())
        yield "\n".join(indent + line[margin:] for line in lines if not line[:margin].strip())


def _up_to_margin(text: str) -> str:
    """Return `text` up to its second unindented line: as stop words cut a base model's reply."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if number and line.strip() and line[0] not in " \t":
            return "\n".join(lines[:number])
    return text


def with_needs(
    code: str, tree: ast.Module, sources: Iterable[Source], entry_point: str | None
) -> str:
    """Return `code` preceded by the definitions that it lacks and one of `sources` has.

    The first source that has a name gives it. The entry point is never given: what the prompt
    shows of it is a stub.
    """
    own = {name for name, _ in bindings(tree)}
    wanted = [name for name in missing_names(tree) if name != entry_point]
    given: list[tuple[int, int, str]] = []  # (source, line, text): in the order of their origin
    taken: set[tuple[int, int]] = set()
    asked = set(wanted) | own
    tables = [(source, dict(bindings(source.tree))) for source in sources] if wanted else []
    stars = False
    while wanted:
        name = wanted.pop()
        for number, (source, table) in enumerate(tables):
            node = table.get(name)
            if node is None and not stars and "*" in table:
                node, stars = table["*"], True
            if node is None or _is_future(node):
                continue
            if (number, node.lineno) not in taken:
                taken.add((number, node.lineno))
                given.append((number, node.lineno, source_of(source.code, node)))
                more = [one for one in missing_names(node) if one not in asked]
                asked.update(more)
                wanted += [one for one in more if one != entry_point]
            break
    if not given:
        return code
    texts = [text for _, _, text in sorted(given, key=lambda item: (-item[0], item[1]))]
    at = _after_future(tree)
    lines = code.split("\n")
    head = "\n".join(lines[:at]) + "\n" if at else ""
    return head + "\n".join(texts) + "\n\n" + "\n".join(lines[at:])


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _after_future(tree: ast.Module) -> int:
    """Return how many lines stand up to the last `from __future__ import`."""
    ends = [node.end_lineno or 0 for node in tree.body if _is_future(node)]
    return ends[-1] if ends else 0
