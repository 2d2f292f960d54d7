"""What a reply in prose commits itself to: an opening yes or no, and one sentence's only option.

A sentence that names exactly one option's text commits to it (policy 12), but for manners of
speaking, doubts, sentences that are cut off, and numbers that only stand in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reasonenv.checkers.choice.listing import TOLD
from reasonenv.checkers.choice.options import Options, clean, in_words, text_key
from reasonenv.checkers.choice.page import Page
from reasonenv.checkers.choice.reading import Reading, Slot
from reasonenv.checkers.choice.statement import Statement

__all__ = ["in_prose", "is_chatty"]

MAX_SENTENCE_CHARS = 400
MIN_NAMED_CHARS = 3
"""Of an option text that a sentence may name without saying so: a shorter one may be any word."""
_UNSURE = re.compile(
    r"\b(?:could|might|may|maybe|perhaps|either|if|unsure|not sure"
    r"|don't know|at least|at most|more than|less than|between|depends?|whether|cannot|can't|guess"
    r"|neither|oder|ou|или|или|vielleicht|peut-être|quizás?|forse|talvez)\b|\?|不确定|也许|可能|还是"
)
_OPENING = re.compile(
    r"(yes|no|true|false|ja|nein|oui|non|sí|si|sì|sim|não|nee|tak|nie|да|нет|evet|hayır|是|否|对|错|はい"
    r"|いいえ|예|아니요|نعم|لا|हाँ|हां|नहीं|wahr|falsch|richtig|vrai|faux|verdadero|falso|vero"
    r"|correct|incorrect|верно|неверно|doğru|yanlış|đúng|sai|có"
    r"|không)(?![\w'])[.,!:;]?(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_JOINS = re.compile(
    r"\s*(?:idea|answer|comment|problem|clue|way|information|doubt|and|or|und|oder|et|ou|y|o|и|или|/|but|to|one)\b",
    re.IGNORECASE,
)
_MORE_SENTENCES = re.compile(r"[.!?。！？]\s*(?=[^\s\"')\]*])")
_CHATTY = re.compile(
    r"\w+[,.!]?\s(?:let(?:'s| me| us)\b|(?:that|this|it)(?:'s| is) (?:an? )?(?:\w+ )?"
    r"(?:question|hard|difficult|tricky)\b|of course|i can help|i'd be happy)",
    re.IGNORECASE,
)
_ADJECTIVES = frozenset(("true", "false", "right", "wrong", "correct", "incorrect"))
_GOES_ON = re.compile(
    r"\s+(?!(?:because|since|as|for|the|this|it|that|by)\b)[^\W\d_]", re.IGNORECASE
)
_PROCESS = re.compile(r"(?:let me|let's|let us|i can|i will|i'll|we need|i need)\b")
_CUT_OFF = re.compile(
    r"\b(?:that|the|an?|of|is|are|to|and|or|which|for|in|by|because|with|from|as|on|at)\Z"
)
_STATES = re.compile(
    r"(?:\b(?:is|are|was|be|get|gives?|equals?|has|have|makes?|total|takes?|obtain|find|only|just|choose"
    r"|pick|select|be|about|exactly|to|say)|=)\s?\Z"
)
_OR = re.compile(r"\s(?:or|oder|ou)\s")
_OR_BEFORE = re.compile(r"\s(?:or|oder|ou)\s\Z")
_SAYS = re.compile(
    r"\b(?:option|choice|answer|statement)\s+\S{1,4}\s(?:says|states|is about|means|describes"
    r"|refers"
    r"|talks|mentions|would|claims|reads)\b"
)


def is_chatty(text: str) -> bool:
    """Whether a text opens as "Yes, let's see" does: a manner of speaking."""
    return _CHATTY.match(text) is not None


def in_prose(
    page: Page, options: Options, start: int, end: int, whole: str, last: str
) -> Iterator[Statement]:
    """Read an opening yes or no, and a reply of one sentence that names one option text."""
    opening = _OPENING.match(clean(page.text[start : min(end, start + MAX_SENTENCE_CHARS)]))
    if opening and not _JOINS.match(opening["rest"]):
        slot = options.whole(opening[1])
        if opening[1].lower() in _ADJECTIVES and _GOES_ON.match(opening["rest"]):
            return  # "True friends help."
        if slot is not None and is_chatty(opening[0]):
            return
        if slot is not None:
            yield Statement("opening word", start, min(end, start + 10), slot, opening[1])
    sentence = clean(whole)
    if (
        not whole
        or TOLD in whole
        or len(whole) > MAX_SENTENCE_CHARS
        or _MORE_SENTENCES.search(sentence)
    ):
        return
    key = text_key(sentence)
    words = in_words(key)
    beside = key
    for position, _, _ in options.named(words):
        beside = beside.replace(options.keys[position], " ")
    if (
        _UNSURE.search(beside)
        or _SAYS.search(key)
        or _PROCESS.match(key)
        or _is_cut_off(whole, key)
    ):
        return
    named = [hit for hit in options.named(words) if not _negated_name(words, hit)]
    if any(_OR.match(words, end) or _OR_BEFORE.search(words, 0, start) for _, start, end in named):
        return
    positions = {position for position, _, _ in named}
    if len(positions) == 1 and any(_states(sentence, words, hit) for hit in named):
        position = positions.pop()
        text = options.keys[position]
        told = options.labels.told.match(sentence)
        if told and options.labels.index(told[1]) not in (-1, position):
            slot = Slot(Reading.CONTRADICTION, (options.labels.index(told[1]), position))
            yield Statement("one option named", start, end, slot, sentence)
        elif len(text) >= MIN_NAMED_CHARS or text.isdecimal() or not text.isascii():
            slot = Slot(Reading.OPTION, (position,), "text")
            yield Statement("one option named", start, end, slot, sentence)


def _is_cut_off(whole: str, key: str) -> bool:
    return whole[-1].isalpha() and _CUT_OFF.search(key) is not None


def _states(sentence: str, words: str, hit: tuple[int, int, int]) -> bool:
    """Whether a sentence says a named option, where it is a number: numbers stand everywhere."""
    if not words[hit[1]].isdigit() or hit[2] >= len(words):
        return True
    if _STATES.search(words, max(0, hit[1] - 20), hit[1]):
        return True
    return re.search(rf"=\s?{re.escape(words[hit[1] : hit[2]])}(?!\w)", sentence) is not None


def _negated_name(words: str, hit: tuple[int, int, int]) -> bool:
    before, after = words[max(0, hit[1] - 30) : hit[1]], words[hit[2] : hit[2] + 16]
    return bool(
        re.search(
            r"\b(?:not|never|n't|(?:is|was|does|are)n['\s]t|neither|nor|except|without"
            r"|than|near|unlike|besides)\s(?:\w+\s)?\Z",
            before,
        )
        or re.match(
            r"\s(?:choice|guess|idea|argument|point|reason|bet|question|luck|data|morning|job)\b"
            r"|\s(?:is|was|does|did|can|are)(?:\snot|n't|nt)\b|\s(?:isn|doesn|can|won)\b",
            after,
        )
    )
