r"""Where a reply commits itself to an option: boxes, tags, JSON, "answer:", closing lines.

`find_anchors` gives the explicit statements in order of their place; `closing_slots` the readings
to try, in order, where there is none. Both work on text in which thinking is blanked and every
position is still the completion's. Every pattern is bounded, so a megabyte takes well under a
second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from reasonenv.checkers.choice.slots import MAX_SLOT_CHARS
from reasonenv.checkers.text import brace_pairs

__all__ = ["Anchor", "closing_slots", "find_anchors"]


@dataclass(frozen=True, slots=True)
class Anchor:
    """One place that may hold an answer: its kind, its span, and what stands in the slot."""

    kind: str
    start: int
    end: int
    text: str


MAX_ANCHORS = 400
"""Of each kind, from the end: a reply with more is judged by its last ones."""

_BOX = re.compile(r"\\f?box(?:ed)?\s{0,3}\{")
_TAG = re.compile(r"<(/?)(?:final_?)?answer>", re.IGNORECASE)
_JSON = re.compile(
    r"[\"'](?:final_?|correct_?)?(?:answer|choice|option)[\"']\s{0,4}:\s{0,4}"
    r"(?:\"([^\"\n]{0,300})\"|'([^'\n]{0,300})'|(null|\d{1,3}))",
    re.IGNORECASE,
)
_CUE_WORDS = (
    "answers?|choice|antwort|lösung|r[ée]ponse|respuesta|resposta|risposta|cevap|jawaban|[oо]твет|答案|答え"
    "|解答|정답|الإجابة|الجواب|উত্তর"
)
_QUALIFIERS = (
    "choice|option|letter|final|correct|correcte|correcta|correta|corretta|richtige|الصحيحة|الصحيح"
)
_CUE = re.compile(
    rf"(?<![A-Za-z])(?:(?:the\s)?(?:right|correct)\s(?:one|option)|{_CUE_WORDS})"
    rf"[】\])]?[*_\s]{{0,3}}(?:(?:{_QUALIFIERS})\b\s{{0,2}})?[*_]{{0,3}}[ \t]{{0,4}}"
    r"(?:(?P<not>isn't|is not|is never|cannot be|can't be)"
    r"|(?:is|are|ist|est|es|é|è|adalah|هو|هي)(?!\w)"
    r"|は|是|为|은|는|[:=]|[-–—](?=\s))"
    r"[*_:]{0,4}",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"^[ \t#*]{0,8}(?:final |correct )?answer[*_:]{0,4}[ \t]{0,4}\n(?:[-=]{3,80}\n)?",
    re.IGNORECASE | re.MULTILINE,
)
_HASHES = re.compile(r"^####[ \t]{1,4}(?=\S)", re.MULTILINE)
_IS_RIGHT = re.compile(
    r"(?<![A-Za-z0-9'])[\[(]?([A-Z])[\])]?(?:[*_\s]{1,4}(?:is|was)\s(?:the\s|my\s)?"
    r"(?:correct|right|best|final|answer)|\s{0,2}(?:项)?正确|\s?[:=]?\s?(?:✅|✓|✔)|:\s?correct\b)",
)
_CHOSEN = re.compile(
    r"(?:\b(?:choose|pick|select|go(?:ing)? with|answer with|vote for|opt for|changed my answer to|"
    r"left with|leaves|leaving|must be|has to be|it's|it is)\s|选择?|选了)"
    r"\s{0,2}(?:options?\s|choice\s)?",
    re.IGNORECASE,
)
_ANOTHERS = re.compile(
    r"\b(?:if|some|many|students?|people|they|others|suppose|n't|not|never|first|initially)\b"
    r"[^.!?\n]{0,50}\Z|(?:一开始|不)[^。]{0,4}\Z",
    re.IGNORECASE,
)
CONTEXT_CHARS = 60
"""Before a cue, searched for words that put the answer in another's mouth."""


def find_anchors(text: str) -> list[Anchor]:
    """Return the explicit statements of an answer in the order in which they stand."""
    found = [*_boxes(text), *_tags(text), *_json(text), *_cues(text)]
    return sorted(found, key=lambda anchor: (anchor.start, anchor.end))


def _boxes(text: str) -> Iterator[Anchor]:
    boxes = list(_BOX.finditer(text))[-MAX_ANCHORS:]
    if not boxes:
        return
    closers = brace_pairs(text)
    end = -1
    for box in boxes:
        if box.start() < end:
            continue
        closer = closers.get(box.end() - 1)
        if closer is None:
            continue  # a box never closed is no commitment
        content = text[box.end() : min(closer, box.end() + MAX_SLOT_CHARS)]
        end = closer + 1
        yield Anchor("box", box.start(), end, content)


def _tags(text: str) -> Iterator[Anchor]:
    opener: re.Match[str] | None = None
    for tag in list(_TAG.finditer(text))[-MAX_ANCHORS:]:
        if not tag[1]:
            opener = tag
        elif opener is not None:
            content = text[opener.end() : tag.start()][:MAX_SLOT_CHARS]
            yield Anchor("tag", opener.start(), tag.end(), content)
            opener = None
    if opener is not None:
        content = text[opener.end() :][:MAX_SLOT_CHARS]
        yield Anchor("open tag", opener.start(), len(text), content)


def _json(text: str) -> Iterator[Anchor]:
    for found in list(_JSON.finditer(text))[-MAX_ANCHORS:]:
        content = (
            found[1] if found[1] is not None else found[2] if found[2] is not None else found[3]
        )
        yield Anchor("json", found.start(), found.end(), "" if content == "null" else content)


def _cues(text: str) -> Iterator[Anchor]:
    for pattern in (_CUE, _HEADING, _HASHES, _CHOSEN):
        for cue in list(pattern.finditer(text))[-MAX_ANCHORS:]:
            before = text[max(0, cue.start() - CONTEXT_CHARS) : cue.start()]
            if _ANOTHERS.search(before):
                continue
            start, line = _rest_of_line(text, cue.end())
            if pattern is _CUE and cue["not"]:
                line = "not " + line
            kind = "chosen" if pattern is _CHOSEN else "cue"
            yield Anchor(kind, cue.start(), start + len(line), line)
    for found in list(_IS_RIGHT.finditer(text))[-MAX_ANCHORS:]:
        before = text[max(0, found.start() - CONTEXT_CHARS) : found.start()]
        if not _ANOTHERS.search(before):
            yield Anchor("is right", found.start(), found.end(), found[1])


_SENTENCE = re.compile(r"(?<=[^A-Z\s(][.!?])\s+(?=\S)|(?<=[。！？])|\s(?=Wait\b|Hmm\b|hmm,)")


def _rest_of_line(text: str, start: int) -> tuple[int, str]:
    """Return where the slot after a cue starts and its text: the line, or the next one with any."""
    window = text[start : start + 2 * MAX_SLOT_CHARS]
    offset = len(window) - len(window.lstrip(" \t\n*_:"))
    line, _, following = window[offset:].partition("\n")
    if _LIST_ITEM.match(line) and _LIST_ITEM.match(following):
        return start + offset, ""  # the options told again
    line = line[:MAX_SLOT_CHARS]
    return start + offset, _SENTENCE.split(line, maxsplit=1)[0]


_LIST_ITEM = re.compile(r"\s{0,8}[\[(]?([A-Z])[\]).:]\s?\S")
_LAST_LABEL = re.compile(
    r"(?:\b(?:so|hence|thus|therefore|is|it's|be|gives|with|now|leaves|then|option|choice|i\.e\.|only|remains?)"
    r"|[:：,—.])[,:]?\s+(?:option\s+)?[\[(]?([A-Z])[\])]?(?:\s(?:remains|it is|fits))?[.!]?\s*\Z",
    re.IGNORECASE,
)


_STANDING_LABEL = re.compile(r"(?<![\w'])[A-Z](?![\w'^])")


def _names_one_label(line: str) -> bool:
    """Whether no second label stands in the line: "A = 1, B = 2" is no commitment to A."""
    return len({label for label in _STANDING_LABEL.findall(line) if label != "I"}) <= 1


def closing_slots(text: str) -> Iterator[Anchor]:
    """Yield what to try, in order, where nothing is stated explicitly: whole reply, last line."""
    stripped = text.strip()
    if not stripped:
        return
    start = text.index(stripped[0])
    if len(stripped) <= MAX_SLOT_CHARS and "\n" not in stripped and _names_one_label(stripped):
        yield Anchor("whole reply", start, start + len(stripped), stripped)
    lines = [line for line in stripped[-4 * MAX_SLOT_CHARS :].split("\n") if line.strip()]
    last = lines[-1].strip()
    first = stripped[:MAX_SLOT_CHARS].partition("\n")[0].strip()
    listed = len(lines) > 1 and _LIST_ITEM.match(lines[-1]) and _LIST_ITEM.match(lines[-2])
    if not listed and len(last) <= MAX_SLOT_CHARS and _names_one_label(last):
        yield Anchor("last line", len(text.rstrip()) - len(last), len(text.rstrip()), last)
    label = _LAST_LABEL.search(last)
    if label and not listed and label[1].isupper():
        at = len(text.rstrip()) - len(last) + label.start(1)
        yield Anchor("closing label", at, at + 1, label[1])
    if re.fullmatch(r"[\[(]?[A-Z][\])]?[.,]?", first):
        yield Anchor("first line", start, start + len(first), first)
