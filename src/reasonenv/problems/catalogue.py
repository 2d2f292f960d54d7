"""The built-in sources of problems by name, and `load`, which turns a name into problems.

The problem sets of mathematics stand in `math_sets.py`, those of programs in `code_sets.py`, those
of multiple choice in `choice_sets.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from reasonenv.errors import DataError, HubUnavailableError, did_you_mean
from reasonenv.problems.base import Generate, Problems, ProceduralProblems, drop_repeats
from reasonenv.problems.choice_sets import CHOICE_SETS
from reasonenv.problems.code_sets import CODE_SETS
from reasonenv.problems.columns import ROW_FORMS, Columns
from reasonenv.problems.entries import CatalogueEntry
from reasonenv.problems.hub import load_hub
from reasonenv.problems.math_sets import MATH_SETS
from reasonenv.problems.procedural import Arithmetic, Countdown
from reasonenv.problems.rows import from_data
from reasonenv.problems.split import sample

__all__ = ["CATALOGUE", "CatalogueEntry", "entry_of", "load"]

_PROCEDURAL_SIZE = 100_000


_ENTRIES = (
    *MATH_SETS,
    *CODE_SETS,
    *CHOICE_SETS,
    CatalogueEntry(
        name="arithmetic",
        title="Arithmetic",
        kind="math",
        description="Sums, differences and products of small integers, made on demand.",
        generator=Arithmetic,
        judge={"must_be_evaluated": True},  # `47+85` is the question, not its answer
    ),
    CatalogueEntry(
        name="countdown",
        title="Countdown",
        kind="countdown",
        description="Reach a target with each of some numbers used once, made on demand.",
        answer_is="expression",
        generator=Countdown,
    ),
    CatalogueEntry(
        name="jsonl",
        title="Local file",
        kind="jsonl",
        description="Your own problems: data=FILE.jsonl; rows with options are multiple choice.",
    ),
)

CATALOGUE: Mapping[str, CatalogueEntry] = {entry.name: entry for entry in _ENTRIES}
"""The built-in entries by name."""


def entry_of(name: str | CatalogueEntry) -> CatalogueEntry:
    """Return the entry with this name; an entry is returned as it is.

    Raises:
        DataError: there is none.
    """
    if isinstance(name, CatalogueEntry):
        return name
    if name not in CATALOGUE:
        hint = did_you_mean(str(name), CATALOGUE)
        raise DataError(
            f"there is no source of problems called {name!r}; {hint} "
            '(for a file of your own: "jsonl" with data=FILE.jsonl)'
        )
    return CATALOGUE[name]


def load(
    name_or_entry: str | CatalogueEntry,
    split: str = "train",
    data: Any = None,
    seed: int = 0,
    size: int | None = None,
    *,
    columns: Columns | Mapping[str, Any] | None = None,
    config: str | Sequence[str] | None = None,
    **generator_options: Any,
) -> Problems:
    """Return the problems of a built-in source, or of data given in its stead.

    Args:
        name_or_entry: a name in `CATALOGUE`, or an entry.
        split: "train", "test", or another that the entry has; of `data`, only a mapping has splits.
        data: a JSONL file, rows, problems, or a loaded data set (see `reasonenv.problems.rows`) to
            read instead of the hub or the generator.
        seed: of a procedural source's sequence, or of the draw where `size` is given.
        size: how many problems; None is all in their own order (100,000 where procedural). A
            data set gives that many drawn at random in a shuffled order, or all where it has fewer.
        columns: which column of a row holds what, where it is not what the entry says.
        config: configuration, or several, of the data set on the hub instead of the entry's.
        **generator_options: fields of a procedural source's generator, such as `digits=3`.

    Raises:
        DataError: an unknown name, split or option, or data that cannot be used.
        HubUnavailableError: the data set is neither cached nor to be had, and no `data` given.
        MissingExtraError: it would come from the hub and `datasets` is not installed.

    >>> problem = load("arithmetic")[0]
    >>> problem.prompt, problem.answer
    ('85+63=', '148')
    """
    entry = entry_of(name_or_entry)
    if entry.generator is not None and data is None:
        generate = _generator(entry, generator_options)
        count = _PROCEDURAL_SIZE if size is None else size
        return ProceduralProblems(generate, split, seed, count, entry.name)
    if generator_options:
        reason = "data is given" if data is not None else f"{entry.name} is not procedural"
        raise DataError(
            f"{entry.name}: {', '.join(generator_options)}: options of a generator, and {reason}; "
            "valid: split, data, seed, size, columns, config"
        )
    chosen = Columns.of(columns) if columns is not None else entry.columns
    if data is not None:
        problems = from_data(data, split=split, columns=chosen, kind=entry.kind, name=entry.name)
    else:
        problems = _from_hub(entry, split, chosen, config)
    if size is None:
        return problems
    return sample(problems, size, seed=seed)


def _from_hub(
    entry: CatalogueEntry, split: str, columns: Columns, config: str | Sequence[str] | None
) -> Problems:
    if not entry.dataset:
        raise DataError(
            f"{entry.name}: needs data=FILE.jsonl, one object a line: {ROW_FORMS[entry.kind]}"
        )
    if split not in entry.splits:
        hint = did_you_mean(str(split), entry.splits)
        raise DataError(f"{entry.name}: there is no split {split!r}; {hint}")
    given = entry.config if config is None else config
    configs = [given] if given is None or isinstance(given, str) else list(given)
    more: dict[str, Any] = {} if entry.revision is None else {"revision": entry.revision}
    try:
        parts = [
            load_hub(
                entry.dataset,
                one,
                entry.splits[split],
                columns=columns,
                kind=entry.kind,
                name=entry.name,
                **more,
            )
            for one in configs
        ]
    except (DataError, HubUnavailableError) as error:
        if not entry.access:
            raise
        raise type(error)(f"{error} {entry.access}") from error
    if len(parts) == 1:
        return parts[0]
    return drop_repeats((problem for part in parts for problem in part), entry.name)


def _generator(entry: CatalogueEntry, options: Mapping[str, Any]) -> Generate:
    assert entry.generator is not None
    if is_dataclass(entry.generator):
        valid = [option.name for option in fields(entry.generator)]
        for option in options:
            if option not in valid:
                raise DataError(
                    f"{entry.name}: there is no option {option!r}; {did_you_mean(option, valid)}"
                )
    try:
        return entry.generator(**options)
    except (TypeError, ValueError) as error:
        given = ", ".join(f"{option}={value!r}" for option, value in options.items())
        raise DataError(f"{entry.name}, with {given or 'no option'}: {error}") from error
