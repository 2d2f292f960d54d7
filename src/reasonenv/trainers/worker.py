"""What torchrun runs on each rank: `python -m reasonenv.trainers.worker RUN`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from reasonenv.errors import ReasonEnvError, TooManyUnscoredError
from reasonenv.trainers.failures import note_rank
from reasonenv.trainers.launch import rank
from reasonenv.trainers.learner import GRPOLearner
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.run import Run

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Train this rank's part of a run; errors that a person can act on come without traceback."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    parser.add_argument("--steps", type=int)
    arguments = parser.parse_args(argv)
    try:
        run = Run.open(arguments.run)
        recipe = run.recipe
        if arguments.steps is not None:
            fields = {**recipe.model_dump(), "steps": arguments.steps, "epochs": None}
            recipe = Recipe.make(fields)
        GRPOLearner(recipe=recipe, out=run.path).work(run)
    except ReasonEnvError as error:
        note_rank(Path(arguments.run), rank(), str(error))
        print(f"rank {rank()}: {error}", file=sys.stderr, flush=True)
        if isinstance(error, TooManyUnscoredError):
            # All ranks are here: the first to leave would have torchrun end the others, the one
            # that writes the report among them.
            torch.distributed.barrier()
        return 1
    except BaseException as error:
        note_rank(Path(arguments.run), rank(), f"{type(error).__name__}: {error}")
        raise
    return 0


if __name__ == "__main__":
    sys.exit(main())
