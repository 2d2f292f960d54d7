r"""Characters that look alike: width, circles, mathematical letters, quotes, look-alike alphabets.

Everything here keeps the length of a text, so that a position in it stays one in the completion.
"""

from __future__ import annotations

import unicodedata

__all__ = ["ARABIC_LABELS", "LOOKALIKES", "fold", "latin"]

LOOKALIKES = dict(
    zip(
        "АСЕНІЈКМОРТХЅУ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΧΥ" + "асеіјорхѕу",
        "ACEHIJKMOPTXSY" + "ABEZHIKMNOPTXY" + "aceijopxsy",
        strict=True,
    )
)
"""Cyrillic and Greek letters that a reader sees as Latin ones. Cyrillic Ve is no B (policy 19)."""

ARABIC_LABELS = dict(zip("أابجد", "AABCD", strict=True))
"""The Arabic labels that count (policy 20)."""

_PLAIN = {
    **dict.fromkeys(map(ord, "‘’‚‛′`´"), "'"),
    **dict.fromkeys(map(ord, "“”„‟″«»"), '"'),
    **dict.fromkeys(map(ord, "\u00a0\u2007\u202f\u200b\u200c\u200d\u200e\u200f\ufeff\ufe0f"), " "),
    **dict.fromkeys(range(0x202A, 0x202F), " "),
    **dict.fromkeys(range(0x2066, 0x206A), " "),
    **dict.fromkeys(map(ord, "‐‑‒"), "-"),
    ord("İ"): "I",  # its lower case is two characters
    ord("`"): "`",
}
_BLOCKS = ((0x249C, "a"), (0x1F110, "A"), (0x1F150, "A"), (0x1F170, "A"))
"""Bracketed, white-on-black and squared letters, each block a whole alphabet."""


class _Fold(dict[int, str]):
    """A table for `str.translate`, filled as characters are met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        folded = unicodedata.normalize("NFKC", char)
        if len(folded) != 1 or len(folded.lower()) != 1:
            folded = char
        for start, first in _BLOCKS:
            if start <= code < start + 26:
                folded = chr(ord(first) + code - start)
        self[code] = folded
        return folded


_FOLD = _Fold(_PLAIN)


def fold(text: str) -> str:
    """Return `text`, as long as before, with what only looks different made plain.

    >>> fold("Ａｎｓｗｅｒ：Ⓑ")
    'Answer:B'
    """
    return text if text.isascii() else text.translate(_FOLD)


def latin(char: str) -> str:
    """Return the capital Latin letter that a one-character label stands for."""
    return (LOOKALIKES.get(char) or ARABIC_LABELS.get(char) or char).upper()
