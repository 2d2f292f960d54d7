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
        str | None,
        typer.Option(metavar="N", help="Ranks on this machine; auto is one for each GPU."),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(metavar="N", help="Machines; start the same command on each."),
    ] = None,
    rank: Annotated[
        int | None, typer.Option(metavar="R", help="Which machine this is, from 0.")
    ] = None,
    master: Annotated[
        str | None, typer.Option(metavar="ADDR:PORT", help="Of machine 0, where all meet.")
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
    Ctrl-C stops at the next checkpoint boundary; go on with --resume RUN. Under SLURM's srun,
    --nodes, --rank and --master are read from its variables.

    Python: reasonenv.GRPOLearner(model, env=..., reward=..., recipe=RECIPE).train()
    """
    from reasonenv.cli.output import out as console
    from reasonenv.errors import RecipeError
    from reasonenv.trainers import GRPOLearner, Recipe
    from reasonenv.trainers.cluster import cluster_of
    from reasonenv.trainers.launch import command
    from reasonenv.trainers.recipe import recipe_names

    cluster = cluster_of(nodes, rank, master)
    if resume is not None:
        if any(x is not None for x in (recipe, out, model, data, seed, processes, set_)) or dry_run:
            raise RecipeError(
                "--resume RUN goes on with the run's own recipe; only --steps and the machines "
                "(--nodes, --rank, --master) fit it"
            )
        _conclude(GRPOLearner.resume(resume, steps=steps, cluster=cluster))
        return
    if recipe is None:
        raise RecipeError(f"which recipe? {', '.join(recipe_names())}, or a path to a .yaml file")
    fields: dict[str, Any] = {"model": model, "data": data, "seed": seed, "steps": steps}
    if processes is not None:
        fields["processes"] = int(processes) if processes.isdigit() else processes
    loaded = Recipe.load(recipe, set_ or (), **fields)
    learner = GRPOLearner(recipe=loaded, out=out, name=Path(recipe).stem, cluster=cluster)
    if dry_run:
        console.print(learner.describe(), markup=False)
        launched = "in this process"
        if learner.processes > 1:
            launched = shlex.join(command(out or "RUN", learner.local_processes, cluster=cluster))
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
