"""From a row of a data set to a `Problem`: which column holds what, and what a row may look like.

Rows of these forms are read without saying anything (`ROW_FORMS` shows them):

* GSM8K's `{"question", "answer"}`, where the answer is a worked solution that ends in `#### 42`;
* ARC's `{"id", "question", "choices": {"text", "label"}, "answerKey"}`;
* plain rows with `question` or `prompt`, `answer`, and perhaps `choices` or `options`, `solution`,
  `meta` or `metadata`, and `id`; `to_row` writes such a row; with `multiple` true, `answer` is a
  list of labels, all of them right;
* SciQ's, GPQA's, BIG-Bench Hard's and LogiQA's (`choice_rows.py`).

Where the gold stands at the end of a worked solution, `Columns.gold` says how it is read
(`golds.py`), and `Columns.no_gold` which rows have none and are left out.

Every other column lands in the problem's metadata under its own name.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from string import ascii_uppercase
from typing import Any

from reasonenv.errors import DataError, did_you_mean
from reasonenv.problems.choice_rows import plain_choice_row
from reasonenv.problems.choices import UnusableChoiceError, read_choices
from reasonenv.problems.golds import GOLD_FORMS, read_gold
from reasonenv.types import Problem, Prompt, thaw

__all__ = ["KINDS", "ROW_FORMS", "Columns", "NoGoldError", "to_problem", "to_problems", "to_row"]

ROW_FORMS: Mapping[str, str] = {
    "math": '{"question": "What is 6 * 7?", "answer": "6 * 7 = 42\\n#### 42"}'
    ' or {"prompt": "What is 6 * 7?", "answer": "42"}',
    "choice": '{"prompt": "Which is a planet?", "options": ["Mars", "Sirius"], "answer": "A"}',
    "countdown": '{"prompt": "Reach 24 with 4 and 6.", "answer": "4 * 6", '
    '"metadata": {"numbers": [4, 6], "target": 24}}',
    "code": '{"prompt": "Write add(a, b).", "entry_point": "add", '
    '"tests": ["assert add(1, 2) == 3"]}',
    "jsonl": '{"prompt": "What is 6 * 7?", "answer": "42"}'
    ' or {"prompt": "Which is a planet?", "options": ["Mars", "Sirius"], "answer": "A"}',
}
"""One example of a valid row for each kind of task."""

KINDS = tuple(ROW_FORMS)
"""Kinds of task; in one of kind "jsonl" each row says by its options whether it is a choice."""

_ROLES = ("prompt", "answer", "options", "solution", "metadata", "id")
_SHOWN = 80  # characters of a value in a message


class NoGoldError(DataError):
    """Raised where a row has no gold, and `Columns.no_gold` says that such rows are left out."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column of a row holds what: one name, or several of which the first present counts.

    A column whose value is null is absent.

    Args:
        prompt: the question, a text or a list of chat messages.
        answer: the gold.
        options: the options of a multiple-choice question.
        solution: a worked solution, kept as `metadata["solution"]`.
        metadata: a mapping, each item of which becomes an item of the problem's metadata.
        id: a text or an integer; a row without gets a hash of its content.
        gold: how the gold is read from the first of the `answer` columns, which may hold a worked
            solution: "auto" takes what stands behind the last `####`, or all of it; "boxed" the
            last box; "stated" what stands behind the last "The answer is". Any further column of
            `answer` holds the bare gold.
        no_gold: golds that mean that a row has none, such as "None"; "" stands for a solution in
            which `gold` finds nothing. Such rows are left out with a warning that counts them.
        leave_out: columns that are not kept in a problem's metadata.
        counts_from: the number of the first option, 0 or 1, where golds of multiple-choice
            questions are integers; None takes no integer.
        unusable: "raise", or "leave_out": what becomes of a question whose options or gold cannot
            be asked and judged (two options with one text, say). Those left out are counted in a
            warning.
    """

    prompt: str | tuple[str, ...] = ("prompt", "question", "problem")
    answer: str | tuple[str, ...] = ("answer", "answerKey")
    options: str | tuple[str, ...] = ("options", "choices")
    solution: str | tuple[str, ...] = ("solution",)
    metadata: str | tuple[str, ...] = ("metadata", "meta")
    id: str | tuple[str, ...] = ("id",)
    gold: str = "auto"
    no_gold: str | tuple[str, ...] = ()
    leave_out: str | tuple[str, ...] = ()
    counts_from: int | None = None
    unusable: str = "raise"

    def __post_init__(self) -> None:
        if self.gold not in GOLD_FORMS:
            hint = did_you_mean(str(self.gold), GOLD_FORMS)
            raise DataError(f"columns: a gold is not read as {self.gold!r}; {hint}")
        if self.counts_from not in (None, 0, 1):
            raise DataError(f"columns: options are counted from 0 or 1, got {self.counts_from!r}")
        if self.unusable not in ("raise", "leave_out"):
            raise DataError(f"columns: unusable is raise or leave_out, got {self.unusable!r}")

    @classmethod
    def of(cls, given: Columns | Mapping[str, Any] | None) -> Columns:
        """Return `given` as `Columns`: itself, or from `{"prompt": "Problem", ...}`.

        Raises:
            DataError: a key that is no field of this class, or a value that names no column.
        """
        if isinstance(given, Columns):
            return given
        valid = [field.name for field in fields(cls)]
        for key, value in (given or {}).items():
            if key not in valid:
                hint = did_you_mean(str(key), valid)
                raise DataError(f"columns: there is no `{key}` to name a column for; {hint}")
            if key == "counts_from":
                continue
            if not isinstance(value, str | list | tuple):
                raise DataError(f"columns: `{key}` is a column's name or several, got {value!r}")
            if key == "gold" and not isinstance(value, str):
                raise DataError(f"columns: `gold` is one of {', '.join(GOLD_FORMS)}, got {value!r}")
        names: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in (given or {}).items()
        }
        return cls(**names)

    def names(self, role: str) -> tuple[str, ...]:
        """Return the columns that may hold `role`, the first choice first."""
        value = getattr(self, role)
        return (value,) if isinstance(value, str) else tuple(value)

    def pick(self, row: Mapping[str, Any], role: str) -> tuple[str, Any]:
        """Return name and value of the column of `row` that holds `role`; ("", None) if none."""
        for name in self.names(role):
            if row.get(name) is not None:
                return name, row[name]
        return "", None


def to_problem(
    row: Mapping[str, Any],
    *,
    columns: Columns | None = None,
    kind: str | None = None,
    where: str = "row",
) -> Problem:
    r"""Return the problem that a row of a data set holds.

    A multiple-choice problem has the bare question as prompt, the texts of its options in
    `metadata["options"]`, and the letter of the right one as answer.

    Args:
        row: one object of a JSONL file, or one example of a data set.
        columns: which column holds what; None takes the usual names.
        kind: one of `KINDS`; None and "jsonl" let the row decide.
        where: file and line, with which error messages start.

    Raises:
        DataError: a column is missing or holds what it may not; the message names the column, what
            it holds and what is valid.

    >>> problem = to_problem({"question": "6 * 7?", "answer": "6 * 7 is 42.\n#### 42"})
    >>> problem.answer, problem.metadata["solution"]
    ('42', '6 * 7 is 42.\n#### 42')
    """
    columns = columns or Columns()
    row = {str(name): _plain(value) for name, value in row.items()}
    if kind == "code":
        from reasonenv.problems.code_rows import to_code_problem  # which needs this module

        return to_code_problem(row, columns, where)
    if kind in (None, "jsonl", "choice"):
        row = dict(plain_choice_row(row, where))
    prompt = _prompt(*_required(row, columns, "prompt", kind, where), where)
    if (
        columns.no_gold != ()
        and columns.pick(row, "answer")[1] is None
        and _has_answer(row, columns)
    ):
        raise NoGoldError(f"{where}: the gold is null")
    answer_column, answer = _required(row, columns, "answer", kind, where)
    metadata = _metadata(row, columns, where)
    at_answer = f'{where}: field "{answer_column}"'

    options_column, options = columns.pick(row, "options")
    if options is None:
        options_column, options = "options", metadata.get("options")
    if options is not None and kind in (None, "jsonl", "choice"):
        at_options = f'{where}: fields "{options_column}" and "{answer_column}"'
        named = _row_id(row, columns, where)
        answer = _choice(
            options, answer, metadata, columns, at_options + f" of problem {named}" * bool(named)
        )
    elif options is not None:
        raise DataError(
            f'{where}: field "{options_column}" makes this a multiple-choice row, and the task is '
            f'of kind "{kind}"; a valid row: {ROW_FORMS[str(kind)]}'
        )
    elif kind == "choice":
        raise _missing(row, columns, "options", kind, where)
    else:
        answer = _final(answer_column, answer, columns, metadata, kind, at_answer)
    if kind == "countdown" and not {"numbers", "target"} <= set(metadata):
        raise DataError(
            f'{where}: field "metadata" needs `numbers` and `target`, it has: '
            f"{', '.join(metadata) or 'nothing'}; a valid row: {ROW_FORMS['countdown']}"
        )
    return Problem(prompt, answer, metadata, id=_row_id(row, columns, where))


def to_problems(
    rows: Iterable[tuple[str, Mapping[str, Any] | Problem]],
    columns: Columns,
    kind: str | None,
    name: str,
) -> Iterator[Problem]:
    """Yield the problem of each row; warn, at the end, of rows that are left out.

    Args:
        rows: each with where it stands, for messages; a `Problem` is passed on as it is.
        columns: which column holds what.
        kind: as for `to_problem`.
        name: where the rows come from, for the warning.

    Raises:
        DataError: a row is no problem.
    """
    left_out, first = 0, ""
    unusable, first_unusable = 0, ""
    for where, row in rows:
        if isinstance(row, Problem):
            yield row
            continue
        try:
            yield to_problem(row, columns=columns, kind=kind, where=where)
        except NoGoldError as error:
            left_out, first = left_out + 1, first or str(error)
        except UnusableChoiceError as error:
            if columns.unusable == "raise":
                raise UnusableChoiceError(
                    f"{error}. To leave such rows out: columns={{'unusable': 'leave_out'}}"
                ) from error
            unusable, first_unusable = unusable + 1, first_unusable or str(error)
    if unusable:
        warnings.warn(
            f"{name}: {unusable} questions whose options or gold cannot be used are left out "
            f"({first_unusable})",
            stacklevel=2,
        )
    if left_out:
        warnings.warn(
            f"{name}: {left_out} rows without a gold are left out ({first})", stacklevel=2
        )


def to_row(problem: Problem) -> dict[str, Any]:
    """Return the plain row that `to_problem` reads back as this problem, id included."""
    return {
        "id": problem.id,
        "prompt": thaw(problem.prompt),
        "answer": thaw(problem.answer),
        "metadata": thaw(problem.metadata),
    }


def _required(
    row: Mapping[str, Any], columns: Columns, role: str, kind: str | None, where: str
) -> tuple[str, Any]:
    name, value = columns.pick(row, role)
    if value is None:
        raise _missing(row, columns, role, kind, where)
    return name, value


def _has_answer(row: Mapping[str, Any], columns: Columns) -> bool:
    return any(name in row for name in columns.names("answer"))


def _missing(
    row: Mapping[str, Any], columns: Columns, role: str, kind: str | None, where: str
) -> DataError:
    null = [name for name in columns.names(role) if name in row]
    state = f'is null ("{null[0]}")' if null else "is missing"
    return DataError(
        f"{where}: the field for the {role} {state}; it is read from one of: "
        f"{', '.join(columns.names(role))}; this row has: {', '.join(row) or 'no field'}. "
        f"Rename the field or say columns={{{role!r}: NAME}}; "
        f"a valid row: {ROW_FORMS[kind or 'jsonl']}"
    )


def _prompt(column: str, value: Any, where: str) -> Prompt:
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, list) and value and all(_is_message(message) for message in value):
        return tuple(value)
    raise DataError(
        f'{where}: field "{column}" is a text that is not blank, or a list of chat messages '
        f'{{"role": "user", "content": "..."}}, got {value!r:.80}'
    )


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(value.get(key), str) for key in ("role", "content")
    )


def _final(
    column: str,
    value: Any,
    columns: Columns,
    metadata: dict[str, Any],
    kind: str | None,
    where: str,
) -> Any:
    """Return the gold that `value` holds; a worked solution around it goes to the metadata."""
    bare = value
    if isinstance(value, str):
        form = columns.gold if column == columns.names("answer")[0] else "auto"
        bare = read_gold(value, form, where, optional="" in columns.names("no_gold"))
        if bare != value and column not in columns.names("leave_out"):
            metadata.setdefault("solution", value)
        if bare.strip() in columns.names("no_gold"):
            raise NoGoldError(f"{where}: no gold, only {value[-_SHOWN:]!r}")
    return _gold(bare, kind, where)


def _choice(
    options: Any, gold: Any, metadata: dict[str, Any], columns: Columns, where: str
) -> str | tuple[str, ...]:
    """Put the texts of the options into the metadata, and return the label of the right one."""
    own = metadata.get("labels")
    if own is not None and isinstance(options, list):
        options = {"text": options, "label": own}
    metadata["options"], letters = read_choices(
        options,
        gold,
        where,
        counts_from=columns.counts_from,
        multiple=bool(metadata.get("multiple")),
    )
    if own is None:
        return letters
    named = tuple(str(own[ascii_uppercase.index(letter)]) for letter in letters)
    return named if isinstance(letters, tuple) else named[0]


def _gold(value: Any, kind: str | None, where: str) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return str(value)
    if isinstance(value, str) and value.strip():
        return value.strip()
    # Tests of a program are lists or mappings; only an env for code knows what is in them.
    if isinstance(value, list | dict) and value and kind in (None, "jsonl"):
        return value
    raise DataError(f"{where} is a number or a text that is not blank, got {value!r:.80}")


def _metadata(row: Mapping[str, Any], columns: Columns, where: str) -> dict[str, Any]:
    used = {columns.pick(row, role)[0] for role in _ROLES} | set(columns.names("leave_out"))
    metadata = {
        name: value for name, value in row.items() if name not in used and value is not None
    }
    column, nested = columns.pick(row, "metadata")
    if nested is not None and not isinstance(nested, Mapping):
        raise DataError(f'{where}: field "{column}" is an object of items, got {nested!r:.80}')
    metadata.update(nested or {})
    column, solution = columns.pick(row, "solution")
    if solution is not None and column not in columns.names("leave_out"):
        metadata["solution"] = solution
    try:
        json.dumps(metadata)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{where}: what goes to a problem's metadata must be JSON data ({error}); drop such "
            f"columns first; this row has: {', '.join(row)}"
        ) from error
    return metadata


def _row_id(row: Mapping[str, Any], columns: Columns, where: str) -> str:
    column, value = columns.pick(row, "id")
    if value is None or value == "":
        return ""  # Problem then makes a hash of its content
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    raise DataError(f'{where}: field "{column}" is a text or an integer, got {value!r:.80}')


def _plain(value: Any) -> Any:
    """Return numpy scalars and arrays, which data sets may hand out, as plain Python data."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
