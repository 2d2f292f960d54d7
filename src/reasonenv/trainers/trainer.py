"""`EnvGRPOTrainer`: TRL's GRPO trainer on a reasonenv environment.

What it adds to `trl.GRPOTrainer`:

* slots become problems at generation time (`Bridge.resolve`);
* a rollout whose checker failed leaves the group's mean and deviation *and* the loss: its loss
  mask is zeroed and the normalisers are computed without it;
* what a batch says is logged under the project's names, and every completion is stored.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import torch
from accelerate.utils import gather_object
from trl import GRPOTrainer

from reasonenv.evaluation.intervals import accuracy_interval
from reasonenv.trainers.bridge import Bridge
from reasonenv.trainers.callbacks import StopAtBoundary
from reasonenv.trainers.guard import UnscoredGuard
from reasonenv.trainers.signals import batch_signals
from reasonenv.trainers.storage import Row, write_rollouts

__all__ = ["EnvGRPOTrainer"]

_MEAN_OVER_ROWS = frozenset({"grpo", "sapo", "dr_grpo", "luspo"})
"""Losses that divide by the number of rows; the others divide by unmasked tokens."""


class EnvGRPOTrainer(GRPOTrainer):
    """GRPO on an environment.

    Args:
        bridge: judges and scores.
        guard: halts the run when too many rollouts cannot be judged.
        rollouts: the folder that takes one part file per generation.
        stop: whether the run was asked to stop; an evaluation is then cut short and not recorded.
        kwargs: as for `trl.GRPOTrainer`, without reward functions.
    """

    _tag_names: ClassVar[list[str]] = ["trl", "grpo", "reasonenv"]

    def __init__(
        self,
        *,
        bridge: Bridge,
        guard: UnscoredGuard,
        rollouts: Path,
        stop: StopAtBoundary | None = None,
        **kwargs: Any,
    ) -> None:
        self.bridge, self.guard, self.rollouts = bridge, guard, rollouts
        self._stop = stop
        self._evaluation_cut = False
        self._evaluated: list[Row] = []
        self._generate_seconds = 0.0
        super().__init__(reward_funcs=[bridge.total], **kwargs)

    def _generate(self, prompts: list[Any]) -> Any:
        started = time.perf_counter()
        output = super()._generate(prompts)
        self._generate_seconds = time.perf_counter() - started
        return output

    def _generate_and_score_completions(self, inputs: list[Mapping[str, Any]]) -> dict[str, Any]:
        mode = "train" if self.model.training else "eval"
        self.bridge.mode = mode
        output: dict[str, Any] = super()._generate_and_score_completions(
            self.bridge.resolve(inputs)
        )
        rows = self.bridge.rows
        for row, advantage in zip(rows, output["advantages"].tolist(), strict=True):
            row["advantage"] = advantage
            row["rank"] = self.accelerator.process_index
        live = [row["solved"] is not None for row in rows]
        gathered = gather_object(rows)
        if not all(row["solved"] is not None for row in gathered):
            self._mask_unscored(output, torch.tensor(live, device=self.accelerator.device))
        if mode == "train":
            self._record(gathered)
            self.bridge.remember(gathered)
        else:
            self._evaluated.extend(gathered)
        return output

    def _mask_unscored(self, output: dict[str, Any], live: torch.Tensor) -> None:
        """Take unscored members out of the loss.

        TRL has zeroed their advantage, but the KL term and the normaliser still see them.
        `tool_mask` is what TRL multiplies the loss mask with; the attention mask stays.

        Args:
            output: of `_generate_and_score_completions`, changed in place.
            live: shape (B,), False for unscored members of this rank.
        """
        completion_mask = output["completion_mask"]
        mask = output.get("tool_mask", torch.ones_like(completion_mask))
        mask = mask * live.unsqueeze(1).to(mask.dtype)
        output["tool_mask"] = mask
        tokens = (completion_mask * mask).sum()
        output["num_items_in_batch"] = self.accelerator.gather(tokens).sum()
        output["live_share"] = self.accelerator.gather(live.float()).mean()

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        loss: torch.Tensor = super()._compute_loss(model, inputs)
        live_share = inputs.get("live_share")
        if live_share is None or self.loss_type not in _MEAN_OVER_ROWS:
            return loss
        # These losses have divided by all rows of the batch: divide by the live ones instead.
        scaled: torch.Tensor = loss / live_share.clamp(min=1e-6)
        return scaled

    def _record(self, rows: list[Row]) -> None:
        """Log and store one training generation, gathered from all ranks."""
        step = self.state.global_step
        metrics = self._metrics["train"]
        for name, value in batch_signals(rows).items():
            metrics[name] = [value]
        metrics["time/generate"].append(self._generate_seconds)
        metrics["time/judge"].append(self.bridge.seconds)
        if self.accelerator.is_main_process:
            write_rollouts(self.rollouts, "train", step, rows)
        self.guard.see(rows, step)

    def _record_evaluation(self) -> None:
        """Log and store one whole evaluation, each problem counted once."""
        size = self.bridge.eval_samples
        seen: dict[str, int] = {}
        rows: list[Row] = []
        for row in self._evaluated:
            slot = row["group_id"].rpartition("-")[0]
            seen[slot] = seen.get(slot, 0) + 1
            if seen[slot] <= size:  # uneven ranks evaluate the first problems once more
                rows.append(row)
        self._evaluated = []
        metrics = self._metrics["eval"]
        for name, value in batch_signals(rows).items():
            metrics[name] = [value]
        low, high = accuracy_interval(rows)
        metrics["accuracy_low"], metrics["accuracy_high"] = [low], [high]
        metrics["problems"] = [float(len(seen))]
        if self.accelerator.is_main_process:
            write_rollouts(self.rollouts, "eval", self.state.global_step, rows)

    def evaluation_loop(self, *args: Any, **kwargs: Any) -> Any:
        """Evaluate; what was left of an evaluation that failed or was cut is forgotten."""
        self._evaluated, self._evaluation_cut = [], False
        return super().evaluation_loop(*args, **kwargs)

    def prediction_step(self, *args: Any, **kwargs: Any) -> Any:
        """Evaluate a batch, or none of those that are left once a stop was asked for."""
        if self._stop is not None and self._stop.wanted(self.args.device):
            self._evaluation_cut = True
        if self._evaluation_cut:
            return None, None, None
        return super().prediction_step(*args, **kwargs)

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Log, with the bridge's signals in and TRL's doubles of them out."""
        mode = "train" if self.model.training else "eval"
        if mode == "eval" and self._evaluation_cut:
            self._metrics["eval"].clear()
            return
        if mode == "eval" and self._evaluated:
            self._record_evaluation()
        metrics = self._metrics[mode]
        for name in [name for name in metrics if name.startswith("rewards/")]:
            del metrics[name]  # the same as `reward`: one composed reward reaches TRL
        if metrics.get("step_time") and metrics.get("time/generate"):
            total = sum(metrics["step_time"])
            spent = sum(metrics["time/generate"]) + sum(metrics["time/judge"])
            metrics["time/update"] = [max(0.0, total - spent)]
        super().log(logs, start_time)

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """Write no model card: the run's report tells what was trained, and how."""
