"""A choice verdict in words: which anchor, which span, which option, and why."""

from __future__ import annotations

from collections.abc import Sequence

from reasonenv.checkers.choice.extract import ChoiceAnswer, extract_choice
from reasonenv.checkers.choice.judge import ChoiceJudge
from reasonenv.types import Problem

__all__ = ["ANCHORS", "explain"]

ANCHORS = {
    "box": "the last box",
    "tag": "the last answer tag",
    "open tag": "an answer tag that never closes",
    "field": "the last answer field of an object",
    "####": "the last line behind ####",
    "cue": 'the last "answer is", "answer:" or the like',
    "heading": "the line below the last heading",
    "chosen": 'the last "I choose" or the like',
    "is right": "the last option that is called right",
    "mark": "the option that is marked",
    "correction": "a correction",
    "whole reply": "the whole reply",
    "last line": "the last line",
    "closing label": "the label that ends the last line",
    "closing text": "the option text that ends the last line",
    "first line": "the label on the first line",
    "opening word": "the word that opens the reply",
    "one option named": "the only option that its one sentence names",
    "format": "the place that the prompt demands",
    None: "nowhere",
}
"""What each `detail["anchor"]` stands for."""


def explain(
    completion: str,
    options: Sequence[str],
    gold: str | Sequence[str] | None = None,
    *,
    labels: Sequence[str] | None = None,
    multiple: bool = False,
    reasoning_tag: str | None = None,
) -> str:
    """Return in words which option a completion chose, where it says so, and whether it is right.

    Args:
        completion: the reply.
        options: the option texts.
        gold: the right label, or labels; None says nothing about right and wrong.
        labels: what the options are called.
        multiple: several options may be chosen.
        reasoning_tag: one more tag that marks thinking.

    >>> print(explain("So: Answer: (b)", ["Sydney", "Canberra"], "B"))
    correct: B, said by its label
      anchor the last "answer is", "answer:" or the like
      span   4 to 15: (b)
      letter B
      text   Canberra
      gold   B: Canberra
    """
    metadata = {"options": list(options), "multiple": multiple}
    if labels is not None:
        metadata["labels"] = list(labels)
    problem = Problem("", gold if gold is None or isinstance(gold, str) else list(gold), metadata)
    verdict = ChoiceJudge()(problem, completion)
    if "error" in verdict.detail:
        return f"checker_error: {verdict.detail['error']}"
    found = extract_choice(completion, options, reasoning_tag, labels=labels, multiple=multiple)
    status = found.status if gold is None else str(verdict.status)
    lines = [f"{status}: {_why(found)}"]
    names = list(labels) if labels is not None else [chr(ord("A") + i) for i in range(len(options))]
    text = dict(zip(names, options, strict=False))
    lines.append(f"  anchor {ANCHORS.get(found.detail.get('anchor'), found.detail.get('anchor'))}")
    if "span" in found.detail:
        start, end = found.detail["span"]
        lines.append(f"  span   {start} to {end}: {found.detail['said']}")
    if found.letter is not None:
        lines.append(f"  letter {found.letter}")
        lines.append(f"  text   {'; '.join(text[letter] for letter in found.letters)}")
    if gold is not None:
        right = [gold] if isinstance(gold, str) else list(gold)
        lines.append("  gold   " + "; ".join(f"{g}: {text.get(g, '')}".rstrip(": ") for g in right))
    return "\n".join(lines)


def _why(found: ChoiceAnswer) -> str:
    if found.letter is None:
        return str(found.detail["reason"])
    return f"{found.letter}, said by its {found.detail['by']}"
