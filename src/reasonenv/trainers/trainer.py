"""`EnvGRPOTrainer`: TRL's GRPO trainer on a reasonenv environment.

What it adds to `trl.GRPOTrainer`:

* slots become problems at generation time (`Bridge.resolve`);
* a rollout whose checker failed leaves the group's mean and deviation *and* the loss: its loss
  mask is zeroed and the normalisers are computed without it;
* completions are judged as soon as they are finished, while others are still generated, where the
  back end tells of them (`trainers.finishing`, `trainers.engine`);
* rows without a share in the loss cost no forward and no backward pass (`trainers.silent`);
* episodes of several turns are sampled turn by turn (`trainers.episodes`), and where the reward
  pays turn by turn, each turn has its own advantage (`trainers.turns`);
* what a batch says is logged under the project's names, and every completion is stored.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from accelerate.utils import gather_object
from peft.optimizers import create_loraplus_optimizer
from trl import GRPOTrainer
from trl.models.utils import disable_gradient_checkpointing

from reasonenv.intervals import accuracy_interval
from reasonenv.trainers.bridge import Bridge
from reasonenv.trainers.callbacks import StopAtBoundary
from reasonenv.trainers.draws import slot_of_attempt
from reasonenv.trainers.episodes import Conversations
from reasonenv.trainers.finishing import finished_rows
from reasonenv.trainers.guard import UnscoredGuard
from reasonenv.trainers.sampling import Estimates, Outcome, level_of
from reasonenv.trainers.sampling.resampling import Chosen
from reasonenv.trainers.signals import batch_signals
from reasonenv.trainers.silent import (
    MEAN_OVER_ROWS,
    keep_rows,
    live_rows,
    rows_to_keep,
    silent_rows,
    why_all_rows,
    why_model_needs_all_rows,
)
from reasonenv.trainers.storage import Row, write_rollouts
from reasonenv.trainers.turns import deviation, turn_advantages

__all__ = ["EnvGRPOTrainer"]


class EnvGRPOTrainer(GRPOTrainer):
    """GRPO on an environment.

    Args:
        bridge: judges and scores.
        guard: halts the run when too many rollouts cannot be judged.
        rollouts: the folder that takes one part file per generation.
        stop: whether the run was asked to stop; an evaluation is then cut short and not recorded.
        episode_tokens: most tokens of an episode of several turns, after its prompt; None:
            `max_completion_length` for each turn.
        skip_silent: "auto" leaves rows without a share in the loss out of forward and backward,
            where loss and gradients stay the same numbers; "off" never does.
        estimates: what is known of the problems' success; moved on after each generation.
        level: metadata key of a problem's level.
        resample: how often at most groups of one outcome are replaced before a step.
        loraplus_lr_ratio: learning rate of the B factors over that of the A factors (LoRA+).
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
        episode_tokens: int | None = None,
        skip_silent: str = "auto",
        estimates: Estimates | None = None,
        level: str | None = None,
        resample: int = 0,
        loraplus_lr_ratio: float | None = None,
        **kwargs: Any,
    ) -> None:
        self.bridge, self.guard, self.rollouts = bridge, guard, rollouts
        self._stop = stop
        self._evaluation_cut = False
        self._evaluated: list[Row] = []
        self._generate_seconds = self._judge_seconds = 0.0
        self._generated_tokens = 0
        self._level, self._resample, self._loraplus = level, resample, loraplus_lr_ratio
        self.estimates = estimates or Estimates(bridge.group_size)
        self._totals = torch.empty(0)
        self.phase, self.longest_prompt = "update", 0
        self._deferring = False
        self._conversations: Conversations | None = None
        if bridge.env.max_turns > 1:
            limit = episode_tokens or bridge.env.max_turns * kwargs["args"].max_completion_length
            self._conversations = kwargs["rollout_func"] = Conversations(bridge, limit)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*'rollout_func'")
            super().__init__(reward_funcs=[bridge.total], **kwargs)
        self.all_rows_because = (
            "skip_silent: off"
            if skip_silent == "off"
            else why_all_rows(vars(self.args), None)
            or why_model_needs_all_rows(self.model, self.aux_loss_enabled)
        )
        """Why rows without a share in the loss are run all the same; None where they are not."""
        if self.use_vllm and bridge.ahead is not None:
            self.vllm_generation.tell = bridge.finished

    def _generate(self, prompts: list[Any]) -> Any:
        started = time.perf_counter()
        self.phase = "generate"
        output = super()._generate(prompts)
        self.phase = "update"
        self.longest_prompt = max(self.longest_prompt, *map(len, output[0]))
        judged = self._conversations.seconds if self._conversations else 0.0
        self._generate_seconds += time.perf_counter() - started - judged
        self._judge_seconds += judged
        return output

    def _generate_single_turn(self, prompt_ids: Any, *args: Any, **kwargs: Any) -> Any:
        bridge = self.bridge
        if self._conversations is None:
            bridge.expect(prompt_ids, bridge.problems())
        batched = not (self.use_vllm or self.use_transformers_continuous_batching)
        if bridge.ahead is None or not batched:
            return super()._generate_single_turn(prompt_ids, *args, **kwargs)
        with finished_rows(self.model, prompt_ids, self.eos_token_ids, bridge.finished):
            return super()._generate_single_turn(prompt_ids, *args, **kwargs)

    def _generate_and_score_completions(self, inputs: list[Mapping[str, Any]]) -> dict[str, Any]:
        mode = "train" if self.model.training else "eval"
        self.bridge.mode = mode
        self._generate_seconds = self._judge_seconds = 0.0
        # vLLM's correction needs all of the old log-probabilities before the rewards are known.
        self._deferring = mode == "train" and not self.all_rows_because and not self.use_vllm
        output, rows = self._sample(inputs)
        spare: list[Row] = []
        if mode == "train" and self._resample:
            output, rows, spare = self._replace_silent(inputs, output, rows)
        deferred, self._deferring = self._deferring, False
        if output["advantages"].ndim == 1:
            for row, advantage in zip(rows, output["advantages"].tolist(), strict=True):
                row["advantage"] = advantage
        for row in spare:
            row |= {key: None for key in ("advantage", "turn_advantages") if key in row}
        live = [row["solved"] is not None for row in rows]
        gathered = gather_object([*rows, *spare])
        if not all(row["solved"] is not None for row in gathered):
            self._mask_unscored(output, torch.tensor(live, device=self.accelerator.device))
        if deferred and "old_per_token_logps" in output:
            output["old_per_token_logps"] = self._old_logps(output)
        if mode == "train":
            self._note_tokens(output, gathered)
            self._record(gathered)
            self.bridge.remember(gathered)
        else:
            self._evaluated.extend(gathered)
        return output

    def _note_tokens(self, output: dict[str, Any], rows: list[Row]) -> None:
        """Note how many tokens were generated, and which share of the batch the loss leaves out."""
        own = [row["episode_tokens" if "episode_tokens" in row else "n_tokens"] for row in rows]
        self._generated_tokens += sum(own)
        used = [count for count, row in zip(own, rows, strict=True) if row["advantage"] is not None]
        sampled = sum(used)
        counted = float(output["num_items_in_batch"])
        self._metrics["train"]["masked"] = [1.0 - counted / max(sampled, 1)]

    def _sample(self, inputs: list[Mapping[str, Any]]) -> tuple[dict[str, Any], list[Row]]:
        """Generate, judge and score the completions of some slots."""
        output: dict[str, Any] = super()._generate_and_score_completions(
            self.bridge.resolve(inputs)
        )
        if self.model.training:
            silent = silent_rows(self._totals, self.num_generations)
            output["advantages"] = output["advantages"].masked_fill(silent, 0.0)
            if self.bridge.returns is not None:
                output["advantages"] = self._turn_advantages(output["completion_ids"])
        self._judge_seconds += self.bridge.seconds
        rows = self.bridge.rows
        for row in rows:
            row["rank"] = self.accelerator.process_index
        return output, rows

    def _turn_advantages(self, completion_ids: torch.Tensor) -> torch.Tensor:
        """Return the advantage of each token's turn, and note them in the rows.

        Args:
            completion_ids: shape (B, T).

        Returns:
            Shape (B, T), 0 in feedback and padding.
        """
        returns, rows = self.bridge.returns or [], self.bridge.rows
        spread, scale = 0.0, str(self.scale_rewards)
        if scale == "batch":
            flat = [float(value) for one in returns for value in one]
            spread = deviation(np.array(gather_object(flat)))
        found = turn_advantages(returns, self.num_generations, scale, spread)
        advantages = torch.zeros(completion_ids.shape, device=completion_ids.device)
        for i, (one, episode) in enumerate(zip(found, self.bridge.episodes or (), strict=True)):
            values = [*one, *[0.0] * (len(episode.turns) + 1 - len(one)), 0.0]  # the last: feedback
            taken = torch.tensor([values[turn] for turn in episode.turn_of])
            advantages[i, : len(taken)] = taken.to(advantages)
            rows[i]["turn_advantages"] = values[:-1]
            rows[i]["advantage"] = values[0]
        return advantages

    def _replace_silent(
        self, inputs: list[Mapping[str, Any]], output: dict[str, Any], rows: list[Row]
    ) -> tuple[dict[str, Any], list[Row], list[Row]]:
        """Sample other problems in place of groups of one outcome (DAPO, arXiv 2503.14476).

        Every rank samples as often and as much as the others, since TRL gathers rewards; what a
        rank does not need of that, and the groups that were replaced, are returned as the rows
        that the loss does not see.
        """
        size, device = self.num_generations, self.accelerator.device
        slots = [int(one["slot"]) for one in inputs[::size]]
        chosen = Chosen(output, rows, size)
        for attempt in range(1, self._resample + 1):
            wanted = [g for g in range(len(slots)) if not chosen.is_mixed(g)]
            count = int(self.accelerator.gather(torch.tensor(len(wanted), device=device)).max())
            if not count:
                break
            others = [g for g in range(len(slots)) if g not in wanted]
            asked = [*wanted, *others][:count]
            again = [slot_of_attempt(slots[g], attempt) for g in asked for _ in range(size)]
            chosen.offer(*self._sample([{"slot": slot} for slot in again]), asked, wanted)
        merged = chosen.batch(self._tokenizer.pad_token_id)
        mask = merged["completion_mask"] * merged.get("tool_mask", 1)
        merged["num_items_in_batch"] = self.accelerator.gather(mask.sum()).sum()
        return merged, chosen.rows, chosen.spare

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

    def _calculate_rewards(self, inputs: Any, prompts: Any, *args: Any) -> torch.Tensor:
        gathered: torch.Tensor = super()._calculate_rewards(inputs, prompts, *args)
        first = self.accelerator.process_index * len(prompts)
        self._totals = gathered[first : first + len(prompts)]
        return gathered

    def _get_per_token_logps_and_entropies(
        self, model: Any, input_ids: Any, attention_mask: Any, logits_to_keep: int, **kwargs: Any
    ) -> Any:
        if self._deferring:  # before the rewards: whose log-probabilities matter is not known yet
            return torch.zeros(len(input_ids), logits_to_keep, device=input_ids.device), None, None
        return super()._get_per_token_logps_and_entropies(
            model, input_ids, attention_mask, logits_to_keep, **kwargs
        )

    def _rows_that_count(self, inputs: dict[str, Any]) -> torch.Tensor | None:
        """Return the rows to run, as many on every rank; None where all of them are needed."""
        found = None if self.all_rows_because else live_rows(inputs)
        if found is None:
            return None
        live, has_tokens = found
        count = int(self.accelerator.gather(live.sum().clamp(min=1)).max().item())
        return rows_to_keep(live, has_tokens, count) if count < len(live) else None

    def _old_logps(self, output: dict[str, Any]) -> torch.Tensor:
        """Return the sampling policy's log-probabilities, 0 for rows without a share."""
        logps: torch.Tensor = output["old_per_token_logps"]
        rows = self._rows_that_count(output)
        if rows is None:
            rows = torch.arange(len(logps), device=logps.device)
        ids = torch.cat([output["prompt_ids"], output["completion_ids"]], dim=1)[rows]
        mask = torch.cat([output["prompt_mask"], output["completion_mask"]], dim=1)[rows]
        checkpointing = self.args.gradient_checkpointing_kwargs
        with torch.no_grad(), disable_gradient_checkpointing(self.model, checkpointing):
            logps[rows], _, _ = self._get_per_token_logps_and_entropies(
                self.model,
                ids,
                mask,
                logps.size(1),
                batch_size=self.args.per_device_train_batch_size,
            )
        return logps

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        factor: float | torch.Tensor = 1.0
        live_share = inputs.get("live_share")
        if self.model.training:
            rows, size = self._rows_that_count(inputs), len(inputs["completion_ids"])
            if rows is not None:
                inputs, factor = keep_rows(inputs, rows, self.loss_type)
            skipped = 0.0 if rows is None else 1.0 - len(rows) / size
            self._metrics["train"]["skipped_rows"].append(skipped)
        loss: torch.Tensor = super()._compute_loss(model, inputs)
        if live_share is not None and self.loss_type in MEAN_OVER_ROWS:
            # These losses have divided by all rows of the batch: divide by the live ones instead.
            factor = factor / live_share.clamp(min=1e-6)
        return loss if isinstance(factor, float) and factor == 1.0 else loss * factor

    def _record(self, rows: list[Row]) -> None:
        """Log and store one training generation, gathered from all ranks."""
        step = self.state.global_step
        metrics = self._metrics["train"]
        for name, value in batch_signals(rows).items():
            metrics[name] = [value]
        metrics["time/generate"].append(self._generate_seconds)
        metrics["time/judge"].append(self._judge_seconds)
        metrics["rollouts"] = [float(len(rows))]
        if self._resample:
            metrics["replaced"] = [sum(row["advantage"] is None for row in rows) / len(rows)]
        self._learn_from(rows)
        if self.accelerator.is_main_process:
            write_rollouts(self.rollouts, "train", step, rows)
        self.guard.see(rows, step)

    def _learn_from(self, rows: list[Row]) -> None:
        """Hold the generation's mixed groups against their prediction, and learn from them."""
        groups: dict[str, list[Row]] = {}
        for row in rows:
            groups.setdefault(row["group_id"], []).append(row)
        found = []
        for group_id, members in groups.items():
            # A group's slot says what was drawn, also where it was asked in another rendering.
            problem = self.bridge.train[int(group_id.split("-")[-2])]
            solved = [row["solved"] for row in members if row["solved"] is not None]
            level = level_of(problem, self._level)
            found.append(Outcome(problem.id, level, int(sum(solved)), len(solved)))
        expected = self.estimates.mixed([o.problem_id for o in found], [o.level for o in found])
        self._metrics["train"]["mixed_groups_expected"] = [float(expected.mean())]
        self.estimates.observe(found)

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
            metrics["time/tokens_per_second"] = [self._generated_tokens / max(total, 1e-9)]
            self._generated_tokens = 0
        super().log(logs, start_time)

    def create_optimizer(self, model: Any = None) -> Any:
        """Make the optimizer; with LoRA+ the B factors learn faster than the A factors."""
        if self._loraplus is None or self.optimizer is not None:
            return super().create_optimizer(model)
        factory, settings = self.get_optimizer_cls_and_kwargs(self.args, self.model)
        self.optimizer: Any = create_loraplus_optimizer(
            self.model,
            factory,
            loraplus_lr_ratio=self._loraplus,
            loraplus_weight_decay=self.args.weight_decay,
            **settings,
        )
        return self.optimizer

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """Write no model card: the run's report tells what was trained, and how."""
