"""Code lines amid prose, for replies without fences and for blocks whose closing fence is missing.

The text is cut into chunks: an unindented line and what belongs to it. A chunk is kept whole or
dropped whole, so that no statement ever loses a part that was cut off or misread.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass

from reasonenv.checkers.code.extraction.lexing import (
    bracket_depth,
    ends_in_triple_quotes,
    without_strings,
)
from reasonenv.checkers.code.extraction.syntax import is_code, parse
from reasonenv.checkers.code.extraction.variants import dedented

__all__ = ["Chunk", "code_amid_prose", "looks_like_code", "looks_like_prose"]

MAX_CHUNKS = 4000
"""More chunks that may be code are not looked at: a program has fewer, junk costs no more time."""

MAX_JOINED = 64
"""How many unindented lines a bracket or a string may span."""

MAX_JOINS = 1024
"""How many lines are joined to earlier ones in one text, in vain or not."""

MAX_GAP = 3
"""How many line breaks stand between two chunks at most."""

MAX_LINE_LOOKED_AT = 400

_CONTINUES = re.compile(r"(?:else|elif|except|finally)\b|[)\]}]")
_WORD_PAIR = re.compile(r"(?<![\w.])([A-Za-z][a-z']*+) (?=([A-Za-z][a-z']*+)(?![\w(\[=.]\S))")
_CODE_START = re.compile(
    r"(?:async\s+def|def|class)\s+\w|import\s+\w|from\s+[\w.]+\s+import\b|@\w|return\b|raise\s"
    r"|(?:for|while|if|with)\s.*:|(?:try|else|finally)\s*:"
    r"|[\w.]+(?:\[[^\]\n]*\])?\s*(?:[-+*/|&^%@]|//|\*\*|>>|<<)?=(?!=)|[A-Za-z_][\w.]*\("
)
_SPOKEN = frozenset(keyword.kwlist) | {"print", "exec", "match", "case", "type"}


@dataclass(frozen=True, slots=True)
class Chunk:
    """An unindented line with what belongs to it.

    Args:
        text: the lines.
        line: the number of the first one, from 0.
        is_code: whether the chunk is a statement that does something.
        is_prose: whether it is a line of words.
    """

    text: str
    line: int
    is_code: bool
    is_prose: bool = False


def looks_like_prose(line: str) -> bool:
    """Return whether two words stand side by side as they never do in Python.

    >>> looks_like_prose("It adds the numbers."), looks_like_prose("for x in xs: print(x)")
    (True, False)
    """
    line = line[:MAX_LINE_LOOKED_AT]
    return _two_words(line) and _two_words(without_strings(line))


def _two_words(line: str) -> bool:
    return any(
        pair[1] not in _SPOKEN and pair[2] not in _SPOKEN for pair in _WORD_PAIR.finditer(line)
    )


def looks_like_code(line: str) -> bool:
    """Return whether a line begins as a statement does, finished or not."""
    line = line[:MAX_LINE_LOOKED_AT]
    return bool(_CODE_START.match(line)) and not looks_like_prose(line)


def code_amid_prose(text: str, strict: bool = False) -> tuple[str, int] | None:
    """Return the code in `text` and the line it begins at, None where there is none.

    Args:
        text: prose and code.
        strict: also return None where a chunk that is no prose does not parse: in a block, that
            is a program cut off or wrong, and not to be mended by dropping it.
    """
    kept: list[Chunk] = []
    comments: list[Chunk] = []  # of the next statement, or headings of prose
    parsed = 0
    for chunk in _chunks(text):
        parsed += not chunk.is_prose
        if parsed > MAX_CHUNKS:
            return None
        if chunk.is_code and chunk.text.startswith("#"):
            comments.append(chunk)
        elif chunk.is_code:
            kept += [*comments, chunk]
            comments = []
        elif (
            strict
            and not chunk.is_prose
            and looks_like_code(chunk.text.lstrip().partition("\n")[0])
        ):
            return None
        else:
            comments = []
    if not kept:
        return None
    code, end = "", kept[0].line
    for chunk in kept:
        gap = min(chunk.line - end, MAX_GAP)  # prose may have stood there
        code += ("\n" * max(gap, 0) if code else "") + chunk.text
        end = chunk.line + chunk.text.count("\n")
    return code, kept[0].line


def _chunks(text: str) -> Iterator[Chunk]:
    lines = text.split("\n")
    at = joins = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        if lines[at][0] not in " \t#" and looks_like_prose(lines[at]):
            yield Chunk(lines[at], at, False, True)
            at += 1
            continue
        end = _suite_end(lines, at)
        if joins < MAX_JOINS and _CODE_START.match(lines[at][:MAX_LINE_LOOKED_AT].lstrip()):
            end, tried = _completed(lines, at, end)
            joins += tried
        yield _chunk(lines, at, end)
        at = end


def _suite_end(lines: list[str], at: int) -> int:
    """Return the line after the indented or continuing lines below line `at`."""
    end = at + 1
    while end < len(lines):
        line = lines[end]
        if line.strip() and line[0] not in " \t" and not _CONTINUES.match(line):
            after_decorator = lines[end - 1].startswith("@")
            if not after_decorator:
                break
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    return end


def _completed(lines: list[str], at: int, end: int) -> tuple[int, int]:
    """Return the line after which what opened since line `at` is closed, and the joins it took.

    That line is `end` where nothing is open, or where it is not closed soon.
    """
    later = end
    for joined in range(MAX_JOINED):
        code = "\n".join(lines[at:later])
        if bracket_depth(code) <= 0 and not ends_in_triple_quotes(code):
            return later, joined
        while later < len(lines) and not lines[later].strip():
            later += 1
        if later == len(lines):
            return end, joined
        later = _suite_end(lines, later)
    return end, MAX_JOINED


def _chunk(lines: list[str], at: int, end: int) -> Chunk:
    code = dedented("\n".join(lines[at:end]))
    tree = parse(code)
    return Chunk(code, at, is_code(tree) or (tree is not None and code.startswith("#")))
