"""Where programs stand that have no fence of their own line: in tags, in spans, in the open."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reasonenv.checkers.code.extraction.fences import Block
from reasonenv.checkers.code.extraction.lexing import strings

__all__ = ["not_in_strings", "outside", "spans", "tagged_blocks"]

_TAG = re.compile(
    r"(?:^|(?<=>))[ \t]*+(?P<open>\[(?:PYTHON|CODE|SOLUTION|BEGIN|ANSWER)\]"
    r"|<(?:code|python|solution|program|pre|final_answer)(?:\ [^<>\n]{0,80})?>)"
    r"|(?P<close>\[/(?:PYTHON|CODE|SOLUTION|BEGIN|ANSWER)\]|\[DONE\]"
    r"|</(?:code|python|solution|program|pre|final_answer)>)",
    re.IGNORECASE | re.MULTILINE,
)
_SPAN = re.compile(r"(?<!`)(?P<ticks>`++)(?P<text>[^`]++)(?:(?P=ticks)(?!`)|\Z)")
_LANGUAGE = re.compile(r"(?P<word>[\w+#-]*+)(?:[ \t]*+\n|[ \t]++)")
_PYTHON = re.compile(r"(?:py|python|python3|pycon)?\Z", re.IGNORECASE)


def tagged_blocks(text: str) -> list[Block]:
    r"""Return what stands in `[PYTHON]`, `<code>` and the like; an unclosed tag runs to the end.

    >>> [block.text for block in tagged_blocks("[PYTHON]\nx = 1\n[/PYTHON] [TESTS]")]
    ['x = 1']
    """
    found: list[Block] = []
    start: int | None = None
    line = seen = 0
    for tag in _TAG.finditer(text):
        if tag["open"] is not None:
            start = tag.end() + text.startswith("\n", tag.end())
            line += text.count("\n", seen, start)
            seen = start
        elif start is not None:
            found.append(_between(text[start : tag.start()], line, True))
            start = None
    if start is not None:
        found.append(_between(text[start:], line, False))
    return found


def _between(inner: str, line: int, closed: bool) -> Block:
    end = line + inner.count("\n") + 1
    return Block(inner.rstrip("\n \t"), line, end, tagged=True, closed=closed)


def spans(text: str, name: str) -> list[Block]:
    """Return code with `name` between backticks that open amid a line: so `f = abs`."""
    found, line, seen = [], 0, 0
    for span in _SPAN.finditer(text):
        code, start = span["text"], span.start("text")
        if name not in code:
            continue
        language = _LANGUAGE.match(code) if len(span["ticks"]) > 1 else None
        if language is not None and "\n" in language[0] and not _PYTHON.match(language["word"]):
            continue
        if language is not None and _PYTHON.match(language["word"]):
            start += language.end()
            code = code[language.end() :]
        line += text.count("\n", seen, start)
        seen = start
        code = code.rstrip()
        found.append(Block(code, line, line + code.count("\n") + 1))
    return found


def not_in_strings(text: str, blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks whose fence stands in no triple-quoted string of a program in the open."""
    if not blocks:
        return []
    inside: set[int] = set()
    line = seen = 0
    for start, end in strings(text):
        if text.startswith(('"""', "'''"), start):
            line += text.count("\n", seen, start)
            size = text.count("\n", start, end)
            inside.update(range(line + 1, line + size + 1))
            line, seen = line + size, end
    return [block for block in blocks if block.line - 1 not in inside]


def outside(text: str, blocks: Sequence[Block]) -> str:
    """Return `text` with the lines of `blocks` and of their fences empty: line numbers stay."""
    lines = text.split("\n")
    for block in blocks:
        for number in range(max(block.line - 1, 0), min(block.end, len(lines))):
            lines[number] = ""
    return "\n".join(lines)
