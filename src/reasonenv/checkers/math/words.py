"""Number words in English: "twelve", "two hundred and forty-two" (P2)."""

from __future__ import annotations

import re

__all__ = ["MAGNITUDES", "fraction_of_words", "number_of_words", "words_of"]

MAGNITUDES = {
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a table written as one string."""
    return tuple(text.split())


_ONES = words_of(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_TENS = words_of("twenty thirty forty fifty sixty seventy eighty ninety")
_SMALL = {
    **{word: value for value, word in enumerate(_ONES)},
    **{word: 10 * value for value, word in enumerate(_TENS, 2)},
}
_MAX_NUMBER_WORDS = 20


_PARTS = {
    **{"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7},
    **{"eighth": 8, "ninth": 9, "tenth": 10, "hundredth": 100, "thousandth": 1000},
}


def fraction_of_words(text: str) -> tuple[int, int] | None:
    """Return (top, bottom) of "two-thirds", "one half", "three quarters"; None for anything else.

    >>> fraction_of_words("two-thirds"), fraction_of_words("third")
    ((2, 3), None)
    """
    count, _, part = text.lower().replace("-", " ").strip().rpartition(" ")
    bottom = _PARTS.get(part) or _PARTS.get(part.removesuffix("s")) or 2 * (part == "halves")
    top = 1 if count in ("a", "an") else number_of_words(count)
    return (top, bottom) if bottom and top else None


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
