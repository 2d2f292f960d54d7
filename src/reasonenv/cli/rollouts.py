"""`reasonenv rollouts RUN`: browse a run's completions."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["rollouts"]

_PIPE_WIDTH = 200  # columns where there is no terminal


def rollouts(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A training run or an evaluation.")],
    unscored: Annotated[
        bool, typer.Option("--unscored", help="Groups with a member whose checker failed.")
    ] = False,
    flipped: Annotated[
        bool,
        typer.Option("--flipped", help="Groups where a wrong member earned more than a right one."),
    ] = False,
    suspect: Annotated[
        bool, typer.Option("--suspect", help="Groups with signs of a hack.")
    ] = False,
    step: Annotated[int | None, typer.Option(help="Of this training step only.")] = None,
    collection: Annotated[
        str | None, typer.Option(metavar="NAME", help="train, eval, or a benchmark's name.")
    ] = None,
    problem: Annotated[
        str | None, typer.Option(metavar="ID", help="Of problems whose id begins so.")
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Show completions whole.")] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Groups to show; 20, or all in HTML.")
    ] = None,
    html: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write one self-contained page instead.")
    ] = None,
) -> None:
    """Browse a run's rollouts by group, with verdict, parts and advantage.

    On a terminal through your pager; --html FILE writes a page that needs nothing but itself.

    Python: reasonenv.evaluation.open_run(RUN).rows()
    """
    from reasonenv.cli.output import err, out
    from reasonenv.errors import DataError
    from reasonenv.evaluation.browse.groups import filtered, groups_of
    from reasonenv.evaluation.browse.page import html_page
    from reasonenv.evaluation.browse.terminal import panels
    from reasonenv.evaluation.stored import open_run
    from reasonenv.files import write_atomic

    opened = open_run(run)
    rows = (
        row
        for row in opened.rows()
        if (step is None or row.get("step") == step)
        and (collection is None or row["collection"] == collection)
    )
    asked = {"unscored": unscored, "flipped": flipped, "suspect": suspect}
    names = [name for name, wanted in asked.items() if wanted]
    groups = list(filtered(groups_of(rows), names, problem))
    for damage in opened.damage:
        err.print(damage, markup=False)
    if not groups:
        told = ", ".join(f"--{name}" for name in names) or "these options"
        raise DataError(f"{run}: no group of rollouts fits {told}")
    if html is not None:
        shown = groups[:limit]
        write_atomic(Path(html), html_page(str(opened.path), shown, opened.damage))
        members = sum(len(group.members) for group in shown)
        out.print(f"wrote {html}: {len(shown):,} groups, {members:,} rollouts", markup=False)
        return
    count = limit or (len(groups) if out.is_terminal else 20)
    if out.is_terminal:
        with out.pager(styles=True):
            for panel in panels(islice(groups, count), whole=whole):
                out.print(panel)
    else:
        for panel in panels(islice(groups, count), whole=whole):
            out.print(panel, width=_PIPE_WIDTH)
    if len(groups) > count:
        err.print(f"{len(groups) - count:,} more groups: --limit N", markup=False)
