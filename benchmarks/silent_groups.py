"""What a step costs when rows without a share in the loss are left out, and when they are not.

    python benchmarks/silent_groups.py [--model tiny|FOLDER] [--recipe quickstart] [--blocks 10]
        [--steps 3] [--set key=value ...]

One trainer does the same steps twice a block, once with `skip_silent: auto` and once with `off`,
the order changing from block to block: from the same weights, on the same problems and the same
random numbers, so that both sample the same completions. A block is measured in CPU seconds of
the process. Printed are the share of rows that were skipped, the largest difference of the two
sides' losses and gradient norms, and the ratio of CPU seconds a step, auto / off: its median over
blocks and a 95 % interval of it (bootstrap). The aim at a real run's share is at most 0.75.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import PrinterCallback, TrainerCallback

import reasonenv
from reasonenv.models.loading import load_model, load_tokenizer
from reasonenv.models.prompts import PromptFormat
from reasonenv.trainers.batch import BatchPlan
from reasonenv.trainers.bridge import Bridge
from reasonenv.trainers.draws import Draws
from reasonenv.trainers.guard import UnscoredGuard
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.session import slots
from reasonenv.trainers.trainer import EnvGRPOTrainer
from reasonenv.trainers.trl_config import batch_plan, grpo_config, lora_config

LIMIT = 0.75


class Record(TrainerCallback):
    """CPU seconds of a block, and what its steps logged."""

    def __init__(self) -> None:
        self.rows: list[dict[str, float]] = []
        self.seconds = self._began = 0.0

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start at the first step."""
        if state.global_step == 0:
            self.rows, self._began = [], time.process_time()

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Read the clock at each step's log; the last one counts."""
        if "loss" in (logs or {}):
            self.seconds = time.process_time() - self._began
            self.rows.append(dict(logs))


def make(recipe: Recipe, plan: BatchPlan, steps: int, folder: Path) -> tuple[Any, Record]:
    """Return a trainer by the learner's own parts, and what records its blocks."""
    env = reasonenv.make(recipe.env, **recipe.env_args)
    if recipe.reward is not None:
        env.reward = reasonenv.rewards.from_config(recipe.reward)
    config = grpo_config(recipe, plan, run=folder, steps=steps, evaluate=False, resumed=False)
    config.save_strategy = "no"
    tokenizer = load_tokenizer(recipe.model)
    bridge = Bridge(
        env=env,
        tokenizer=tokenizer,
        prompt=PromptFormat(env, tokenizer, recipe.prompt.template),
        train=Draws(env.problems, recipe.seed),
        held_out=None,
        group_size=plan.group_size,
        eval_samples=1,
        end_ids=frozenset(),
    )
    record = Record()
    trainer = EnvGRPOTrainer(
        bridge=bridge,
        guard=UnscoredGuard(),
        rollouts=folder / "rollouts.parquet",
        model=load_model(recipe.model),
        args=config,
        train_dataset=slots(plan.prompts_per_generation * plan.generations(steps)),
        processing_class=tokenizer,
        peft_config=lora_config(recipe.lora),
        callbacks=[record],
    )
    trainer.remove_callback(PrinterCallback)
    bridge.end_ids = frozenset(trainer.eos_token_ids)
    return trainer, record


def block(trainer: Any, record: Record, weights: Any, off: bool, seed: int) -> list[Any]:
    """Train a block from the same weights; return CPU seconds and logs."""
    trainer.all_rows_because = "skip_silent: off" if off else None
    with torch.no_grad():
        for name, parameter in trainer.model.named_parameters():
            if name in weights:
                parameter.copy_(weights[name])
    trainer.optimizer = trainer.lr_scheduler = trainer._buffered_inputs = None
    trainer._step = 0
    trainer.args.seed = seed
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    trainer.train()
    return [record.seconds, record.rows]


def interval(ratios: list[float], draws: int = 10_000) -> tuple[float, float]:
    """Return a 95 % bootstrap interval of the median."""
    rng = np.random.default_rng(0)
    medians = np.median(rng.choice(ratios, size=(draws, len(ratios))), axis=1)
    return float(np.quantile(medians, 0.025)), float(np.quantile(medians, 0.975))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--recipe", default="quickstart")
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--steps", type=int, default=3, help="of one block")
    parser.add_argument("--set", action="append", default=[], help="override of the recipe")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    overrides = ["grpo.report_to=none", *arguments.set]
    recipe = Recipe.load(arguments.recipe, overrides, model=arguments.model)
    plan = batch_plan(recipe, 1)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        trainer, record = make(recipe, plan, arguments.steps, Path(folder))
        weights = {
            name: p.detach().clone()
            for name, p in trainer.model.named_parameters()
            if p.requires_grad
        }
        block(trainer, record, weights, off=False, seed=99)  # warm-up
        ratios, shares, gaps, seconds = [], [], [0.0], []
        for number in range(arguments.blocks):
            sides = {}
            for off in (False, True) if number % 2 else (True, False):
                sides[off] = block(trainer, record, weights, off, seed=number)
            (ours, rows), (whole, all_rows) = sides[False], sides[True]
            ratios.append(ours / whole)
            seconds.append((ours / arguments.steps, whole / arguments.steps))
            shares += [row["skipped_rows"] for row in rows]
            # later steps start from weights that differ in the last bits: the first tells
            gaps += [
                abs(rows[0][key] - all_rows[0][key]) / max(abs(all_rows[0][key]), 1e-3)
                for key in ("loss", "grad_norm")
            ]
            print(
                f"block {number + 1}: auto {seconds[-1][0]:.3f}, off {seconds[-1][1]:.3f} CPU s a "
                f"step, {statistics.mean(row['skipped_rows'] for row in rows):.0%} skipped"
            )
    low, high = interval(ratios)
    verdict = "met" if high <= LIMIT else "missed" if low > LIMIT else "undecided"
    medians = [statistics.median(pair[i] for pair in seconds) for i in (0, 1)]
    print(
        f"{arguments.model}: {statistics.mean(shares):.0%} of the rows skipped; auto "
        f"{medians[0]:.3f}, off {medians[1]:.3f} CPU s a step; largest relative difference of loss "
        f"and gradient norm {max(gaps):.1e}\n"
        f"ratio {statistics.median(ratios):.3f}, 95 % interval {low:.3f} to {high:.3f} of "
        f"{arguments.blocks} blocks; aim at most {LIMIT}: {verdict}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
