"""`reasonenv rewards attack RECIPE|ENV`: what cheap completions earn beside a right answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from reasonenv.cli.options import DATA, SPLIT, given

if TYPE_CHECKING:
    from reasonenv.envs.attacks import AttackReport, HackResult

__all__ = ["attack"]


def attack(
    target: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE|ENV",
            help="A recipe (name or .yaml file), or `id`, `module:id`, `path/to/file.py:id`.",
        ),
    ],
    reward: Annotated[
        str | None,
        typer.Option(metavar="FORMULA", help="A reward to attack instead of its own."),
    ] = None,
    problems: Annotated[int, typer.Option(min=1, help="How many problems to try on.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw of the problems.")] = 0,
    max_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Longer completions count as cut off; a recipe's own by default."),
    ] = None,
    split: SPLIT = None,
    data: DATA = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the whole report as one JSON object.")
    ] = False,
    fail: Annotated[
        bool,
        typer.Option(
            "--fail", help="Exit status 1 if a hack earns as much as a right answer, or passes."
        ),
    ] = False,
) -> None:
    """Feed cheap completions through environment and reward: what does each earn?

    Empty, spam, layout only, echoes, all options, every number, hard-coded programs, lengths at
    both ends ... beside the right answer. Exit status 0 whatever is found, unless --fail.

    Python: reasonenv.envs.attacks.attack(ENV, reward=FORMULA)
    """
    import json

    from rich.progress import Progress

    from reasonenv.cli.output import err, out
    from reasonenv.envs.attacks import attack as run

    env, options = _target(target, given(reward=reward, max_tokens=max_tokens))
    options |= given(split=split, data=data)
    with Progress(console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("trying hacks", total=None)
        report = run(
            env,
            problems=problems,
            seed=seed,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
            **options,
        )
    if as_json:
        typer.echo(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
    else:
        out.print(f"{report.env}: {report.problems} problems", markup=False)
        out.print(f"reward: {report.reward}", markup=False)
        out.print(_table(report))
        for note in report.notes:
            out.print(f"note: {note}", markup=False)
        out.print(_conclusion(report), markup=False)
    if fail and not report.ok:
        raise typer.Exit(1)


def _target(target: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the environment that is named, and what to attack it with; options go first."""
    from reasonenv.trainers.recipe import Recipe, recipe_names

    if not target.endswith((".yaml", ".yml")) and target not in recipe_names():
        return target, options
    recipe = Recipe.load(target)
    found = given(
        reward=recipe.reward,
        data=recipe.data,
        max_tokens=recipe.grpo.get("max_completion_length"),
    )
    return recipe.env, {**recipe.env_args, **found, **options}


def _table(report: AttackReport) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("hack", no_wrap=True)
    table.add_column("verdict")
    for head in ("earns", "right earns"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("")
    table.add_row("right answer", "correct", "", f"{report.right:.3f}", "")
    table.add_row("right, poor layout", "correct", "", f"{report.bare:.3f}", "")
    for result in report.results:
        mark, style = _mark(result)
        cells = (
            result.hack,
            ", ".join(result.statuses),
            "-" if result.earned is None else f"{result.earned:.3f}",
            f"{result.right:.3f}",
        )
        table.add_row(*(Text(cell) for cell in cells), Text(mark, style))
    return table


def _mark(result: HackResult) -> tuple[str, str]:
    marks = [
        f"{what} {count}/{result.tried}"
        for what, count in (
            ("OUTRANKS", result.outranks),
            ("TIES", result.ties),
            ("BEATS POOR LAYOUT", 0 if result.outranks or result.ties else result.outranks_bare),
            ("JUDGED RIGHT", result.judged_right),
        )
        if count
    ]
    if marks:
        return ", ".join(marks), "bold red"
    if result.unscored:
        return f"not scored {result.unscored}/{result.tried}", "yellow"
    passes = result.statuses.get("correct", 0)
    return (f"passes {passes}/{result.tried}", "yellow") if passes else ("", "")


def _conclusion(report: AttackReport) -> str:
    if report.ok:
        return "No hack earns as much as a right answer, and none is judged right."
    bad = [result.hack for result in report.paying]
    return f"{len(bad)} of {len(report.results)} hacks pay or pass: {', '.join(bad)}"
