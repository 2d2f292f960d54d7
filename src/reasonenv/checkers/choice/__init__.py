"""Judging a multiple choice answer: which single option has the reply finally committed to?

* `ChoiceJudge`: a problem and a completion in, a `Verdict` out.
* `extract_choice(completion, options)`: the letter, or why there is none.

Inside: `anchors` (where a reply commits itself), `slots` (what one slot names). The last explicit
statement wins; several labels, a label whose text is another option's, a label out of range and a
retraction are malformed; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from reasonenv.answer_format import AnswerFormat
from reasonenv.checkers.choice.anchors import Anchor, closing_slots, find_anchors
from reasonenv.checkers.choice.slots import Options, Reading, Slot, clean, fold, read_slot
from reasonenv.checkers.text import blank_thinking, cut_at_stop_token
from reasonenv.types import FrozenDict, Problem, Status, Verdict

__all__ = ["ChoiceAnswer", "ChoiceJudge", "extract_choice"]

MAX_OPTIONS = 26
"""One letter each."""
SPAM_MARKERS = 3
"""So many different answers in a row with no words between are no answer (policy 9)."""
MIN_NAMED_CHARS = 3
"""Of an option text that a sentence may name without saying so: a shorter one may be any word."""
RETRACTION_CHARS = 120
"""After the last statement, searched for words that take it back."""


@dataclass(frozen=True, slots=True)
class ChoiceAnswer:
    """The option a reply commits itself to.

    Args:
        letter: its label, None where there is none or not exactly one.
        status: "answered", "no_answer" (nothing is committed to), or "malformed" (several, out of
            range, self-contradicting, retracted).
        detail: `anchor` (the kind of place), `span` (its start and end in the completion), and
            `reason` where there is no letter.
    """

    letter: str | None
    status: Literal["answered", "no_answer", "malformed"]
    detail: Mapping[str, Any] = field(default_factory=FrozenDict)


_STRUCK = re.compile(r"~~[^~\n]{0,200}~~")
_RUNAWAY = re.compile(r"\n\s{0,4}(?:Human|User|Question|Q)\s?:", re.IGNORECASE)
_RETRACTED = re.compile(
    r"\b(?:that is|that's|this is|it is|it's|I was|i am)\s(?:wrong|incorrect|not right|mistaken)\b"
    r"|\bscratch that\b",
    re.IGNORECASE,
)
_WORDLESS = re.compile(r"(?:[\W_]|\b(?:the|so|final|correct|my)\b)*", re.IGNORECASE)
_JOINING_BOXES = re.compile(r"[\s$,/]*(?:or|and)[\s$]*|[\s$]*[,/][\s$]*")
_UNSURE = re.compile(r"\b(?:could|might|may|maybe|either|both|not|n't|if)\b", re.IGNORECASE)


def extract_choice(
    completion: str, options: Sequence[str], reasoning_tag: str | None = None
) -> ChoiceAnswer:
    """Return the option that a completion finally commits itself to.

    Args:
        completion: prefill and completion.
        options: the option texts, in the order of their labels A, B, C ...
        reasoning_tag: one more tag that marks thinking.

    Returns:
        The answer. Linear in the length of `completion`; never raises.

    >>> extract_choice("Not A. Answer: (b) Canberra", ["Sydney", "Canberra"]).letter
    'B'
    """
    prepared = Options(options)
    text = fold(cut_at_stop_token(blank_thinking(completion, reasoning_tag)))
    text = _STRUCK.sub(lambda struck: " " * len(struck[0]), text)
    anchors = [(anchor, _read(anchor, prepared)) for anchor in find_anchors(text)]
    runaway = _RUNAWAY.search(text)
    if runaway:  # once an answer has been given, a made-up next turn is ignored
        before = [pair for pair in anchors if pair[0].start < runaway.start()]
        if any(slot.letter for _, slot in before):
            anchors, text = before, text[: runaway.start()]
    commitments = [
        (anchor, slot)
        for anchor, slot in anchors
        if slot.reading is not Reading.NOTHING or (anchor.kind in ("tag", "open tag"))
    ]
    if commitments:
        return _last(commitments, text)
    for anchor in closing_slots(text):
        slot = _read(anchor, prepared)
        if slot.reading is not Reading.NOTHING:
            return _answer(anchor, slot)
    return _named_in_prose(text, prepared)


def _read(anchor: Anchor, options: Options) -> Slot:
    slot = read_slot(anchor.text, options)
    if anchor.kind == "open tag" and len(anchor.text.strip(" .()\n")) != 1:
        return Slot(Reading.NOTHING)  # cut off before it was whole
    return slot


def _last(commitments: list[tuple[Anchor, Slot]], text: str) -> ChoiceAnswer:
    anchor, slot = commitments[-1]
    if anchor.kind == "chosen" and slot.reading is not Reading.LETTER and len(commitments) > 1:
        anchor, slot = commitments[-2]
    run = {slot.letter}
    after = anchor
    for before, other in reversed(commitments[:-1]):
        gap = text[before.end : after.start] if before.end <= after.start else ""
        joined = before.kind == after.kind == "box" and _JOINING_BOXES.fullmatch(gap)
        if joined and other.letter != slot.letter:
            return _answer(anchor, Slot(Reading.SEVERAL))
        if not _WORDLESS.fullmatch(gap[:RETRACTION_CHARS]):
            break
        run.add(other.letter)
        after = before
    if len(run - {None}) >= SPAM_MARKERS:
        return _answer(anchor, Slot(Reading.SEVERAL))
    if _RETRACTED.search(text[anchor.end : anchor.end + RETRACTION_CHARS]):
        return _answer(anchor, slot, "retracted")
    return _answer(anchor, slot)


def _answer(anchor: Anchor, slot: Slot, reason: str | None = None) -> ChoiceAnswer:
    detail: dict[str, Any] = {"anchor": anchor.kind, "span": [anchor.start, anchor.end]}
    if slot.letter is not None and reason is None:
        return ChoiceAnswer(slot.letter, "answered", detail)
    detail["reason"] = reason or str(slot.reading)
    status: Literal["no_answer", "malformed"] = (
        "no_answer" if slot.reading in (Reading.NOTHING, Reading.NEGATED) else "malformed"
    )
    return ChoiceAnswer(None, status if reason is None else "malformed", detail)


def _named_in_prose(text: str, options: Options) -> ChoiceAnswer:
    """Accept a reply of one sentence that names exactly one option text (policy 12)."""
    nothing = ChoiceAnswer(None, "no_answer", {"anchor": None, "reason": "no answer stated"})
    sentence = clean(text)
    if len(text.strip()) > 400 or _UNSURE.search(sentence):
        return nothing
    opening = re.match(r"(yes|no|true|false)\b[.,!]?", sentence, re.IGNORECASE)
    if opening and options.letter_of_text(opening[1]) is not None:
        slot = options.letter_of_text(opening[1])
        if slot is not None and not re.match(r"\w+ (?:and|or)\b", sentence):
            return _answer(Anchor("opening word", 0, len(text), sentence), slot)
    if re.search(r"[.!?]\s+\S", sentence):
        return nothing
    folded = f" {_in_words(sentence.casefold())} "
    named = [
        index for index, key in enumerate(options.keys) if key and f" {_in_words(key)} " in folded
    ]
    named = [
        i for i in named if not any(i != j and options.keys[i] in options.keys[j] for j in named)
    ]
    if len(named) != 1 or len(options.keys[named[0]]) < MIN_NAMED_CHARS:
        return nothing
    slot = Slot(Reading.LETTER, options.letters[named[0]])
    return _answer(Anchor("one option named", 0, len(text), sentence), slot)


def _in_words(text: str) -> str:
    return re.sub(r"[^\w.+-]+", " ", text).strip(" .")


@dataclass(frozen=True)
class ChoiceJudge:
    """Whether the option that a completion commits itself to is `problem.answer`.

    Reads `problem.metadata["options"]` (texts in the order of their labels) and `problem.answer`
    (a letter, or None where no option is right: then any letter is INCORRECT).

    Args:
        format: how the prompt demanded the layout: its reasoning tag is thinking, and an answer in
            the place it demands outranks any other.

    >>> problem = Problem("?", "B", {"options": ["Sydney", "Canberra"]})
    >>> ChoiceJudge()(problem, "It is the second option: Canberra.").status
    <Status.CORRECT: 'correct'>
    """

    format: AnswerFormat | None = None

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        """Return the verdict on `completion`; an unusable problem is a CHECKER_ERROR."""
        options: Any = problem.metadata.get("options")
        gold = problem.answer
        error = _unusable(options, gold)
        if error:
            return Verdict(Status.CHECKER_ERROR, 0.0, None, {"error": error})
        reasoning = self.format.reasoning if self.format else None
        found = None
        if self.format is not None:
            shown = cut_at_stop_token(blank_thinking(completion, reasoning))
            demanded = self.format.extract(shown)
            if demanded is not None:
                slot = read_slot(demanded, Options(options))
                found = _answer(Anchor("format", 0, len(completion), demanded), slot)
        if found is None:
            found = extract_choice(completion, options, reasoning)
        if found.letter is None:
            status = Status.MALFORMED if found.status == "malformed" else Status.NO_ANSWER
            return Verdict(status, 0.0, None, found.detail)
        right = gold is not None and found.letter == gold.strip().upper()
        status = Status.CORRECT if right else Status.INCORRECT
        return Verdict(status, float(right), found.letter, found.detail)


def _unusable(options: Any, gold: Any) -> str | None:
    """Return why a problem cannot be judged, None where it can."""
    if not isinstance(options, list | tuple) or not 2 <= len(options) <= MAX_OPTIONS:
        return f"metadata['options'] holds 2 to {MAX_OPTIONS} texts, got {options!r:.80}"
    if not all(isinstance(option, str) for option in options):
        return f"metadata['options'] holds texts, got {options!r:.80}"
    letters = [chr(ord("A") + index) for index in range(len(options))]
    if gold is not None and (not isinstance(gold, str) or gold.strip().upper() not in letters):
        return f"the gold is one of {', '.join(letters)}, or None, got {gold!r:.80}"
    return None
