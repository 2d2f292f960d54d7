"""`reasonenv dynamics RUN ...`: pictures of what training did, from runs' files."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["dynamics"]


def dynamics(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Run directories.")],
    out: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Where to write; RUN/dynamics for a single run."),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="The base model's folder; as the run says by default."),
    ] = None,
    k: Annotated[
        int, typer.Option(min=0, help="Leading directions of the base to compare with; 0: none.")
    ] = 16,
    sparsity: Annotated[
        bool, typer.Option(help="Stream over the merged weights to see what bfloat16 shows.")
    ] = True,
    prompts: Annotated[
        int,
        typer.Option(min=0, help="Stored completions for the activation shift; 0: no model loads."),
    ] = 64,
) -> None:
    """Write dynamics.html and the pictures as PNG: heat-maps, shifts, curves, spectra.

    Python: reasonenv.dynamics.write_dynamics(RUNS)
    """
    from reasonenv.cli.output import err
    from reasonenv.cli.output import out as console
    from reasonenv.dynamics import write_dynamics

    written = write_dynamics(
        runs, out, base=base, k=k, sparsity=sparsity, prompts=prompts,
        tell=lambda text: err.print(f"{text} ...", style="dim", markup=False),
    )  # fmt: skip
    for run, findings in written.findings.items():
        for finding in findings:
            err.print(f"{run} looks unhealthy: {finding}", markup=False)
    for line in written.missing:
        err.print(f"not shown: {line}", markup=False)
    console.print(str(written.page), markup=False)
