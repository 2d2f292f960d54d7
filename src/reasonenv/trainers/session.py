"""`Session`: one process' part of a run, from the model's loading to the report."""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reasonenv.checkers.ahead import JudgeAhead
from reasonenv.envs.core import ReasoningEnv
from reasonenv.errors import ReasonEnvError, RecipeError
from reasonenv.extras import need
from reasonenv.models.loading import load_model, load_tokenizer
from reasonenv.models.prompts import PromptFormat
from reasonenv.problems import ProblemList, Problems
from reasonenv.rewards import RewardState, gdpo
from reasonenv.trainers.batch import BatchPlan
from reasonenv.trainers.bridge import Bridge
from reasonenv.trainers.draws import Draws
from reasonenv.trainers.following import followers
from reasonenv.trainers.guard import UnscoredGuard
from reasonenv.trainers.launch import rank, world_size
from reasonenv.trainers.memory import explained
from reasonenv.trainers.placement import Placement, placement_of
from reasonenv.trainers.prompt_lengths import within_limit
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.run import MARK, Run, checkpoint_step
from reasonenv.trainers.sampling import Estimates, ExpectedSignal
from reasonenv.trainers.stopping import StopRequest, stop_on_signals
from reasonenv.trainers.storage import read_metrics
from reasonenv.trainers.trl_config import grpo_config, lora_config

__all__ = ["Session", "TrainResult", "result_of", "slots"]


@dataclass(frozen=True, slots=True)
class TrainResult:
    """What a run came to.

    Attributes:
        run: its directory.
        step: optimizer steps done.
        stopped: whether it was asked to stop before its last step.
        before: the evaluation before training (names as in `metrics.jsonl`), if there was one.
        after: the last evaluation.
    """

    run: Path
    step: int
    stopped: bool
    before: dict[str, Any] | None
    after: dict[str, Any] | None


@dataclass
class Session:
    """One process' part of a run: model, bridge and trainer, from set-up to report."""

    recipe: Recipe
    plan: BatchPlan
    env: ReasoningEnv
    train: Problems
    held_out: ProblemList | None
    dropped: int = 0
    """Problems with prompts above `max_prompt_tokens`, which are not in `train`."""

    def run(self, run: Run, checkpoint: Path | None) -> TrainResult:
        """Train, evaluate, save and report.

        Args:
            run: the run directory, which is there.
            checkpoint: of that run, to go on from; None starts anew.
        """
        recipe = self.recipe
        torch = need("torch", extra="train", by="reasonenv.trainers")
        from reasonenv.trainers.engine.watch import EngineWatch

        self._drop_long_prompts()
        steps = recipe.steps or self._steps_of_epochs()
        if rank() == 0:
            run.write_facts({**run.facts, **self._facts(steps)})
            print(f"loading {recipe.model}; {steps} steps of {self.plan.describe()}", flush=True)
        with threads(torch, recipe.cpu_threads), quiet_libraries():
            seed_everything(recipe.seed)
            try:
                trainer, stop = self._trainer(run, steps, checkpoint)
            except ValueError as error:  # PEFT's and TRL's own checks, against the loaded model
                raise RecipeError(f"the recipe does not fit {recipe.model}: {error}") from error
            progress = next(c for c in trainer.callback_handler.callbacks if hasattr(c, "close"))
            watch = EngineWatch.start(trainer, recipe.vllm)
            try:
                with stop_on_signals(stop.request):
                    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
                    if not stop.stopped and not self._is_evaluated(run, trainer, checkpoint):
                        trainer.evaluate()
            except ReasonEnvError:  # a halted run has a report, too: it shows why
                progress.close()
                self._report(run)
                raise
            except Exception as error:
                better = explained(trainer, error)
                if better is error:
                    raise
                raise better from error
            finally:
                progress.close()
            if rank() == 0 and watch.finish():
                run.write_facts({**run.facts, **watch.facts})
            if not stop.stopped:
                trainer.save_model(str(run.adapter))
            self._report(run)
        return result_of(run, trainer.state.global_step, stop.stopped)

    def _facts(self, steps: int) -> dict[str, Any]:
        reward = self.env.reward
        return {
            "steps": steps,
            "batches": self.plan.describe(),
            "env": self.env.spec.id if self.env.spec else type(self.env).__name__,
            "reward": repr(reward),
            "reward_range": {
                who: [end if math.isfinite(end) else None for end in reward.range(correct=right)]
                for who, right in (("right", True), ("wrong", False))
            },
            "reward_dominates": not reward.warnings(),
            "advantage": self.recipe.advantage,
            "train_problems": len(self.train),
            "dropped_problems": self.dropped,
            "held_out_problems": len(self.held_out) if self.held_out else 0,
        }

    def _report(self, run: Run) -> None:
        """Write the report, on the main process; a run is worth more than its pictures."""
        if rank() or not self.recipe.report:
            return
        from reasonenv.trainers.report import write_report

        try:
            write_report(run.path)
        except (OSError, ReasonEnvError) as error:
            warnings.warn(
                f"the report could not be written ({error}); try `reasonenv report {run.path}`",
                stacklevel=2,
            )

    def _drop_long_prompts(self) -> None:
        recipe, limit = self.recipe, self.recipe.max_prompt_tokens
        if limit is None:
            return
        tokenizer = load_tokenizer(recipe.model)
        chat_args = recipe.grpo.get("chat_template_kwargs")
        prompt = PromptFormat(self.env, tokenizer, recipe.prompt.template, chat_args)
        if rank() == 0:
            print(f"measuring {len(self.train):,} prompts", flush=True)
        self.train, self.dropped = within_limit(self.train, prompt, limit)
        if rank() == 0:
            print(
                f"{self.dropped:,} of {self.dropped + len(self.train):,} problems have prompts of "
                f"more than {limit} tokens and are left out",
                flush=True,
            )

    def _steps_of_epochs(self) -> int:
        assert self.recipe.epochs is not None
        prompts = self.plan.completions_per_step / self.plan.group_size
        return max(1, round(self.recipe.epochs * len(self.train) / prompts))

    def _trainer(self, run: Run, steps: int, checkpoint: Path | None) -> tuple[Any, Any]:
        from transformers import PrinterCallback, ProgressCallback

        from reasonenv.trainers.callbacks import (
            ESTIMATES,
            CompleteCheckpoint,
            KeepEstimates,
            MetricsFile,
            StopAtBoundary,
        )
        from reasonenv.trainers.engine.watch import engine_context
        from reasonenv.trainers.progress import ShowProgress
        from reasonenv.trainers.trainer import EnvGRPOTrainer

        recipe, plan = self.recipe, self.plan
        config = grpo_config(
            recipe,
            plan,
            run=run.path,
            steps=steps,
            evaluate=self.held_out is not None,
            resumed=checkpoint is not None,
        )
        model = load_model(recipe.model, recipe.dtype)
        # A resumed run keeps its layers and rank, also where the run that they came from is gone.
        placed = run.facts.get("placement") if checkpoint is not None else None
        placement = Placement(**placed) if placed else placement_of(recipe, model)
        tokenizer = load_tokenizer(recipe.model)
        chat_args = config.chat_template_kwargs
        estimates = Estimates(
            plan.group_size,
            recipe.sampling.half_life,
            by_problem=isinstance(self.train, ProblemList),
        )
        bridge = Bridge(
            env=self.env,
            tokenizer=tokenizer,
            prompt=PromptFormat(self.env, tokenizer, recipe.prompt.template, chat_args),
            train=self._draws(estimates),
            held_out=Draws(self.held_out, shuffle=False) if self.held_out else None,
            group_size=plan.group_size,
            eval_samples=recipe.eval.samples,
            end_ids=frozenset(),
            total_steps=steps,
            learned=gdpo(self.env.reward, plan.group_size) if recipe.advantage == "gdpo" else None,
            state=RewardState.first(self.env.reward),
            ahead=self._ahead(),
        )
        guard = UnscoredGuard(recipe.unscored.limit, recipe.unscored.patience)
        if checkpoint is not None:
            kept = json.loads((checkpoint / MARK).read_text())
            guard.streak = kept["unscored_streak"]
            bridge.state = RewardState.from_json(kept.get("reward_state"), self.env.reward)
            if (checkpoint / ESTIMATES).is_file():  # checkpoints of version 0.1 have none
                estimates.load(json.loads((checkpoint / ESTIMATES).read_text()))
        stop = StopAtBoundary(StopRequest(run.path / "stop"), plan.steps_per_cycle)
        views = max(self.env.views, self.env.eval_views)
        ours = [CompleteCheckpoint(guard, bridge), stop, ShowProgress()]
        with engine_context(recipe.vllm, config, model, run.path / "engine", views=views):
            trainer = EnvGRPOTrainer(
                bridge=bridge,
                guard=guard,
                rollouts=run.rollouts,
                stop=stop,
                episode_tokens=recipe.turns.max_tokens,
                skip_silent=recipe.skip_silent,
                estimates=estimates,
                level=recipe.sampling.level,
                resample=recipe.sampling.resample,
                loraplus_lr_ratio=placement.loraplus_lr_ratio,
                model=model,
                args=config,
                train_dataset=slots(plan.prompts_per_generation * plan.generations(steps)),
                eval_dataset=slots(len(self.held_out)) if self.held_out else None,
                processing_class=tokenizer,
                peft_config=lora_config(placement.fields),
                # The estimates go before the mark of a complete checkpoint.
                callbacks=[
                    *followers(recipe, run),
                    MetricsFile(run.metrics),
                    KeepEstimates(estimates),
                    *ours,
                ],
            )
        bridge.end_ids = frozenset(trainer.eos_token_ids)
        for theirs in (PrinterCallback, ProgressCallback):
            trainer.remove_callback(theirs)
        if rank() == 0:
            because = trainer.all_rows_because
            silent = f"all rows run ({because})" if because else "rows without a share are skipped"
            facts = {"placement": asdict(placement), "silent_groups": silent}
            run.write_facts({**run.facts, **facts})
            print("\n".join([*placement.notes, silent]), flush=True)
        return trainer, stop

    def _ahead(self) -> JudgeAhead | None:
        """Put a judge before the environment's that takes completions as they are finished."""
        if not self.recipe.judging.overlap:
            return None
        ahead = JudgeAhead(self.env.judge_one)
        self.env.judge_one = ahead
        return ahead

    def _draws(self, estimates: Estimates) -> Draws:
        """Return which problem a training slot draws."""
        plan = self.recipe.sampling
        if plan.by == "uniform":
            return Draws(self.train, self.recipe.seed)
        return ExpectedSignal(
            problems=self.train,
            seed=self.recipe.seed,
            estimates=estimates,
            prompts=self.plan.prompts_per_generation,
            floor=plan.floor,
            level=plan.level,
        )

    def _is_evaluated(self, run: Run, trainer: Any, checkpoint: Path | None) -> bool:
        """Return whether the last step was evaluated; every rank comes to the same answer."""
        step = trainer.state.global_step
        if self.held_out is None:
            return True
        # Some versions of transformers evaluate after the last step by themselves.
        history = trainer.state.log_history
        if any(row.get("step") == step and "eval_accuracy" in row for row in history):
            return True
        if checkpoint is None or checkpoint_step(checkpoint) != step:
            return False
        # A finished run was resumed: nothing writes to its metrics while the ranks read them.
        return any(row["step"] == step for row in read_metrics(run.path, "eval"))


def result_of(run: Run, step: int | None = None, stopped: bool | None = None) -> TrainResult:
    """Return what a run came to, from its files."""
    evaluations = read_metrics(run.path, "eval")
    trained = read_metrics(run.path, "train")
    if step is None:
        step = int(trained[-1]["step"]) if trained else 0
    if stopped is None:
        stopped = not run.adapter.is_dir()
    first = evaluations[0] if evaluations and evaluations[0]["step"] == 0 else None
    return TrainResult(run.path, step, stopped, first, evaluations[-1] if evaluations else None)


def seed_everything(seed: int) -> None:
    """Seed Python, numpy and torch for a run; the model's adapter is drawn from them."""
    transformers = need("transformers", extra="train", by="reasonenv.trainers")
    random.seed(seed)
    np.random.seed(seed)
    transformers.set_seed(seed)


def slots(count: int) -> Any:
    """Return TRL's data set: slot numbers, and no problem, gold or test."""
    datasets = need("datasets", extra="train", by="reasonenv.trainers")
    return datasets.Dataset.from_dict({"slot": list(range(count))})


@contextlib.contextmanager
def threads(torch: Any, count: int | None) -> Iterator[None]:
    """Use this many CPU threads, and give the former number back."""
    before = torch.get_num_threads()
    if count is None and world_size() > 1 and "OMP_NUM_THREADS" not in os.environ:
        count = max(1, (os.cpu_count() or 1) // world_size())
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def quiet_libraries() -> Iterator[None]:
    """Keep the libraries' progress bars and hints out of the run's own output."""
    from transformers.utils import logging as transformers_logging

    datasets = need("datasets", extra="train", by="reasonenv.trainers")
    before = transformers_logging.get_verbosity()
    if rank() or before == transformers_logging.WARNING:
        transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    datasets.disable_progress_bars()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=FutureWarning)
            warnings.filterwarnings("ignore", message=".*pin_memory.*")
            yield
    finally:
        transformers_logging.set_verbosity(before)
        transformers_logging.enable_progress_bar()
        datasets.enable_progress_bars()
