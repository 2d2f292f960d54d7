"""Callbacks of a run: the metrics file, stopping, and the mark of a complete checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from reasonenv.files import write_atomic
from reasonenv.trainers.bridge import Bridge
from reasonenv.trainers.guard import UnscoredGuard
from reasonenv.trainers.run import MARK
from reasonenv.trainers.sampling import Estimates
from reasonenv.trainers.stopping import StopRequest
from reasonenv.trainers.storage import log_metrics

__all__ = ["ESTIMATES", "CompleteCheckpoint", "KeepEstimates", "MetricsFile", "StopAtBoundary"]

ESTIMATES = "estimates.json"
"""A checkpoint's file of what is known of the problems' success."""


class MetricsFile(TrainerCallback):
    """Writes what is logged to `metrics.jsonl`, on the main process."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Append one line."""
        if state.is_world_process_zero and logs:
            log_metrics(self.path, state.global_step, kind_of(logs), logs)


def kind_of(logs: dict[str, Any]) -> str:
    """Return which kind of line these logs are: "eval", "summary" (of a run) or "train"."""
    if any(name.startswith("eval_") for name in logs):
        return "eval"
    return "summary" if "train_runtime" in logs else "train"


class StopAtBoundary(TrainerCallback):
    """Ends training with a checkpoint once a stop was requested, on every rank alike.

    Args:
        request: whether this rank was asked to stop.
        cycle: optimizer steps a generation; a checkpoint inside one could not be resumed exactly.
    """

    def __init__(self, request: StopRequest, cycle: int) -> None:
        self.request, self.cycle = request, cycle
        self.stopped = False

    def wanted(self, device: torch.device) -> bool:
        """Return whether any rank was asked to stop: the same answer on every rank."""
        asked = bool(self.request)
        if torch.distributed.is_initialized():
            flag = torch.tensor(float(asked), device=device)
            torch.distributed.all_reduce(flag, op=torch.distributed.ReduceOp.MAX)
            asked = bool(flag.item())
        return asked

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Ask for a checkpoint and the end, where any rank was asked to stop."""
        if (
            self.wanted(args.device)
            and state.global_step % self.cycle == 0
            and state.global_step < state.max_steps
        ):
            control.should_save = control.should_training_stop = self.stopped = True


class KeepEstimates(TrainerCallback):
    """Keeps in a checkpoint what is known of the problems' success."""

    def __init__(self, estimates: Estimates) -> None:
        self.estimates = estimates

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Write the file."""
        if state.is_world_process_zero:
            folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
            write_atomic(folder / ESTIMATES, json.dumps(self.estimates.to_json()) + "\n")


class CompleteCheckpoint(TrainerCallback):
    """Marks a checkpoint as complete, and keeps in it what TRL's own files do not hold."""

    def __init__(self, guard: UnscoredGuard, bridge: Bridge) -> None:
        self.guard, self.bridge = guard, bridge

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Write the mark, last of all files."""
        if state.is_world_process_zero:
            folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
            content = {
                "step": state.global_step,
                "unscored_streak": self.guard.streak,
                "reward_state": self.bridge.state.to_json(),
            }
            write_atomic(folder / MARK, json.dumps(content) + "\n")
