"""The GRPO learner on TRL, PEFT and accelerate, and everything that makes a run.

* `learner`, `session`: `GRPOLearner`, from a recipe to a run directory, and what each rank does.
* `recipe`, `trl_config`, `batch`: what decides a run, checked before anything is loaded.
* `trainer`, `bridge`, `draws`: TRL's trainer on an environment.
* `run`, `storage`, `signals`, `report/`: what a run leaves behind, and how to read it.
* `episodes`, `turns`: conversations of several turns, and an advantage for each turn.
* `cluster`, `agent`, `failures`, `sharding`, `memory`: several machines and GPUs, and how runs end.
* `launch`, `worker`, `stopping`, `guard`, `callbacks`, `progress`: while it runs.
* `tiny`: the model that ships with the package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reasonenv.trainers.batch import BatchPlan, plan_batches
    from reasonenv.trainers.learner import GRPOLearner
    from reasonenv.trainers.recipe import Recipe
    from reasonenv.trainers.report import write_report
    from reasonenv.trainers.run import Run
    from reasonenv.trainers.session import TrainResult
    from reasonenv.trainers.storage import read_metrics, read_rollouts

_HOME = {
    "BatchPlan": "batch",
    "GRPOLearner": "learner",
    "Recipe": "recipe",
    "Run": "run",
    "TrainResult": "session",
    "plan_batches": "batch",
    "read_metrics": "storage",
    "read_rollouts": "storage",
    "write_report": "report",
}

__all__ = [
    "BatchPlan",
    "GRPOLearner",
    "Recipe",
    "Run",
    "TrainResult",
    "plan_batches",
    "read_metrics",
    "read_rollouts",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first asked for."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
