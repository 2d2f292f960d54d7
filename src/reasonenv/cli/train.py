"""`reasonenv train RECIPE`: trains a model."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["train"]


def train(
    recipe: Annotated[
        str | None,
        typer.Argument(metavar="RECIPE", help="A recipe's name or YAML file; try `quickstart`."),
    ] = None,
    out: Annotated[str | None, typer.Option(metavar="DIR", help="The run directory.")] = None,
    model: Annotated[
        str | None, typer.Option(metavar="M", help="A model's folder, a hub id, or `tiny`.")
    ] = None,
    data: Annotated[
        str | None, typer.Option(metavar="FILE", help="A JSONL file of problems to train on.")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N")] = None,
    steps: Annotated[int | None, typer.Option(metavar="N", help="Optimizer steps.")] = None,
    processes: Annotated[
        str | None, typer.Option(metavar="N", help="Ranks; auto is one for each GPU.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Such as grpo.learning_rate=1e-5."),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Go on with this run; takes only --steps beside it."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print what would be done; load no model."),
    ] = False,
) -> None:
    """Train a model with GRPO (and LoRA) on an environment, by a recipe.

    Leaves a run directory: resolved recipe, metrics.jsonl, rollouts.parquet/, adapter/, report.md.
    Ctrl-C stops at the next checkpoint boundary; go on with --resume RUN.

    Python: reasonenv.GRPOLearner(model, env=..., reward=..., recipe=RECIPE).train()
    """
    from reasonenv.cli.output import out as console
    from reasonenv.errors import RecipeError
    from reasonenv.trainers import GRPOLearner, Recipe
    from reasonenv.trainers.launch import command
    from reasonenv.trainers.recipe import recipe_names

    if resume is not None:
        if any(x is not None for x in (recipe, out, model, data, seed, processes, set_)) or dry_run:
            raise RecipeError(
                "--resume RUN goes on with the run's own recipe; only --steps fits it"
            )
        _conclude(GRPOLearner.resume(resume, steps=steps))
        return
    if recipe is None:
        raise RecipeError(f"which recipe? {', '.join(recipe_names())}, or a path to a .yaml file")
    fields: dict[str, Any] = {"model": model, "data": data, "seed": seed, "steps": steps}
    if processes is not None:
        fields["processes"] = int(processes) if processes.isdigit() else processes
    loaded = Recipe.load(recipe, set_ or (), **fields)
    learner = GRPOLearner(recipe=loaded, out=out, name=Path(recipe).stem)
    if dry_run:
        console.print(learner.describe(), markup=False)
        ranks = learner.processes
        launched = shlex.join(command("RUN", ranks)) if ranks > 1 else "in this process"
        console.print(f"# launch: {launched}", markup=False)
        return
    console.print(f"run directory: {learner.out}", markup=False)
    _conclude(learner.train())


def _conclude(result: Any) -> None:
    from reasonenv.cli.output import out as console

    before, after = result.before, result.after
    if result.stopped:
        console.print(
            f"stopped at step {result.step}; go on: reasonenv train --resume {result.run}",
            markup=False,
        )
        return
    if before and after and before.get("eval_accuracy") is not None:
        console.print(
            f"held-out accuracy {before['eval_accuracy']:.1%} before, "
            f"{after['eval_accuracy']:.1%} after {result.step} steps",
            markup=False,
        )
    console.print(f"report: {result.run / 'report.md'}", markup=False)
