r"""Statements that markup sets apart: boxes, answer tags, JSON fields, `####` (policy 23, 24)."""

from __future__ import annotations

import re

from reasonenv.checkers.choice.context import is_example, is_meant
from reasonenv.checkers.choice.options import MAX_SLOT_CHARS, Options, clean
from reasonenv.checkers.choice.page import Page
from reasonenv.checkers.choice.reading import NOTHING, Reading, Slot
from reasonenv.checkers.choice.slots import read_slot
from reasonenv.checkers.choice.statement import Statement

__all__ = ["read_field", "read_marked", "read_tag"]

MAX_TAG_CHARS = 2000
"""Between an answer tag and its closer."""

_BOX = re.compile(r"\\f?box(?:ed)?\s{0,3}\{")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_TAG = re.compile(r"[<\[](?:final[_ ]?)?(?:answer|ans|choice|option|final)[>\]]")
_CLOSER = re.compile(r"[<\[]/\s?(?:final[_ ]?)?(?:answer|ans|choice|option|final)[>\]]")
_FIELD = re.compile(
    r"[\"'][a-z_ ]{0,20}(?:answer|choice|option|letter|selection)(?:[_ ](?:letter|choice|option|key"
    r"|label))?[\"']\s{0,4}:\s{0,4}"
    r"(?:\[([^\]\n]{0,300})\]|\"([^\"\n]{0,300})\"|'([^'\n]{0,300})'|(null|none|\d{1,3}))"
)
_TICKS = frozenset(("[x]", *"✅✓✔☑👉➡"))
_TRUE = re.compile(r"\"([^\"\n]{1,3})\"\s?:\s?true")


def read_marked(
    page: Page, options: Options, at: int, lo: int, hi: int, stem: str
) -> Statement | None:
    """Read a box, a `####` line, a short tag, or `"B": true`; None where it holds nothing."""
    if stem == "####":
        return _hashes(page, options, at, lo, hi)
    if stem[-1] in ">]" and stem not in _TICKS:
        return read_tag(page, options, at, lo, hi)
    if stem.startswith('"'):
        return _true(page, options, at, lo)
    if stem in _TICKS:
        return _ticked(page, options, at, lo, hi)
    return _box(page, options, at, lo, hi)


def _box(page: Page, options: Options, at: int, lo: int, hi: int) -> Statement | None:
    opener = _BOX.match(page.low, at)
    if not opener:
        return None
    page.reads.append(at)
    depth, end = 1, 0
    for brace in _BRACE.finditer(page.text, opener.end(), min(hi, opener.end() + MAX_SLOT_CHARS)):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            end = brace.start()
            break
    if depth:
        return None  # a box never closed is no commitment
    content = page.text[opener.end() : end]
    slot = read_slot(content, options)
    if slot.reading is Reading.NOTHING or is_meant(page, opener.start(), lo) == "no":
        return None
    return Statement("box", opener.start(), end + 1, slot, content)


def read_tag(page: Page, options: Options, at: int, lo: int, hi: int) -> Statement | None:
    """Read the answer tag whose name holds the place `at`; a cut-off one counts at the end."""
    near = max(lo, at - 12)
    start = max(page.low.rfind("<", near, at + 1), page.low.rfind("[", near, at + 1))
    opener = _TAG.match(page.low, start) if start >= 0 else None
    if not opener:
        return None
    if is_example(page, start, lo):
        return None
    page.reads.append(at)
    limit = min(hi, opener.end() + MAX_TAG_CHARS)
    closer = _CLOSER.search(page.low, opener.end(), limit)
    again = _TAG.search(page.low, opener.end(), closer.start() if closer else limit)
    if again:
        return None  # this one was never closed, the next one counts
    if closer:
        content = page.text[opener.end() : closer.start()]
        slot = read_slot(content, options)
        if not content.strip():
            slot = Slot(Reading.EMPTY)
        return Statement("tag", opener.start(), closer.end(), slot, content)
    if opener[0][0] == "[":
        return None
    content = page.text[opener.end() : limit]
    slot = read_slot(content, options)
    whole = content.strip(" \n.()[]*")
    if not (slot.reading is Reading.OPTION and options.labels.index(whole) >= 0):
        slot = Slot(Reading.CUT_OFF)
    return Statement("open tag", opener.start(), limit, slot, content)


def read_field(page: Page, options: Options, at: int, lo: int, hi: int) -> Statement | None:
    """Read `"answer": "B"`, in JSON or as Python writes it."""
    start = max(
        page.low.rfind('"', max(lo, at - 22), at), page.low.rfind("'", max(lo, at - 22), at)
    )
    found = _FIELD.match(page.low, start, hi) if start >= 0 else None
    if not found:
        return None
    page.reads.append(at)
    group = next((g for g in (1, 2, 3, 4) if found[g] is not None), 2)
    content = page.text[found.start(group) : found.end(group)]
    if group == 1:
        content = content.replace('"', "").replace("'", "")
    empty = group == 4 and not content.isdigit()
    slot = Slot(Reading.EMPTY) if empty else read_slot(content, options)
    return Statement("field", found.start(), found.end(), slot, content)


def _hashes(page: Page, options: Options, at: int, lo: int, hi: int) -> Statement | None:
    if at > lo and page.text[at - 1] not in "\n ":
        return None
    start = at + 4
    end = page.text.find("\n", start, min(hi, start + MAX_SLOT_CHARS))
    end = end if end >= 0 else min(hi, start + MAX_SLOT_CHARS)
    content = page.text[start:end]
    slot = read_slot(content, options)
    if slot is NOTHING or slot.by == "last words":
        return None
    return Statement("####", at, end, slot, content)


def _ticked(page: Page, options: Options, at: int, lo: int, hi: int) -> Statement | None:
    """Read `✅ B. Bergen` and `- [x] B`: a line that a tick opens."""
    line = page.text.rfind("\n", max(lo, at - 12), at) + 1
    if (line == 0 and at - lo > 11) or page.text[line if line else lo : at].strip(" *>#-+\t"):
        return None
    start = at + (3 if page.text[at] == "[" else 1)
    limit = min(hi, start + MAX_SLOT_CHARS)
    end = page.text.find("\n", start, limit)
    said = page.text[start : end if end >= 0 else limit].lstrip("\ufe0f ")
    lead = options.labels.lead.match(clean(said))
    slot = read_slot(said, options)
    page.reads.append(at)
    if slot.reading not in (Reading.OPTION, Reading.CONTRADICTION) or slot.by == "last words":
        return None
    if slot.by == "label" and not (lead and options.labels.index(lead["label"]) >= 0):
        return None
    return Statement("mark", at, start + len(said), slot, said)


def _true(page: Page, options: Options, at: int, lo: int) -> Statement | None:
    start = page.text.rfind('"', max(lo, at - 5), at)  # `at` is the closing quote
    found = _TRUE.match(page.low, start) if start >= 0 else None
    index = options.labels.index(found[1]) if found else -1
    if not found or index < 0:
        return None
    return Statement("mark", found.start(), found.end(), Slot(Reading.OPTION, (index,)), found[0])
