"""Markdown that shows any text as it is: what a report is put together from.

Completions, names of reward terms and error messages hold backticks, pipes, control characters
and much else; none of it may end a block, a span or a table's cell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["code", "cut", "fence", "table", "text"]

_SHOWN = 1400  # characters of a fenced text; a longer one is cut in the middle


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], aligned: str = "") -> str:
    """Return a Markdown table of cells that are Markdown themselves.

    Args:
        heads: of the columns.
        rows: with as many cells; a `|` in them is escaped, as a table needs it in code, too.
        aligned: "l" or "r" for each column; text, then numbers, unless given.
    """
    aligned = aligned or "l" + "r" * (len(heads) - 1)
    rule = [{"l": ":--", "r": "--:"}[side] for side in aligned]
    cells = [[cell.replace("|", r"\|") for cell in line] for line in (heads, rule, *rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def code(text: str) -> str:
    """Return an inline code span that shows `text` on one line, whatever backticks it holds."""
    shown = " ".join(_visible(text).split()) or " "
    ticks = "`" * (_longest_run(shown) + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def fence(text: str, language: str = "text") -> str:
    """Return a fenced code block that no backticks in `text` can close; the middle is cut out."""
    ticks = "`" * max(3, _longest_run(text) + 1)
    return f"{ticks}{language}\n{_visible(cut(text, _SHOWN)) or '(nothing)'}\n{ticks}"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def cut(text: str, width: int) -> str:
    """Return `text`, its middle left out where it is much longer than `width` characters."""
    head = width * 2 // 3
    left_out = len(text) - width
    if left_out <= 40:  # about what saying so takes
        return text
    return f"{text[:head]}[... {left_out:,} characters left out ...]{text[head + left_out :]}"


def _visible(text: str) -> str:
    """Return `text` with control and direction characters spelled out."""
    hidden = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
    return re.sub(hidden, lambda m: m[0].encode("unicode_escape").decode(), text)


def text(text: str) -> str:
    """Return plain text as Markdown that shows it as it is, on one line."""
    return re.sub(r"([\\`*_<>\[\]#~&])", r"\\\1", " ".join(_visible(text).split()))
