"""Options of a multiple-choice row, and its gold as a letter, whatever labels the row uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from reasonenv.errors import DataError

__all__ = ["MAX_OPTIONS", "read_choices"]

MAX_OPTIONS = len(ascii_uppercase)  # options are named by one letter each


def read_choices(options: Any, gold: Any, where: str) -> tuple[list[str], str]:
    """Return the texts of the options and the letter of the gold among them.

    Args:
        options: a list of texts, whose labels are then the letters from A; or ARC's
            `{"text": [...], "label": [...]}` with any labels ("1", "2", ... or letters).
        gold: a label, in either case; or, where it is no label, the text of exactly one option.
        where: file and line (and field), with which error messages start.

    Raises:
        DataError: options of another form, fewer than 2 or more than 26, or a gold that names
            none of them.

    >>> read_choices({"text": ["Mars", "Venus"], "label": ["1", "2"]}, "2", "row 1")
    (['Mars', 'Venus'], 'B')
    """
    texts, labels = _texts_and_labels(options, where)
    if not 2 <= len(texts) <= MAX_OPTIONS:
        raise DataError(f"{where}: 2 to {MAX_OPTIONS} options are needed, got {len(texts)}")
    if isinstance(gold, str):
        folded = [label.casefold() for label in labels]
        if gold.strip().casefold() in folded:
            return texts, ascii_uppercase[folded.index(gold.strip().casefold())]
        if texts.count(gold.strip()) == 1:
            return texts, ascii_uppercase[texts.index(gold.strip())]
    hint = "" if isinstance(gold, str) else "; an index is not taken: does it count from 0 or 1?"
    raise DataError(
        f"{where}: the gold {gold!r} names no option; valid: {', '.join(labels)}, "
        f"or the text of one option{hint}"
    )


def _texts_and_labels(options: Any, where: str) -> tuple[list[str], list[str]]:
    labels: Sequence[Any] | None = None
    if isinstance(options, Mapping) and {"text", "label"} <= set(options):
        options, labels = options["text"], options["label"]
    if not isinstance(options, list | tuple) or not isinstance(labels, list | tuple | None):
        raise DataError(
            f'{where}: options are a list of texts, or {{"text": [...], "label": [...]}}, '
            f"got {_shown(options)}"
        )
    texts = [str(text).strip() if _is_text(text) else "" for text in options]
    for number, text in enumerate(texts, 1):
        if not text:
            raise DataError(
                f"{where}: option {number} is a text that is not blank, got {options[number - 1]!r}"
            )
    if labels is None:
        return texts, list(ascii_uppercase[: len(texts)])
    names = [str(label).strip() for label in labels]
    if len(names) != len(texts) or len({name.casefold() for name in names}) != len(names):
        raise DataError(
            f"{where}: each option has one label and no two the same, "
            f"got {len(texts)} texts and the labels {', '.join(names)}"
        )
    return texts, names


def _is_text(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
