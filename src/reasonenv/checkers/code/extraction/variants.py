"""Readings of one block of text as a program, the most literal first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reasonenv.checkers.code.extraction.fences import strip_columns
from reasonenv.checkers.code.extraction.lexing import map_code, without_strings
from reasonenv.checkers.code.extraction.syntax import MAX_PROGRAM_CHARS

__all__ = ["dedented", "tidied", "variants", "without_prompts"]

_PROMPT = re.compile(
    r"[ \t]*+(?:(?P<new>>>>|In \[\d*\]:)|(?P<more>\.\.\.(?=\s|\Z)|\.\.\.:)) ?(?P<code>.*)\Z",
    re.DOTALL,
)
_SESSION = re.compile(r"^[ \t]*+(?:>>>|In \[\d*\]:)", re.MULTILINE)
_ERROR_OUTPUT = "Traceback (most recent call last)"
_ODD_SPACE = re.compile(r"[\u00a0\u2002-\u200a\u202f\u205f\u3000]")
_INVISIBLE = re.compile(r"[\u200b-\u200d\u2060\ufeff\u00ad]")
_LANGUAGE_LINE = re.compile(r"\s*(?:python3?|py)[ \t]*\n", re.IGNORECASE)


def variants(text: str) -> Iterator[tuple[str, str]]:
    """Yield (program, how it was read) in order of preference; a caller takes the first that fits.

    No name and no quote is ever changed.
    """
    text = _LANGUAGE_LINE.sub("", text, count=1) if _LANGUAGE_LINE.match(text) else text
    yield text, ""
    if len(text) > MAX_PROGRAM_CHARS:
        return
    plain = dedented(text)
    if plain != text:
        yield plain, "dedent"
    clean = dedented(tidied(text))
    if clean != plain:
        yield clean, "whitespace"
    if _SESSION.search(without_strings(clean)):
        for code in without_prompts(clean):
            yield code, "repl"


def dedented(text: str) -> str:
    """Return `text` with the indentation of its first line taken from every line.

    Not `textwrap.dedent`: text in a docstring may stand further left than the code.
    """
    for line in text.split("\n"):
        if line.strip():
            margin = len(line) - len(line.lstrip(" \t"))
            if margin == 0:
                return text
            columns = len(line[:margin].expandtabs(4))
            return "\n".join(
                other[margin:] if other.startswith(line[:margin]) else strip_columns(other, columns)
                for other in text.split("\n")
            )
    return text


def tidied(text: str) -> str:
    """Return `text` with spaces of other kinds made plain and invisible characters dropped.

    Only outside strings and comments, where Python accepts neither.
    """
    return map_code(text, lambda code: _INVISIBLE.sub("", _ODD_SPACE.sub(" ", code)))


def without_prompts(text: str) -> Iterator[str]:
    """Yield what an interpreter's session was given: alone, and with the code before it."""
    session: list[list[str]] = []  # one list of lines per statement
    head: list[str] = []
    for line in text.split("\n"):
        prompt = _PROMPT.match(line)
        if prompt is None:
            if not session:
                head.append(line)
            elif line.startswith(_ERROR_OUTPUT):
                session.pop()  # it failed there, and would here
        elif prompt["new"]:
            session.append([prompt["code"]])
        elif session:
            session[-1].append(prompt["code"])
    given = "\n".join(line for statement in session for line in statement)
    yield given
    if any(line.strip() for line in head):
        yield "\n".join([*head, given])
