"""`extract_choice`: which single option has a reply finally committed itself to?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

from reasonenv.checkers.choice.closing import closing_statement
from reasonenv.checkers.choice.labels import MAX_OPTIONS
from reasonenv.checkers.choice.options import Options, prepare
from reasonenv.checkers.choice.page import Page, read_page
from reasonenv.checkers.choice.plain import plain_ending
from reasonenv.checkers.choice.reading import Reading, Slot, several
from reasonenv.checkers.choice.statement import Statement
from reasonenv.checkers.choice.statements import statements
from reasonenv.types import FrozenDict

__all__ = ["ChoiceAnswer", "answer_from", "extract_choice", "extract_from"]

SPAM_MARKERS = 3
"""So many different answers in a row with no words between are no answer (policy 9)."""
RETRACTION_CHARS = 220
"""After the last statement, searched for words that take it back."""
MAX_RUN = 12
"""Statements before the last one that are looked at for that."""
SAID_CHARS = 80
TOLD = "the options told again"

_WORDLESS = re.compile(r"(?:[\W_]|\b(?:the|so|final|correct|my|and)\b)*", re.IGNORECASE)
_JOINING_BOXES = re.compile(
    r"[\s$,/\\()\[\]]*\b(?:or|and|oder|und|ou|et|o|y)\b[\s$\\()\[\]]*|[\s$]*[,/][\s$]*",
    re.IGNORECASE,
)
_RETRACTED = re.compile(
    r"(?:\A[\s.!*_)\]}$\"']*|[.!?\n]\s*)(?:(?:oh|oops|no|hmm+|wait|hold on|sorry|actually|but|and"
    r"|well|uh)"
    r"[\s,.!—–-]*){0,3}(?:(?:no,? )?(?:that|this|it|which)(?:'s| is| was| seems| can't be"
    r"| cannot be)|"
    r"i(?:'m| am| was)|my answer (?:is|was)|the answer above is) (?:also |clearly |actually "
    r"|completely )?"
    r"(?:wrong|incorrect|not right|not correct|mistaken|a mistake|an error|false|right)(?P<kept>\b)"
    r"|\A[\s,.;—–-]*(?:no,?\s)?(?:oh|oops|wait|hmm+|sorry|maybe not|or not)[\s,.!…?]*\Z"
    r"|\b(?:scratch|forget|ignore|disregard|strike) (?:that|this|it|my (?:last "
    r"|previous )?answer)\b"
    r"|\bi take (?:that|it) back\b|\bi (?:made|have made) a mistake\b|\bi retract\b"
    r"|\b(?:wait|hmm+|no|actually)\b[^.!?\n]{0,30}\b(?:that|this|it|i)(?:'s| is|'m| am| was)"
    r" (?:wrong|incorrect|not right|mistaken|a mistake)\b"
    r"|(?:moment|nein|halt)[^.!?\n]{0,20}\b(?:falsch|nicht richtig)\b|\bdas ist falsch\b"
    r"|\bc'est faux\b|\beso (?:es|está) (?:incorrecto|mal)\b|\bisso está errado\b"
    r"|\bquesto è sbagliato\b"
    r"|это неверно|это неправильно|(?<![都均也皆])不对|说错了|これは間違い|틀렸",
    re.IGNORECASE,
)
_OR_ALSO = (
    r"[\s.,;?*_)\]}}$]*(?:\b(?:[Oo]r|[Oo]der|o|ou|или)\b|或者?)\s+(?:maybe\s|perhaps\s|possibly\s"
    r"|it (?:could|might) be\s|option\s|also\s)*[\[(*]{{0,2}}({label})(?![\w'])"
    r"|[^\n]{{0,60}}?\b(?:could|might|may) (?:also|(?:just )?as well"
    r"|equally(?: well)?) be (?:option\s)?"
    r"[\[(*]{{0,2}}({label})(?![\w'])"
    r"|[^\n]{{0,40}}?[\s(]({label})\)? is (?:equally|also|just as|as) (?:correct|right|good|valid"
    r"|plausible|possible|likely)"
)


@dataclass(frozen=True, slots=True)
class ChoiceAnswer:
    """The option a reply commits itself to.

    Args:
        letter: its label, None where there is none or not exactly one. Where several are allowed,
            all of them joined by commas.
        status: "answered", "no_answer" (nothing is committed to), or "malformed" (several, out of
            range, self-contradicting, retracted).
        detail: `anchor` (the kind of place), `span` (its start and end in the completion), `said`
            (the words there), `by` (what named the option: its label, text, number or position),
            and `reason` where there is no letter.
        letters: the labels, () where `letter` is None.
    """

    letter: str | None
    status: Literal["answered", "no_answer", "malformed"]
    detail: Mapping[str, Any] = field(default_factory=FrozenDict)
    letters: tuple[str, ...] = ()


def extract_choice(
    completion: str,
    options: Sequence[str],
    reasoning_tag: str | None = None,
    *,
    labels: Sequence[str] | None = None,
    multiple: bool = False,
) -> ChoiceAnswer:
    """Return the option that a completion finally commits itself to.

    Args:
        completion: prefill and completion.
        options: the option texts, in the order of their labels.
        reasoning_tag: one more tag that marks thinking.
        labels: what the options are called; A, B, C ... unless given.
        multiple: several options may be chosen.

    Returns:
        The answer. Linear in the length of `completion`; raises nothing, whatever it holds.

    >>> extract_choice("Not A. Answer: (b) Canberra", ["Sydney", "Canberra"]).letter
    'B'
    >>> extract_choice("A or B?", ["Sydney", "Canberra"]).letter is None
    True
    """
    prepared = prepare(tuple(options), None if labels is None else tuple(labels))
    return extract_from(completion, prepared, reasoning_tag, multiple)


def extract_from(
    completion: str, options: Options, reasoning_tag: str | None = None, multiple: bool = False
) -> ChoiceAnswer:
    """Return what `extract_choice` does, of options that are prepared."""
    page = read_page(completion, reasoning_tag)
    parts = list(page.segments())
    if len(parts) == 1:
        plain = plain_ending(page, options, parts[0][1])
        if plain is not None:
            return answer_from(plain, options, multiple)
    shown = page.text
    page = page.with_text(options.listing.mark(shown, page.low))
    found: ChoiceAnswer | None = None
    for lo, hi in parts:
        told = options.listing.kind(shown[lo:hi].strip())
        if told == "texts" or (told and not multiple):
            found = found or ChoiceAnswer(None, "malformed", {"anchor": None, "reason": TOLD})
            continue
        decided = _decide(page, options, lo, hi, multiple)
        if decided is not None:
            answer = answer_from(decided, options, multiple)
            if answer.status != "no_answer":
                return answer
            found = found or answer
    return found or ChoiceAnswer(None, "no_answer", {"anchor": None, "reason": "no answer stated"})


def _decide(page: Page, options: Options, lo: int, hi: int, multiple: bool) -> Statement | None:
    """Return the statement that decides a part of a page, None where it holds none."""
    earlier = statements(page, options, lo, hi)
    conditional: Statement | None = None
    negated: Statement | None = None
    for last in earlier:
        if last.slot.reading is Reading.NEGATED:
            negated = negated or last
        elif last.conditional:
            if conditional and conditional.slot.positions != last.slot.positions:
                conditional = _with(
                    conditional, several(*conditional.slot.positions, *last.slot.positions)
                )
            conditional = conditional or last
        else:
            break
    else:
        return conditional or closing_statement(page, options, lo, hi) or negated
    if negated and last.slot.position is not None and last.slot.positions == negated.slot.positions:
        return _with(last, Slot(Reading.RETRACTED, last.slot.positions))
    if last.anchor == "mark":
        return _marks(last, earlier)
    if last.slot.reading is Reading.OPTION or multiple:
        last = _in_its_run(last, earlier, page, multiple)
    if last.slot.reading is Reading.OPTION:
        last = _as_it_stays(last, page, options, hi)
    return last


def _with(statement: Statement, slot: Slot) -> Statement:
    return Statement(statement.anchor, statement.start, statement.end, slot, statement.said)


def _marks(last: Statement, earlier: Iterator[Statement]) -> Statement:
    """Return the one option that is marked right, or that several are."""
    positions = set(last.slot.positions)
    for other in islice(earlier, 2 * MAX_OPTIONS):
        if other.anchor == "mark":
            positions.update(other.slot.positions)
    return _with(last, several(*positions)) if len(positions) > 1 else last


def _in_its_run(
    last: Statement, earlier: Iterator[Statement], page: Page, multiple: bool
) -> Statement:
    """Look at the statements right before the last one: joined boxes, and markers in a row."""
    run = set(last.slot.positions)
    after = last
    for before in islice(earlier, MAX_RUN):
        if before.end > after.start:
            continue  # another reading of the same words
        gap = page.text[before.end : min(after.start, before.end + RETRACTION_CHARS)]
        if before.anchor == after.anchor == "box" and _JOINING_BOXES.fullmatch(gap):
            run.update(before.slot.positions)
            if len(run) > 1:
                return _with(last, several(*run))
        if multiple and before.anchor == last.anchor == "is right":
            run.update(before.slot.positions)
            after = before
            continue
        if after.start - before.end > RETRACTION_CHARS or not _WORDLESS.fullmatch(gap):
            break
        if before.slot.reading is Reading.OPTION or multiple:
            run.update(before.slot.positions)
        after = before
    if len(run) >= SPAM_MARKERS or (multiple and last.anchor == "is right" and len(run) > 1):
        return _with(last, several(*run))
    return last


def _as_it_stays(last: Statement, page: Page, options: Options, hi: int) -> Statement:
    """Look at what follows: words that take the answer back, or another beside it."""
    rest = page.text[last.end : min(hi, last.end + RETRACTION_CHARS)]
    if not rest or rest.isspace():
        return last
    also = re.match(_OR_ALSO.format(label=options.labels.upper), rest)
    if also:
        other = options.labels.index(also[also.lastindex or 1])
        if other >= 0 and other != last.slot.position:
            return _with(last, several(other, *last.slot.positions))
    retracted = _RETRACTED.search(rest)
    if retracted and not retracted[0].lower().endswith(" right"):
        return _with(last, Slot(Reading.RETRACTED, last.slot.positions))
    return last


def answer_from(statement: Statement, options: Options, multiple: bool = False) -> ChoiceAnswer:
    """Return the answer that a statement is."""
    slot = statement.slot
    detail: dict[str, Any] = {
        "anchor": statement.anchor,
        "span": (statement.start, statement.end),
        "said": statement.said.strip()[:SAID_CHARS],
    }
    chosen = slot.positions if slot.reading is Reading.OPTION else ()
    if multiple and slot.reading is Reading.SEVERAL and min(slot.positions, default=-1) >= 0:
        chosen = slot.positions
    if chosen:
        detail["by"] = slot.by
        letters = tuple(options.labels.of(position) for position in chosen)
        return ChoiceAnswer(",".join(letters), "answered", detail, letters)
    detail["reason"] = str(slot.reading)
    nothing = (Reading.NOTHING, Reading.NEGATED, Reading.EMPTY, Reading.CUT_OFF)
    status: Literal["no_answer", "malformed"] = (
        "no_answer" if slot.reading in nothing else "malformed"
    )
    return ChoiceAnswer(None, status, detail)
