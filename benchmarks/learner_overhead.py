"""What the learner costs beside plain TRL: the same tiny run written both ways, block by block.

    python benchmarks/learner_overhead.py [--blocks 12] [--steps 8] [--model tiny] [--each]
        [--skip-silent]

Both sides train the same model with the same `GRPOConfig`, adapter, prompts, judge and reward, from
the same seed. They take turns, a block of steps each, in one process; a block is measured in CPU
seconds of the process, which other processes on the machine disturb less than wall time. Printed is
the ratio ours / plain TRL of CPU seconds a step: its median over blocks, and a 95 % interval of the
median from the bootstrap. The aim is at most 1.03; "undecided" means that the interval holds it.

The environment judges equal completions of a problem once. By default plain TRL uses that, too, so
that the ratio is the learner's own cost; with `--each` it judges every completion, as a reward
function written by hand would.

Rows without advantage are run on both sides, as plain TRL does; with `--skip-silent` ours leaves
them out, as the learner does by default (`silent_groups.py` measures that for itself).

What plain TRL does not do, and ours does within the measured time: decoding that keeps special
tokens, verdicts, scores by term, gathered signals, one parquet part a generation, metrics.jsonl.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from transformers import PrinterCallback, TrainerCallback
from trl import GRPOTrainer

import reasonenv
from reasonenv.models.loading import load_model, load_tokenizer
from reasonenv.models.prompts import PromptFormat
from reasonenv.rewards import score_groups
from reasonenv.trainers.bridge import Bridge
from reasonenv.trainers.callbacks import CompleteCheckpoint, MetricsFile
from reasonenv.trainers.draws import Draws
from reasonenv.trainers.guard import UnscoredGuard
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.trainer import EnvGRPOTrainer
from reasonenv.trainers.trl_config import batch_plan, grpo_config, lora_config
from reasonenv.types import Judged, Rollout

LIMIT = 1.03


class Clock(TrainerCallback):
    """CPU seconds of the process from a run's first step to its last log."""

    def __init__(self) -> None:
        self.seconds = self._began = 0.0

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start at the first step."""
        if state.global_step == 0:
            self._began = time.process_time()

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Read the clock at each step's log; the last one counts."""
        if "loss" in (logs or {}):
            self.seconds = time.process_time() - self._began


def side(trainer: Any, steps: int) -> Iterator[float]:
    """Yield the CPU seconds a step of one block after the other; the weights train on."""
    clock = Clock()
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(clock)
    while True:
        trainer.train()  # starts at step 0 each time, with the same problems on both sides
        yield clock.seconds / steps


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the libraries out of the output."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def plain(recipe: Recipe, config: Any, env: Any, slots: int, each: bool) -> GRPOTrainer:
    """The same run as a TRL user writes it: a data set of prompts and a reward function."""
    tokenizer = load_tokenizer(recipe.model)
    prompt = PromptFormat(env, tokenizer)
    draws = Draws(env.problems, recipe.seed)
    problems = [draws[slot] for slot in range(slots)]
    by_id = {problem.id: problem for problem in problems}

    def reward(completions: Any, problem_id: list[str], **_: Any) -> list[float]:
        rollouts = [
            Rollout(by_id[one], completion[0]["content"], str(i // config.num_generations))
            for i, (completion, one) in enumerate(zip(completions, problem_id, strict=True))
        ]
        if each:
            judged = [Judged(r, env.judge_one(r.problem, r.text)) for r in rollouts]
        else:
            judged = env.judge(rollouts)
        return [float(total) for total in score_groups(env.reward, judged).total]

    rows = {"prompt": [prompt(p) for p in problems], "problem_id": [p.id for p in problems]}
    return GRPOTrainer(
        model=load_model(recipe.model),
        reward_funcs=[reward],
        args=config,
        train_dataset=Dataset.from_dict(rows),
        processing_class=tokenizer,
        peft_config=lora_config(recipe.lora),
    )


def ours(
    recipe: Recipe, config: Any, env: Any, slots: int, run: Path, skip_silent: str
) -> EnvGRPOTrainer:
    """The same run by the learner's own parts, with its files."""
    tokenizer = load_tokenizer(recipe.model)
    bridge = Bridge(
        env=env,
        tokenizer=tokenizer,
        prompt=PromptFormat(env, tokenizer),
        train=Draws(env.problems, recipe.seed),
        held_out=None,
        group_size=config.num_generations,
        eval_samples=1,
        end_ids=frozenset(),
    )
    guard = UnscoredGuard()
    trainer = EnvGRPOTrainer(
        bridge=bridge,
        guard=guard,
        rollouts=run / "rollouts.parquet",
        skip_silent=skip_silent,
        model=load_model(recipe.model),
        args=config,
        train_dataset=Dataset.from_dict({"slot": list(range(slots))}),
        processing_class=tokenizer,
        peft_config=lora_config(recipe.lora),
        callbacks=[MetricsFile(run / "metrics.jsonl"), CompleteCheckpoint(guard, bridge)],
    )
    bridge.end_ids = frozenset(trainer.eos_token_ids)
    return trainer


def interval(ratios: list[float], draws: int = 10_000) -> tuple[float, float]:
    """Return a 95 % bootstrap interval of the median."""
    rng = np.random.default_rng(0)
    medians = np.median(rng.choice(ratios, size=(draws, len(ratios))), axis=1)
    return float(np.quantile(medians, 0.025)), float(np.quantile(medians, 0.975))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--steps", type=int, default=8, help="of one block")
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--skip-silent", action="store_true", help="ours skips silent rows")
    parser.add_argument("--each", action="store_true", help="plain TRL judges every completion")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    recipe = Recipe.load("quickstart", ["grpo.report_to=none"], model=arguments.model)
    plan = batch_plan(recipe, 1)
    env = reasonenv.make(recipe.env, reward=recipe.reward, **recipe.env_args)
    steps = arguments.steps
    slots = plan.prompts_per_generation * steps
    with tempfile.TemporaryDirectory() as folder, quiet():
        sides = []
        for name in ("ours", "plain"):
            run = Path(folder) / name
            run.mkdir()
            config = grpo_config(recipe, plan, run=run, steps=steps, evaluate=False, resumed=False)
            config.save_strategy = "no"
            skip = "auto" if arguments.skip_silent else "off"
            more = (run, skip) if name == "ours" else (arguments.each,)
            make = ours if name == "ours" else plain
            trainer = make(recipe, config, env, slots, *more)
            sides.append(side(trainer, steps))
        for one in sides:
            next(one)  # warm-up
        ratios, times = [], []
        for block in range(arguments.blocks):
            order = sides if block % 2 else sides[::-1]
            seconds = {id(one): next(one) for one in order}
            pair = (seconds[id(sides[0])], seconds[id(sides[1])])
            times.append(pair)
            ratios.append(pair[0] / pair[1])
            print(f"block {block + 1}: ours {pair[0]:.3f}, plain {pair[1]:.3f} CPU s a step")
    low, high = interval(ratios)
    verdict = "met" if high <= LIMIT else "missed" if low > LIMIT else "undecided"
    medians = [statistics.median(t[i] for t in times) for i in (0, 1)]
    print(
        f"ours {medians[0]:.3f}, plain TRL {medians[1]:.3f} CPU s a step (medians of "
        f"{arguments.blocks} blocks of {steps} steps)\n"
        f"ratio {statistics.median(ratios):.3f}, 95 % interval {low:.3f} to {high:.3f}; "
        f"aim at most {LIMIT}: {verdict}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
