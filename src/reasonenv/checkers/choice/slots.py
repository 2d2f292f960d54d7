r"""Reading one answer slot: the option that these few words name (policy 7-19).

A slot is what stands in a box, a tag, or after "answer:". `read_slot` names one option, or says
why it does not: nothing readable, several, a label and a text that disagree, a label out of range,
or a negation.
"""

from __future__ import annotations

import re

from reasonenv.checkers.choice.fold import ARABIC_LABELS, fold
from reasonenv.checkers.choice.listing import TOLD
from reasonenv.checkers.choice.options import MAX_SLOT_CHARS, Options, clean, in_words, text_key
from reasonenv.checkers.choice.positions import read_position
from reasonenv.checkers.choice.reading import NOTHING, Reading, Slot, several

__all__ = ["read_slot"]

MAX_LEADS = 4
"""Of words such as "option" or "probably" that may stand before a label."""
BESIDE_CHARS = 200
"""Characters after a label that are searched for a second one."""
CORRECTED_WITHIN = 160
"""Characters after a label that are searched for words that take it back."""

_NEGATION = re.compile(
    r"(?:certainly|clearly|definitely|probably|surely|obviously)?\s*(?:not|never|isn't|n't|cannot"
    r"|can't|neither|nor|none|anything but|any but|except|nicht|keine?s?|ni|ninguna?|nessuna?|nie"
    r"|не|aucune?|不是|不|没有)\b",
    re.IGNORECASE,
)
_BUT = (
    r"(?<!any )(?<!thing )(?:\bbut(?: rather)?|\bsondern|\bmais|\bsino|\bbensì|\bmas|\bmaar|\blecz"
    r"|\bа|\btylko|而是|,\s?是)[\s:*(]*(?:option\s+)?"
)
_LEAD = re.compile(
    r"(?:(?:the|la|le|el|il|die|der|das|(?-i:o|a))\s+)?(?:(?:final|correct|best|right|richtige"
    r"|bonne)\s+)?"
    r"(?:(?:option|choice|answer|letter|statement|opción|opção|opzione|alternativa|letra|letter"
    r"|lettre|lettera|antwort|réponse|respuesta|resposta|risposta|antwoord|odpowiedź|вариант|ответ"
    r"|буква|seçenek|şık|phương án|đáp án|pilihan|jawaban|विकल्प|الخيار|optie|opcja)\b"
    r"\s*(?:is\b|ist\b|est\b|es\b|è\b)?\s*[:#.-]?\s*|(?:选项|選項|选|選択肢)\s*[:：]?\s*)"
    r"|(?:probably|definitely|clearly|likely|most likely|simply|hence|so|thus|therefore|i think"
    r"|i believe|maybe|perhaps|certainly|obviously|of course|indeed|actually|just|only|indisputably"
    r"|it is|it's|that is|is|be|lit|c'est|es|é|è|wohl|wahrscheinlich|eindeutig|sicher"
    r"|probablement|sans doute|probablemente|seguramente|provavelmente|probabilmente"
    r"|waarschijnlijk|prawdopodobnie|вероятно|скорее всего|muhtemelen)\b[,:]?\s+"
    r"|(?:the|la|le|il|el|lo|die|der|das|de|het|à|to|то|это|(?-i:a"
    r"|o))\s+(?=[\[(]?[A-Z][\])]?(?:[^\w']|\Z))"
    r"|(?:应该是|可能是|大概是|是|为)\s*",
    re.IGNORECASE,
)
_EITHER = re.compile(
    r"(?:either|between|one of|both|entweder|soit|tra|entre|among)\b", re.IGNORECASE
)
_MAY_FOLLOW_ARTICLE = re.compile(
    r"\s+(?!(?:because|since|is|as|for|and|or|but|not|rather|with|which|though|although|fits|was"
    r"|has"
    r"|it|here|due|instead|seems|matches|works|best|being|where|while|weil|da|denn|ist|und|oder|car"
    r"|parce|puisque|est|porque|pues|ya|es|è|perché|poiché|pois|é|omdat|want|bo|ponieważ|gdyż"
    r"|потому|так|çünkü|vì|karena)\b)[^\W\d_A-Z]"
)
_PRONOUN_VERB = re.compile(
    r"'|\s(?:am|was|have|had|do|did|don't|can|can't|cannot|could|couldn't|will|won't|would|think"
    r"|thought|believe|guess|know|choose|chose|pick|picked|say|said|need|see|feel|hope|apologi[sz]e"
    r"|must|might|may|should|also|really|just|find|am)\b"
)
_ENDS_TEXT = re.compile(
    r"\s*(?:\Z|[.;:,(—–!?)\n-](?!\d)|(?:because|since|as|which|who|with|due|and is|being|where"
    r"|weil|da|denn|ist|car|parce|puisque|porque|pues|perché|perche|pois|omdat|want|ponieważ)\b)"
)
_ENDS_OR_THAT = re.compile(rf"{_ENDS_TEXT.pattern}|\s*that\b")
_ENDS_AFTER_LABEL = re.compile(r"\s*(?:\Z|[.;:!?)\n](?!\d))")
_LABEL_LAST = r"(?P<text>.{{1,300}}?)\s*(?:[\[(]|[,;:—–-]\s|,?\s)(?:option\s|choice\s|answer\s)?"
_NOT_NAMED = re.compile(
    r"\b(?:at least|at most|more than|less than|fewer than|greater than|up to|between|over|under"
    r"|not|never|no|n't|neither|nor|except|rather than|instead of|or|and|unless|if|than)\b"
    r"|n't\b"
)
_POST_NEGATION = re.compile(r"\s*(?:değil|ではな|ではあり|じゃな|[이가]?\s?아니|नहीं)")
_PLACEHOLDER = re.compile(
    r"[\[({<\"'$*\s]*(?:X|LETTER|YOUR.{0,30}|OPTION|ANSWER|[A-Z]/[A-Z](?:/[A-Z])+|[A-Z]-[A-Z])"
    r"[\])}>\"'$*\s.]*\Z"
)
_OUTER = " .:,;!?-–—。，！？、|"
_REJECTED = re.compile(
    r"[\s:.)\]|–—-]{0,5}(?:(?:is|are|was|seems|looks|ist|est|es|è|é|jest|to)\s)?(?:(?:clearly|also"
    r"|too|just"
    r"|simply|obviously|therefore|definitely)\s)?(?:wrong|incorrect|false\b|not\b|no\b(?=[\s.,;]"
    r"|\Z)|out\b"
    r"|ruled|excluded|eliminated|✗|✘|❌|×|falsch|nicht|faux|fausse|incorrecta|falsa|sbagliat|errad"
    r"|fout|błędn"
    r"|неверн|неправильн|yanlış|错|不|間違|틀|خطأ|गलत|sai\b|salah)",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\s(?:is|was|are|isn't|wasn't|can|can't|cannot|does|doesn't|would|might|could|may|seems"
    r"|looks|has"
    r"|ist|est|es|è|é)\b"
)
_SPLIT = re.compile(
    r"\s*(?:,|;|/|&|、|\band\b|\bund\b|\bet\b|\by\b|\be\b|\ben\b|\bi\b|\bи\b|\bve\b|和|と)\s*"
)


def read_slot(raw: str, options: Options) -> Slot:
    """Return which option the words of one slot name, or why they name none.

    Args:
        raw: the words, with whatever marks stand around them; the first 600 characters count.
        options: of the problem.
    """
    if TOLD in raw or options.listing.kind(raw):
        return several(*range(len(options.texts)))
    raw = fold(raw[:MAX_SLOT_CHARS])
    if len(options.labels.listed.findall(raw)) > 1:  # `clean` joins the lines
        told = [options.labels.index(token) for token in options.labels.listed.findall(raw)]
        if len(set(told)) > 1:
            return Slot(Reading.SEVERAL, tuple(sorted({i for i in told if i >= 0})))
    lines = raw.strip().split("\n")
    if len(lines) > 1:
        bare = [options.labels.bare_line.fullmatch(line) for line in lines if line.strip()]
        if all(bare):
            return several(*(options.labels.index(found[1]) for found in bare if found))
    if _PLACEHOLDER.match(raw) and not _known(raw, options):
        return NOTHING
    return _read(clean(raw), options, MAX_LEADS)


def _known(raw: str, options: Options) -> bool:
    inner = raw.strip("[](){}<>\"'$* .\n")
    return options.labels.index(inner) >= 0 or options.whole(inner) is not None


def _read(slot: str, options: Options, leads: int) -> Slot:
    inner = slot.strip(_OUTER)
    if not inner:
        return NOTHING
    labels = options.labels
    bare = labels.lead.fullmatch(inner)
    if bare:
        found = options.label(bare["label"])
        if found.reading is Reading.OPTION:
            return found
    run = None if bare else labels.run.fullmatch(inner)
    if run:
        tokens = re.findall(labels.upper, inner)
        told = [labels.index(token) for token in tokens]
        if (
            len({*told} - {-1}) == len(options.texts)
            and -1 not in told
            and (len(inner) > sum(map(len, tokens)) or inner not in options.texts)
        ):
            return several(*told)  # all of them, whatever the texts say
    whole = options.whole(slot)
    if whole is not None:
        return whole
    if bare:
        return options.number(inner) or Slot(Reading.OUT_OF_RANGE)
    if _NEGATION.match(slot):
        return _negated(slot, options)
    position = read_position(slot, options)
    if position is not None:
        return position
    lead = _LEAD.match(slot)
    if lead and lead.end() < len(slot) and leads > 0:
        return _read(slot[lead.end() :], options, leads - 1)
    either = _EITHER.match(slot)
    if either:
        named = labels.standing.findall(slot, 0, 80)
        if len(set(named)) > 1:
            return several(*(labels.index(token) for token in named))
    if run and -1 not in told:
        return several(*told)
    return (
        _labelled(slot, options)
        or _text_first(slot, options)
        or options.prefix(slot, _ENDS_TEXT if options.are_true_and_false else _ENDS_OR_THAT)
        or options.number(slot.strip(" :,;!?"))
        or _texts_joined(slot, options)
        or _last_words(slot, options)
        or NOTHING
    )


def _negated(slot: str, options: Options) -> Slot:
    but = re.search(_BUT + rf"[\[(]?({options.labels.upper})(?![\w'])", slot)
    if but:
        return options.label(but[1])
    tokens = [options.labels.index(token) for token in options.labels.standing.findall(slot)]
    return Slot(Reading.NEGATED, tuple(index for index in tokens if index >= 0))


def _labelled(slot: str, options: Options) -> Slot | None:
    """Read `B`, `(b)`, `B) Canberra`, `B because ...`, `A and C`; None where no label leads."""
    labels = options.labels
    arabic = labels.arabic.match(slot)
    if arabic:
        return options.label(ARABIC_LABELS[arabic[1]])
    found = labels.lead.match(slot)
    if found is None:
        return None
    token, rest = found["label"], slot[found.end() :]
    bracketed = bool(found["open"].strip() or found["close"].strip())
    alone = not rest.strip(_OUTER + ")]")
    if labels.are_letters:
        if token.islower() and not (alone or bracketed or rest[:1] in ".):"):
            return None
        if not alone and not bracketed and token in "AIEOY" and _MAY_FOLLOW_ARTICLE.match(rest):
            prefix = options.prefix(slot, _ENDS_TEXT)
            own = options.label(token)
            if prefix is not None:
                return prefix
            named = options.whole(rest)
            if named is None or named.positions != own.positions:
                return None
    elif not (alone or bracketed or rest[:1] in ".):,;" or rest[:1].isspace()):
        return None
    elif not bracketed and token in "Ii" and _PRONOUN_VERB.match(rest):
        return None  # the pronoun
    answer = options.label(token)
    if answer.reading is Reading.OUT_OF_RANGE:
        return answer if alone or bracketed or rest[:1] in ".):" else None
    if alone:
        return answer
    if _POST_NEGATION.match(rest):
        return Slot(Reading.NEGATED, answer.positions)
    if _REJECTED.match(rest) and options.whole(rest.lstrip(" :.)-")) is None:
        return Slot(Reading.NEGATED, answer.positions)
    if not bracketed and _VERB.match(rest):
        return None  # a sentence about the option: `spoken` knows whether it calls it right
    spelled = options.whole(rest[1:]) if rest[:1] == "," else None
    if spelled is not None and spelled.positions == answer.positions:
        return answer
    joined = _joined(answer, rest[:BESIDE_CHARS], options)
    if joined is not None:
        return joined
    corrected = labels.corrected.search(rest[:CORRECTED_WITHIN])
    if corrected and labels.index(corrected[1]) >= 0:
        return options.label(corrected[1])
    named = _text_after_label(rest, options)
    if (
        named is not None
        and named.reading is Reading.OPTION
        and named.positions != answer.positions
    ):
        return Slot(Reading.CONTRADICTION, (*answer.positions, *named.positions))
    return answer


def _joined(first: Slot, rest: str, options: Options) -> Slot | None:
    """Read what follows the first of several labels: "or C", ", D and A", "or C, most likely C"."""
    labels = options.labels
    joined = labels.joined.match(rest)
    positions = list(first.positions)
    at = 0
    while joined:
        positions.append(labels.index(joined[joined.lastindex or 1]))
        at = joined.end()
        joined = labels.joined.match(rest, at)
    if at == 0:
        later = labels.later.search(rest) if "(" in rest or "[" in rest else None
        if later is None or labels.index(later[1]) in first.positions:
            return None
        positions.append(labels.index(later[1]))
    if len(set(positions)) > 1:
        rather = labels.rather.search(rest, at)
        if rather:
            return options.label(rather[1])
    return several(*positions)


def _text_after_label(rest: str, options: Options) -> Slot | None:
    """Return the option whose text follows a label."""
    text = rest.lstrip(" ).:-—–(,[]\"'").rstrip()
    if rest.lstrip()[:1] == "(" and text.endswith(")"):
        text = text[:-1]
    if not text:
        return None
    whole = options.whole(text) or options.prefix(text, _ENDS_AFTER_LABEL)
    if whole is None and text[:1].isdigit():
        number = options.number(text.strip(_OUTER))
        whole = number if number is not None and number.by == "number" else None
    return whole


def _text_first(slot: str, options: Options) -> Slot | None:
    """Read `William Shakespeare (C)` and `Canberra, option B`."""
    if len(slot) > MAX_SLOT_CHARS // 2:
        return None
    found = re.match(_LABEL_LAST.format() + rf"({options.labels.upper})[\])]?[.!]?\Z", slot)
    if found is None:
        return None
    named, label = options.whole(found["text"]), options.label(found[2])
    if named is None or named.reading is not Reading.OPTION:
        return None
    if named.positions == label.positions:
        return named
    return Slot(Reading.CONTRADICTION, (*named.positions, *label.positions))


def _texts_joined(slot: str, options: Options) -> Slot | None:
    """Read "Rhine and Thames": texts of several options, joined as a list."""
    parts = [part for part in _SPLIT.split(slot.strip(_OUTER)) if part]
    if not 2 <= len(parts) <= len(options.texts):
        return None
    named = [options.whole(part) for part in parts]
    if not all(found is not None and found.position is not None for found in named):
        return None
    return several(*(found.positions[0] for found in named if found))


def _last_words(slot: str, options: Options) -> Slot | None:
    """Read "clearly a warm colour: C" and "the planet Jupiter": one option ends the slot."""
    if len(slot) > MAX_SLOT_CHARS // 2:
        return None
    labels = options.labels
    tokens = {token for token in labels.standing.findall(slot) if token not in ("A", "I")}
    closing = re.search(rf"[:—–]\s*[\[(]?({labels.upper})[\])]?[.!]?\Z", slot)
    if closing and len(tokens | {closing[1]}) == 1:
        found = options.label(closing[1])
        return Slot(found.reading, found.positions, "last words")
    key = text_key(slot)
    if tokens or _NOT_NAMED.search(key):
        return None
    words = in_words(key)
    named = options.named(words)
    if len({position for position, _, _ in named}) == 1 and named[-1][2] == len(words):
        return Slot(Reading.OPTION, (named[0][0],), "last words")
    return None
