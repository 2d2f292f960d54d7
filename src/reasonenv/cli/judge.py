"""`reasonenv judge KIND FILE`: judges stored answers."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["judge"]


def judge(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="math, choice or code.")],
    file: Annotated[str, typer.Argument(metavar="FILE.jsonl", help="One answer a line.")],
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Where to write verdicts; stdout if not given."),
    ] = None,
) -> None:
    """Judge stored answers, one verdict a line, in order, written as they come.

    Lines: math {"id", "gold", "completion"} or {"id", "gold", "answer"}; choice {"id", "options",
    "gold", "completion"}; code {"id", "kind", "tests", "completion" or "program", "entry_point"
    ...}. Verdicts: id, status, correct, score, answer, detail, seconds. A bad line gets an error
    line of its own and the rest goes on. Exit status 0 only if every line was judged.

    Python: reasonenv.checkers.judge_file(KIND, FILE)
    """
    from reasonenv.checkers import judge_file
    from reasonenv.cli.output import err

    report = judge_file(kind, file, out)
    err.print(str(report), markup=False)
    if not report.ok:
        raise typer.Exit(1)
