r"""Where a reply commits itself to an option: from the last place to the first.

`statements` looks for cue words in windows that grow from the end, and reads only what stands at
them. Boxes, tags, JSON, "answer:", "I choose", "... is correct" each have a
reader; what a slot means is for `slots`, whether it is meant is for `context`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from reasonenv.checkers.choice.cues import cues
from reasonenv.checkers.choice.marked import read_marked
from reasonenv.checkers.choice.options import Options
from reasonenv.checkers.choice.page import Page
from reasonenv.checkers.choice.predicates import read_predicate
from reasonenv.checkers.choice.spoken import (
    Statement,
    read_chosen,
    read_correction,
    read_noun,
)

__all__ = ["MAX_CUES", "MAX_READS", "statements"]

MAX_CUES = 600
"""Cue words of one completion that are looked at, from its end."""
MAX_READS = 50
"""Slots of one completion that are read without a decision, from its end: a reply with more of them
is judged by its last ones."""
FIRST_WINDOW = 200
GROWTH = 6

Reader = Callable[[Page, Options, int, int, int, str], Statement | None]
_READERS: tuple[Reader, ...] = (
    read_marked,
    read_noun,
    read_chosen,
    read_predicate,
    read_correction,
)


def statements(page: Page, options: Options, lo: int, hi: int) -> Iterator[Statement]:
    """Yield the statements in a part of a page, from the last to the first.

    Linear in its length: each character is searched once, and the cue words that are looked at and
    the slots that are read are bounded in number and each in distance.
    """
    left, read = MAX_CUES, len(page.reads)
    for start, end in _windows(page, lo, hi):
        for at, kinds in reversed(deque(cues(page.low, start, end), MAX_CUES)):
            for kind, stem in reversed(kinds):
                left -= 1
                if left < 0 or len(page.reads) - read > MAX_READS:
                    return
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
