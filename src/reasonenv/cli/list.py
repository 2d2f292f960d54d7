"""`reasonenv list`: the registered environments."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

__all__ = ["list_envs"]


def list_envs(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the registered environments: id, kind, source, licence, description.

    Python: reasonenv.envs.catalogue()
    """
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
    for heading in ("id", "kind", "source", "licence"):
        table.add_column(heading, no_wrap=True)
    table.add_column("description", min_width=30)
    for info in infos:
        cells = (info.id, info.kind, info.source, info.licence, info.description)
        table.add_row(*map(Text, cells))
    out.print(table)
