"""`reasonenv report RUN`: rebuilds a run's report from its files."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["report"]


def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run directory.")],
) -> None:
    """Write RUN/report.md and RUN/plots/*.png anew from the run's files; nothing is trained.

    Python: reasonenv.trainers.write_report(RUN)
    """
    from reasonenv.cli.output import out
    from reasonenv.trainers import write_report

    out.print(str(write_report(run)), markup=False)
