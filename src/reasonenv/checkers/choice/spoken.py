r"""Statements in words: "the answer is B", "I choose B", "no, B"."""

from __future__ import annotations

import re

from reasonenv.checkers.choice.context import is_meant, is_question
from reasonenv.checkers.choice.marked import read_field, read_tag
from reasonenv.checkers.choice.options import MAX_SLOT_CHARS, Options, clean
from reasonenv.checkers.choice.page import Page
from reasonenv.checkers.choice.reading import Reading, Slot, several
from reasonenv.checkers.choice.slots import read_slot
from reasonenv.checkers.choice.statement import Statement
from reasonenv.checkers.choice.words import AFTER_NOUN

__all__ = ["Statement", "read_chosen", "read_correction", "read_noun"]

MAX_BLANK_CHARS = 400
"""Between a cue and its slot."""
CHOSEN_CHARS = 300
"""Behind a verb, read as its slot."""

_AFTER_NOUN = re.compile(AFTER_NOUN)
_NOT_THE_ANSWER = re.compile(
    r"\b(?:one|another|each|every|other|wrong|incorrect|any|next|which|what|no|false|second-best"
    r"|second|third|alternative|alternate|backup|runner-up"
    r"|possible|your|falsche|previous|mauvaise|whose)\s?(?:possible )?\Z"
)
_OPTION_NOUNS = frozenset(
    [
        "option",
        "choice",
        "letter",
        "opción",
        "opcion",
        "opção",
        "opcao",
        "opzione",
        "optie",
        "вариант",
        "варіант",
        "seçenek",
        "şık",
        "选项",
        "選項",
        "選択肢",
        "الخيار",
        "الاختيار",
        "گزینه",
        "pilihan",
        "alternativa",
    ]
) | {"phương án", "lựa chọn"}
_RIGHT_BEFORE = re.compile(r"\b(?:correct|right|final)\s\Z")
_RELATIVE = re.compile(r"\b(?!(?:think|believe|guess|say|so|and|but|since|as|wait)\s)[^\W\d_]+\s\Z")
_CLASS = re.compile(
    r"(?:option|choice|answer|letter|opción|opção|opzione|optie|lettre|lettera|letra|letter|antwort"
    r"|réponse|respuesta|resposta|risposta|antwoord|вариант|ответ)"
)
_IMPERATIVE = re.compile(r"\b(?:find|compute|calculate|determine) (?:the|an?) (?:\w+ )?\Z")
_BLANK = re.compile(rf"[\s*_:：>]{{0,{MAX_BLANK_CHARS}}}")
_SENTENCE = re.compile(
    r"(?<=[^A-Z\s(.][.!?])\s+(?=\S)|(?<=\.\.)\s+(?=\S)|(?<=[。！？])|\s(?=Wait\b|Hmm\b|hmm,)"
)
_HEADING_BEFORE = re.compile(r"[\s#*>_\d.\"'(-]*(?:[^\W\d_]+\s+){0,3}[\"'*_]{0,3}\Z")
_BARE = (
    r"[ \t]{{0,3}}[*_\"'(\[]{{0,3}}(?P<label>{label})[)\]*_\"']{{0,3}}"
    r"(?=\s*(?:\Z|\n|[.!,;。！，；]|है|입니다|です|'[dt][ıiuü]r|şıkkı|seçeneği|\s(?:because|since|as"
    r"|here)\b))"
)
_AFTER_CHOSEN = re.compile(
    r"(?:s|n|d|ed|ing)?(?![^\W\d_])[,:]?[\s*_]{0,4}(?:\s?(?:with|for|to|on|is"
    r"|as my (?:final )?answer"
    r"|my (?:final )?answer|the answer|the|us with|me with|only|just|also|l'|la|le|el|il|die|de"
    r"|[ao](?=\s(?:op|letra|alternativa))"
    r"|auf)"
    r"(?=[\s:(*]))?[:]?[\s*_\"'(\[]{0,4}"
)
_AFTER_CHOSEN_CJK = re.compile(r"[了择項项:：]{0,2}[\s*_\"'(\[（【]{0,4}")
_CHOSEN_ENDS = re.compile(
    r"[\s)\]*_\"'}]{0,4}(?:\Z|\n|[.,;:!?)—–。，！？、-]|项|項|吧|了|\(|(?:because|since|as|with|for|here"
    r"|over|instead|rather|and not|due|then|kiezen|wählen|nehmen|sagen|zeggen"
    r"|weil|da|denn|car|parce|porque|pues|perché|pois|omdat|bo"
    r"|потому|çünkü|vì|karena)\b|[\u3040-\u30ff\u4e00-\u9fff])"
)
_FIRST_PERSON = re.compile(r"\bi(?:'d|'ll|'m| would| will| am)?\s(?:\w+ly\s|now\s|must\s)?\Z")
_CONCLUSIONS = frozenset(
    [
        "so",
        "hence",
        "thus",
        "therefore",
        "daher",
        "somit",
        "also",
        "donc",
        "quindi",
        "portanto",
        "zatem",
        "więc",
        "поэтому",
        "значит",
        "следовательно",
        "因此",
        "所以",
        "故",
    ]
) | {"por tanto", "por lo tanto"}
_CONCLUDED = re.compile(r"[\s)\]*_\"'$}]{0,4}(?:\Z|\n|[.!。！](?=\s|\Z|[^\x00-\x7f]))")
_ALSO_TEXT = frozenset(("choose", "chose", "pick", "select", "go with", "going with", "must be"))
_OR_BEFORE = (
    r"({label})[\])]?\s*(?:\bor\b|\boder\b|\bou\b|\bo\b|或者?|还是)\s*(?:i(?:'d|\s\w+)?\s*)?\Z"
)


def read_noun(
    page: Page, options: Options, at: int, lo: int, hi: int, stem: str
) -> Statement | None:
    """Read what follows "answer", "choice", "Antwort" ...: a field, a tag, or a slot in words."""
    low = page.low
    before = low[at - 1] if at > lo else " "
    if before in "<_[\"'":
        marked = read_tag(page, options, at, lo, hi) or read_field(page, options, at, lo, hi)
        if marked or before == "<":
            return marked
    elif before.isalpha() and before < "\u0590":
        return None
    found = _AFTER_NOUN.match(low, at + len(stem), hi)
    if not found:
        return None
    if (
        stem in _OPTION_NOUNS
        and found["plural"]
        and not _RIGHT_BEFORE.search(low, max(lo, at - 10), at)
    ):
        return None
    if _NOT_THE_ANSWER.search(low, max(lo, at - 24), at):
        return None
    if found["not"]:
        return _negated(page, options, at, found.end(), hi)
    if found["heading"] is not None and not found["colon"] and not found["is"]:
        line = page.text.rfind("\n", max(lo, at - 60), at)
        if not _HEADING_BEFORE.fullmatch(page.text, max(lo, line + 1), at) or at - line > 60:
            return None
    if found["bare"] is not None:
        return _bare(page, options, at, found.end(), lo, hi, stem)
    start, end, crossed = _slot_span(page, found.end(), hi)
    fast = options.labels.fast.match(page.text, start, hi)
    if fast and options.labels.index(fast[1]) >= 0:
        end = fast.end(1)
        slot = _with_next_lines(page, options, fast, hi)
    elif start >= hi:
        return None
    else:
        slot = _read_line(page, options, start, end, crossed, hi)
    if slot.reading is Reading.NOTHING:
        return None
    if stem in ("solution", "response", "letter") and slot.by in ("number", "position"):
        return None
    if slot.by == "number" and _IMPERATIVE.search(low, max(lo, at - 30), at):
        return None  # "Find the exact answer: 942 / 3" is the question
    would = (found["is"] or "") in ("would be", "wäre", "serait", "sería", "sarebbe", "seria")
    meant = is_meant(page, at, lo, would=would)
    if meant == "no" or (would and " if " in low[end : end + 80].split("\n")[0] + " "):
        return None
    if would and re.search(r"\b(?:if|had|unless|were)\b", low[start : end + 60].split("\n")[0]):
        return None
    anchor = "heading" if found["heading"] is not None else "cue"
    return Statement(
        anchor, at, _end(page, options, start, end, slot), slot, page.text[start:end], meant == "if"
    )


def _end(page: Page, options: Options, start: int, end: int, slot: Slot) -> int:
    """Return where the words that name an option end; what follows them is looked at apart."""
    if slot.reading is Reading.OPTION and slot.by == "label":
        token = options.labels.lead.search(page.text, start, min(end, start + 60))
        label = options.labels.of(slot.positions[0])
        while token and options.labels.index(token["label"]) != slot.positions[0]:
            token = options.labels.lead.search(page.text, token.end(), min(end, start + 120))
        if token and label:
            return token.end()
    return end


def _negated(page: Page, options: Options, at: int, after: int, hi: int) -> Statement | None:
    start, end, _ = _slot_span(page, after, hi)
    said = page.text[start:end]
    slot = read_slot("not " + said, options)
    return Statement("cue", at, end, slot, said)


def _bare(
    page: Page, options: Options, at: int, after: int, lo: int, hi: int, stem: str
) -> Statement | None:
    """Read "answer C." and "Doğru cevap B" without a verb between."""
    if stem in _OPTION_NOUNS:
        return None
    pattern = re.compile(_BARE.format(label=options.labels.upper))
    found = pattern.match(page.text, after, hi)
    if not found or is_meant(page, at, lo, by_verb=True) != "yes":
        return None
    slot = options.label(found["label"])
    return Statement("cue", at, found.end("label"), slot, found["label"])


def _slot_span(page: Page, after: int, hi: int) -> tuple[int, int, bool]:
    """Return where a slot starts and its line ends, and whether it stands on a later line."""
    page.reads.append(after)
    blank = _BLANK.match(page.text, after, hi)
    start = blank.end() if blank else after
    if page.text.startswith("---", start) or page.text.startswith("===", start):
        line = page.text.find("\n", start, min(hi, start + 90))
        if line >= 0 and not page.text[start:line].strip("-="):
            blank = _BLANK.match(page.text, line, hi)
            start = blank.end() if blank else line
    limit = min(hi, start + MAX_SLOT_CHARS)
    end = page.text.find("\n", start, limit)
    return start, end if end >= 0 else limit, "\n" in page.text[after:start]


def _with_next_lines(page: Page, options: Options, first: re.Match[str], hi: int) -> Slot:
    """Read a label alone on its line, and labels alone on the lines below it."""
    positions = [options.labels.index(first[1])]
    found = options.labels.bare_line.match(page.text, first.end(), hi)
    while found and len(positions) < 30:
        positions.append(options.labels.index(found[1]))
        if found.end() >= hi:
            break
        found = options.labels.bare_line.match(page.text, found.end(), hi)
    return several(*positions) if len(positions) > 1 else Slot(Reading.OPTION, tuple(positions))


def _read_line(page: Page, options: Options, start: int, end: int, crossed: bool, hi: int) -> Slot:
    text = page.text
    line = text[start:end]
    labels = options.labels
    if labels.list_item.match(line):
        below = text[end + 1 : min(hi, end + 80)]
        item = labels.list_item.match(below)
        if item:  # the options told again, or several of them
            return _list(page, options, start, hi)
    bare = labels.bare_line.match(text, start, hi)
    if bare and labels.index(bare[1]) >= 0:
        column = _with_next_lines(page, options, bare, hi)
        if column.reading is not Reading.OPTION:
            return column
    sentence = _SENTENCE.split(line, maxsplit=1)[0]
    slot = read_slot(sentence, options)
    if crossed and slot.reading is Reading.OPTION and slot.by == "label":
        lead = labels.lead.match(clean(line))
        rest = clean(line)[lead.end() :] if lead else ""
        if lead and not lead["close"] and rest[:1].isspace() and rest.strip()[:1].isalpha():
            return Slot(Reading.NOTHING)  # prose that begins with "A"
    return slot


def _list(page: Page, options: Options, start: int, hi: int) -> Slot:
    told: list[int] = []
    at = start
    while at < hi and len(told) < 30:
        end = page.text.find("\n", at, min(hi, at + MAX_SLOT_CHARS))
        end = end if end >= 0 else min(hi, at + MAX_SLOT_CHARS)
        item = options.labels.list_item.match(page.text, at, end)
        if not item:
            break
        told.append(options.labels.index(item[1]))
        at = end + 1
    distinct = tuple(sorted({index for index in told if index >= 0}))
    if len(distinct) == len(options.texts):
        return Slot(Reading.NOTHING)
    return several(*distinct) if len(distinct) > 1 else Slot(Reading.NOTHING)


def read_chosen(
    page: Page, options: Options, at: int, lo: int, hi: int, stem: str
) -> Statement | None:
    """Read what follows "I choose", "that leaves", "it's", "选" ..."""
    low = page.low
    before = low[at - 1] if at > lo else " "
    if stem[0] == ",":  # "不是A，是C": what stands before is another clause
        at, before, stem = at + 1, ",", stem[1:]
    if before.isalpha() and before < "\u0590":
        return None
    if stem in ("that is", "that's") and _RELATIVE.search(low, max(lo, at - 24), at):
        return None
    pattern = _AFTER_CHOSEN if stem < "\u2e80" else _AFTER_CHOSEN_CJK
    found = pattern.match(low, at + len(stem), hi)
    if not found or (stem in "选選" and low.startswith(("项", "項"), at + 1)):
        return None
    start = found.end()
    if stem in _CONCLUSIONS:
        return _concluded(page, options, at, start, lo, hi)
    lead = options.labels.lead.match(page.text, start, hi)
    if lead and lead["label"].islower() and not lead["close"]:
        lead = None
    named = lead or stem in _ALSO_TEXT or _CLASS.match(low, start)
    if not named and not options.may_open(low, start):
        return None
    if "\n" in low[at:start]:
        return None
    limit = min(hi, start + CHOSEN_CHARS)
    end = page.text.find("\n", start, limit)
    opened = "(" if start > at and page.text[start - 1] == "(" else ""
    line = opened + page.text[start : end if end >= 0 else limit]
    line = _SENTENCE.split(line, maxsplit=1)[0]
    page.reads.append(start)
    slot = read_slot(line, options)
    if slot.reading not in (Reading.OPTION, Reading.SEVERAL, Reading.CONTRADICTION):
        return None
    if slot.by == "label":
        lead = re.match(
            rf"\W{{0,4}}(?:{_CLASS.pattern}\s+)?[*_(\[\"']{{0,4}}{options.labels.upper}",
            line,
            re.IGNORECASE,
        )
        if not lead:
            return None
        if slot.reading is Reading.OPTION and not _CHOSEN_ENDS.match(line, lead.end()):
            return None
        if line[lead.end() - 1].islower() and line[lead.end() : lead.end() + 1] != ")":
            return None
    elif slot.by not in ("position", "text") and stem not in _ALSO_TEXT:
        return None
    if slot.by == "last words" or (
        slot.reading is Reading.SEVERAL
        and not _FIRST_PERSON.search(low, max(lo, at - 16), at)
        and stem not in ("选", "选择")
    ):
        return None
    if is_question(page, start, hi) or is_meant(page, at, lo, by_verb=True) != "yes":
        return None
    if slot.reading is Reading.OPTION:  # "选A还是选B"
        joined = re.search(
            _OR_BEFORE.format(label=options.labels.upper), page.text[max(lo, at - 24) : at]
        )
        if joined:
            slot = several(options.labels.index(joined[1]), *slot.positions)
    return Statement("chosen", at, start + len(line) - len(opened), slot, line)


def _concluded(
    page: Page, options: Options, at: int, start: int, lo: int, hi: int
) -> Statement | None:
    """Read "so B." where nothing else follows in the sentence."""
    lead = options.labels.lead.match(page.text, start, hi)
    if page.low.endswith("is ", at, start):
        return None  # "and so is B"
    if not lead or lead["label"].islower() or not _CONCLUDED.match(page.text, lead.end(), hi):
        return None
    slot = options.label(lead["label"])
    if slot.reading is not Reading.OPTION or is_meant(page, at, lo) == "no":
        return None
    return Statement("chosen", at, lead.end(), slot, lead[0])


def read_correction(
    page: Page, options: Options, at: int, lo: int, hi: int, stem: str
) -> Statement | None:
    """Read "no, B" and "changed it to B"."""
    start = at
    found = options.labels.corrected.match(page.text, at, min(hi, at + 80))
    if not found or is_question(page, found.end(), hi):
        return None
    if found[1] in "AI" and page.text[found.end() : found.end() + 1] == " ":
        return None
    slot = options.label(found[1])
    if slot.reading is not Reading.OPTION:
        return None
    return Statement("correction", start, found.end(), slot, found[0])
