"""Arguments that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["DATA", "ENV", "SPLIT"]

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
SPLIT = Annotated[str, typer.Option(help="Which of its problems: train or test.")]
