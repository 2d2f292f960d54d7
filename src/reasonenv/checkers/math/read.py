r"""From the text of an answer to its tree: mathematics first, then words, else unreadable.

A text that no rule reads becomes `Unreadable` with its spelling: it equals only the same spelling.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from reasonenv.checkers.math.chars import fold
from reasonenv.checkers.math.limits import CACHED_TEXT_CHARS
from reasonenv.checkers.math.parse import parse
from reasonenv.checkers.math.rational import Rational, rational_or_none
from reasonenv.checkers.math.tokens import Token, UnreadableError, spelling, tokenize
from reasonenv.checkers.math.tree import (
    REALS,
    Div,
    Neg,
    Node,
    Number,
    Quantity,
    Set,
    Text,
    Unreadable,
)
from reasonenv.checkers.math.words import fraction_of_words, number_of_words

__all__ = ["Reading", "read", "read_number"]

_LEAD = re.compile(
    r"\s*\\?(?:text\s*\{\s*)?(?:the\s+)?(?:final\s+)?(?:correct\s+)?(?:answer|option|choice)"
    r"(?:\s+is)?\b\s*:?\s*(?=\S)(?!\s*(?:a|an)\b)",
    re.IGNORECASE,
)
_PICTURES = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff]+(?=\\s|$)|^[✅❌➡]+")
_HTML = re.compile(r"</?(?:b|i|u|em|strong|code|span|p|sub|mark)>", re.IGNORECASE)
_MARKS = "*`_ \t\n\r"
_ALL_REALS = frozenset(
    (
        "all real numbers", "all reals", "all real number", "real numbers", "any real number",
        "every real number", "the real numbers", "set of all real numbers", "all real values",
    )
)  # fmt: skip
_WORD_KINDS = frozenset(("word", "sym", "num", "join", "fn"))
_WORD_MARKS = frozenset((",", "'", "-", ":", "/", "(", ")", "&", "!", ";"))
_CHOICE = re.compile(
    r"(?:\(([A-Z])\)|([A-Z]))[.:)]?\Z|\(([A-Z])\)[.:]?\s*\S|([A-Z])(?:[:)]|\.\s)\s*\S", re.DOTALL
)
_OTHER_CHOICE = re.compile(r"\([A-Z]\)|(?:\b(?:or|and)|[,/&])\s*\(?[A-Z]\b|^(?:or|and)\b")
_MINUS = re.compile(r"^(?:-|(?:minus|negative) )", re.IGNORECASE)
_CURRENCIES = frozenset(("usd", "us", "eur", "gbp", "rs", "inr", "cad", "aud"))
_MONEY = {
    "$": "dollar", "€": "euro", "£": "sterling", "¥": "yen", "₹": "rupee", "¢": "cent",
    "dollar": "dollar", "buck": "dollar", "usd": "dollar", "euro": "euro", "eur": "euro",
    "pound": "sterling", "gbp": "sterling", "yen": "yen", "jpy": "yen", "rupee": "rupee",
    "inr": "rupee", "cent": "cent",
}  # fmt: skip
_CURRENCY = re.compile(
    r"(?P<sign>\\\$|^\$(?=\d[^$]*\Z)|[€£¥₹¢])|\b(?P<word>[A-Za-z]{3,6}?)s?\b", re.IGNORECASE
)
_TRAILING = re.compile(r"(?:\\\\|\\(?=\s|\Z)|\s)+\Z")
_BASE_BRACKETS = re.compile(r"\s*[({]\s*(\d+)\s*[)}]\s*(_\s*\{?\s*\w+\s*\}?)\s*\Z")
_VOWEL = re.compile("[aeiou]")
MAX_AMOUNT_CHARS = 60
"""Of an answer that may name a currency."""
MIN_TEXT_LETTERS = 2
"""Of the longest word of an answer in words."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One side as it was read.

    Args:
        spelling: its tokens in one spelling; empty where nothing was written.
        tree: what it denotes.
        currency: of an amount that names one, by sign or by word.
        choice: the capital letter where it names an option, alone or with the option's text.
    """

    spelling: str
    tree: Node
    choice: str | None = None
    currency: str | None = None

    @property
    def is_letter(self) -> bool:
        """Whether the option's letter stands alone, with or without brackets."""
        return self.choice is not None and len(self.spelling) <= 4


def read(text: str) -> Reading:
    r"""Return the reading of an answer; never raises, linear in its length.

    >>> read("$\\dfrac12$.").tree
    Div(top=Number(value=1), bottom=Number(value=2))
    """
    return _remembered(text) if len(text) <= CACHED_TEXT_CHARS else _read(text)


def read_number(text: str) -> Rational | None:
    """Return the rational number that a text denotes, its unit aside; None where it is none.

    >>> read_number("12 apples"), read_number("x")
    (12, None)
    """
    tree = read(text).tree
    return rational_or_none(tree.value if isinstance(tree, Quantity) else tree)


@lru_cache(maxsize=4096)
def _remembered(text: str) -> Reading:
    return _read(text)


def _read(text: str) -> Reading:
    if text.isdecimal() and text.isascii() and len(text) <= CACHED_TEXT_CHARS:
        number = int(text)
        return Reading(str(number), Number(number))
    text = fold(text)
    currency = _currency(text)
    text = _stripped(text)
    based = _BASE_BRACKETS.match(text)
    if based:
        text = based[1] + based[2]
    if not text:
        return Reading("", Unreadable(""))
    try:
        tokens = tokenize(text)
    except UnreadableError:
        return Reading(text, Unreadable(text))
    while tokens and tokens[-1].kind == "bad" and tokens[-1].text == ".":
        tokens.pop()
    written = spelling(tokens)
    if all(token.kind == "op" and token.text in "{}" for token in tokens):
        return Reading("", Unreadable(""))
    tree = _tree(tokens, written)
    return Reading(written, tree, _choice(text, tokens), currency)


def _currency(text: str) -> str | None:
    """Return the currency that a short amount names; None where it names none or several."""
    if len(text) > MAX_AMOUNT_CHARS:
        return None
    found = {
        _MONEY.get((match["sign"] or match["word"]).lower().replace("\\$", "$"))
        for match in _CURRENCY.finditer(text)
    } - {None}
    return found.pop() if len(found) == 1 else None


def _stripped(text: str) -> str:
    """Drop what stands around an answer: Markdown, pictures, a lead such as "the answer is"."""
    if "</" in text:
        text = _HTML.sub("", text)
    if not text.isascii():
        text = _PICTURES.sub("", text)
    lead = _LEAD.match(text)
    if lead:
        text = text[lead.end() :]
        if lead[0].count("{") > lead[0].count("}"):
            text = text.replace("}", "", 1)
    text = text.strip()
    text = text[: len(text) - len(text[-20:]) + len(_TRAILING.sub("", text[-20:]))]
    for mark in ("**", "*", "`", "__"):
        if text.startswith(mark) and text.rstrip(".").endswith(mark) and len(text) > 2 * len(mark):
            text = text.rstrip(".").strip(_MARKS)
    if text.endswith(".") and not text.endswith(".."):
        text = text[:-1].rstrip(_MARKS)
    return text


def _tree(tokens: list[Token], written: str) -> Node:
    if tokens[0].text.lower() in _CURRENCIES and len(tokens) > 1:
        tokens = tokens[2 if tokens[1].text == "." else 1 :]
    first = tokens[0]
    wordy = first.kind == "word" or (first.text == "-" and tokens[-1].kind == "word")
    if len(tokens) == 2 and tokens[1].text == "\\infty" and first.text in ("negative", "minus"):
        return Neg(read("infinity").tree)
    if wordy and all(t.kind in _WORD_KINDS or t.text in _WORD_MARKS for t in tokens):
        words = _words_of(tokens)
        bare = _MINUS.sub("", words)
        spelled = _spelled(bare)
        if spelled is not None:
            return spelled if bare == words else Neg(spelled)
        if bare != words and len(tokens) == 2 and tokens[1].kind == "num" and tokens[1].space:
            return Neg(read(tokens[1].text).tree)
        if words.lower() in _ALL_REALS:
            return REALS
        if words.lower() in ("empty set", "the empty set"):
            return Set(())
        is_product = len(words) <= 3 and words.islower() and not _VOWEL.search(words)
        if not is_product and (len(tokens) == 1 or len(words.split()) == len(tokens)):
            return Text(words)
    try:
        return parse(list(tokens))
    except (UnreadableError, RecursionError):  # a caller's stack may leave less room than usual
        pass
    if _is_words(tokens):
        return Text(_words_of(tokens))
    return Unreadable(written)


def _spelled(words: str) -> Node | None:
    """Return the number or fraction that words spell."""
    number = number_of_words(words)
    if number is not None:
        return Number(number)
    fraction = fraction_of_words(words)
    return Div(Number(fraction[0]), Number(fraction[1])) if fraction else None


def _is_words(tokens: list[Token]) -> bool:
    longest = 0
    for token in tokens:
        if token.kind == "op" or token.kind == "bad":
            if token.text not in _WORD_MARKS and token.text != ".":
                return False
        elif token.kind not in _WORD_KINDS:
            return False
        elif token.kind in ("word", "join", "fn"):
            longest = max(longest, len(token.text))
        elif token.kind == "sym" and token.marked:  # 9 a.m.
            longest = max(longest, MIN_TEXT_LETTERS)
    return longest >= MIN_TEXT_LETTERS


def _words_of(tokens: list[Token]) -> str:
    pieces: list[str] = []
    for token in tokens:
        if pieces and (token.space or (token.marked and token.kind in ("word", "num"))):
            pieces.append(" ")
        pieces.append(token.text)
    return "".join(pieces).strip(" .,;:!")


_FONTS = re.compile(r"\\(?:text(?:bf|it|rm)?|math(?:rm|bf)|boldsymbol)\s*\{([^{}]*)\}")


def _choice(text: str, tokens: list[Token]) -> str | None:
    """Return the option that the answer names, None where it names none or several."""
    if len(tokens) > 1 and tokens[0].text != "(" and tokens[0].kind != "sym":
        return None
    plain = _FONTS.sub(r"\1 ", text).replace("$", "").replace("\\", "").strip(" .*")
    found = _CHOICE.match(plain)
    if not found:
        return None
    letter = found[1] or found[2] or found[3] or found[4]
    return None if _OTHER_CHOICE.search(plain, found.end(found.lastindex or 0) + 1) else letter
