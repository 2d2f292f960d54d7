r"""Reading one answer slot: the option that these few words name (policy 7-19).

A slot is what stands in a box, a tag, or after "answer:". `read_slot` names one option, or says
why it does not: nothing readable, several, a label and a text that disagree, a label out of range,
or a negation.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from reasonenv.checkers.math.read import read_number

__all__ = ["MAX_SLOT_CHARS", "Options", "Reading", "Slot", "clean", "fold", "read_slot"]

MAX_SLOT_CHARS = 600
"""Of a slot: the longest option texts fit, a runaway line does not matter."""


class Reading(StrEnum):
    """What a slot holds."""

    LETTER = "letter"
    NOTHING = "nothing"
    SEVERAL = "several labels"
    CONTRADICTION = "label and text disagree"
    OUT_OF_RANGE = "label out of range"
    NEGATED = "negated"


@dataclass(frozen=True, slots=True)
class Slot:
    """What a slot holds, and the letter where it holds exactly one."""

    reading: Reading
    letter: str | None = None


_NOTHING = Slot(Reading.NOTHING)

_LOOKALIKES = dict(zip("АСЕНКМОРТХ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΧ", "ACEHKMOPTX" + "ABEZHIKMNOPTX", strict=True))
_ARABIC = dict(zip("أبجد", "ABCD", strict=True))


class _Fold(dict[int, str]):
    """A table for `str.translate` that folds width and look-alikes and keeps every length."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        folded = _LOOKALIKES.get(char) or unicodedata.normalize("NFKC", char)
        self[code] = folded if len(folded) == 1 else char
        return self[code]


_FOLD = _Fold({ord("‘"): "'", ord("’"): "'", ord("“"): '"', ord("”"): '"', ord("\u00a0"): " "})


def fold(text: str) -> str:
    """Return `text`, as long as before, with full-width, circled and look-alike letters plain."""
    return text if text.isascii() else text.translate(_FOLD)


_WRAPPER = re.compile(
    r"\\(?:text(?:bf|it|rm)?|math(?:bf|rm|it|sf)|boldsymbol|boxed|fbox)\s*(?=\{)|</?[a-z]{1,6}>"
    r"|\\[()\[\]]|\\(?:left|right|displaystyle|quad)\b|[*`$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
)
_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]{1,20})\}\{([^{}]{1,20})\}")


def clean(text: str) -> str:
    """Return a slot or an option text without Markdown, LaTeX wrapping and outer space."""
    text = _FRACTION.sub(r"\1/\2", fold(text)[:MAX_SLOT_CHARS])
    text = _WRAPPER.sub(" ", text)
    while len(text) > 1 and text[0] == "{" and text.rstrip()[-1:] == "}":
        text = text.strip()[1:-1]
    return " ".join(text.split()).strip(" \"'")


_ARTICLE = re.compile(r"(?:the|a|an)\s+(?=\S)", re.IGNORECASE)
_SQUEEZED = re.compile(r"[\s{}\\,]+")


def _text_key(text: str) -> str:
    return _SQUEEZED.sub(" ", _ARTICLE.sub("", clean(text).strip(" .。!,;:"), count=1)).casefold()


class Options:
    """The option texts of one problem, prepared once for many slots."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        self.letters = "".join(chr(ord("A") + index) for index in range(len(self.texts)))
        self.keys = [_text_key(text).strip() for text in self.texts]
        self.tight = [key.replace(" ", "") for key in self.keys]
        self.have_digits = any(char.isdigit() for text in self.texts for char in text)

    def letter_of_text(self, text: str) -> Slot | None:
        """Return the option whose whole text this is; None where it is none."""
        key = _text_key(text).strip()
        tight = key.replace(" ", "")
        if not tight:
            return None
        found = [i for i, other in enumerate(self.tight) if other == tight]
        if not found:
            return None
        if len(found) > 1:
            return Slot(Reading.SEVERAL)
        return Slot(Reading.LETTER, self.letters[found[0]])

    def letter_of_prefix(self, text: str) -> Slot | None:
        """Return the longest option text that `text` begins with, ended by punctuation."""
        key = _text_key(text).strip()
        found = [
            i
            for i, other in enumerate(self.keys)
            if other and key.startswith(other) and re.match(r"\s*[.;:(—–-]|\s*$", key[len(other) :])
        ]
        if not found:
            return None
        longest = max(len(self.keys[i]) for i in found)
        best = [i for i in found if len(self.keys[i]) == longest]
        return Slot(Reading.LETTER, self.letters[best[0]]) if len(best) == 1 else None

    def letter_of_number(self, text: str) -> Slot | None:
        """Return the only option of the same value, or the position where no option is a number."""
        number = read_number(text) if len(text) <= 60 else None
        if number is None:
            return None
        values = [read_number(option) for option in self.texts]
        found = [i for i, other in enumerate(values) if other is not None and other == number]
        if not found:
            tails = [read_number(o.rpartition("=")[2]) for o in self.texts]
            found = [i for i, other in enumerate(tails) if other is not None and other == number]
        if found:
            one = len(found) == 1
            return Slot(Reading.LETTER, self.letters[found[0]]) if one else Slot(Reading.SEVERAL)
        if self.have_digits or number.denominator != 1:
            return None
        return self.at(int(number))

    def at(self, position: int) -> Slot:
        """Return the option at a 1-based position."""
        if 1 <= position <= len(self.letters):
            return Slot(Reading.LETTER, self.letters[position - 1])
        return Slot(Reading.OUT_OF_RANGE)

    def label(self, letter: str) -> Slot:
        """Return the option with this label, in either case."""
        if letter.upper() in self.letters:
            return Slot(Reading.LETTER, letter.upper())
        return Slot(Reading.OUT_OF_RANGE)


_NEGATION = re.compile(
    r"(?:certainly|clearly|definitely|probably)?\s*(?:not|never|isn't|n't|cannot|can't|neither|"
    r"anything but|any but|except)\b",
    re.IGNORECASE,
)
_BUT = re.compile(r"(?<!any )(?<!thing )\bbut\s+(?:option\s+)?\(?([A-Z])\)?(?![A-Za-z0-9'])")
_LEAD = re.compile(
    r"(?:(?:final|correct|best)\s+)?(?:(?:option|choice|answer|letter|la|die)\b\s*(?:is\b)?\s*[:#-]?\s*)"
    r"|(?:probably|definitely|clearly|likely|most likely|simply|hence|so)\b,?\s+",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"[\[({<]{0,2}\s?([A-Za-z])\s?[\])}>]{0,2}(?![A-Za-z0-9'^_=\u00c0-\u052f]|[+*]\w|\s?[=≈<>])"
)
_ARABIC_LABEL = re.compile(r"([أبجد])\s?[).:]")
_JOINED = re.compile(
    r"\s*(?:,|/|&|\+|;|\band\b|\bor\b|\bund\b|\boder\b|\bet\b|\bou\b|和|或|还是|、)+\s*(?:and\s+|or\s+|选)?"
    r"(?:option\s+)?[\[(]?(?!(?:A|I)\s+[a-z]{3,})([A-Z])[\])]?(?![A-Za-z0-9'])",
)
_LATER_LABEL = re.compile(r"(?:\band\b|\bor\b|[,/&;])\s*(?:option\s+)?[\[(]([A-Z])[\])]")
_RATHER = re.compile(
    r"(?:most likely|probably|if I have to choose,?|I(?:'d| would) (?:say|pick))\s+\(?([A-Z])\b"
)
_LISTED = re.compile(r"^[ \t]*[\[(]?([A-Z])(?:[\])][.:]?|[.:])[ \t]", re.MULTILINE)
_MANY = re.compile(r"[A-Z](?:[\s,]*[A-Z])+\.?\Z")
_AFTER_ARTICLE = re.compile(
    r"\s+(?!because\b|since\b|is\b|as\b|for\b|and\b|or\b|but\b|not\b|rather\b|with\b|which\b|though\b"
    r"|fits\b|was\b|has\b|it\b|here\b|due\b)[a-z]"
)
_TEXT_THEN_LABEL = re.compile(r"(.{1,300}?)\s*[\[(]([A-Z])[\])]\.?\Z")
_ORDINALS = tuple(
    re.findall(r"\w+", "first second third fourth fifth sixth seventh eighth ninth tenth")
)
_POSITION = re.compile(
    rf"(?:it is |is )?(?:the\s+)?({'|'.join(_ORDINALS)}|last)\s+(?:option|choice|one|answer)\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?:option|choice|number|no\.?|#)\s*(\d{1,3})\b", re.IGNORECASE)


MAX_LEADS = 3
"""Of words such as "option" or "probably" that may stand before a label."""


def read_slot(text: str, options: Options, leads: int = MAX_LEADS) -> Slot:
    """Return which option the words of one slot name, or why they name none."""
    slot = clean(text)
    if not slot.strip(" .:,;-"):
        return _NOTHING
    whole = options.letter_of_text(slot)
    bare = _LABEL.fullmatch(slot.strip(" .:,;!"))
    if whole is not None and bare is None:
        return whole
    if len(set(_LISTED.findall(text[:MAX_SLOT_CHARS]))) > 1:  # `clean` joins the lines
        return Slot(Reading.SEVERAL)
    if _NEGATION.match(slot):
        but = _BUT.search(slot)
        return options.label(but[1]) if but else Slot(Reading.NEGATED)
    position = _POSITION.match(slot)
    if position:
        word = position[1].lower()
        at = len(options.texts) if word == "last" else _ORDINALS.index(word) + 1
        return options.at(at)
    numbered = _NUMBERED.match(slot)
    if numbered:
        clash = options.letter_of_text(numbered[1])
        if clash is not None and clash != options.at(int(numbered[1])):
            return Slot(Reading.CONTRADICTION)
        return options.at(int(numbered[1]))
    lead = _LEAD.match(slot)
    if lead and lead.end() < len(slot) and leads > 0:
        return read_slot(slot[lead.end() :], options, leads - 1)
    if _MANY.fullmatch(slot) and len({c for c in slot if c.isalpha()}) > 1:
        return Slot(Reading.SEVERAL)
    return (
        _labelled(slot, options)
        or _text_labelled(slot, options)
        or options.letter_of_prefix(slot)
        or options.letter_of_number(slot.strip(" .()[]"))
        or _NOTHING
    )


def _labelled(slot: str, options: Options) -> Slot | None:
    """Read `B`, `(b)`, `B) Canberra`, `B because ...`, `A and C`; None where no label leads."""
    arabic = _ARABIC_LABEL.match(slot)
    if arabic:
        return options.label(_ARABIC[arabic[1]])
    found = _LABEL.match(slot)
    if found is None:
        return None
    letter, rest = found[1], slot[found.end() :]
    bracketed = found[0] != letter
    alone = not rest.strip(" .,:;!)-")
    if letter.islower() and not (alone or bracketed or rest[:1] in ".):"):
        return None
    if not alone and not bracketed and letter.upper() in "AI" and _AFTER_ARTICLE.match(rest):
        prefix = options.letter_of_prefix(slot)
        if prefix is not None:
            return prefix
        if options.letter_of_text(rest) is None:
            return None
    answer = options.label(letter)
    joined = _JOINED.match(rest) or _LATER_LABEL.search(rest)
    if joined and joined[1] != letter.upper():
        rather = _RATHER.search(rest)
        return options.label(rather[1]) if rather else Slot(Reading.SEVERAL)
    named = options.letter_of_text(rest.lstrip(" ).:-—–(,").rstrip(" )"))
    if (
        named is not None
        and answer.letter is not None
        and named.letter not in (None, answer.letter)
    ):
        return Slot(Reading.CONTRADICTION)
    return answer


def _text_labelled(slot: str, options: Options) -> Slot | None:
    """Read `William Shakespeare (C)`."""
    found = _TEXT_THEN_LABEL.match(slot)
    if found is None:
        return None
    named, labelled = options.letter_of_text(found[1]), options.label(found[2])
    if named is None or named.letter is None:
        return None
    return labelled if named == labelled else Slot(Reading.CONTRADICTION)
