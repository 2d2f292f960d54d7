"""Options of a multiple-choice question: their labels, what makes them usable, golds as labels.

* `read_choices`: the options of a row, and its gold as a letter, whatever labels the row uses.
* `check_choice`: whether a problem can be asked and judged; says why where it cannot.
* `labels_of`, `golds_of`: the labels of a problem's options, and which of them are right.

A problem holds its options in `metadata["options"]`, their labels in `metadata["labels"]` (A, B,
C ... where there are none), and the right label in `answer`; several right ones where
`metadata["multiple"]` is true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from reasonenv.errors import DataError
from reasonenv.types import Problem

__all__ = [
    "MAX_OPTIONS",
    "MAX_OPTION_CHARS",
    "UnusableChoiceError",
    "check_choice",
    "collisions",
    "golds_of",
    "labels_of",
    "read_choices",
]

MAX_OPTIONS = len(ascii_uppercase)  # options are named by one letter each
MAX_OPTION_CHARS = 20_000
"""Of one option: the longest of the sets in the catalogue have some hundred."""

_SHOWN = 60


class UnusableChoiceError(DataError):
    """Raised where the options of a question, or its gold, cannot be asked and judged."""


def labels_of(problem: Problem) -> tuple[str, ...]:
    """Return the labels of a problem's options, in their order.

    >>> labels_of(Problem("?", "A", {"options": ["Mars", "Sirius"]}))
    ('A', 'B')
    """
    labels = problem.metadata.get("labels")
    if labels is not None:
        return tuple(labels)
    return tuple(ascii_uppercase[: len(problem.metadata["options"])])


def golds_of(problem: Problem) -> tuple[int, ...]:
    """Return the places of the right options, counted from 0; none where the answer is None.

    Raises:
        UnusableChoiceError: the answer names no option.
    """
    given = problem.answer
    if given is None:
        return ()
    names = given if isinstance(given, tuple) else (given,)
    folded = [label.casefold() for label in labels_of(problem)]
    try:
        return tuple(sorted({folded.index(name.strip().casefold()) for name in names}))
    except (AttributeError, ValueError):
        raise UnusableChoiceError(
            f"problem {problem.id}: the gold {_shown(given)} names no option; valid: "
            f"{', '.join(labels_of(problem))}"
        ) from None


def check_choice(problem: Problem) -> None:
    """Check that a problem's options and gold can be asked and judged.

    Raises:
        UnusableChoiceError: no options, fewer than 2 or more than 26, a blank one or one of more
            than 20,000 characters, two with the same text, one whose text is another's label, or
            a gold that names none. The message starts with the problem's id.
    """
    where = f"problem {problem.id}"
    options = problem.metadata.get("options")
    if options is None:
        raise UnusableChoiceError(
            f'{where}: it has no options; give them as metadata={{"options": ["...", "..."]}}'
        )
    labels = problem.metadata.get("labels")
    if labels is not None:
        options = {"text": options, "label": labels}
    texts, names = _texts_and_labels(options, where)
    _check_texts(texts, names, where)
    golds = golds_of(problem)
    several = isinstance(problem.answer, tuple)
    if several != bool(problem.metadata.get("multiple")) and problem.answer is not None:
        raise UnusableChoiceError(
            f"{where}: a gold of several labels and metadata['multiple'] go together, got "
            f"{_shown(problem.answer)} and {problem.metadata.get('multiple')!r}"
        )
    if several and not golds:
        raise UnusableChoiceError(f"{where}: a gold of several labels names at least one, got ()")


def read_choices(
    options: Any,
    gold: Any,
    where: str,
    *,
    counts_from: int | None = None,
    multiple: bool = False,
) -> tuple[list[str], str | tuple[str, ...]]:
    """Return the texts of the options and the letter of the gold among them.

    Args:
        options: a list of texts, whose labels are then the letters from A; or ARC's
            `{"text": [...], "label": [...]}` with any labels ("1", "2", ... or letters).
        gold: a label, in either case; or, where it is no label, the text of exactly one option;
            or an integer, where `counts_from` says which one the first option has.
        where: file and line (and field), with which error messages start.
        counts_from: the number of the first option where golds are integers, 0 or 1.
        multiple: whether `gold` is a list of golds, all of them right.

    Returns:
        The texts and the letter; with `multiple` a tuple of letters, in the options' order.

    Raises:
        UnusableChoiceError: options of another form, fewer than 2 or more than 26, one that is
            too long, two with the same text, one whose text is another's label, or a gold that
            names none of them.

    >>> read_choices({"text": ["Mars", "Venus"], "label": ["1", "2"]}, "2", "row 1")
    (['Mars', 'Venus'], 'B')
    >>> read_choices(["Mars", "Venus"], 0, "row 1", counts_from=0)
    (['Mars', 'Venus'], 'A')
    """
    texts, labels = _texts_and_labels(options, where)
    # Their own labels ("1", "2") are given up for letters, so it is letters that texts must not be.
    _check_texts(texts, ascii_uppercase[: len(texts)], where)
    if not multiple:
        return texts, _letter(gold, texts, labels, where, counts_from)
    if not isinstance(gold, list | tuple) or not gold:
        raise UnusableChoiceError(
            f"{where}: with `multiple` the gold is a list of labels, got {_shown(gold)}"
        )
    letters = {_letter(one, texts, labels, where, counts_from) for one in gold}
    return texts, tuple(sorted(letters))


def collisions(texts: Sequence[str], labels: Sequence[str]) -> list[tuple[int, int]]:
    """Return (i, j) for each option i whose text is the label of another option j.

    An answer "B" would be ambiguous then: the label, or the text? Case does not count, nor do
    brackets and a full stop around a label.
    """
    places = {label.casefold(): place for place, label in enumerate(labels)}
    bare = [text.strip(" ().:[]{}$*`_\"'\\").casefold() for text in texts]
    return [(i, places[text]) for i, text in enumerate(bare) if places.get(text, i) != i]


def _letter(
    gold: Any, texts: list[str], labels: list[str], where: str, counts_from: int | None
) -> str:
    if isinstance(gold, str):
        folded = [label.casefold() for label in labels]
        if gold.strip().casefold() in folded:
            return ascii_uppercase[folded.index(gold.strip().casefold())]
        if texts.count(gold.strip()) == 1:
            return ascii_uppercase[texts.index(gold.strip())]
    hint = ""
    if isinstance(gold, int) and not isinstance(gold, bool):
        if counts_from is not None and 0 <= gold - counts_from < len(texts):
            return ascii_uppercase[gold - counts_from]
        hint = "; an index is not taken: does it count from 0 or 1? Say columns={'counts_from': 0}"
        if counts_from is not None:
            hint = f"; they are counted from {counts_from}"
    raise UnusableChoiceError(
        f"{where}: the gold {_shown(gold)} names no option; valid: {', '.join(labels)}, "
        f"or the text of one option{hint}"
    )


def _texts_and_labels(options: Any, where: str) -> tuple[list[str], list[str]]:
    labels: Sequence[Any] | None = None
    if isinstance(options, Mapping) and {"text", "label"} <= set(options):
        options, labels = options["text"], options["label"]
    if not isinstance(options, list | tuple) or not isinstance(labels, list | tuple | None):
        raise UnusableChoiceError(
            f'{where}: options are a list of texts, or {{"text": [...], "label": [...]}}, '
            f"got {_shown(options)}"
        )
    if not 2 <= len(options) <= MAX_OPTIONS:
        raise UnusableChoiceError(
            f"{where}: 2 to {MAX_OPTIONS} options are needed, got {len(options)}"
        )
    texts = [str(text).strip() if _is_text(text) else "" for text in options]
    for number, text in enumerate(texts, 1):
        if not text:
            raise UnusableChoiceError(
                f"{where}: option {number} is a text that is not blank, "
                f"got {_shown(options[number - 1])}"
            )
    if labels is None:
        return texts, list(ascii_uppercase[: len(texts)])
    names = [str(label).strip() for label in labels]
    distinct = {name.casefold() for name in names} - {""}
    if len(names) != len(texts) or len(distinct) != len(names):
        raise UnusableChoiceError(
            f"{where}: each option has one label and no two the same, "
            f"got {len(texts)} texts and the labels {', '.join(names)[:_SHOWN]}"
        )
    return texts, names


def _check_texts(texts: Sequence[str], labels: Sequence[str], where: str) -> None:
    first: dict[str, int] = {}
    for place, text in enumerate(texts):
        if len(text) > MAX_OPTION_CHARS:
            raise UnusableChoiceError(
                f"{where}: option {labels[place]} has {len(text)} characters, at most "
                f"{MAX_OPTION_CHARS} are taken: {_shown(text)}"
            )
        twin = first.setdefault(" ".join(text.split()), place)
        if twin != place:
            raise UnusableChoiceError(
                f"{where}: the options {labels[twin]} and {labels[place]} have the same text, "
                f"{_shown(text)}: no answer could tell them apart"
            )
    for place, other in collisions(texts, labels):
        raise UnusableChoiceError(
            f"{where}: the text of option {labels[place]} is {_shown(texts[place])}, the label of "
            "another option, so that an answer of this one letter is ambiguous: write the text "
            f"out (such as 'the letter {labels[other]}'), or leave the row out"
        )


def _is_text(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    text = repr(value[:_SHOWN] if isinstance(value, str | list | tuple) else value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
