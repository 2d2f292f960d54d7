"""`reasonenv rewards show REWARD`: a reward's formula, its parts and its range."""

from __future__ import annotations

from typing import Annotated

import typer

from reasonenv.cli.rewards.given import REWARD, reward_of

__all__ = ["show"]


def show(
    reward: REWARD,
    config: Annotated[bool, typer.Option("--config", help="Print it as YAML instead.")] = False,
) -> None:
    """Show a reward: its parts, what each can be worth to a right and to a wrong answer.

    Python: reward = reasonenv.rewards.parse(REWARD); reward.range(correct=True)
    """
    from rich.table import Table

    from reasonenv.cli.output import out

    found = reward_of(reward)
    if config:
        import yaml

        out.print(yaml.safe_dump(found.to_config(), sort_keys=False).rstrip(), markup=False)
        return
    out.print(repr(found), style="bold", markup=False)
    table = Table("part", "right answer", "wrong answer", "needs", box=None, pad_edge=False)
    for part in found.addends():
        right, wrong = part.range(correct=True), part.range(correct=False)
        needs = ", ".join(sorted(part.needs)) or "-"
        table.add_row(part.label, str(right), str(wrong), needs)
    right, wrong = found.range(correct=True), found.range(correct=False)
    table.add_row("total", str(right), str(wrong), "", style="bold")
    out.print(table)
    for warning in found.warnings():
        out.print(f"[yellow]warning[/]: {warning}")
