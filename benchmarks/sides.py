"""Ways to train the same steps, in turns: what the benchmarks of the learner share.

A `Side` is a trainer. `Side.block` trains its steps from the weights that it began with, on the
same problems and from the same random numbers as any other side: both sample the same completions.
"""

from __future__ import annotations

import random
import statistics
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from transformers import PrinterCallback, TrainerCallback
from transformers.utils import logging
from trl import GRPOTrainer

import reasonenv
from reasonenv.models.loading import load_model, load_tokenizer
from reasonenv.models.prompts import PromptFormat
from reasonenv.rewards import from_config, score_groups
from reasonenv.trainers.batch import BatchPlan
from reasonenv.trainers.bridge import Bridge
from reasonenv.trainers.callbacks import CompleteCheckpoint, MetricsFile
from reasonenv.trainers.draws import Draws
from reasonenv.trainers.following import followers
from reasonenv.trainers.guard import UnscoredGuard
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.run import Run
from reasonenv.trainers.trainer import EnvGRPOTrainer
from reasonenv.trainers.trl_config import batch_plan, grpo_config, lora_config
from reasonenv.types import Judged, Rollout

ON_GPU = torch.cuda.is_available()
CLOCK = "seconds" if ON_GPU else "CPU seconds"


def now() -> float:
    """Seconds: of this process on a CPU, which others disturb less; on the clock with a GPU."""
    if not ON_GPU:
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()


class Record(TrainerCallback):
    """Seconds from a block's first step to its last log, and what its steps logged."""

    def __init__(self) -> None:
        self.rows: list[dict[str, float]] = []
        self.seconds = self._began = 0.0

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start at the first step."""
        if state.global_step == 0:
            self.rows, self._began = [], now()

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Read the clock at each step's log; the last one counts."""
        if "loss" in (logs or {}):
            self.seconds = now() - self._began
            self.rows.append(dict(logs))


@dataclass
class Side:
    """One way to train the steps of a recipe.

    Args:
        trainer: TRL's or the learner's.
        steps: of a block.
    """

    trainer: Any
    steps: int
    record: Record = field(default_factory=Record)
    weights: dict[str, torch.Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.trainer.remove_callback(PrinterCallback)
        self.trainer.add_callback(self.record)
        self.weights = {
            name: parameter.detach().clone()
            for name, parameter in self.trainer.model.named_parameters()
            if parameter.requires_grad
        }

    def block(self, seed: int) -> tuple[float, list[dict[str, float]]]:
        """Train a block; return seconds a step, and what its steps logged."""
        trainer = self.trainer
        with torch.no_grad():
            for name, parameter in trainer.model.named_parameters():
                if name in self.weights:
                    parameter.copy_(self.weights[name])
        trainer.optimizer = trainer.lr_scheduler = trainer._buffered_inputs = None
        trainer._step = 0
        trainer.args.seed = seed
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)
        trainer.train()
        return self.record.seconds / self.steps, self.record.rows


@dataclass(frozen=True)
class Sides:
    """Makes the sides of one recipe.

    Args:
        recipe: what both train.
        steps: of a block.
        folder: for their files.
    """

    recipe: Recipe
    steps: int
    folder: Path

    @property
    def plan(self) -> BatchPlan:
        """The batch arithmetic."""
        return batch_plan(self.recipe, 1)

    def learner(self, skip_silent: str = "off", more: Sequence[Any] = ()) -> Side:
        """The learner by its own parts, with its files and what the recipe's `track:` says."""
        recipe, plan = self.recipe, self.plan
        run = Run.create(self._place("learner"), recipe)
        env, tokenizer = self._env(), load_tokenizer(recipe.model)
        config = self._config(run.path)
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
        guard = UnscoredGuard()
        trainer = EnvGRPOTrainer(
            bridge=bridge,
            guard=guard,
            rollouts=run.rollouts,
            skip_silent=skip_silent,
            model=load_model(recipe.model, recipe.dtype),
            args=config,
            train_dataset=Dataset.from_dict({"slot": list(range(self._slots))}),
            processing_class=tokenizer,
            peft_config=lora_config(recipe.lora),
            callbacks=[
                *followers(recipe, run),
                *more,
                MetricsFile(run.metrics),
                CompleteCheckpoint(guard, bridge),
            ],
        )
        bridge.end_ids = frozenset(trainer.eos_token_ids)
        return Side(trainer, self.steps)

    def plain(self, each: bool = False) -> Side:
        """The same run as a TRL user writes it: a data set of prompts and a reward function.

        Args:
            each: judge every completion; equal ones are judged once otherwise, as the learner does.
        """
        recipe = self.recipe
        env, tokenizer = self._env(), load_tokenizer(recipe.model)
        config = self._config(self._place("plain"))
        prompt = PromptFormat(env, tokenizer, recipe.prompt.template)
        draws = Draws(env.problems, recipe.seed)
        problems = [draws[slot] for slot in range(self._slots)]
        by_id = {problem.id: problem for problem in problems}

        def reward(completions: Any, problem_id: list[str], **_: Any) -> list[float]:
            texts = [one if isinstance(one, str) else one[0]["content"] for one in completions]
            rollouts = [
                Rollout(by_id[one], text, str(i // config.num_generations))
                for i, (text, one) in enumerate(zip(texts, problem_id, strict=True))
            ]
            if each:
                judged = [Judged(r, env.judge_one(r.problem, r.text)) for r in rollouts]
            else:
                judged = env.judge(rollouts)
            return [float(total) for total in score_groups(env.reward, judged).total]

        rows = {"prompt": [prompt(p) for p in problems], "problem_id": [p.id for p in problems]}
        trainer = GRPOTrainer(
            model=load_model(recipe.model, recipe.dtype),
            reward_funcs=[reward],
            args=config,
            train_dataset=Dataset.from_dict(rows),
            processing_class=tokenizer,
            peft_config=lora_config(recipe.lora),
        )
        return Side(trainer, self.steps)

    @property
    def _slots(self) -> int:
        return self.plan.prompts_per_generation * self.plan.generations(self.steps)

    def _env(self) -> Any:
        env = reasonenv.make(self.recipe.env, **self.recipe.env_args)
        if self.recipe.reward is not None:
            env.reward = from_config(self.recipe.reward)
        return env

    def _config(self, place: Path) -> Any:
        config = grpo_config(
            self.recipe, self.plan, run=place, steps=self.steps, evaluate=False, resumed=False
        )
        config.save_strategy = "no"
        return config

    def _place(self, name: str) -> Path:
        number = len(list(self.folder.iterdir())) if self.folder.is_dir() else 0
        return self.folder / f"{number}-{name}"


def quiet() -> None:
    """Keep the libraries out of the output."""
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    warnings.simplefilter("ignore")


def interval(ratios: Sequence[float], draws: int = 10_000) -> tuple[float, float]:
    """Return a 95 % bootstrap interval of the median."""
    rng = np.random.default_rng(0)
    medians = np.median(rng.choice(ratios, size=(draws, len(ratios))), axis=1)
    return float(np.quantile(medians, 0.025)), float(np.quantile(medians, 0.975))


def verdict(ratios: Sequence[float], limit: float) -> str:
    """Return the median ratio with its interval, and whether the aim is met."""
    low, high = interval(ratios)
    said = "met" if high <= limit else "missed" if low > limit else "undecided"
    return (
        f"ratio {statistics.median(ratios):.3f}, 95 % interval {low:.3f} to {high:.3f} of "
        f"{len(ratios)} blocks; aim at most {limit}: {said}"
    )
