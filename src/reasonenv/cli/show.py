"""`reasonenv show ENV`: an example problem as the model sees it."""

from __future__ import annotations

from typing import Annotated

import typer

from reasonenv.cli.options import DATA, ENV, SPLIT, given

__all__ = ["show"]


def show(
    env: ENV,
    index: Annotated[int, typer.Option(help="Which of its problems, from 0.")] = 0,
    split: SPLIT = None,
    data: DATA = None,
) -> None:
    """Show a problem as the model sees it, its gold, and the default reward with its range.

    Python: env = reasonenv.make(ENV); env.prompt_text(env.problems[0]), or what reset() returns.
    """
    import numpy as np

    import reasonenv
    from reasonenv.cli.output import out
    from reasonenv.errors import DataError

    made = reasonenv.make(env, **given(split=split, data=data))
    if not 0 <= index < len(made.problems):
        last = len(made.problems) - 1
        raise DataError(f"{env} has no problem {index}: --index goes from 0 to {last}")
    # As one draw would ask it: options in an order, under labels.
    problem = made.variants(made.problems[index], np.random.default_rng(index))[0]
    gold = made.gold_completion(problem)
    right, wrong = made.reward.range(correct=True), made.reward.range(correct=False)
    for title, text in (
        (f"{env}, problem {index} of {len(made.problems)} ({made.split}), id {problem.id}", ""),
        ("prompt", made.prompt_text(problem)),
        ("gold", str(problem.answer)),
        ("a right completion", gold if gold is not None else "(none known)"),
        ("default reward", repr(made.reward)),
        (
            "its range",
            f"right answer {right.low:g} to {right.high:g}, wrong {wrong.low:g} to {wrong.high:g}",
        ),
    ):
        out.print(title, style="bold", markup=False)
        if text:
            out.print(text + "\n", markup=False)
    for warning in made.reward.warnings():
        out.print(f"[yellow]warning[/]: {warning}")
