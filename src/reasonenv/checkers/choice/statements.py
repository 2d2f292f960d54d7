r"""Where a reply commits itself to an option: from the last place to the first.

`statements` finds cue words by plain substring search, from the end in growing windows, and reads
only what stands at them. Boxes, tags, JSON, "answer:", "I choose", "... is correct" each have a
reader; what a slot means is for `slots`, whether it is meant is for `context`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from reasonenv.checkers.choice.marked import read_marked
from reasonenv.checkers.choice.options import Options
from reasonenv.checkers.choice.page import Page
from reasonenv.checkers.choice.spoken import (
    Statement,
    read_chosen,
    read_correction,
    read_noun,
    read_predicate,
)
from reasonenv.checkers.choice.words import CHOSEN_STEMS, NOUN_STEMS, PREDICATE_STEMS

__all__ = ["MAX_HITS", "statements"]

MAX_HITS = 40
"""Of one cue word in one window, from its end: a reply with more is judged by its last ones."""
MAX_PLACES = 400
"""Of all cue words in one completion."""
FIRST_WINDOW = 500
GROWTH = 6

Reader = Callable[[Page, Options, int, int, int, str], Statement | None]
_READERS: tuple[Reader, ...] = (
    read_marked,
    read_noun,
    read_chosen,
    read_predicate,
    read_correction,
)
_MARKS = ("boxed", "fbox{", "\\box{", "####", "ans>", "final>", "\": true", "\":true")
_CORRECTIONS = (
    "wait actually sorry rather oops correction instead update edit: nein plutôt mejor"
    " anzi"
).split() + ["i mean", "make that", "scratch that", "second thought", "after review", "no, ", "no. "]
_CORRECTIONS += ["no: ", "now ", "changed", "on reflection", "不对"]
_STEMS = tuple(
    (stem, kind)
    for kind, stems in enumerate(
        (_MARKS, NOUN_STEMS, CHOSEN_STEMS, PREDICATE_STEMS, _CORRECTIONS)
    )
    for stem in stems
)
_ASCII = tuple(pair for pair in _STEMS if pair[0].isascii())


def statements(page: Page, options: Options, lo: int, hi: int) -> Iterator[Statement]:
    """Yield the statements in a part of a page, from the last to the first.

    Linear in its length: each character is searched once for each cue word, and at most
    `MAX_PLACES` places are read, each within a bounded distance.
    """
    stems = _ASCII if page.text.isascii() else _STEMS
    low = page.low
    places = 0
    for start, end in _windows(page, lo, hi):
        hits: list[tuple[int, int, str]] = []
        for stem, kind in stems:
            at = low.rfind(stem, start, end)
            count = 0
            while at >= 0 and count < MAX_HITS:
                hits.append((at, kind, stem))
                at = low.rfind(stem, start, at)
                count += 1
        hits.sort(reverse=True)
        for at, kind, stem in hits:
            if places == MAX_PLACES:
                return
            places += 1
            found = _READERS[kind](page, options, at, lo, hi, stem)
            if found is not None:
                yield found


def _windows(page: Page, lo: int, hi: int) -> Iterator[tuple[int, int]]:
    """Yield windows from the end, each larger than the one before, cut between words."""
    for start, end in reversed(page.kept):
        first, upto = max(lo, start), min(hi, end)
        size = FIRST_WINDOW
        while upto > first:
            cut = max(first, upto - size)
            if cut > first:
                blank = page.text.rfind(" ", max(first, cut - 60), cut)
                cut = blank if blank > first else cut
            yield cut, upto
            upto = cut
            size *= GROWTH


