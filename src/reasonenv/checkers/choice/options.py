"""`Options`: the option texts of one problem, prepared once for all completions that answer it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache

from reasonenv.checkers.choice.fold import fold
from reasonenv.checkers.choice.labels import Labels, letters, make_labels
from reasonenv.checkers.choice.listing import Listing
from reasonenv.checkers.choice.reading import Reading, Slot

__all__ = ["MAX_SLOT_CHARS", "Options", "clean", "prepare", "text_key"]

MAX_SLOT_CHARS = 600
"""Of a slot: the longest option texts fit, a runaway line does not matter."""
MAX_NUMBER_CHARS = 60

_WRAPPER = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt)?|math(?:bf|rm|it|sf|tt)|bm|boldsymbol|boxed|fbox|mbox)\s*(?=\{)"
    r"|</?[a-z][a-z0-9]{0,7}>|\\[()\[\],;! ]|\\(?:left|right|displaystyle|quad|qquad)\b|[*`$]"
    r"|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])"
)
_BLOCK = re.compile(r"\A\s*(?:[#>|•]+|[-+*](?=\s))\s*")
_MARKUP = re.compile(r"[*`$\\<{}_]")
_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]{1,20})\}\{([^{}]{1,20})\}")


def clean(text: str) -> str:
    r"""Return a slot or an option text without Markdown, LaTeX wrapping and outer space.

    >>> clean(r"**\text{B}**  (so)")
    'B (so)'
    """
    text = _BLOCK.sub("", text[:MAX_SLOT_CHARS], count=1)
    if _MARKUP.search(text):
        text = _WRAPPER.sub(" ", _FRACTION.sub(r"\1/\2", text))
        text = " ".join(text.split())
        while len(text) > 1 and text[0] == "{" and text[-1] == "}":
            text = text[1:-1].strip()
        if text[:1] == "{" and "}" in text[:12]:  # {B} Canberra
            text = text[1:].replace("}", " ", 1)
    return " ".join(text.split()).strip(" \"'「」『』“”«»")


_ARTICLE = re.compile(
    r"(?:the|an?|der|die|das|le|la|les|l'|un|une|el|los|las|il|lo|os|as|het|de)[ ']+(?=\S)"
    r"|o +(?=[^\W\d_]{2})"
)
_SUBSCRIPT = re.compile(r"(?<=[A-Za-z)\]}])_\{?(\d{1,3})\}?")
_SQUEEZED = re.compile(r"[\s{}\\,]+")
_OUTER = " .。!！,，;；:：\"'「」"


def text_key(text: str) -> str:
    """Return what two spellings of one option text have in common.

    >>> text_key("  The **Pull** of the Moon. ")
    'pull of the moon'
    """
    if "_" in text:
        text = _SUBSCRIPT.sub(r"\1", text)
    key = clean(fold(text)).strip(_OUTER).casefold()
    article = _ARTICLE.match(key)
    key = _SQUEEZED.sub(" ", key[article.end() :] if article else key).strip()
    return key or text.strip().casefold()


_OUT_OF_RANGE = Slot(Reading.OUT_OF_RANGE)


class Options:
    """The option texts and labels of one problem.

    Attributes:
        texts: as given.
        labels: their labels.
        keys: what spellings of one text have in common, each without its article and final stop.
    """

    def __init__(self, texts: Sequence[str], labels: Labels) -> None:
        self.texts = tuple(texts)
        self.labels = labels
        self.keys = tuple(text_key(text) for text in self.texts)
        self._by_key: dict[str, tuple[int, ...]] = {}
        self._by_tight: dict[str, tuple[int, ...]] = {}
        for index, key in enumerate(self.keys):
            tight = key.replace(" ", "")
            self._by_key[key] = (*self._by_key.get(key, ()), index)
            self._by_tight[tight] = (*self._by_tight.get(tight, ()), index)
        self.longest = max(map(len, self.keys))
        self.lengths = tuple(sorted({len(key) for key in self.keys if key}, reverse=True))
        self.have_digits = any(char.isdigit() for text in self.texts for char in text)
        self.are_true_and_false = sorted(self.keys) == ["false", "true"]
        self._openings = tuple({key[:4] for key in self.keys if key})
        self._values: list[tuple[Fraction, str] | None] | None = None
        self._by_words: dict[str, tuple[int, ...]] = {}
        for index, key in enumerate(self.keys):
            word = in_words(key)
            self._by_words[word] = (*self._by_words.get(word, ()), index)

    @cached_property
    def listing(self) -> Listing:
        """Knows the options told again."""
        return Listing(self.texts, self.labels.names)

    @cached_property
    def _named(self) -> re.Pattern[str]:
        """Finds option texts in words, the longest first; most replies never need it."""
        words = sorted(filter(None, self._by_words), key=len, reverse=True)
        edged = "|".join(_edge(word) for word in words if not _spaceless(word)) or r"(?!)"
        inside = "|".join(re.escape(word) for word in words if _spaceless(word)) or r"(?!)"
        return re.compile(rf"(?<![^\W_])(?:{edged})(?![^\W_])|{inside}")

    def may_open(self, low: str, at: int) -> bool:
        """Whether an option's text may begin at a place of a text in lower case: a quick no."""
        if low.startswith(self._openings, at):
            return True
        article = _ARTICLE.match(low, at)
        return article is not None and low.startswith(self._openings, article.end())

    def at(self, position: int) -> Slot:
        """Return the option at a 1-based position."""
        if 1 <= position <= len(self.texts):
            return Slot(Reading.OPTION, (position - 1,), "position")
        return Slot(Reading.OUT_OF_RANGE, (), "position")

    def label(self, token: str) -> Slot:
        """Return the option with this label."""
        index = self.labels.index(token)
        if index < 0 and self.are_true_and_false:
            index = self.keys.index({"T": "true", "F": "false"}.get(token.upper(), "true"))
            return Slot(Reading.OPTION, (index,)) if token.upper() in "TF" else _OUT_OF_RANGE
        return Slot(Reading.OPTION, (index,)) if index >= 0 else _OUT_OF_RANGE

    def whole(self, text: str) -> Slot | None:
        """Return the option whose whole text this is; None where it is none."""
        key = text_key(text)
        found = self._by_key.get(key)
        if not found and not self.labels.run.fullmatch(text.strip()):  # "A B" is no "ab"
            found = self._by_tight.get(key.replace(" ", ""))
        if not found or not key:
            return None
        if len(found) > 1:
            return Slot(Reading.AMBIGUOUS, found, "text")
        return Slot(Reading.OPTION, found, "text")

    def prefix(self, text: str, end: re.Pattern[str]) -> Slot | None:
        """Return the longest option text that `text` begins with and `end` matches after."""
        key = text_key(text)
        for length in self.lengths:
            found = self._by_key.get(key[:length])
            if found and end.match(key, length):
                one = len(found) == 1
                return Slot(Reading.OPTION if one else Reading.AMBIGUOUS, found, "text")
        return None

    def named(self, text: str) -> list[tuple[int, int, int]]:
        """Return (position, start, end) of each option text in words, the longest first.

        `text` is `in_words(...)`: start and end are places in it.
        """
        found = []
        for hit in self._named.finditer(text):
            for index in self._by_words[hit[0]]:
                found.append((index, hit.start(), hit.end()))
        return found

    def number(self, text: str) -> Slot | None:
        """Return the only option of the same value, or the position where none holds a number.

        A unit on one side only is free; two units have to be the same.
        """
        value = _value(text)
        if value is None:
            return None
        if self._values is None:
            self._values = [_value(option) for option in self.texts]
        found = tuple(
            index
            for index, other in enumerate(self._values)
            if other is not None
            and other[0] == value[0]
            and (not value[1] or (not other[1] and value[1] != "%") or value[1] == other[1])
        )
        if found:
            one = len(found) == 1
            return Slot(Reading.OPTION if one else Reading.AMBIGUOUS, found, "number")
        if self.have_digits or value[1] or value[0].denominator != 1:
            return None
        return self.at(int(value[0]))


_NUMBER = re.compile(
    r"(?P<sign>[-+\u2212]?)\s?(?P<currency>[$€£¥]?)\s?"
    r"(?P<number>(?:\d{1,3}(?:,\d{3})+|\d{1,30})?(?:\.\d{1,30})?)(?:\s?/\s?(?P<below>\d{1,30}))?"
    r"\s?(?P<unit>[^\d\s.,/][^\d]{0,30})?\Z"
)


def _value(text: str) -> tuple[Fraction, str] | None:
    """Return the number that a text is, alone or behind "x =", and its unit."""
    if len(text) > MAX_NUMBER_CHARS:
        return None
    found = _NUMBER.match(clean(text).rpartition("=")[2].lstrip(" ([").rstrip(" .)]"))
    if not found or not found["number"].strip("."):
        return None
    value = Fraction(found["number"].replace(",", ""))
    if found["below"]:
        if not int(found["below"]):
            return None
        value /= int(found["below"])
    unit = "".join((found["currency"] + (found["unit"] or "")).split()).strip("{}\\,;")
    unit = unit.replace("^\\circ", "degrees").replace("°", "degrees").replace("^{\\circ", "degrees")
    return (value if found["sign"] in ("", "+") else -value), unit.casefold()


def _edge(word: str) -> str:
    """Return a pattern for a text in words; a number is none inside another number."""
    before = r"(?<![-+/^.])" if word[0].isdigit() else ""
    after = r"(?![%/^°]|[.,+-]\d)" if word[-1].isdigit() else ""
    return before + re.escape(word) + after


def _spaceless(word: str) -> bool:
    """Whether a text may stand in a sentence without spaces around it."""
    return any("\u2e80" <= char < "\uac00" or "\u0e00" <= char < "\u0e80" for char in word)


_NO_WORD = re.compile(r"[^\w.+%°/^-]+")


def in_words(text: str) -> str:
    """Return folded text with one space between words, so that option texts can be found in it."""
    return _NO_WORD.sub(" ", text).strip(" .")


@lru_cache(maxsize=4096)
def prepare(texts: tuple[str, ...], names: tuple[str, ...] | None = None) -> Options:
    """Return the options, the same object at every call with the same texts and labels."""
    return Options(texts, make_labels(names or letters(len(texts))))
