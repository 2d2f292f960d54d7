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
BEFORE_CHARS = 70
"""Before the ending, where no other statement may stand, nor a turn of the talk."""

_ENDING = re.compile(
    r"(?:\n[\s*_#>$-]{0,8}|[.!?]\s+)(?:(?P<cue>(?i:(?:(?:so|thus|hence|therefore),?\s)?(?:the\s|my\s)?"
    r"(?:(?:final|correct|best|right)\s){0,2}(?:answer|choice|option)\s?"
    r"(?:\s?is:?(?=[\s*$(\[])|:))[\s*_]{0,6}(?:option\s)?)[\s*_$(\[]{0,6}(?P<box>\\boxed\{)?"
    r"(?:\\text\{)?|\$?\$?\\boxed\{(?:\\text\{)?|<answer>\s?)[(\[]?(?P<label>[A-Z])"
    r"(?P<rest>[)\]}*_$.]{0,6}\s*\Z|\s?</answer>\s*\Z|[).:]{1,2}\s?[^\n?]{1,80}\Z)"
)
_OTHER = ("answer", "box", "<", "####", "question", " or", "example", "format")
_WORD = re.compile(r"[a-z]{4}")
_MARKS = " )]}*_$.:\n"


def plain_ending(page: Page, options: Options, size: int) -> Statement | None:
    """Return the statement that plainly ends a page before `size`, None where it is not plain."""
    text = page.text
    found = _ENDING.search(text, max(0, size - ENDING_CHARS), size)
    if not found or not options.labels.are_letters:
        return None
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
    start = found.start()
    before = page.low[max(0, start - BEFORE_CHARS) : start]
    if not _WORD.search(before) or any(word in before for word in _OTHER):
        return None
    if "\n" in before and ":" in before:  # may be another turn
        return None
    anchor = "tag" if tagged else "box" if "\\boxed" in found[0] else "cue"
    begin = found.end("label") - 1 if found["cue"] is None else found.start("cue")
    slot = Slot(Reading.OPTION, (position,))
    return Statement(anchor, begin, size, slot, text[begin:size])
