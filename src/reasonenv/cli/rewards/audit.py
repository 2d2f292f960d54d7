"""`reasonenv rewards audit REWARD`: whether correctness dominates, and what rollouts showed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from reasonenv.cli.rewards.given import REWARD, reward_of

if TYPE_CHECKING:
    from reasonenv.rewards.audit import TermFacts

__all__ = ["audit"]


def audit(
    reward: REWARD,
    run: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="A run directory whose stored rollouts are read, too."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")] = False,
) -> None:
    """Prove that no wrong answer outscores a right one, or show one that does.

    With a run directory as REWARD, or with --run, stored rollouts show what ranges cannot. Exit
    status 1 if a witness refutes that correctness dominates.

    Python: print(reasonenv.rewards.parse(REWARD).audit())
    """
    from pathlib import Path

    from reasonenv.cli.output import out
    from reasonenv.rewards.audit.text import audit_text, observed_notes
    from reasonenv.trainers.report.rewards import stored_rollouts

    found = reward_of(reward)
    folder = run or (reward if (Path(reward) / "recipe.yaml").is_file() else None)
    result = found.audit(None if folder is None else stored_rollouts(folder))
    if as_json:
        out.print(json.dumps(result.to_json(), indent=2), markup=False)
    else:
        out.print(audit_text(result, observed=False), markup=False)
        if result.observed is not None:
            seen = result.observed
            _table("part", seen.parts)
            _table("term", seen.terms)
            out.print("\n".join(observed_notes(seen)), markup=False)
    if result.verdict == "refuted":
        raise typer.Exit(1)


def _table(what: str, facts: Sequence[TermFacts]) -> None:
    from rich.table import Table

    from reasonenv.cli.output import out
    from reasonenv.rewards.audit.text import HEADS, facts_row

    table = Table(what, *HEADS, box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for one in facts:
        table.add_row(*facts_row(one), style="dim" if one.state else None)
    out.print(table)
    out.print("")
