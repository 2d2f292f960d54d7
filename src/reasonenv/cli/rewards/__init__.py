"""`reasonenv rewards ...`: a reward's formula, range and audit; one file a command."""

from __future__ import annotations

import typer

from reasonenv.cli.rewards.attack import attack
from reasonenv.cli.rewards.audit import audit
from reasonenv.cli.rewards.show import show

__all__ = ["rewards"]

rewards = typer.Typer(
    name="rewards",
    help="Show a reward, prove what it pays for, and try to cheat it.",
    no_args_is_help=True,
    add_completion=False,
)
for command in (show, audit, attack):
    rewards.command(command.__name__)(command)
