"""What stands before and after a statement: whose it is, whether it is meant, whether it is kept.

Every look is bounded, so a statement costs the same in a short and in a long completion.
"""

from __future__ import annotations

import re

from reasonenv.checkers.choice.page import Page

__all__ = ["is_example", "is_meant", "is_question", "sentence_before"]

BEFORE_CHARS = 160
"""Before a cue, searched for the start of its sentence."""
_STOPS = (". ", "!", "?", "\n", "。", ";", ":", "।", "؟", ") ")  # full-width ones are folded
_CLAUSES = (",", "、", " so ", " therefore ", " hence ", " thus ", " but ", " yet ", " — ", "،")

_OTHERS = re.compile(
    r"\b(?:some|many|most|several|others|another|students?|people|they|critics|someone|somebody|he"
    r"|she|it is said|one|you|everyone|friend|colleague|classmate|teacher|brother|sister|author"
    r"|book"
    r"|manche|viele|einige|certains|beaucoup|algunos|muchos|alcuni|molti|muitos|alguns|некоторые"
    r"|многие|有人|有些人|很多人|一部の人|어떤 사람)\b"
    r"[^.;:\n]{0,50}\b(?:say|says|said|told|tells|wrote|writes|think|thinks|thought"
    r"|believe|believes|claim|claims|argue|argues|choose|chose|pick|picked|answer|answered|guess"
    r"|select|assume|assumes|insist|might|would|may|could|sagen|meinen|glauben|wählen|denken|disent"
    r"|pensent|croient|dicen|piensan|creen|dicono|pensano|dizem|pensam|говорят|думают|считают"
    r"|认为|觉得|说|会选|考える|생각)"
)
_OTHER_SUBJECT = re.compile(
    r"\b(?:some|many|most|several|others|students?|people|they|critics|someone|somebody|he|she"
    r"|everyone|friend|colleague|classmate|teacher|you (?:might|may|could)|one (?:might|may|could)"
    r"|who)(?:\s(?!i\b|i'|we\b|so\b|therefore\b)[\w']+){0,8}\s\Z|(?:有人|很多人|有些人|学生)[^，。]{0,4}\Z"
)
_HISTORY = re.compile(
    r"\b(?:at first|initially|originally|(?:first|initial) (?:guess|thought|instinct|impression"
    r"|choice|pick|answer|reaction)|earlier|previously|tempted|tempting|almost|nearly|used to"
    r"|was going to|wanted to|draft|zuerst|anfangs|zunächst|d'abord|au début|al principio"
    r"|inicialmente|all'inizio|inizialmente|сначала|сперва|początkowo|önce|i first|might think"
    r"|would think|may think|common mistake|trap)\b|一开始|起初|原本|最初|本来|처음"
)
_NEGATED = re.compile(
    r"\b(?:not(?! only)|never|cannot|neither|without|whether|doubt|unlikely|unsure|avoid|wrong to"
    r"|nicht|keine?|ne|non|não|niet|nie|не|không|bukan|unclear|(?<!is )(?<!'s )why)\b|n't\b|\bn'"
    r"|不(?!过)|没有|没|아니"
    r"|\bno\b(?! (?:doubt|question|need|problem))"
)
_IF = re.compile(
    r"\b(?:if(?! i (?:have|had|must))|suppose|supposing|assume|assuming|unless|had the|were the"
    r"|otherwise|wenn"
    r"|falls|jeśli|gdyby|если|eğer|nếu|jika|kalau)\b|\bsi (?!dice)"
    r"|如果|假如|若|もし|만약|إذا|अगर|यदि"
)
_SUPPOSED = re.compile(r"\bwhat if\b|\A\s*(?:suppose|imagine)\b")
_THEN = re.compile(r"\b(?:so|therefore|hence|thus|we (?:get|find|see|have|obtain))\b")
_EXAMPLE = re.compile(
    r"(?:format|template|e\.g\.|for example|for instance|such as|example|z\. ?b\."
    r"|zum beispiel|par exemple"
    r"|por ejemplo|ad esempio|por exemplo|например|例如"
    r"|比如)[\s,:(]*[\"'*`(]{0,3}(?:the )?"
    r"(?:(?:final |correct )?(?:answer|antwort)(?: is)?:?\s*)?\Z"
)
_INSTRUCTION = re.compile(
    r"\b(?:format|in the form|of the form|respond with|reply with|end with|end your|finish with"
    r"|should (?:be|look|read|say|end|contain)|the last line|one of the following|instructions?"
    r"|(?:put|place|write|give|enclose|box|provide|state|output) (?:your|the) (?:final )?"
    r"(?:answer|letter|choice|option)|you (?:asked|must|need|said|should)|template"
    r"|question (?:is|asks)|(?:or|and|to|must|should) (?:state|say|decide|explain|determine)"
    r" (?:that|whether|if|which))\b"
)


_CONCEDED = re.compile(
    r"\s*(?:while|although|though|even though|whereas|obwohl|bien que|aunque|embora)\b[^,]{1,120},"
    r"|.{1,140}, but (?=[^,]*\Z)"
)
_THEREFORE = ("so ", "therefore", "hence ", "thus ")


def sentence_before(page: Page, at: int, lo: int) -> str:
    """Return what stands before a place in its sentence, in lower case, at most 160 characters."""
    window = page.low[max(lo, at - BEFORE_CHARS) : at]
    cut = max(window.rfind(stop) for stop in _STOPS)
    return window[cut + 1 :] if cut >= 0 else window


def is_meant(page: Page, at: int, lo: int, *, by_verb: bool = False, would: bool = False) -> str:
    """Return "yes", "if" (it hangs on a condition), or "no": another's view, an example, a draft.

    Args:
        page: the completion.
        at: where the statement begins.
        lo: where its segment begins.
        by_verb: the statement is a verb, whose subject stands directly before it.
        would: the statement is in the conditional: with a condition it is not meant at all.
    """
    sentence = sentence_before(page, at, lo)
    conceded = _CONCEDED.match(sentence)
    if conceded:
        sentence = sentence[conceded.end() :]
    if not sentence.strip(" *_#>\"'-"):
        return "yes" if not is_example(page, at, lo) else "no"
    clause = sentence
    for mark in _CLAUSES:
        clause = clause[clause.rfind(mark) + 1 :]
    if (
        _NEGATED.search(clause)
        or _OTHERS.search(sentence, sentence.rfind(", but ") + 1)
        or (by_verb and _OTHER_SUBJECT.search(clause))
        or _HISTORY.search(clause)
        or _INSTRUCTION.search(clause if clause[:8].strip().startswith(_THEREFORE) else sentence)
        or is_example(page, at, lo)
    ):
        return "no"
    if _SUPPOSED.search(sentence):
        return "no"
    condition = None
    for condition in _IF.finditer(sentence):  # noqa: B007 - the last one is wanted
        pass
    if condition is None or _THEN.search(sentence, condition.end()):
        return "yes"
    return "no" if would else "if"


def is_example(page: Page, at: int, lo: int) -> bool:
    """Whether words such as "for example" or "in the format" stand right before a place."""
    return _EXAMPLE.search(page.low[max(lo, at - 30) : at]) is not None


_TAG_QUESTION = re.compile(r"\bi (?:guess|think|suppose|believe)\Z|, (?:right|no|isn't it)\Z")
_END = re.compile(r"[.!?\n。！？]")


def is_question(page: Page, at: int, hi: int) -> bool:
    """Whether the sentence that goes on at a place ends in a question mark."""
    end = _END.search(page.text, at, min(hi, at + BEFORE_CHARS))
    if end is None or end[0] not in "?？":
        return False
    return _TAG_QUESTION.search(page.low, at, end.start()) is None
