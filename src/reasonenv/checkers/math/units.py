r"""What stands around a number and is no part of it: units, counted nouns, number words (P5, P2).

`split_unit("12 apples")` is `("12", "apple")`. A unit is taken off only after a number, never
where it could be a variable: `5x`, `2xy` and `2\pi` have none.
"""

from __future__ import annotations

import re

__all__ = ["MAGNITUDES", "number_of_words", "same_unit", "split_unit"]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


MAGNITUDES = {
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}

_ALIASES = {
    alias: name
    for name, aliases in {
        "mm": "millimeter millimetre",
        "cm": "centimeter centimetre",
        "m": "meter metre",
        "km": "kilometer kilometre",
        "in": "inch inches",
        "ft": "foot feet",
        "yd": "yard",
        "mi": "mile",
        "mg": "milligram",
        "g": "gram",
        "kg": "kilogram kilo",
        "lb": "pound lbs",
        "oz": "ounce",
        "ml": "milliliter millilitre mL",
        "l": "liter litre L",
        "s": "second sec secs",
        "min": "minute mins",
        "h": "hour hr hrs",
        "day": "days",
        "week": "wk wks",
        "month": "mo",
        "year": "yr yrs",
        "mph": "",
        "kph": "kmh",
        "dollar": "usd bucks",
        "cent": "cents",
        "euro": "eur",
        "degree": "deg °",
        "unit": "",
        "radian": "rad",
        "newton": "N",
        "joule": "J",
        "watt": "W",
        "volt": "V",
        "kelvin": "K",
        "kcal": "",
        "sq": "square squared",
        "cu": "cubic cubed",
    }.items()
    for alias in (name, *aliases.split())
}
_KNOWN = frozenset(_ALIASES.values()) | {"per"}
_SINGLE_LETTERS = frozenset("mghslLKNJWVCF")
"""Letters that are read as units, and only inside `\\text{}`."""

_NOT_UNITS = _words(
    "a an and or to not no nor than less more fewer over under above below plus minus times with "
    "without divided by mod modulo remainder of about approximately around nearly almost at least "
    "most per between from dozen half halves quarter quarters third thirds fourth fourths fifth "
    "fifths sixth sixths seventh sevenths eighth eighths ninth ninths tenth tenths hundredth "
    "hundredths thousandth thousandths millionth millionths percent percentage pi sqrt root sin "
    "cos tan cot sec csc log ln exp lim inf infinity nan am pm base factorial if is are was but "
    "maybe perhaps possibly either both neither all any none undefined ago true false"
)
_PER = frozenset({"per"})
_START = re.compile(r"\\text\{|°|(?<![\\A-Za-z])[A-Za-z]{2,}|(?<=[\d}]) ?[A-Za-z]{2,}")
_MARK = re.compile(r"\\text\{([^{}]*)\}")
_POWER = re.compile(r"\^\{(-?\d)\}")
_POWER_WORDS = {"1": " ", "2": " square ", "3": " cubic "}
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)
_FRACTION_OF_UNITS = re.compile(r"\\frac\{(\\text\{[^{}]*\})\}\{(\\text\{[^{}]*\})\}\Z")


def split_unit(normal: str) -> tuple[str, str | None]:
    """Return (what stands before the unit, the unit in one spelling or None).

    Where the tail is no unit, the whole text comes back, and no number will be read from it.
    """
    fraction = _FRACTION_OF_UNITS.search(normal)
    if fraction:
        normal = f"{normal[: fraction.start()]}{fraction[1]}/{fraction[2]}"
    start = _START.search(normal)
    if start is None:
        return normal, None
    number, tail = normal[: start.start()].rstrip(), normal[start.start() :]
    marked = "\\text{" in tail or tail.startswith("°")
    glued = normal[start.start() - 1 : start.start()] != " " and not tail.startswith((" ", "°"))
    tail = _POWER.sub(_power_word, _MARK.sub(r" \1 ", tail).replace("°", " degree "))
    words = re.split(r"[\s/.*-]+", tail.strip(" ."))
    if not number or not words or not all(_is_unit_word(word, marked) for word in words if word):
        return normal, None
    if glued and not marked and _spelling(words[0]) not in _KNOWN and not _is_magnitude(words[0]):
        return normal, None
    return number, " ".join(_spelling(word) for word in words if word) or None


def same_unit(one: str | None, other: str | None) -> bool:
    """Whether two units agree: one that only one side states is free (P5).

    >>> same_unit("cm", "km"), same_unit("cm", None), same_unit("paper clip", "clip")
    (False, True, True)
    """
    ours, theirs = set((one or "").split()), set((other or "").split())
    known, other_known = ours & _KNOWN, theirs & _KNOWN
    if known and other_known and known != other_known:
        return False
    nouns, other_nouns = ours - _KNOWN, theirs - _KNOWN
    return not nouns or not other_nouns or bool(nouns & other_nouns)


def _power_word(power: re.Match[str]) -> str:
    return _POWER_WORDS.get(power[1], " per ")


def _is_magnitude(word: str) -> bool:
    return word.lower() in MAGNITUDES


def _is_unit_word(word: str, marked: bool) -> bool:
    lowered = word.lower()
    if lowered in _PER:
        return True
    if lowered in _NOT_UNITS or not word.isascii() or not word.isalpha():
        return False
    if len(word) == 1:
        return marked and word in _SINGLE_LETTERS
    if _spelling(word) in _KNOWN:
        return True
    return len(word) >= 3 and _VOWEL.search(word) is not None


def _spelling(word: str) -> str:
    lowered = word.lower()
    for form in (word, lowered, lowered.removesuffix("s")):
        if form in _ALIASES:
            return _ALIASES[form]
    return lowered.removesuffix("s")


_ONES = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_TENS = _words("twenty thirty forty fifty sixty seventy eighty ninety")
_SMALL = {
    **{word: value for value, word in enumerate(_ONES)},
    **{word: 10 * value for value, word in enumerate(_TENS, 2)},
}
_MAX_NUMBER_WORDS = 20


def number_of_words(text: str) -> int | None:
    """Return the integer that `text` spells in English; None where it spells none.

    >>> number_of_words("two hundred and forty-two"), number_of_words("two three")
    (242, None)
    """
    words = [word for word in re.split(r"[\s-]+", text.lower().strip()) if word]
    if not words or len(words) > _MAX_NUMBER_WORDS:
        return None
    total, group, last = 0, 0, 10**15
    for index, word in enumerate(words):
        if word == "and" and 0 < index < len(words) - 1 and words[index - 1] in MAGNITUDES:
            continue
        if word in _SMALL:
            value = _SMALL[word]
            # "twenty one" and "hundred one" build up, "one twenty" and "two three" do not
            room = 100 if group % 100 == 0 else 10 if group % 10 == 0 and value else 0
            if value >= room or (group % 100 and group % 100 < 20) or (value == 0 and index):
                return None
            group += value
        elif word == "hundred" and 0 < group < 10:
            group *= 100
        elif word in MAGNITUDES and word != "hundred" and 0 < group < 1000:
            if MAGNITUDES[word] >= last:
                return None
            last = MAGNITUDES[word]
            total, group = total + group * last, 0
        else:
            return None
    return total + group
