r"""`Labels`: how the options of one problem are called, and every pattern that depends on it.

Letters are the rule; numbers and roman numerals come from a problem's `metadata["labels"]`. The
patterns are compiled once for each set of labels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from reasonenv.checkers.choice.fold import ARABIC_LABELS, LOOKALIKES, latin
from reasonenv.checkers.choice.words import (
    CONNECTOR,
    CORRECTION,
    FILLER,
    JOINER,
    RATHER,
    TERMINATOR,
)

__all__ = ["MAX_OPTIONS", "Labels", "letters", "make_labels"]

MAX_OPTIONS = 26
"""One letter each."""
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LETTERS = "A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f\u0600-\u06ff\u0900-\u0dff"
_BEFORE = rf"(?<![{_LETTERS}0-9'^\\])(?<![{_LETTERS}0-9]_)(?<![{_LETTERS}0-9][-.])"
_AFTER = (
    rf"(?![{_LETTERS}0-9^]|'[{_LETTERS}]|_[{_LETTERS}0-9]|-[{_LETTERS}0-9]|[+/]\d|\.\d|°|\u0301"
    r"|\s?[=≈<>≥≤](?!/)|[\\(][\\\w])"
)


def letters(count: int) -> tuple[str, ...]:
    """Return the labels A, B, C ... of so many options."""
    return tuple(ALPHABET[:count])


class Labels:
    """The labels of one problem and the patterns to find them.

    Args:
        names: one label for each option, in order.

    Attributes:
        standing: a label in running text (capital where labels are letters).
        lead: a slot that begins with a label, of either case.
        listed: a line that tells an option again.
        joined: a second label joined to the first one.
        run: labels in a row with nothing between ("ABC", "A B C").
        subject: a label that something may be said of.
        corrected: words that take back, and the label put in its place.
        connector: words or marks that may lead to the last words of a reply.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.are_letters = tuple(name.upper() for name in names) == letters(len(names))
        self._index = {name.upper(): index for index, name in enumerate(names)}
        if self.are_letters:
            similar = "".join(LOOKALIKES)
            capital = "".join(c for c in similar if c.isupper())
            upper, either = f"[A-Z{capital}]", f"[A-Za-z{similar}]"
        else:
            upper = either = _other_labels(self.names)
        self.upper, self.either = upper, either
        self.standing = re.compile(rf"{_BEFORE}({upper}){_AFTER}")
        self.lead = re.compile(
            rf"(?P<open>[\[({{<]{{0,2}}\s?)(?P<label>{either})(?P<close>\s?[\])}}>]{{0,2}}){_AFTER}"
        )
        self.arabic = re.compile(rf"[\[(]?([{''.join(ARABIC_LABELS)}])\s?(?:[).:\]-]|\Z)")
        self.listed = re.compile(
            rf"^[ \t*>#-]{{0,8}}(?:[Oo]ption |[Cc]hoice )?[\[(]?({upper})(?:[\])][.:]?"
            rf"|[.:])[*_]{{0,3}}[ \t]",
            re.MULTILINE,
        )
        self.list_item = re.compile(
            rf"[\s*>#-]{{0,8}}(?:[Oo]ption |[Cc]hoice )?[\[(]?({either})[\]).:][*_]{{0,3}}\s?\S"
        )
        self.bare_line = re.compile(
            rf"\s{{0,4}}[ \t*_>#-]{{0,8}}[\[(]?({either})[\])]?[*_.]{{0,4}}[ \t]*(?:\n|\Z)"
        )
        self.joined = re.compile(
            rf"\s*{JOINER}\s*(?:also|maybe|possibly|perhaps|even|probably)\s+({upper}){_AFTER}"
            rf"|\s*{JOINER}\s*(?:\"|')?{FILLER}[\[(]?({upper})[\])]?"
            rf"(?={_AFTER}\s*(?:\Z|[.,;:!?)\]}}*_/&\"'(-]|\n|{JOINER}|(?:are|both|sind|sont"
            rf"|son)\b))"
        )
        self.later = re.compile(rf"{JOINER}\s*{FILLER}[\[(]({upper})[\])]")
        self.run = re.compile(rf"({upper}(?:[\s,;/&+]*{upper})+)[\s.]*\Z")
        self.rather = re.compile(
            rf"{RATHER}[\s,:*(\"']*(?:option\s)?({upper}){_AFTER}", re.IGNORECASE
        )
        self.fast = re.compile(
            r"[\s*_`$\"'(\[{}:]{0,20}(?:\\(?:text|mathrm|mathbf|textbf|boxed|mathsf)\{){0,2}[(\[]?"
            rf"({upper})[)\]}}*_`$\"'.,!]{{0,8}}[ \t]*(?:\n|\Z)"
        )
        self.subject = re.compile(rf"{_BEFORE}({upper})[\])]?(?![{_LETTERS}0-9'])")
        self.corrected = re.compile(
            rf"{CORRECTION}[ \t,:;.*—–-]{{0,8}}(?:(?:it is|it's|it should be|should be"
            rf"|the answer is|option|choice|that's|to|at|is)\s){{0,2}}[ \t*_\[(\"']{{0,4}}"
            rf"({upper}){_AFTER}[\])*_\"']{{0,4}}(?=\s*{TERMINATOR})",
        )
        self.connector = CONNECTOR
        self.before = re.compile(rf"{_BEFORE}{upper}[\])]?[\s.…-]*\Z")
        self.told = re.compile(
            rf"(?:(?<=\s)|\A)[*_(\[]{{0,3}}({upper})[*_]{{0,3}}(?:[\])][.:]?|[.:]"
            rf"|\s[-–—])[*_]{{0,3}}(?:\s|\Z)"
        )
        self.not_other = re.compile(
            rf"{either}[\])]?[\s,;(–—-]{{1,4}}(?:and\s)?(?:not|rather than|instead of|nicht|pas"
            rf"|non)\b"
        )
        self.leading = re.compile(rf"[\[(]?({upper})[\])]?[.,:]?")

    def index(self, token: str) -> int:
        """Return the option that a label stands for, -1 where no option has it."""
        if self.are_letters:
            return self._index.get(latin(token) if len(token) == 1 else token, -1)
        return self._index.get(token.upper(), -1)

    def of(self, position: int) -> str:
        """Return the label of an option."""
        return self.names[position]


def _other_labels(names: Sequence[str]) -> str:
    """Return a pattern for labels that are no letters, in or out of range."""
    if all(re.fullmatch(r"\d{1,3}", name) for name in names):
        return r"\d{1,3}"
    if all(re.fullmatch(r"[IVXLivxl]{1,6}", name) for name in names):
        return r"(?:[IVXL]{1,6}|[ivxl]{1,6})"
    longest_first = sorted({*names, *map(str.upper, names), *map(str.lower, names)}, key=len)
    return "(?:" + "|".join(re.escape(name) for name in reversed(longest_first)) + ")"


@lru_cache(maxsize=256)
def make_labels(names: tuple[str, ...]) -> Labels:
    """Return the labels with these names, the same object at every call.

    >>> make_labels(("A", "B")).index("b")
    1
    """
    return Labels(names)
