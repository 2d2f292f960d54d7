"""Finding cue words: all stems of all kinds in one pass of one pattern, built as a tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from reasonenv.checkers.choice.words import (
    CHOSEN_STEMS,
    CORRECTION_STEMS,
    MARK_STEMS,
    NOUN_STEMS,
    PREDICATE_STEMS,
)

__all__ = ["KINDS", "cues"]

KINDS = ("mark", "noun", "chosen", "predicate", "correction")
"""What a stem may announce; the place in this tuple is the kind that `cues` gives."""

_STEMS: dict[str, list[int]] = {}
for _kind, _stems in enumerate(
    (MARK_STEMS, NOUN_STEMS, CHOSEN_STEMS, PREDICATE_STEMS, CORRECTION_STEMS)
):
    for _stem in _stems:
        _STEMS.setdefault(_stem, []).append(_kind)


def _in_words(stem: str) -> bool:
    """Whether a stem begins where a word begins: scripts without spaces have no such places."""
    return stem[0].isalpha() and stem[0] < "\u0e00"


def _tree(stems: list[str]) -> str:
    """Return a pattern that matches the longest of the stems, branching once for each character."""
    branches: dict[str, list[str]] = {}
    for stem in stems:
        if stem:
            branches.setdefault(stem[0], []).append(stem[1:])
    parts = [re.escape(char) + _tree(rest) for char, rest in branches.items()]
    if not parts:
        return ""
    body = parts[0] if len(parts) == 1 else "(?:" + "|".join(parts) + ")"
    return f"(?:{body})?" if "" in stems else body


def _pattern(stems: list[str], between: str) -> re.Pattern[str]:
    words = [stem for stem in stems if _in_words(stem)]
    others = [stem for stem in stems if not _in_words(stem)]
    return re.compile(rf"{between}({_tree(words)})|{_tree(others)}")


@cache
def _patterns(ascii_only: bool) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the pattern for a text and the one for its first word; built when first needed."""
    stems = [stem for stem in _STEMS if stem.isascii() or not ascii_only]
    first = re.compile(_tree([stem for stem in stems if _in_words(stem)]))
    return _pattern(stems, "[^a-z0-9]" if ascii_only else r"[\W_]"), first


LONGEST = max(map(len, _STEMS))


@cache
def _kinds(found: str) -> tuple[tuple[int, str], ...]:
    """Return (kind, stem) of every stem that what was found begins with."""
    return tuple(
        (kind, found[:length])
        for length in range(1, len(found) + 1)
        for kind in _STEMS.get(found[:length], ())
    )


def cues(low: str, start: int, end: int) -> Iterator[tuple[int, tuple[tuple[int, str], ...]]]:
    """Return the places of cue words that begin in a part of a text, in order.

    Args:
        low: the text, in lower case.
        start: where the part begins.
        end: where it ends; a cue may go on behind it.
    """
    pattern, first_word = _patterns(low.isascii())
    if start > 0:
        start -= 1  # the character between words
    else:
        first = first_word.match(low)
        if first:
            yield 0, _kinds(first[0])
    for found in pattern.finditer(low, start, end + LONGEST):
        group = found.lastindex or 0
        at = found.start(group)
        if at >= end:
            return
        yield at, _kinds(found[group])
