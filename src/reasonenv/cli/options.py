"""Arguments that several commands take."""

from __future__ import annotations

from typing import Annotated, Any

import typer

__all__ = ["DATA", "ENV", "SPLIT", "given"]

ENV = Annotated[
    str,
    typer.Argument(
        metavar="ENV", help="`id`, `module:id` or `path/to/file.py:id`; `reasonenv list` has ids."
    ),
]
DATA = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="A JSONL file to take the problems from."),
]
SPLIT = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Which of its problems: train or test; its own by default."),
]


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were given: what was not must not replace an environment's own."""
    return {name: value for name, value in options.items() if value is not None}
