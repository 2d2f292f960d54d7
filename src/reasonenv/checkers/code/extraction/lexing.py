"""A scanner for strings and comments that, unlike `tokenize`, takes broken text as well.

Completions are cut off and mixed with prose, so what is asked here ("does this fence stand inside
a docstring?") must have an answer for text that no parser accepts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

__all__ = ["bracket_depth", "ends_in_triple_quotes", "map_code", "strings", "without_strings"]

_TOKEN = re.compile(
    r"""
      (?P<comment>\#[^\n]*+)
    | (?P<triple>\"\"\"(?:[^"\\]++|\\.?|"(?!""))*+(?P<end2>\"\"\"|\Z)
                |'''(?:[^'\\]++|\\.?|'(?!''))*+(?P<end1>'''|\Z))
    | (?P<single>"(?:[^"\\\n]++|\\.?)*+"?|'(?:[^'\\\n]++|\\.?)*+'?)
    """,
    re.DOTALL | re.VERBOSE,
)


def strings(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of every closed string literal in `text`, quotes included."""
    for token in _TOKEN.finditer(text):
        if token["comment"] is None and _closed(token):
            yield token.span()


def _closed(token: re.Match[str]) -> bool:
    if token["triple"] is not None:
        return bool(token["end1"] or token["end2"])
    found = token[0]
    return len(found) > 1 and found[0] == found[-1]


def ends_in_triple_quotes(code: str) -> bool:
    r"""Return whether `code` ends inside a triple-quoted string.

    >>> ends_in_triple_quotes("def f():\n    '''Add.")
    True
    """
    last: re.Match[str] | None = None
    for token in _TOKEN.finditer(code):
        last = token
    return last is not None and last["triple"] is not None and not _closed(last)


def map_code(code: str, change: Callable[[str], str]) -> str:
    """Return `code` with `change` applied outside strings and comments."""
    pieces, start = [], 0
    for token in _TOKEN.finditer(code):
        pieces += [change(code[start : token.start()]), token[0]]
        start = token.end()
    return "".join([*pieces, change(code[start:])])


def without_strings(code: str) -> str:
    """Return `code` with strings emptied and comments dropped."""
    return _TOKEN.sub(lambda token: "" if token["comment"] is not None else '""', code)


def bracket_depth(code: str) -> int:
    """Return how many brackets are open at the end of `code`."""
    bare = without_strings(code)
    return sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}"))
