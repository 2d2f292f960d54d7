"""What a reply without a stated answer may still commit itself to (policy 6, 12, 16).

Tried in order: the whole reply, its last line, a label that ends it, a first line that is a label,
an opening yes or no, and one sentence that names one option's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from reasonenv.checkers.choice.context import is_meant, sentence_before
from reasonenv.checkers.choice.listing import TOLD
from reasonenv.checkers.choice.options import MAX_SLOT_CHARS, Options, clean
from reasonenv.checkers.choice.page import Page
from reasonenv.checkers.choice.prose import in_prose, is_chatty
from reasonenv.checkers.choice.reading import NOTHING, Reading, Slot
from reasonenv.checkers.choice.slots import read_slot
from reasonenv.checkers.choice.statement import Statement

__all__ = ["closing_statement"]

MAX_WORDLESS_LINES = 60
"""Below the last line with a word."""

MAX_JUDGED_CHARS = 6000
_VERDICT_WORDS = frozenset(("yes", "no", "true", "false", "right", "wrong", "correct", "incorrect"))
_VERDICT = re.compile(
    r"(?:(?P<wrong>\bnot (?:correct|right|true)|\b(?:incorrect|wrong|false|no))"
    r"|(?<=[:.)–—|*-]\s)[*_(]{0,3}(?P<right>correct|right|true|yes))[\s.!*_)|]{0,6}\Z",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not|never|n't|no|isn't|nor|except|without|rather than|instead of|nicht|kein|pas|non|não"
    r"|niet|nie|не)\b|n't\b|不"
)
_NOT_BUT = re.compile(
    r"\W*(?:not|nicht|pas|non|no|não|niet|nie|не)\b.{1,60}\b(?:but|sondern|mais|ma|bensì|sino|mas"
    r"|maar|ale|tylko"
    r"|lecz|а)\b",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"(?:\s(?:remains|it is|is|fits|survives|wins|is left)"
    r"|です|だ|である|となる|になります|입니다|이다|번(?:입니다)?|다|项|項)"
    r"(?=[.!。\s]*\Z)"
)
_ADVERB = re.compile(
    r"\A(?:actually|clearly|indeed|therefore|thus|of course|definitely|most likely|probably|in fact"
    r"|really|then|certainly),?\s",
    re.IGNORECASE,
)
_OUTER = " .:,;!?-–—。，！？、\"'"
_LABEL_BEHIND = re.compile(r"(.{1,120}?)\s*[\[(]([^\s()\[\]]{1,5})[\])]?")
ENDING_CHARS = 160
"""Of the last line, searched for words such as "so" before a label or an option's text."""
_WORD = re.compile(rf"[^\W_]|[^\x00-\x7f]|{TOLD}")
_CONCLUDES = re.compile(
    r"(?:so|hence|thus|therefore|leaves|leaving|now|remains?|bleibt|also|daher|donc|quindi"
    r"|portanto|dus|zatem)"
    r"\b|[:：→—]|=>|->|⇒|所以|因此|故|选|選",
    re.IGNORECASE,
)
_TEXT_AFTER = re.compile(rf"{_CONCLUDES.pattern}|(?:is|it's|be|must be)\b|[.!?。]", re.IGNORECASE)
_MENTIONED = re.compile(
    r"\b(?:consider|look(?:ing)? at|examine|check|start(?:ing)? with|about|evaluate|compare"
    r"|regarding"
    r"|as for|see|read|betrachten|considérons|veamos|so is|so are|so does)"
    r"\s(?:the\s)?(?:option|choice|answer)?[\s*_(\"']{0,4}\Z"
)
_STEP = re.compile(
    r"\b(?:step \d{1,2}|grade|score|rating|confidence|level|appendix|figure)\s*\Z", re.IGNORECASE
)
_COULD = re.compile(r"\b(?:could|might|may)\s*\Z")
_MINUS = re.compile(r"\s*[-\u2212]\s?\d")
_NEW_SENTENCE = re.compile(r"\.\s+(?:[Oo]ption|[Cc]hoice)\s+\W{0,3}\w{1,4}")
_PERCENT = re.compile(r"\d\s?%")


def closing_statement(page: Page, options: Options, lo: int, hi: int) -> Statement | None:
    """Return what a part of a page without explicit statements commits itself to."""
    judged = _judged_lines(page, options, lo, hi)
    if judged:
        return judged
    negated: Statement | None = None
    for found in _places(page, options, lo, hi):
        if found.slot.reading is Reading.NEGATED:
            negated = negated or found
        elif found.slot.reading is not Reading.NOTHING and found.slot.by != "last words":
            return found
    return negated


def _judged_lines(page: Page, options: Options, lo: int, hi: int) -> Statement | None:
    """Read lines that each judge an option, one of them right: "A) False / B) True"."""
    if hi - lo > MAX_JUDGED_CHARS or not _VERDICT_WORDS.isdisjoint(options.keys):
        return None
    verdicts: dict[int, list[bool]] = {}
    at = lo
    for line in page.text[lo:hi].split("\n"):
        item = options.labels.listed.match(line)
        verdict = _VERDICT.search(line) if item else None
        if item and not verdict:
            return None
        if item and verdict:
            place = options.labels.index(item[1])
            verdicts.setdefault(place, []).append(verdict["right"] is not None)
            if verdict["right"]:
                start, said = at, line
        at += len(line) + 1
    right = [place for place, found in verdicts.items() if any(found)]
    if len(verdicts) < 2 or len(right) != 1 or right[0] < 0 or len(verdicts[right[0]]) > 1:
        return None
    return Statement("mark", start, start + len(said), Slot(Reading.OPTION, (right[0],)), said)


def _places(page: Page, options: Options, lo: int, hi: int) -> Iterator[Statement]:
    text, labels = page.text, options.labels
    start, end = _trimmed(text, lo, hi)
    if start >= end:
        return
    whole = text[start:end] if end - start <= MAX_SLOT_CHARS else ""
    lines = [
        line
        for line in text[max(start, end - 4 * MAX_SLOT_CHARS) : end].split("\n")
        if line.strip()
    ]
    last = lines[-1].strip()
    one_line = bool(whole) and "\n" not in whole
    alone = one_line and _reads_alone(whole, options)
    alone = alone and not is_chatty(whole)
    if alone or (whole and labels.run.fullmatch(clean(whole))):
        yield Statement("whole reply", start, end, read_slot(whole, options), whole)
    below = len(lines) > 1 and labels.list_item.match(lines[-1])
    listed = bool(below and labels.list_item.match(lines[-2])) or _column(lines[-2:], options)
    if len(last) <= MAX_SLOT_CHARS and not listed and not one_line:
        slot = read_slot(last, options) if _reads_alone(last, options) else NOTHING
        yield Statement("last line", end - len(last), end, slot, last)
    if not listed:
        yield from _ending(page, options, last[-ENDING_CHARS:], lo, end)
    first = text[start : min(end, start + MAX_SLOT_CHARS)].partition("\n")[0].strip()
    if first and not listed and not _column(_first_two(text, start, end), options):
        yield _first_line(page, options, start, first, end)
    yield from in_prose(page, options, start, end, whole, last)


def _ending(page: Page, options: Options, tail: str, lo: int, end: int) -> Iterator[Statement]:
    """Read what the last words name: `so C.`, `: Canberra`, `Lithium. **I. Lithium**`."""
    labels = options.labels
    if _PERCENT.search(tail) and not any("%" in option for option in options.texts):
        return
    for connector in labels.connector.finditer(tail):
        said = tail[connector.end() :]
        if _STEP.search(tail, 0, connector.start()) or said.rstrip().endswith("?"):
            continue
        if connector[0][0] == "." and _NEW_SENTENCE.fullmatch(tail, connector.start()):
            continue  # "Option A" of a sentence that was cut off
        numbered = connector[0][0] == "." and tail[: connector.start()][-1:].isdigit()
        if not said.strip(_OUTER) or (numbered and options.labels.are_letters):
            continue  # "3. C": one of a numbered list
        if _CONCLUDES.match(connector[0]) is None and labels.before.search(
            tail, 0, connector.start()
        ):
            continue
        words = _ADVERB.sub("", clean(_TRAILING.sub("", said)).strip(_OUTER))
        if _MINUS.match(said):
            words = said.strip().rstrip(".")
        lead = labels.lead.match(words)
        at = end - len(said)
        if (
            is_meant(page, at, lo) != "yes"
            or (_COULD.search(tail, 0, connector.start()) and not _one_label(tail, options))
            or _MENTIONED.search(sentence_before(page, at, lo))
        ):
            continue
        if lead and labels.index(lead["label"]) >= 0 and not lead["label"].islower():
            rest = words[lead.end() :].strip(_OUTER + ")")
            named = options.whole(rest) if rest else None
            slot = options.label(lead["label"])
            if not rest or (named and named.positions == slot.positions):
                yield Statement("closing label", at, end, slot, said)
                return
        behind = _LABEL_BEHIND.fullmatch(words)
        if behind and options.labels.index(behind[2]) >= 0:
            named = options.whole(behind[1])
            if named is not None:
                slot = options.label(behind[2])
                if named.positions != slot.positions:
                    slot = Slot(Reading.CONTRADICTION, (*named.positions, *slot.positions))
                yield Statement("closing label", at, end, slot, said)
                return
        named = options.whole(words) if words else None
        if named is not None and _TEXT_AFTER.match(connector[0]):
            yield Statement("closing text", at, end, named, said)
            return


def _trimmed(text: str, lo: int, hi: int) -> tuple[int, int]:
    """Return where the words of a part begin and end: lines without any are no lines of it."""
    start, end = lo, lo + len(text[lo:hi].rstrip())
    for _ in range(MAX_WORDLESS_LINES):
        line = text.rfind("\n", start, end)
        if line < 0 or _WORD.search(text, line, end):
            break
        end = line
    part = text[lo:end]
    return lo + len(part) - len(part.lstrip()), lo + len(part.rstrip())


def _column(lines: Sequence[str], options: Options) -> bool:
    """Whether two lines each are another option, by its label or its text, and nothing else."""
    slots = [_alone(line, options) for line in lines]
    return len(slots) == 2 and None not in slots and len(set(slots)) == 2


def _alone(line: str, options: Options) -> int | None:
    words = clean(line)
    token = options.labels.bare_line.fullmatch(words)
    if token and options.labels.index(token[1]) >= 0:
        return options.labels.index(token[1])
    whole = options.whole(words)
    return whole.position if whole else None


def _first_two(text: str, start: int, end: int) -> list[str]:
    head = text[start : min(end, start + 2 * MAX_SLOT_CHARS)].split("\n")
    return [line for line in head if line.strip()][:2]


def _one_label(line: str, options: Options) -> bool:
    """Whether at most one label stands in a line: "A = 1, B = 2" is no commitment to A."""
    standing = {label for label in options.labels.standing.findall(clean(line)) if label != "I"}
    return len(standing) <= 1 or options.whole(line) is not None


def _reads_alone(line: str, options: Options) -> bool:
    """Whether what `read_slot` reads in a line may be its commitment."""
    if (
        "?" in line
        or "？" in line
        or TOLD in line
        or ("box" in line and line.count("{") != line.count("}"))
    ):
        return False
    labels = options.labels
    return (
        _one_label(line, options)
        or labels.rather.search(line) is not None
        or _NOT_BUT.match(line) is not None
        or labels.not_other.match(clean(line)) is not None
    )


def _hedged(line: str) -> bool:
    return "?" in line or "？" in line


def _first_line(page: Page, options: Options, start: int, first: str, end: int) -> Statement:
    slot = NOTHING
    told_ = [options.labels.index(token) for token in options.labels.told.findall(first)]
    if any(after == before + 1 for before, after in pairwise(told_)):  # the options, in a row
        return Statement("first line", start, start, NOTHING)
    if start + len(first) >= end:
        told = options.labels.told.match(first)
        if told and not _hedged(first):
            slot = read_slot(first, options)
    elif options.labels.leading.fullmatch(clean(first)):
        slot = read_slot(first, options)
    elif options.labels.list_item.match(first) and not _list_below(
        page, options, start, end, first
    ):
        named = read_slot(first, options)
        token = options.labels.leading.match(clean(first))
        if (
            token
            and named.reading is Reading.OPTION
            and options.whole(clean(first)[token.end() :].lstrip(" ).:-"))
        ):
            slot = named
    return Statement("first line", start, start + len(first), slot, first)


def _list_below(page: Page, options: Options, start: int, end: int, first: str) -> bool:
    rest = page.text[start + len(first) : min(end, start + len(first) + 200)].lstrip()
    return options.labels.list_item.match(rest) is not None
