"""`reasonenv list`: the registered environments."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

__all__ = ["list_envs"]

_PIPE_WIDTH = 1_000


def list_envs(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the registered environments: id, kind, source, licence, description.

    "unverified" names what of a data set no public source could confirm.

    Python: reasonenv.envs.catalogue()
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from reasonenv.cli.output import out
    from reasonenv.envs import catalogue

    infos = catalogue()
    if as_json:
        for info in infos:
            typer.echo(json.dumps(asdict(info)))
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("id", "kind"):
        table.add_column(heading, no_wrap=True)
    for heading, width in (("source", 14), ("licence", 12), ("description", 20)):
        table.add_column(heading, min_width=width, overflow="fold")
    for info in infos:
        doubt = f" (unverified: {info.unverified})" if info.unverified else ""
        cells = (info.id, info.kind, info.source, info.licence, info.description + doubt)
        table.add_row(*map(Text, cells))
    # What reads a pipe wants one environment a line, however long.
    console = out if out.is_terminal else Console(width=_PIPE_WIDTH, highlight=False, emoji=False)
    console.print(table)
