"""`GRPOLearner`: trains a model on an environment, and leaves a run directory."""

from __future__ import annotations

import contextlib
import copy
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reasonenv.checkers.on_ray import RayJudge
from reasonenv.envs.core import ReasoningEnv
from reasonenv.envs.registration import make, refusal, resolve
from reasonenv.errors import HubUnavailableError, LaunchError, RecipeError
from reasonenv.models.loading import resolve_model
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
from reasonenv.trainers import failures
from reasonenv.trainers.batch import BatchPlan
from reasonenv.trainers.cluster import Cluster
from reasonenv.trainers.launch import launch, process_count, world_size
from reasonenv.trainers.placement import placement_of
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.run import Run, default_out, joined_run
from reasonenv.trainers.session import Session, TrainResult, result_of
from reasonenv.trainers.sharding import check_devices, check_optimizer
from reasonenv.trainers.silent import why_all_rows
from reasonenv.trainers.trl_config import batch_plan, check_sections
from reasonenv.trainers.views import check_episodes, check_views

__all__ = ["GRPOLearner"]

_HOLD_OUT_SHARE = 5  # at most one problem in so many of a training file is held out


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
        cluster: the machines of the run, and which of them this is; None: this one alone.
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
        cluster: Cluster | None = None,
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
        self.cluster = cluster or Cluster()
        if self.cluster.nodes > 1 and out is None:
            raise LaunchError(
                "a run of several machines needs --out DIR (out=): one directory that all of them "
                "share, the same on all"
            )
        inside = world_size() > 1  # in a rank that torchrun started
        self.local_processes = 1 if inside else process_count(self.recipe.processes)
        self.processes = world_size() if inside else self.local_processes * self.cluster.nodes

    @property
    def plan(self) -> BatchPlan:
        """The batch arithmetic.

        Raises:
            BatchArithmeticError: the sizes do not fit.
        """
        return batch_plan(self.recipe, self.processes)

    def describe(self) -> str:
        """Return the resolved recipe, the batch arithmetic, and where the adapter is placed.

        No weights are loaded, but those that `lora.layers: top:N@RUN` compares with.

        Raises:
            RecipeError: something in the recipe is not valid.
        """
        check_sections(self.recipe)
        if self._env is None:
            resolve(self.recipe.env)
        lines = [f"batches: {self.plan.describe()}", f"silent groups: {self._silent()}"]
        if self.cluster.nodes > 1:
            lines.insert(
                0, f"machines: {self.cluster.nodes}, each with {self.local_processes} processes"
            )
        try:
            lines += [f"lora: {note}" for note in placement_of(self.recipe).notes]
        except HubUnavailableError:
            lines.append("lora: placed once the model's config can be had")
        return f"{self.recipe.to_yaml()}\n" + "".join(f"# {line}\n" for line in lines)

    def _silent(self) -> str:
        """Return whether groups without advantage cost work, and why."""
        because = why_all_rows(self.recipe.grpo, self.recipe.lora)
        if self.recipe.skip_silent == "off" or because:
            return f"all rows run ({because or 'skip_silent: off'})"
        return "rows without a share are skipped, unless the model has dropout or experts"

    def train(self) -> TrainResult:
        """Train from the start.

        Raises:
            ReasonEnvError: the recipe, the environment, the model or the run directory cannot be
                used; nothing is left behind before the first step.
            TooManyUnscoredError: checkers failed on too many rollouts for too long.
        """
        check_sections(self.recipe)
        plan = self.plan
        check_devices(self.recipe.shard, self.processes)
        check_optimizer(str(self.recipe.grpo.get("optim", "")))
        resolve_model(self.recipe.model)
        if self.processes > 1 and world_size() == 1:
            self._require_plain_data()
            self._environment()  # what cannot be made is said here, once, not by every rank
            placement_of(self.recipe)
            if self.cluster.rank:
                run = joined_run(self.out, self.recipe)
                launch(run.path, self.local_processes, cluster=self.cluster)
                return result_of(run)
            self.cluster.check_port()
            with _new_run(self.out, self.recipe) as run:
                launch(run.path, self.local_processes, cluster=self.cluster)
                return result_of(run)
        session = Session(self.recipe, plan, *self._environment())
        with _new_run(self.out, self.recipe) as run:
            return session.run(run, checkpoint=None)

    @classmethod
    def resume(
        cls, run: str | Path, *, steps: int | None = None, cluster: Cluster | None = None
    ) -> TrainResult:
        """Go on with a run from its newest complete checkpoint.

        Metrics and rollouts are cut back to the checkpoint's step first.

        Args:
            run: the run directory.
            steps: train up to this step instead of the recipe's.
            cluster: the machines to go on with; None: this one alone.

        Raises:
            RunDirectoryError: there is no run, or no complete checkpoint in it.
            LaunchError: a rank failed.
        """
        opened = Run.open(run)
        recipe = opened.recipe
        if steps is not None:
            recipe = Recipe.make({**recipe.model_dump(), "steps": steps, "epochs": None})
        learner = cls(recipe=recipe, out=run, cluster=cluster)
        if learner.cluster.rank == 0:  # the others meet it after that
            opened.rewind()
            failures.clear(opened.path)
            (opened.path / "stop").unlink(missing_ok=True)
        if learner.processes > 1 and world_size() == 1:
            launch(opened.path, learner.local_processes, steps=steps, cluster=learner.cluster)
            return result_of(opened)
        return learner.work(opened)

    def work(self, run: Run) -> TrainResult:
        """Train in this process, in a run directory that is there: what each rank does."""
        session = Session(self.recipe, self.plan, *self._environment())
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
            why = refusal(self.recipe.env, error)
            raise RecipeError(f"env_args: {self.recipe.env} refuses them: {why}") from error

    def _environment(self) -> tuple[ReasoningEnv, Problems, ProblemList | None]:
        """Return the environment, the problems to train on, and those to evaluate on."""
        recipe = self.recipe
        # A copy: the reward of a run is no change to the caller's own environment.
        own = copy.copy(self._env) if self._env is not None else None
        env = own or self._make(split="train", data=recipe.data)
        if recipe.reward is not None:
            env.reward = self._reward or from_config(recipe.reward)
        env.system = recipe.prompt.system or env.system
        check_episodes(recipe, env)
        check_views(recipe, env)
        if recipe.judging.by == "ray":
            where = recipe.judging
            if where.address == "local" and self.processes > 1:
                raise LaunchError(
                    "judging.address: local starts a cluster for one process, and the run has "
                    f"{self.processes}: start one by `ray start --head`, and set address to auto"
                )
            env.judge_one = RayJudge(
                env.judge_one, address=where.address, queue=where.queue, cpus=where.cpus
            )
            env.judge_one.connect()  # a cluster that is not there is told before a model is loaded
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
