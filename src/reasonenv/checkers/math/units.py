r"""Units and counted nouns after a value (P5): one spelling for each, and whether two agree.

A unit is `name` or `name^power`, several in alphabetical order: `m/s` is "m s^-1". A word that is
no unit of the table is a counted noun if it looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reasonenv.checkers.math.vocabulary import PERCENT_WORDS
from reasonenv.checkers.math.words import MAGNITUDES, words_of

__all__ = ["MAGNITUDES", "is_unit_word", "same_unit", "unit_of"]

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
        "nm": "nanometer nanometre",
        "um": "micrometer micrometre",
        "dm": "decimeter decimetre",
        "kw": "kilowatt kW",
        "ms": "millisecond",
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
        "dollar": "usd bucks",
        "cent": "¢",
        "euro": "eur",
        "sterling": "gbp quid",
        "yen": "jpy",
        "rupee": "inr",
        "degree": "deg °",
        "radian": "rad",
        "celsius": "",
        "fahrenheit": "",
        "newton": "N",
        "joule": "J",
        "watt": "W",
        "volt": "V",
        "kelvin": "K",
        "ampere": "amp A",
        "hertz": "Hz",
        "pascal": "Pa",
        "mole": "mol",
        "ohm": "",
        "tonne": "ton",
        "mb": "MB",
        "gb": "GB",
        "kb": "KB",
        "kcal": "",
    }.items()
    for alias in (name, *aliases.split())
}
_COMPOUND = {"mph": ("mi", "per", "h"), "kph": ("km", "per", "h"), "kmh": ("km", "per", "h")}
_POWERS = {"sq": 2, "square": 2, "squared": 2, "cu": 3, "cubic": 3, "cubed": 3}
_KNOWN = frozenset(_ALIASES.values())
_SINGLE_LETTERS = frozenset("mghslLKNJWVCFA")
"""Letters that are read as units, and only in a text command."""
_NOT_UNITS = frozenset(
    words_of(
        "a an and or to not no nor than less more fewer over under above below plus minus "
        "times with without divided by mod modulo remainder of about approximately around "
        "nearly almost at least most per between from dozen half halves quarter quarters third "
        "thirds fourth fourths fifth fifths sixth sixths seventh sevenths eighth eighths ninth "
        "ninths tenth tenths hundredth hundredths thousandth thousandths millionth millionths "
        "percent percentage pi sqrt root sin cos tan cot sec csc log ln exp lim inf infinity "
        "nan am pm base factorial if is are was but maybe perhaps possibly either both neither "
        "all any none undefined ago true false "
        "tens hundreds thousands millions billions dozens wrong incorrect invalid right correct "
        "negative positive squared cubed never except "
    )
)
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)


def is_unit_word(word: str, marked: bool = False) -> bool:
    """Whether a word behind a number may be a unit or a noun; `marked`: in a text command."""
    lowered = word.lower()
    if lowered in ("per", *PERCENT_WORDS) or lowered in MAGNITUDES:
        return True
    if lowered in _NOT_UNITS or not word.isascii() or not word.isalpha():
        return False
    if len(word) == 1:
        return marked and word in _SINGLE_LETTERS
    if _spelling(word) in _KNOWN or lowered in _POWERS or lowered in _COMPOUND:
        return True
    return len(word) >= 3 and _VOWEL.search(word) is not None


def unit_of(words: Sequence[str]) -> str | None:
    """Return the unit that these words spell, None where they spell none.

    >>> unit_of(["miles", "per", "hour"]), unit_of(["square", "feet"]), unit_of(["or"])
    ('h^-1 mi', 'ft^2', None)
    """
    found: list[tuple[str, int]] = []
    pending, side = 1, 1
    spelled = [part for word in words for part in _COMPOUND.get(word.lower(), (word,))]
    for word in spelled:
        lowered = word.lower()
        if lowered == "per":
            side = -1
        elif lowered in ("squared", "cubed") and found:
            name, power = found.pop()
            found.append((name, power * _POWERS[lowered]))
        elif lowered in _POWERS:
            pending = _POWERS[lowered]
        elif word.startswith("^"):
            if not found:
                return None
            name, power = found.pop()
            found.append((name, power * int(word[1:])))
        elif is_unit_word(word, marked=True):
            found.append((_spelling(word), side * pending))
            pending = 1
        elif len(word) == 1 and word in _ALIASES:
            found.append((_ALIASES[word], side * pending))
        else:
            return None
    if not found:
        return None
    return " ".join(sorted(name if power == 1 else f"{name}^{power}" for name, power in found))


def same_unit(one: str | None, other: str | None) -> bool:
    """Whether two units agree: one that only one side states is free (P5).

    >>> same_unit("cm", "km"), same_unit("cm", None), same_unit("clip paper", "clip")
    (False, True, True)
    """
    ours, theirs = set((one or "").split()), set((other or "").split())
    known = {unit for unit in ours if unit.partition("^")[0] in _KNOWN}
    other_known = {unit for unit in theirs if unit.partition("^")[0] in _KNOWN}
    if known and other_known and known != other_known:
        return False
    nouns, other_nouns = ours - known, theirs - other_known
    return not nouns or not other_nouns or bool(nouns & other_nouns)


def _spelling(word: str) -> str:
    lowered = word.lower()
    for form in (word, lowered, lowered.removesuffix("s")):
        if form in _ALIASES:
            return _ALIASES[form]
    return lowered.removesuffix("s")
