"""The commands, gathered."""

from __future__ import annotations

import typer

from reasonenv.cli import (
    check,
    doctor,
    dynamics,
    eval,
    explain,
    export,
    judge,
    rejudge,
    report,
    rewards,
    rollouts,
    sample,
    sandbox,
    show,
    train,
)
from reasonenv.cli import list as list_
from reasonenv.cli import refine as refine_
from reasonenv.cli import study as study_

__all__ = ["app"]

app = typer.Typer(
    name="reasonenv",
    help="Reasoning environments with verifiable rewards, reward shaping, and a GRPO learner.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (
    list_.list_envs,
    show.show,
    check.check,
    doctor.doctor,
    judge.judge,
    explain.explain,
    train.train,
    report.report,
    eval.eval_,
    rollouts.rollouts,
    rejudge.rejudge,
    sample.sample,
    export.export,
    dynamics.dynamics,
    study_.study,
    refine_.refine,
):
    app.command(command.__name__.removesuffix("_envs").rstrip("_"))(command)
app.add_typer(sandbox.sandbox)
app.add_typer(rewards.rewards)


@app.callback(invoke_without_command=True)
def version(
    ctx: typer.Context,
    show_version: bool = typer.Option(False, "--version", help="Print the version and leave."),
) -> None:
    """Reasoning environments with verifiable rewards, reward shaping, and a GRPO learner."""
    if show_version:
        from reasonenv import __version__

        typer.echo(__version__)
        raise typer.Exit
