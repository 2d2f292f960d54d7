"""`reasonenv rewards ...`: a reward's formula, its range, what it pays for; one file a command."""

from __future__ import annotations

import typer

from reasonenv.cli.rewards import attack

__all__ = ["rewards"]

rewards = typer.Typer(
    name="rewards",
    help="Show a reward, prove what it pays for, and try to cheat it.",
    no_args_is_help=True,
    add_completion=False,
)
rewards.command()(attack.attack)
