r"""The short way: a completion that ends in "The answer is B.", a box or an answer tag.

Most completions do. What is read here is read the same, only slower, by `statements`; whatever is
not exactly of this form, or has another statement close before it, is left to them.
"""

from __future__ import annotations

import re

from reasonenv.checkers.choice.options import Options
from reasonenv.checkers.choice.page import Page
from reasonenv.checkers.choice.reading import Reading, Slot
from reasonenv.checkers.choice.statement import Statement

__all__ = ["plain_ending"]

ENDING_CHARS = 160
MIN_TEXT_CHARS = 4
BEFORE_CHARS = 70
"""Before the ending, where no other statement may stand, nor a turn of the talk."""

_SAID = re.compile(
    r"(?:\n[\s*_>-]{0,8}|[.!?]\s+)(?:(?i:so|thus|hence|therefore),?\s)?(?:"
    r"I(?:'d| would| will)?\s(?:go with|choose|pick|select)\s(?:option\s)?\(?(?P<chosen>[A-Z])\)?"
    r"|(?:[Oo]ption\s)?\(?(?P<right>[A-Z])\)?\sis\s(?:the\s)?(?:correct|right)"
    r"(?:\s(?:answer|option|choice))?"
    r"|(?i:the\s(?:(?:final|correct)\s)?answer\sis:?)\s(?P<text>[^\n?]{2,80}?))\.?\s*\Z"
)
"""Endings in words: "I would go with B.", "Thus, B is correct.", "The answer is Canberra."."""
_ENDING = re.compile(
    r"(?:\n[\s*_#>$-]{0,8}|[.!?]\s+)(?:(?P<cue>(?i:(?:(?:so|thus|hence|therefore),?\s)?(?:the\s|my\s)?"
    r"(?:(?:final|correct|best|right)\s){0,2}(?:answer|choice|option)\s?"
    r"(?:\s?is:?(?=[\s*$(\[])|:))[\s*_]{0,6}(?:option\s)?)[\s*_$(\[]{0,6}(?P<box>\\boxed\{)?"
    r"(?:\\text\{)?|\$?\$?\\boxed\{(?:\\text\{)?|<answer>\s?)[(\[]?(?P<label>[A-Z])"
    r"(?P<rest>[)\]}*_$.]{0,6}\s*\Z|\s?</answer>\s*\Z|[).:]{1,2}\s?[^\n?]{1,80}\Z)"
)
_OTHER = ("answer", "box", "<", "####", "question:", " or", "example", "format")
_WORD = re.compile(r"[a-z]{4}")
_MARKS = " )]}*_$.:\n"


def plain_ending(page: Page, options: Options, size: int) -> Statement | None:
    """Return the statement that plainly ends a page before `size`, None where it is not plain."""
    text = page.text
    if not options.labels.are_letters:
        return None
    low = max(0, size - ENDING_CHARS)
    line = text.rfind("\n", low, len(text[:size].rstrip()))
    found = (line > 0 and _ENDING.match(text, line, size)) or _ENDING.search(text, low, size)
    if not found:
        return _said(page, options, size, line)
    position = ord(found["label"]) - ord("A")
    if position >= len(options.texts):
        return None
    rest = found["rest"].strip(_MARKS)
    if rest and rest != "</answer" and rest != "</answer>" and rest != options.texts[position]:
        return None
    tagged = "<answer>" in found[0]
    if tagged != ("</answer>" in found[0]) or (found["cue"] is None and rest and not tagged):
        return None
    if ("\\boxed{" in found[0]) != ("}" in found["rest"]):
        return None
    if not _stands_alone(page, found.start()):
        return None
    anchor = "tag" if tagged else "box" if "\\boxed" in found[0] else "cue"
    begin = found.end("label") - 1 if found["cue"] is None else found.start("cue")
    slot = Slot(Reading.OPTION, (position,))
    return Statement(anchor, begin, size, slot, text[begin:size])


def _stands_alone(page: Page, start: int) -> bool:
    """Whether no other statement, and no turn of the talk, stands close before a place."""
    before = page.low[max(0, start - BEFORE_CHARS) : start]
    if not _WORD.search(before) or any(word in before for word in _OTHER):
        return False
    return not ("\n" in before and ":" in before)  # may be another turn


def _said(page: Page, options: Options, size: int, line: int) -> Statement | None:
    """Return the statement of an ending in words."""
    text = page.text
    found = _SAID.match(text, line, size) if line > 0 else None
    if not found or not _stands_alone(page, found.start()):
        return None
    for group, anchor in (("chosen", "chosen"), ("right", "is right")):
        if found[group]:
            position = ord(found[group]) - ord("A")
            if position >= len(options.texts) or (group == "right" and _doubtful(page, line)):
                return None
            slot = Slot(Reading.OPTION, (position,))
            begin = found.start(group)
            return Statement(anchor, begin, size, slot, text[begin:size])
    position = options.texts.index(found["text"]) if found["text"] in options.texts else -1
    if position < 0 or len(found["text"]) < MIN_TEXT_CHARS:
        return None
    whole = options.whole(found["text"])
    if whole is None or whole.position != position:
        return None
    return Statement("cue", found.start("text"), size, whole, found["text"])


def _doubtful(page: Page, line: int) -> bool:
    """Whether the words before may deny what follows: "I doubt whether"."""
    return page.text[line - 1 : line] not in ".!\n"
