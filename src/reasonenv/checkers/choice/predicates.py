r"""Statements that call an option right: "B is correct", "B ✅", "Canberra is the answer"."""

from __future__ import annotations

import re

from reasonenv.checkers.choice.context import is_meant, is_question
from reasonenv.checkers.choice.options import Options, in_words, text_key
from reasonenv.checkers.choice.page import Page
from reasonenv.checkers.choice.reading import Reading, Slot, several
from reasonenv.checkers.choice.statement import Statement
from reasonenv.checkers.choice.words import PREDICATE

__all__ = ["read_predicate"]

SENTENCE_CHARS = 200
"""Before a predicate, searched for its subject."""

_IS_RIGHT = re.compile(rf"(?P<gap>[\s)\].:,*_\"'—–-]{{0,6}}?){PREDICATE}", re.IGNORECASE)
_TEXT_IS_RIGHT = re.compile(rf"(?P<gap>[^.!?\n。！？;]{{1,100}}?){PREDICATE}", re.IGNORECASE)
_MARKS = re.compile(r"[\s)\].:,*_\"'—–-]{0,8}")
_JOINED_BEFORE = (
    r"({label})[\])]?\s*(?:\band\b|\bor\b|\bund\b|\boder\b|\bet\b|\bou\b|和|或|与)\s*\Z"
)
_BOTH = (
    r"(?P<first>{label})[\])]?(?:\s*(?:,|\band\b|\bor\b|&|和|\bund\b|\by\b|\bet\b)\s*)+[\[(]?"
    r"(?P<second>{label})[\])]?\s(?:are|both|could|may|might)\b[^.\n]{{0,20}}\b(?:correct|right"
    r"|true)"
)


def read_predicate(
    page: Page, options: Options, at: int, lo: int, hi: int, stem: str
) -> Statement | None:
    """Read "B is correct", "B ✅", "Canberra is the answer": the subject stands before."""
    text, labels = page.text, options.labels
    if stem in _TICKS:
        ticked = _text_ticked(page, options, at, lo)
        if ticked:
            return ticked
    nearest = labels.subject.search(text, max(lo, at - 130), at)
    if nearest is None and stem not in ("correct", "right", "best"):
        return None
    start = max(lo, at - SENTENCE_CHARS)
    for stop in (". ", "! ", "? ", "\n", "。", "; ", "；", "！"):
        start = max(start, text.rfind(stop, start, at) + 1)
    subjects = list(labels.subject.finditer(text, start, at))[:-4:-1] if nearest else []
    found = None
    for subject in subjects:
        found = _IS_RIGHT.match(text, subject.end(), min(hi, at + 40))
        if not found and options.may_open(page.low, _MARKS.match(text, subject.end()).end()):  # type: ignore[union-attr]
            found = _TEXT_IS_RIGHT.match(text, subject.end(), min(hi, at + 40))
        if found and found.start("predicate") <= at < found.end():
            break
    else:
        found = None
    if found is None:
        if stem in ("correct", "right", "best", "正确"):
            return _both(page, options, start, at, hi) or _text_is_right(
                page, options, start, at, lo, hi
            )
        return None
    slot = options.label(subject[1])
    if slot.reading is not Reading.OPTION:
        return None
    gap = found["gap"].strip(" \t)].:,*_-—–\"'")
    if gap and not _is_class_word(gap):
        named = options.whole(gap)
        if named is None:
            return None
        if named.positions != slot.positions:
            if found["gap"].lstrip()[:1] in ",":
                return None
            slot = Slot(Reading.CONTRADICTION, (*slot.positions, *named.positions))
    joined = re.search(_JOINED_BEFORE.format(label=labels.upper), text[start : subject.start(1)])
    if joined:
        slot = several(labels.index(joined[1]), *slot.positions)
    mark = found["predicate"].lstrip()[:1] in ":=—–-✅✓✔☑(["
    begin = subject.start()
    if is_question(page, found.end(), hi) or is_meant(page, begin, lo, by_verb=False) != "yes":
        return None
    return Statement(
        "mark" if mark else "is right", begin, found.end(), slot, text[begin : found.end()]
    )


_CLASS_WORDS = re.compile(
    r"(?:选项|項|项|şıkkı|seçeneği|번|option|choice|answer|variant|вариант)\Z", re.IGNORECASE
)


def _is_class_word(gap: str) -> bool:
    return _CLASS_WORDS.match(gap) is not None


def _text_ticked(page: Page, options: Options, at: int, lo: int) -> Statement | None:
    """Read "Mars ✅", where no label stands beside the text."""
    start = max(lo, at - 80, page.text.rfind("\n", max(lo, at - 80), at) + 1)
    page.reads.append(start)
    words = in_words(text_key(page.text[start:at]))
    for position, _, end in reversed(options.named(words)):
        if end == len(words):
            token = options.labels.listed.match(page.text, start, at)
            if not token and options.labels.standing.search(page.text, start, at):
                continue
            slot = Slot(Reading.OPTION, (position,), "text")
            if token and options.labels.index(token[1]) != position:
                slot = Slot(Reading.CONTRADICTION, (position,), "text")
            return Statement("mark", start, at + 1, slot, page.text[start : at + 1])
    return None


def _both(page: Page, options: Options, start: int, at: int, hi: int) -> Statement | None:
    pattern = _BOTH.format(label=options.labels.upper)
    both = re.search(pattern, page.text[start : min(hi, at + 10)])
    if not both:
        return None
    slot = several(options.labels.index(both["first"]), options.labels.index(both["second"]))
    return Statement("is right", start + both.start(), start + both.end(), slot, both[0])


_TICKS = frozenset("✅✓✔☑")
_TEXT_SUBJECT = re.compile(
    r"(?P<text>.{1,200}?)[*_\"']{0,3},?\s(?:is|was|must be|seems)\s(?:therefore |clearly |thus )?"
    r"(?:the |my )?(?:correct|right|best)(?:\s(?:answer|option|choice|one))?(?:\s*[.!]|\s*\Z|\n)"
)


def _text_is_right(
    page: Page, options: Options, start: int, at: int, lo: int, hi: int
) -> Statement | None:
    found = _TEXT_SUBJECT.match(page.text[start : min(hi, at + 30)].lstrip())
    named = (
        options.whole(re.sub(r"\A(?:so|thus|hence|therefore),?\s", "", found["text"], flags=re.I))
        if found
        else None
    )
    if not found or named is None or is_meant(page, start, lo) != "yes":
        return None
    return Statement("is right", start, min(hi, at + 7), named, found[0])
