"""Rows of well-known multiple-choice sets, as plain rows with `question`, `options` and `answer`.

These forms are read, told apart by columns that only they have:

* SciQ: `question`, `correct_answer`, `distractor1` to `distractor3`, `support`;
* GPQA: `Question`, `Correct Answer`, `Incorrect Answer 1` to `3`, `Record ID`;
* BIG-Bench Hard: `input`, with `Options:` and lines `(A) ...` in it, and `target`, `(A)`;
* LogiQA: `context`, `query`, `options`, `correct_option` (counted from 0).

Where a set says which text is right and which are wrong, but no order, the options are ordered by
a hash of their texts: were the right one always first, an environment that does not shuffle would
give it away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from reasonenv.problems.choices import UnusableChoiceError
from reasonenv.types import content_hash

__all__ = ["plain_choice_row"]

Row = Mapping[str, Any]

_DISTRACTORS = ("distractor1", "distractor2", "distractor3")
_GPQA_WRONG = ("Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
_GPQA_KEPT = ("High-level domain", "Subdomain")
_BBH_OPTIONS = re.compile(r"\nOptions:[ \t]*\n")
_BBH_OPTION = re.compile(r"\(([A-Z])\)[ \t]*(.*)")


def plain_choice_row(row: Row, where: str = "row") -> Row:
    """Return a row of one of the forms above as a plain row; any other row as it is.

    Raises:
        UnusableChoiceError: a column of the form does not hold what it should.

    >>> row = {"query": "Who?", "context": "", "options": ["I", "you"], "correct_option": 1}
    >>> plain_choice_row(row)["answer"]
    'B'
    """
    for marks, read in _FORMS:
        if marks <= set(row):
            return read(row, where)
    return row


def _sciq(row: Row, where: str) -> Row:
    rest = _without(row, "correct_answer", *_DISTRACTORS)
    return {**rest, **_ordered(row["question"], row["correct_answer"], row, _DISTRACTORS, where)}


def _gpqa(row: Row, where: str) -> Row:
    # Of its fifty-odd columns most tell of the writing of the question; it is asked not to spread
    # them, so what is not needed is not kept.
    kept = {name: row[name] for name in _GPQA_KEPT if name in row}
    kept |= {"id": row.get("Record ID"), "question": row["Question"]}
    return {**kept, **_ordered(row["Question"], row["Correct Answer"], row, _GPQA_WRONG, where)}


def _ordered(question: Any, right: Any, row: Row, wrong: tuple[str, ...], where: str) -> Row:
    texts = [right, *(row[name] for name in wrong if row.get(name) not in (None, ""))]
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            raise UnusableChoiceError(
                f"{where}: the right answer and the wrong ones are texts, got {text!r:.80}"
            )
    texts = [text.strip() for text in texts]
    ordered = sorted(texts, key=lambda text: content_hash([question, text]))
    return {"options": ordered, "answer": texts[0]}


def _bbh(row: Row, where: str) -> Row:
    text, target = row["input"], row["target"]
    parts = _BBH_OPTIONS.split(text) if isinstance(text, str) else []
    found = [_BBH_OPTION.match(line.strip()) for line in parts[-1].splitlines()] if parts else []
    listed = [match for match in found if match is not None]
    if len(parts) != 2 or len(listed) < 2:
        raise UnusableChoiceError(
            f"{where}: a row of BIG-Bench Hard lists its options below 'Options:', one a line, as "
            f"'(A) text', got {text!r:.80}; its tasks without options are no multiple choice"
        )
    return {
        **_without(row, "input", "target"),
        "question": parts[0].strip(),
        "options": {"text": [m[2] for m in listed], "label": [m[1] for m in listed]},
        "answer": target.strip().strip("()") if isinstance(target, str) else target,
    }


def _logiqa(row: Row, where: str) -> Row:
    index, options = row["correct_option"], row["options"]
    if isinstance(index, str) and index.isdecimal():
        index = int(index)
    inside = isinstance(index, int) and isinstance(options, list) and 0 <= index < len(options)
    if not inside or isinstance(index, bool):
        raise UnusableChoiceError(
            f"{where}: correct_option counts the options from 0, got {row['correct_option']!r:.80}"
        )
    context = row["context"].strip() if isinstance(row["context"], str) else ""
    return {
        **_without(row, "context", "query", "correct_option"),
        "question": f"{context}\n\n{row['query']}" if context else row["query"],
        "answer": chr(ord("A") + index),
    }


def _without(row: Row, *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


_FORMS: tuple[tuple[frozenset[str], Callable[[Row, str], Row]], ...] = (
    (frozenset({"question", "correct_answer", "distractor1"}), _sciq),
    (frozenset({"Question", "Correct Answer", "Incorrect Answer 1"}), _gpqa),
    (frozenset({"input", "target"}), _bbh),
    (frozenset({"context", "query", "options", "correct_option"}), _logiqa),
)
