r"""The options told again: never an answer, whatever their texts say.

A text that consists of all options, with or without labels, marks and separators, in any order, is
recognised by its characters: it has those of the list, no more and no fewer. So it does not matter
where one text would end and the next one begin. Inside a longer text it is recognised by the texts
that follow each other with nothing but labels and separators between.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from reasonenv.checkers.choice.fold import fold

__all__ = ["TOLD", "Listing", "squeeze"]

MAX_TIMES = 3
"""So often the list may be told in a row."""
MAX_MARKS = 12
"""Of space, marks and words for each option, in what may be a list."""
TOLD = "\x1a"
"""Stands for each character of options that are told again inside a text: a slot with it holds
several options, and anything else of it is not read."""
MAX_HITS = 400
"""Places of option texts that are looked at, from the end of a text."""
MAX_GAP = 40
"""Characters between one told option and the next."""
LONG_TEXT = 20
"""Two texts so long with a comma between are a list; of two words one may be taken back."""
_TENS, _ONES = ("", "x", "xx"), ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
ROMAN = tuple(tens + ones for tens in _TENS for ones in _ONES)[1:27]
_DROPPED = re.compile(
    r"\b(?:and|or|und|oder|et|ou|y|o|the|are|options?|choices?|optionen|opciones)\b"
    r"|[\s,;:.|/\\()\[\]{}*_`$#\"'!?•·>&~–—、。，；：（）-]+",
)


def squeeze(text: str) -> str:
    r"""Return a text without what may stand around and between the options of a list.

    >>> squeeze("(A) **no** or\n(B) yes.")
    'anobyes'
    """
    return _DROPPED.sub("", fold(text).casefold())


_MARK = r"[\s,;.()\[\]*_>#\"'·•`$-]"
_MARKED = re.compile(
    r"[\s*_).\]]{0,4}(?:[✓✅✔☑❌✗✘×←(=:—–🗸]|<[-=]|\[[x ✓]|-\s"
    r"|(?:is|are|was|seems|would|fits|because)\b)"
)
_MARKED_BEFORE = re.compile(r"[✓✅✔☑❌✗✘×→\]🗸][ \t*_(]{0,4}\Z|\b(?:not|nor)\s\Z")


@lru_cache(maxsize=256)
def _patterns(names: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what may stand between two told options, and the label before the first one."""
    label = "(?:" + "|".join(re.escape(name.lower()) for name in names) + r"|\d{1,2})"
    gap = (
        rf"(?:{_MARK}*(?P<strong>(?:or|and|und|oder|\n|[|/•-])(?![^\W_])){_MARK}*|{_MARK}*)"
        rf"(?P<label>(?<![^\W_]){label}(?:[)\].:*_-]{{1,5}}\s{{0,3}}|\s))?{_MARK}*"
    )
    lead = rf"[(\[*_]{{0,4}}(?<![^\W_]){label}[)\].:*_\s-]{{1,6}}\Z"
    return re.compile(gap), re.compile(lead)


class Listing:
    """The lists that one problem's options make.

    Args:
        texts: the option texts.
        names: their labels.
    """

    def __init__(self, texts: Sequence[str], names: Sequence[str]) -> None:
        count = len(texts)
        said = [squeeze(text) for text in texts]
        own = [squeeze(name) or name for name in names]
        styles = (own, [*"abcdefghijklmnopqrstuvwxyz"], [*map(str, range(1, 27))], list(ROMAN))
        self._labels: dict[int, set[str]] = {}
        self._texts: dict[int, set[str]] = {}
        self._single = {*said, *own}
        if sum(map(bool, said)) > 1:
            self._add(self._texts, said)
        for style in styles:
            labels = style[:count]
            both = [label + text for label, text in zip(labels, said, strict=True)]
            self._single.update(both)
            self._add(self._labels, labels)
            self._add(self._texts, both)
        self._count = count
        self._said = sorted(
            ((fold(text).strip(" .\n\t").lower(), place) for place, text in enumerate(texts)),
            key=lambda pair: -len(pair[0]),
        )
        self._plain_joins = count > 2 or min(map(len, texts)) >= LONG_TEXT
        self._gap, self._lead = _patterns(tuple(names))
        self._shortest = min((*self._labels, *self._texts))
        self._longest = MAX_TIMES * (sum(map(len, texts)) + count * (MAX_MARKS + 2))

    def mark(self, text: str, low: str) -> str:
        """Return a text, as long as before, with `TOLD` in place of options that are told again.

        All of them have to be told, in any order, with nothing added: an option with a tick or a
        comment is no option told again.

        Args:
            text: folded.
            low: the same in lower case.
        """
        if not all(said in low for said, _ in self._said):
            return text
        parts: list[str] = []
        done = 0
        chain: list[tuple[int, int, int]] = []
        strong = False
        for hit in [*self._hits(low), (len(text) + MAX_GAP + 1, len(text) + MAX_GAP + 1, -1)]:
            gap = None
            if chain and 0 <= hit[0] - chain[-1][1] <= MAX_GAP:
                gap = self._gap.fullmatch(low, chain[-1][1], hit[0])
            if gap is None:
                chain, strong = [hit], False
                continue
            chain.append(hit)
            strong = strong or bool(gap["strong"] or gap["label"] or self._plain_joins)
            last = chain[-self._count :]
            if strong and {place for _, _, place in last} == {*range(self._count)}:
                lead = self._lead.search(low, max(done, last[0][0] - 12), last[0][0])
                if gap["label"] and not lead:
                    continue  # the first text is none of the list: one more may follow
                start = lead.start() if lead else last[0][0]
                if not _MARKED.match(low, hit[1]) and not _MARKED_BEFORE.search(
                    low, max(0, start - 4), start
                ):
                    parts += [text[done:start], TOLD * (hit[1] - start)]
                    done = hit[1]
                    chain, strong = [], False
        return "".join([*parts, text[done:]])

    def _hits(self, low: str) -> list[tuple[int, int, int]]:
        """Return (start, end, option) of the texts in a text, the longest of those that meet."""
        found: list[tuple[int, int, int]] = []
        for said, place in self._said:
            at, left = low.rfind(said), MAX_HITS // self._count + 1
            while at >= 0 and left > 0 and said:
                end = at + len(said)
                inside = low[end : end + 1].isalnum() and said[-1].isalnum()
                inside = inside or (low[at - 1 : at].isalnum() and said[0].isalnum())
                if not inside:
                    found.append((at, -end, place))
                left -= 1
                at = low.rfind(said, 0, at)
        kept: list[tuple[int, int, int]] = []
        for at, end, place in sorted(found):
            if not kept or at >= kept[-1][1]:
                kept.append((at, -end, place))
        return kept

    @staticmethod
    def _add(known: dict[int, set[str]], parts: Sequence[str]) -> None:
        whole = "".join(parts)
        known.setdefault(len(whole), set()).add("".join(sorted(whole)))

    def kind(self, text: str) -> str:
        """Return "labels" or "texts" where a text is a list of all options, else ""."""
        if not self._shortest <= len(text) <= self._longest:
            return ""
        squeezed = squeeze(text)
        if squeezed in self._single:
            return ""
        for known, kind in ((self._labels, "labels"), (self._texts, "texts")):
            for times in range(1, MAX_TIMES + 1):
                of_length = known.get(len(squeezed) // times, ())
                if of_length and len(squeezed) % times == 0:
                    chars = "".join(sorted(squeezed))
                    once = chars[::times]
                    if once in of_length and "".join(c * times for c in once) == chars:
                        return kind
        return ""
