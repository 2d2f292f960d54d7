"""`CatalogueEntry`: what is known about one source of problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reasonenv.errors import DataError, did_you_mean
from reasonenv.problems.base import Generate
from reasonenv.problems.columns import KINDS, Columns
from reasonenv.types import FrozenDict

__all__ = ["CatalogueEntry"]


@dataclass(frozen=True)
class CatalogueEntry:
    """What is known about one source of problems.

    Args:
        name: what `load` and recipes call it.
        title: what reports call it.
        kind: how it is judged: "math", "choice" or "countdown"; "jsonl" where each row decides.
        description: one sentence.
        dataset: its id on the Hugging Face hub; "" where it is procedural or always local.
        config: which configuration of that data set; several are read one after the other.
        revision: which branch of it; None is the main one.
        splits: our names of splits -> the hub's.
        columns: which column holds what.
        licence: of the data, "n/a" where none applies.
        source: whom to cite.
        answer_is: what an answer is, for prompts: "Put only the {answer_is} inside ...".
        generator: makes the generator of a procedural source from options.
        judge: options that its golds need of the judge, over the judge's own defaults.
        overlaps: other entries -> how its problems depend on theirs, where they do.
        access: how to get at a data set that is not open to everyone; "" where it is.
        unverified: which of id, split, columns and licence no public source could confirm.

    Raises:
        DataError: an unknown kind.
    """

    name: str
    title: str
    kind: str
    description: str
    dataset: str = ""
    config: str | tuple[str, ...] | None = None
    revision: str | None = None
    splits: Mapping[str, str] = field(
        default_factory=lambda: FrozenDict({"train": "train", "test": "test"})
    )
    columns: Columns = field(default_factory=Columns)
    licence: str = "n/a"
    source: str = ""
    answer_is: str = "final answer"
    generator: Callable[..., Generate] | None = None
    judge: Mapping[str, Any] = field(default_factory=FrozenDict)
    overlaps: Mapping[str, str] = field(default_factory=FrozenDict)
    access: str = ""
    unverified: str = ""

    def __post_init__(self) -> None:
        for name in ("splits", "judge", "overlaps"):
            object.__setattr__(self, name, FrozenDict(getattr(self, name)))
        if self.kind not in KINDS:
            hint = did_you_mean(self.kind, KINDS)
            raise DataError(f"{self.name}: there is no kind of task {self.kind!r}; {hint}")
