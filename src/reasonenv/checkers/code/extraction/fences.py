"""Fenced blocks as in CommonMark, in lists and quotes too; fences in docstrings are content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from reasonenv.checkers.code.extraction.lexing import ends_in_triple_quotes
from reasonenv.checkers.code.extraction.syntax import parse

__all__ = ["Block", "fenced_blocks", "pieces", "strip_columns"]

MAX_LATER_CLOSERS = 8
"""How many more closing fences are tried for a block whose first one stands in a docstring."""

MAX_CLOSER_INDENT = 3
"""A closing fence that is indented further, counted from the block's margin, is content."""

MAX_BLANK_LINES = 8
"""How many blank lines at the top of a block are passed over to find its margin."""

TAB_STOP = 4

_OPENER = re.compile(
    r"(?P<prefix>(?:[ \t]*+(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])))*+[ \t]*+)"
    r"(?P<fence>`{3,}+(?=[^`]*+\Z)|~{3,}+)(?P<info>.*)\Z",
    re.DOTALL,
)
_CLOSER = re.compile(r"(?P<indent>[ \t]*+)(?P<fence>`{3,}+|~{3,}+)[ \t]*+\Z")
_CLOSER_AFTER_CODE = re.compile(r"(?:`{3,}+|~{3,}+)[^`~\w]{0,8}\Z")
_QUOTE_MARK = re.compile(r"[ \t]*+>")
_PYTHON_WORD = re.compile(r"(?:py(?:thon)?(?:3(?:\.\d+)?)?|pycon|none)?\Z", re.IGNORECASE)
_MARKUP_WORD = re.compile(r"(?:md|mdx|markdown)\Z", re.IGNORECASE)
_WORD_END = re.compile(r"[\s,:;={}()]")
_CODE_START = re.compile(
    r"(?:async\s+def|def|class)\s+\w+\s*[(:]|import\s+\w|from\s+[\w.]+\s+import\b|@\w"
    r"|(?:for|while|if|with)\s.*:|try\s*:|print\s*\("
)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code.

    Args:
        text: its lines, without the indentation of the list or quote that it stands in.
        line: the number of its first line in the searched text, from 0.
        end: the number of the line after its closing fence.
        is_python: whether it may hold the program: it is tagged as Python, or not at all.
        is_markup: whether it is Markdown, with blocks of its own inside.
        tagged: whether it names its language.
        closed: whether it has a closing fence.
    """

    text: str
    line: int
    end: int
    is_python: bool = True
    is_markup: bool = False
    tagged: bool = False
    closed: bool = True


@dataclass(frozen=True, slots=True)
class _Opener:
    """The line that opens a block."""

    fence: str
    prefix: str
    word: str
    code: str

    @property
    def is_python(self) -> bool:
        return bool(_PYTHON_WORD.match(self.word))


def _opener(line: str) -> _Opener | None:
    found = _OPENER.match(line) if "```" in line or "~~~" in line else None
    if found is None:
        return None
    info = found["info"].strip()
    if _CODE_START.match(info):  # ```def add(a, b): the tag and the line break were lost
        return _Opener(found["fence"], found["prefix"], "", info)
    info = info.lstrip("{").lstrip(".")  # ```{.python}
    word = _WORD_END.split(info, maxsplit=1)[0]
    rest = info[len(word) :].strip()
    return _Opener(found["fence"], found["prefix"], word, rest if _CODE_START.match(rest) else "")


def _width(space: str) -> int:
    width = 0
    for char in space:
        width += TAB_STOP - width % TAB_STOP if char == "\t" else 1
    return width


def strip_columns(line: str, columns: int) -> str:
    """Return `line` without its first `columns` columns, as far as these are white.

    >>> strip_columns("      x", 4)
    '  x'
    """
    at = width = 0
    while at < len(line) and width < columns and line[at] in " \t":
        width += TAB_STOP - width % TAB_STOP if line[at] == "\t" else 1
        at += 1
    return " " * max(width - columns, 0) + line[at:]


def _content(line: str, prefix: str) -> str | None:
    """Return a line of a block without what its container adds; None where it left a quote."""
    if not prefix:
        return line
    quoted, mark, inner = prefix.rpartition(">")
    for _ in range(quoted.count(">") + len(mark)):
        found = _QUOTE_MARK.match(line)
        if found is None:
            return None if line.strip() else ""
        line = line[found.end() :]
    if inner and line.startswith(inner):
        return line[len(inner) :]
    return strip_columns(line, _width(inner))


def _at_margin(lines: list[str], at: int, prefix: str) -> str:
    """Return `prefix`, or its quote marks alone where the block's first line stands left of it.

    CommonMark would still take white space from the lines that have some, and so set a body's
    lines off against each other.
    """
    quoted, mark, inner = prefix.rpartition(">")
    if not inner:
        return prefix
    for number in range(at, min(at + MAX_BLANK_LINES, len(lines))):
        line = _content(lines[number], quoted + mark)
        if line is None or line.strip():
            space = 0 if line is None else len(line) - len(line.lstrip(" \t"))
            is_left = line is not None and _width(line[:space]) < _width(inner)
            return quoted + mark if is_left else prefix
    return prefix


def _closes(content: str, fence: str) -> bool:
    found = _CLOSER.match(content) if fence[:3] in content else None
    return (
        found is not None
        and _width(found["indent"]) <= MAX_CLOSER_INDENT
        and found["fence"].startswith(fence)
    )


def fenced_blocks(text: str) -> list[Block]:
    """Return the fenced blocks of `text` in order, languages other than Python included.

    A block ends at its first closing fence, unless that one stands in a docstring and the block
    parses with a later one; an unclosed block runs to the end.
    """
    return list(_scan(text.split("\n")))


def _scan(lines: list[str]) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        opener = _opener(lines[at])
        if opener is None:
            at += 1
        else:
            block = _block(lines, at, opener)
            yield block
            at = block.end


def _block(lines: list[str], at: int, opener: _Opener) -> Block:
    body = [opener.code] if opener.code else []
    start = at + 1 - len(body)  # the line of body[0]
    first: int | None = None  # the size of the body up to its first closing fence
    tried, is_closed, size, end = 0, False, 0, len(lines)
    prefix = _at_margin(lines, at + 1, opener.prefix)
    for number in range(at + 1, len(lines)):
        content = _content(lines[number], prefix)
        if content is None:  # the quote is over, and the block with it
            end = number
            break
        if _closes(content, opener.fence):
            if first is None:
                first, size, is_closed = number, len(body), True
                if not (opener.is_python and ends_in_triple_quotes("\n".join(body))):
                    break
            elif parse("\n".join(body)) is not None:
                first, size = number, len(body)
                break
            elif (tried := tried + 1) == MAX_LATER_CLOSERS:
                break
        body.append(content)
    if first is not None:
        end = first + 1
    else:
        size = len(body)
    return Block(
        text="\n".join(body[:size]),
        line=start,
        end=end,
        is_python=opener.is_python,
        is_markup=bool(_MARKUP_WORD.match(opener.word)),
        tagged=bool(opener.word),
        closed=is_closed or end < len(lines),
    )


def pieces(block: Block) -> list[Block]:
    """Return the blocks inside a block that is no program itself.

    Models forget to close a block before they open the next one, close it at the end of its last
    line of code, or put the whole reply into a block of Markdown.
    """
    found: list[Block] = []
    part: list[str] = []
    is_open, tagged = block.is_python, block.tagged

    def finish(number: int, closed: bool) -> None:
        if is_open and part:
            line = block.line + number - len(part)
            found.append(
                Block("\n".join(part), line, line + len(part), True, False, tagged, closed)
            )
        part.clear()

    lines = block.text.split("\n")
    for number, line in enumerate(lines):
        opener = _opener(line)
        if opener is not None:
            finish(number, True)
            is_open = opener.is_python if opener.word or opener.code else not is_open
            tagged = bool(opener.word)
            if opener.code:
                part.append(opener.code)
        elif is_open and (closer := _CLOSER_AFTER_CODE.search(line)):
            part.append(line[: closer.start()])
            finish(number + 1, True)
            is_open = False
        else:
            part.append(line)
    finish(len(lines), block.closed)
    return found if len(found) > 1 or (found and found[0].text != block.text) else []
