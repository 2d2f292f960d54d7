"""`ChoiceJudge`: whether the option that a completion commits itself to is the gold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reasonenv.answer_format import AnswerFormat
from reasonenv.checkers.choice.extract import ChoiceAnswer, answer_from, extract_from
from reasonenv.checkers.choice.fold import fold
from reasonenv.checkers.choice.labels import MAX_OPTIONS, letters
from reasonenv.checkers.choice.options import Options, prepare
from reasonenv.checkers.choice.reading import Reading, Slot
from reasonenv.checkers.choice.slots import read_slot
from reasonenv.checkers.choice.statement import Statement
from reasonenv.checkers.text import blank_thinking, cut_at_stop_token
from reasonenv.types import Problem, Status, Verdict

__all__ = ["ChoiceJudge"]


_SAME_TEXT = "the gold and the chosen option have the same text, so neither can be told right"


class _UnusableError(ValueError):
    """A problem that cannot be judged."""


@dataclass(frozen=True)
class ChoiceJudge:
    """Whether the option that a completion commits itself to is `problem.answer`.

    Reads from `problem.metadata`:

    * `options`: 2 to 26 texts, in the order of their labels;
    * `labels`: what the prompt calls them (`("1", "2")`, `("I", "II")`); A, B, C ... unless given;
    * `multiple`: True where several options may be right: then the gold is a list of labels, and
      exactly these have to be chosen.

    `problem.answer` is a label, or a letter that counts from A; None where no option is right (then
    any choice is INCORRECT).

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
        multiple = problem.metadata.get("multiple") is True
        try:
            options = _options(problem.metadata)
            gold = _gold(problem.answer, options, multiple)
        except _UnusableError as error:
            return Verdict(Status.CHECKER_ERROR, 0.0, None, {"error": str(error)})
        found = self._demanded(completion, options, multiple) if self.format else None
        if found is None:
            reasoning = self.format.reasoning if self.format else None
            found = extract_from(completion, options, reasoning, multiple)
        if found.letter is None:
            status = Status.MALFORMED if found.status == "malformed" else Status.NO_ANSWER
            return Verdict(status, 0.0, None, found.detail)
        chosen = {options.labels.index(letter) for letter in found.letters}
        if chosen != gold and {options.keys[i] for i in chosen} == {options.keys[i] for i in gold}:
            return Verdict(
                Status.CHECKER_ERROR, 0.0, found.letter, {"error": _SAME_TEXT, **found.detail}
            )
        right = bool(gold) and chosen == gold
        status = Status.CORRECT if right else Status.INCORRECT
        return Verdict(status, float(right), found.letter, found.detail)

    def _demanded(self, completion: str, options: Options, multiple: bool) -> ChoiceAnswer | None:
        """Return what stands in the place that the prompt demanded, None where it is not."""
        assert self.format is not None
        shown = cut_at_stop_token(blank_thinking(completion, self.format.reasoning))
        demanded = self.format.extract(shown)
        if demanded is None:
            return None
        told = fold(demanded)
        told = options.listing.mark(told, told.lower())
        slot = read_slot(told, options) if demanded.strip() else Slot(Reading.EMPTY)
        place = "\\boxed{" if self.format.boxed else f"<{self.format.answer}>"
        start = shown.rfind(place, 0, max(0, shown.rfind(demanded)) + 1 if demanded else len(shown))
        start = max(start, 0)
        end = min(len(shown), shown.find(demanded, start) + len(demanded)) if demanded else start
        said = demanded[:200]
        return answer_from(Statement("format", start, end, slot, said), options, multiple)


def _options(metadata: Mapping[str, Any]) -> Options:
    texts, names = metadata.get("options"), metadata.get("labels")
    if not isinstance(texts, list | tuple) or not 2 <= len(texts) <= MAX_OPTIONS:
        raise _UnusableError(
            f"metadata['options'] holds 2 to {MAX_OPTIONS} texts, got {texts!r:.80}"
        )
    if not all(isinstance(text, str) for text in texts):
        raise _UnusableError(f"metadata['options'] holds texts, got {texts!r:.80}")
    if names is None:
        return prepare(tuple(texts))
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise _UnusableError(f"metadata['labels'] holds texts, got {names!r:.80}")
    folded = [name.strip().upper() for name in names]
    if len(names) != len(texts) or len(set(folded)) < len(folded) or not all(folded):
        raise _UnusableError(
            f"metadata['labels'] names each of {len(texts)} options once, got {names!r:.80}"
        )
    options = prepare(tuple(texts), tuple(name.strip() for name in names))
    if not options.labels.are_letters:
        for position, key in enumerate(options.keys):
            clash = options.labels.index(key)
            if clash not in (-1, position):
                raise _UnusableError(
                    f"the text of option {options.labels.of(position)} is the label of another "
                    f"option: {texts[position]!r:.40}; use letters as labels"
                )
    return options


def _gold(answer: Any, options: Options, multiple: bool) -> set[int]:
    """Return the positions of the right options, none where no option is right."""
    if answer is None:
        return set()
    if multiple and isinstance(answer, list | tuple):
        return {_one(label, options) for label in answer}
    if multiple and isinstance(answer, str) and options.labels.index(answer.strip()) < 0:
        return {_one(label, options) for label in answer.replace(",", " ").split()}
    return {_one(answer, options)}


def _one(label: Any, options: Options) -> int:
    if isinstance(label, str):
        position = options.labels.index(label.strip())
        if position < 0 and not options.labels.are_letters:
            alphabet = letters(len(options.texts))
            name = label.strip().upper()
            position = alphabet.index(name) if name in alphabet else -1
        if position >= 0:
            return position
    names = ", ".join(options.labels.names)
    raise _UnusableError(f"the gold is one of {names}, or None, got {label!r:.80}")
