"""Options that speak of other options, and what may be done to a question that has them.

"None of the above" must stay last, "Both A and B" is wrong as soon as the options move, and "All of
the above" as soon as one of the others is dropped. `freedom_of` reads the texts and says what a
rendering may change. It reads English, and rather holds a question still than change its answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Freedom", "freedom_of"]


LONGEST_REFERENCE = 200
"""Characters of an option that is made of labels, or speaks of all the others."""


@dataclass(frozen=True, slots=True)
class Freedom:
    """What a rendering may change of a question.

    Args:
        movable: places of the options that may change places with each other; at least two, or
            none. The others keep their place.
        droppable: whether wrong options may be left out, and "None of the above" added.
        relabel: whether other labels than the question's own, or letters, may be used.
    """

    movable: tuple[int, ...]
    droppable: bool = True
    relabel: bool = True


_PLACES = r"(?:above|below|foregoing|preceding|following|previous)"
_GROUP = r"(?:(?:the\s+)?(?:other|rest|others)|these|those|them)"
_NOUN = r"(?:\s+(?:other\s+)?(?:options?|choices?|answers?|statements?|ones?|alternatives?))?"
_OTHERS = (
    rf"(?:(?:the\s+)?{_PLACES}{_NOUN}|{_GROUP}{_NOUN}"
    r"|(?:the\s+)?(?:options?|choices?|answers?|alternatives?))"
)
_AMOUNT = (
    r"(?:none|neither|not\s+any|no\s+one|all|both|any|either|each|every|most|some|two|three"
    r"|more\s+than\s+one|only\s+one|a\s+combination|any\s+combination)"
)
_OF_OTHERS = re.compile(
    rf"{_AMOUNT}\s+(?:of\s+)?{_OTHERS}\b.*|any\s+one\s+or\b.{{0,40}}\babove\b.*"
    r"|none|all|both|either|neither|no(?:ne)?\s+(?:correct|right)\s+(?:answer|option|choice)s?.*",
    re.IGNORECASE | re.DOTALL,
)
_BY_PLACE = re.compile(rf"\b{_PLACES}\b", re.IGNORECASE)
_AND = r"(?:,\s*(?:and|or)|,|&|\band\b|\bor\b|\bnor\b)"
_BEFORE = r"(?:\w+\s+)"  # "both", "options", "the medians of sets"
_AFTER = r"(?:[\s,]+(?:only|alone|but|are|is|correct|right|true|false|both|together)\b.*)?"
_NAMED = re.compile(
    r"\b(?i:the\s+)?(?i:first|second|third|fourth|last|previous|next|former|latter)\s+(?:\w+\s+)?"
    r"(?i:options?|choices?|answers?|alternatives?)\b"
    r"|\b(?i:options?|choices?|answers?|alternatives?)\s+(?:[\[(][A-Za-z][\])]|[B-Z](?![\w'])"
    r"|A(?=\s*(?:[,.?!;:)]|\bis\b|\band\b|\bor\b|\Z))|\d{1,2}\b)"
    r"|\b(?i:the|as|other)\s+(?i:options?|choices?|answers?|ones?)\s+(?i:above|below)\b"
    r"|\b(?i:the\s+(?:first|last)\s+(?:two|three|four)|the\s+(?:former|latter))(?=\W*\Z)"
)


@lru_cache(maxsize=4_096)
def freedom_of(options: tuple[str, ...], stem: str = "") -> Freedom:
    """Return what a rendering may change of a question.

    * An option that names others by label or place ("Both A and B", "I and II only", "the first
      two") holds the whole question still; so does a stem that does ("Why is answer B wrong?").
    * An option that speaks of all the others ("None of these", "All of the above", "Both") keeps
      its place while the others are shuffled, and none is dropped or added. One that says "above"
      anywhere but below all others holds the question still.

    Args:
        options: the texts, in the order that they were written for.
        stem: the question's text.

    >>> freedom_of(("red", "blue", "None of the above"))
    Freedom(movable=(0, 1), droppable=False, relabel=True)
    >>> freedom_of(("red", "blue", "Both A and B")).movable
    ()
    """
    bare = [option.strip().rstrip(".;:,! ") for option in options]
    still = Freedom((), droppable=False, relabel=False)
    names = _labels_pattern(len(options))
    short = {place: text for place, text in enumerate(bare) if len(text) <= LONGEST_REFERENCE}
    if any(_NAMED.search(text) for text in (stem, *bare)):
        return still
    if any(names.fullmatch(text) for text in short.values()):
        return still
    kept = [place for place, text in short.items() if _OF_OTHERS.fullmatch(text)]
    movable = tuple(place for place in range(len(options)) if place not in kept)
    if len(movable) < 2:
        return still
    if any(_BY_PLACE.search(bare[place]) and place < max(movable) for place in kept):
        return still
    return Freedom(movable, droppable=not kept, relabel=True)


@lru_cache(maxsize=32)
def _labels_pattern(count: int) -> re.Pattern[str]:
    """Return what a text looks like that is made of labels: "A and C", "Both (a) and (b)"."""
    last = chr(ord("A") + min(count, 26) - 1)
    label = (
        rf"(?:[\[(]\s?(?:[A-{last}a-{last.lower()}]|\d|[IVXivx]{{1,4}})\s?[\])]"
        rf"|[A-{last}]|[IVX]{{1,4}})"
    )
    digit = r"(?:\d|[\[(]\s?\d\s?[\])])"
    return re.compile(
        rf"{_BEFORE}*{label}(?:\s*{_AND}\s*{label})+{_AFTER}"
        rf"|(?:[Oo]nly|[Aa]ll\s+(?:but|except)|[Nn]ot)\s+(?:{label}|{digit}){_AFTER}"
        rf"|(?:{label}|{digit})\s+(?:only|alone)"
        rf"|{_BEFORE}*{digit}(?:\s*,\s*{digit})*\s*,?\s*(?:and|or|&)\s*{digit}{_AFTER}"
        rf"|.{{0,40}}[\[(][A-{last}][\])]\s*{_AND}\s*[\[(][A-{last}][\])].*",
        re.DOTALL,
    )
