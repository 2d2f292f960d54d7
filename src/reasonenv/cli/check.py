"""`reasonenv check ENV`: whether an environment holds to its contract."""

from __future__ import annotations

from typing import Annotated

import typer

from reasonenv.cli.options import DATA, ENV, SPLIT, given

__all__ = ["check"]


def check(
    env: ENV,
    problems: Annotated[int, typer.Option(min=1, help="How many problems to judge.")] = 100,
    split: SPLIT = None,
    data: DATA = None,
) -> None:
    """Check an environment: its gold is right, junk is not, seeds and pickles hold.

    Exit status 1 if there is an error. Warnings are about rewards. Python: reasonenv.check_env(ENV)
    """
    from reasonenv.cli.output import err, out
    from reasonenv.envs import check_env

    def progress(name: str) -> None:
        if err.is_terminal:
            err.print(f"checking: {name} ...", style="dim")

    report = check_env(env, problems=problems, progress=progress, **given(split=split, data=data))
    failed = {finding.check for finding in report.of("error")}
    for name in report.checks:
        out.print(f"[bold red]FAIL[/]  {name}" if name in failed else f"[green]ok[/]    {name}")
        for finding in report.findings:
            if finding.check == name:
                out.print(f"      {finding.level}: ", end="")
                out.print(finding.message, markup=False)
    out.print(f"{report.golds} golds judged, {report.unchecked} problems without one")
    if not report.ok:
        raise typer.Exit(1)
