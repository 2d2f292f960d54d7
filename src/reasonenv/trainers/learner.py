"""`GRPOLearner`: trains a model on an environment, and leaves a run directory."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import random
import re
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reasonenv.envs.core import ReasoningEnv
from reasonenv.envs.registration import make, resolve
from reasonenv.errors import LaunchError, ReasonEnvError, RecipeError, did_you_mean
from reasonenv.extras import need
from reasonenv.problems import (
    ProblemList,
    Problems,
    ProceduralProblems,
    first_distinct,
    hold_out,
    overlap,
    sample,
)
from reasonenv.rewards import Reward, from_config
from reasonenv.trainers.batch import BatchPlan
from reasonenv.trainers.bridge import Bridge
from reasonenv.trainers.draws import Draws
from reasonenv.trainers.guard import UnscoredGuard
from reasonenv.trainers.launch import launch, process_count, rank, world_size
from reasonenv.trainers.models import load_model, load_tokenizer, resolve_model
from reasonenv.trainers.prompts import PromptFormat
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.run import MARK, Run, default_out
from reasonenv.trainers.stopping import StopRequest, stop_on_signals
from reasonenv.trainers.storage import read_metrics
from reasonenv.trainers.trl_config import batch_plan, check_sections, grpo_config, lora_config

__all__ = ["GRPOLearner", "TrainResult"]

_HOLD_OUT_SHARE = 5  # at most one problem in so many of a training file is held out


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


class GRPOLearner:
    """Trains a language model with GRPO on an environment's verdicts and reward.

    Args:
        model: a local folder, a hub id, or "tiny"; None takes the recipe's.
        env: an ENV argument or an environment; None takes the recipe's.
        reward: a `Reward`, a formula or a config; None takes the recipe's, or the environment's.
        recipe: a `Recipe`, the path of one, or the name of one that ships with the package; None
            is 100 steps with the defaults.
        out: the run directory; None makes one below `runs/`.
        name: what such a directory is called; the recipe's name if None.
        fields: further fields of the recipe (`steps=`, `grpo={...}`, `seed=` ...).

    Raises:
        RecipeError: a key or a value that is not valid.

    Nothing is loaded before `train`; `describe` says what it will do.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        env: str | ReasoningEnv | None = None,
        reward: Reward | str | dict[str, Any] | None = None,
        recipe: Recipe | str | Path | None = None,
        out: str | Path | None = None,
        name: str | None = None,
        **fields: Any,
    ) -> None:
        self._env = env if isinstance(env, ReasoningEnv) else None
        self._reward = None if reward is None else from_config(reward)
        given: dict[str, Any] = {
            "model": model,
            "env": env if isinstance(env, str) else None,
            "reward": None if self._reward is None else self._reward.to_config(),
            **fields,
        }
        given = {key: value for key, value in given.items() if value is not None}
        if recipe is None:
            self.recipe = Recipe.make({"steps": 100, **given} if "epochs" not in given else given)
        elif isinstance(recipe, Recipe):
            self.recipe = Recipe.make({**recipe.model_dump(), **given})
        else:
            self.recipe = Recipe.load(recipe, **given)
        if self.recipe.reward is not None:
            from_config(self.recipe.reward)  # a bad formula is found before anything is loaded
        name = name or (str(recipe) if isinstance(recipe, str | Path) else "run")
        self.out = Path(out) if out is not None else default_out(name)
        self.processes = process_count(self.recipe.processes)

    @property
    def plan(self) -> BatchPlan:
        """The batch arithmetic.

        Raises:
            BatchArithmeticError: the sizes do not fit.
        """
        return batch_plan(self.recipe, self.processes)

    def describe(self) -> str:
        """Return the resolved recipe and the batch arithmetic; no model is loaded.

        Raises:
            RecipeError: something in the recipe is not valid.
        """
        check_sections(self.recipe)
        if self._env is None:
            resolve(self.recipe.env)
        return f"{self.recipe.to_yaml()}\n# batches: {self.plan.describe()}\n"

    def train(self) -> TrainResult:
        """Train from the start.

        Raises:
            ReasonEnvError: the recipe, the environment, the model or the run directory cannot be
                used; nothing is left behind before the first step.
            TooManyUnscoredError: checkers failed on too many rollouts for too long.
        """
        check_sections(self.recipe)
        plan = self.plan
        resolve_model(self.recipe.model)
        if self.processes > 1 and world_size() == 1:
            self._require_plain_data()
            self._environment()  # what cannot be made is said here, once, not by every rank
            with _new_run(self.out, self.recipe) as run:
                launch(run.path, self.processes)
                return result_of(run)
        session = _Session(self.recipe, plan, *self._environment())
        with _new_run(self.out, self.recipe) as run:
            return session.run(run, checkpoint=None)

    @classmethod
    def resume(cls, run: str | Path, *, steps: int | None = None) -> TrainResult:
        """Go on with a run from its newest complete checkpoint.

        Metrics and rollouts are cut back to the checkpoint's step first.

        Args:
            run: the run directory.
            steps: train up to this step instead of the recipe's.

        Raises:
            RunDirectoryError: there is no run, or no complete checkpoint in it.
        """
        opened = Run.open(run)
        recipe = opened.recipe
        if steps is not None:
            recipe = Recipe.make({**recipe.model_dump(), "steps": steps, "epochs": None})
        learner = cls(recipe=recipe, out=run)
        opened.rewind()
        (opened.path / "stop").unlink(missing_ok=True)
        if learner.processes > 1 and world_size() == 1:
            launch(opened.path, learner.processes, steps=steps)
            return result_of(opened)
        return learner.work(opened)

    def work(self, run: Run) -> TrainResult:
        """Train in this process, in a run directory that is there: what each rank does."""
        session = _Session(self.recipe, self.plan, *self._environment())
        return session.run(run, checkpoint=run.checkpoint())

    def _require_plain_data(self) -> None:
        if self._env is not None:
            raise LaunchError(
                f"{self.processes} processes each make the environment anew: give env= as an id, "
                "module:id or path/to/file.py:id instead of an object, or processes=1"
            )

    def _make(self, **given: Any) -> ReasoningEnv:
        """Make the recipe's environment; arguments that it refuses are the recipe's fault."""
        try:
            return make(self.recipe.env, **given, **self.recipe.env_args)
        except (TypeError, ValueError) as error:
            text = str(error).partition(" was raised from the environment creator")[0]
            unknown = re.search(r"unexpected keyword argument '(\w+)'", text)
            known = set(inspect.signature(ReasoningEnv).parameters) | {"seed", "size", "options"}
            nearest = f"; {did_you_mean(unknown[1], known)}" if unknown else ""
            raise RecipeError(
                f"env_args: {self.recipe.env} refuses them: {text}{nearest}"
            ) from error

    def _environment(self) -> tuple[ReasoningEnv, Problems, ProblemList | None]:
        """Return the environment, the problems to train on, and those to evaluate on."""
        recipe = self.recipe
        env = self._env or self._make(split="train", data=recipe.data)
        if recipe.reward is not None:
            env.reward = self._reward or from_config(recipe.reward)
        env.system = recipe.prompt.system or env.system
        for warning in env.reward.warnings():
            warnings.warn(f"reward {env.reward!r}: {warning}", stacklevel=3)
        train, held_out = env.problems, None
        wanted = recipe.eval.problems
        if not wanted:
            return env, train, None
        if recipe.eval.data is None and (recipe.data is not None or self._env is not None):
            share = max(1, len(train) // _HOLD_OUT_SHARE)
            train, held_out = hold_out(train, min(wanted, share))
            return env, train, held_out
        other = self._make(split=recipe.eval.split, data=recipe.eval.data)
        shared = overlap(other.problems, train)
        if shared:
            warnings.warn(
                f"{len(shared)} of the held-out problems are in the training set, too: accuracy on "
                "them shows memory as well as skill",
                stacklevel=3,
            )
        if isinstance(other.problems, ProceduralProblems):
            return env, train, first_distinct(other.problems, wanted)
        return env, train, sample(other.problems, wanted)


@dataclass
class _Session:
    """One process' part of a run: model, bridge and trainer, from set-up to report."""

    recipe: Recipe
    plan: BatchPlan
    env: ReasoningEnv
    train: Problems
    held_out: ProblemList | None

    def run(self, run: Run, checkpoint: Path | None) -> TrainResult:
        recipe = self.recipe
        torch = need("torch", extra="train", by="reasonenv.trainers")
        steps = recipe.steps or self._steps_of_epochs()
        if rank() == 0:
            run.write_facts({**run.facts, **self._facts(steps)})
            print(f"loading {recipe.model}; {steps} steps of {self.plan.describe()}", flush=True)
        with _threads(torch, recipe.cpu_threads), _quiet_libraries():
            seed_everything(recipe.seed)
            try:
                trainer, stop = self._trainer(run, steps, checkpoint)
            except ValueError as error:  # PEFT's and TRL's own checks, against the loaded model
                raise RecipeError(f"the recipe does not fit {recipe.model}: {error}") from error
            progress = next(c for c in trainer.callback_handler.callbacks if hasattr(c, "close"))
            try:
                with stop_on_signals(stop.request):
                    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
                    self._evaluate_at_the_end(trainer, stop.stopped)
            except ReasonEnvError:  # a halted run has a report, too: it shows why
                progress.close()
                self._report(run)
                raise
            finally:
                progress.close()
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
                "right": reward.range(correct=True),
                "wrong": reward.range(correct=False),
            },
            "train_problems": len(self.train),
            "held_out_problems": len(self.held_out) if self.held_out else 0,
        }

    def _report(self, run: Run) -> None:
        """Write the report, on the main process; a run is worth more than its pictures."""
        if rank():
            return
        from reasonenv.trainers.report import write_report

        try:
            write_report(run.path)
        except (OSError, ReasonEnvError) as error:
            warnings.warn(
                f"the report could not be written ({error}); try `reasonenv report {run.path}`",
                stacklevel=2,
            )

    def _steps_of_epochs(self) -> int:
        assert self.recipe.epochs is not None
        prompts = self.plan.completions_per_step / self.plan.group_size
        return max(1, round(self.recipe.epochs * len(self.train) / prompts))

    def _trainer(self, run: Run, steps: int, checkpoint: Path | None) -> tuple[Any, Any]:
        from transformers import PrinterCallback, ProgressCallback

        from reasonenv.trainers.callbacks import CompleteCheckpoint, MetricsFile, StopAtBoundary
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
        tokenizer = load_tokenizer(recipe.model)
        chat_args = config.chat_template_kwargs
        bridge = Bridge(
            env=self.env,
            tokenizer=tokenizer,
            prompt=PromptFormat(self.env, tokenizer, recipe.prompt.template, chat_args),
            train=Draws(self.train, recipe.seed),
            held_out=Draws(self.held_out, shuffle=False) if self.held_out else None,
            group_size=plan.group_size,
            eval_samples=recipe.eval.samples,
            end_ids=frozenset(),
            total_steps=steps,
        )
        guard = UnscoredGuard(recipe.unscored.limit, recipe.unscored.patience)
        if checkpoint is not None:
            guard.streak = json.loads((checkpoint / MARK).read_text())["unscored_streak"]
        stop = StopAtBoundary(StopRequest(run.path / "stop"), plan.steps_per_cycle)
        slots = plan.prompts_per_generation * plan.generations(steps)
        trainer = EnvGRPOTrainer(
            bridge=bridge,
            guard=guard,
            rollouts=run.rollouts,
            stop=stop,
            model=load_model(recipe.model, recipe.dtype),
            args=config,
            train_dataset=_slots(slots),
            eval_dataset=_slots(len(self.held_out)) if self.held_out else None,
            processing_class=tokenizer,
            peft_config=lora_config(recipe.lora),
            callbacks=[MetricsFile(run.metrics), CompleteCheckpoint(guard), stop, ShowProgress()],
        )
        bridge.end_ids = frozenset(trainer.eos_token_ids)
        for ours in (PrinterCallback, ProgressCallback):
            trainer.remove_callback(ours)
        return trainer, stop

    def _evaluate_at_the_end(self, trainer: Any, stopped: bool) -> None:
        step, every = trainer.state.global_step, self.recipe.eval.every
        if self.held_out is not None and not stopped and (every is None or step % every):
            trainer.evaluate()


@contextlib.contextmanager
def _new_run(path: Path, recipe: Recipe) -> Iterator[Run]:
    """Make a run directory; what fails before anything was sampled leaves none behind."""
    run = Run.create(path, recipe)
    try:
        yield run
    except BaseException:
        if not run.rollouts.exists():
            shutil.rmtree(run.path, ignore_errors=True)
        raise


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


def _slots(count: int) -> Any:
    """Return TRL's data set: slot numbers, and no problem, gold or test."""
    datasets = need("datasets", extra="train", by="reasonenv.trainers")
    return datasets.Dataset.from_dict({"slot": list(range(count))})


@contextlib.contextmanager
def _threads(torch: Any, threads: int | None) -> Iterator[None]:
    """Use this many CPU threads, and give the former number back."""
    before = torch.get_num_threads()
    if threads is None and world_size() > 1 and "OMP_NUM_THREADS" not in os.environ:
        threads = max(1, (os.cpu_count() or 1) // world_size())
    if threads is not None:
        torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def _quiet_libraries() -> Iterator[None]:
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
