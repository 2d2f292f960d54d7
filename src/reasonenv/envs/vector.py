"""`ReasoningVectorEnv`: N questions at once, all answers judged in one batch."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Space
from gymnasium.spaces import Tuple as TupleSpace
from gymnasium.vector import AutoresetMode, VectorEnv

from reasonenv.envs.core import ReasoningEnv
from reasonenv.types import Prompt

__all__ = ["ReasoningVectorEnv"]

Flags = npt.NDArray[np.bool_]


class ReasoningVectorEnv(VectorEnv[tuple[Prompt, ...], Sequence[str], Any]):
    """N environments over the same problems; `step` judges all N answers concurrently.

    Autoreset is disabled, since most episodes are one step: the caller resets, all of them or,
    with `options={"reset_mask": mask}`, some. Stepping a finished member is an error.

    Args:
        make_env: makes one single environment from the other keyword arguments.
        num_envs: N, at least 1.
        kwargs: of the single environment.

    Raises:
        ValueError: `num_envs` below 1.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi"],
        "render_fps": 1,
        "autoreset_mode": AutoresetMode.DISABLED,
    }

    def __init__(self, make_env: Callable[..., Any], num_envs: int = 1, **kwargs: Any) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs={num_envs}: a vector environment holds at least one")
        first: ReasoningEnv = make_env(**kwargs).unwrapped
        self.envs = [first, *(copy.copy(first) for _ in range(num_envs - 1))]
        self.num_envs = num_envs
        self.render_mode = first.render_mode
        self.single_observation_space: Space[Any] = first.observation_space
        self.single_action_space: Space[str] = first.action_space
        self.observation_space = TupleSpace([first.observation_space] * num_envs)
        self.action_space = TupleSpace([first.action_space] * num_envs)
        self._observations: list[Prompt] = [""] * num_envs

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[tuple[Prompt, ...], dict[str, Any]]:
        """Ask N questions; member i is seeded with `seed + i`.

        Args:
            seed: one seed, or one for each member.
            options: of the single environment's reset, and `reset_mask` of shape (N,).

        Returns:
            The N prompts, and `{"problem_id": [N ids]}` (None where not reset).

        Raises:
            ValueError: another number of seeds, or of booleans in the mask, than N.
            DataError: as the single environment's `reset`.
        """
        options = dict(options or {})
        mask = np.asarray(options.pop("reset_mask", np.ones(self.num_envs, dtype=bool)))
        if mask.shape != (self.num_envs,) or mask.dtype != bool:
            raise ValueError(
                f"reset_mask holds {self.num_envs} booleans, got {mask.dtype} of shape {mask.shape}"
            )
        if seed is None or isinstance(seed, int | np.integer):
            seeds = [None if seed is None else int(seed) + i for i in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"{self.num_envs} seeds are needed, got {len(seeds)}")
        ids: list[str | None] = [None] * self.num_envs
        for i, env in enumerate(self.envs):
            if mask[i]:
                self._observations[i], info = env.reset(seed=seeds[i], options=options)
                ids[i] = info["problem_id"]
        return tuple(self._observations), {"problem_id": ids}

    def step(
        self, actions: Sequence[str]
    ) -> tuple[tuple[Prompt, ...], npt.NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        """Judge N completions at once.

        Returns:
            Observations (N), rewards, terminated and truncated, each of shape (N,), and info:
            under each key of the single environment's info a list of N values (None: missing).

        Raises:
            ValueError: another number of completions than N.
            CheckerFailedError, GroupRequiredError: as the single environment's `step`.
        """
        if isinstance(actions, str) or len(actions) != self.num_envs:
            given = "one text" if isinstance(actions, str) else len(actions)
            raise ValueError(f"{self.num_envs} completions are needed, got {given}")
        pairs = zip(self.envs, actions, strict=True)
        rollouts = [env.rollout(action) for env, action in pairs]
        judged = self.envs[0].judge(rollouts)
        for env, one in zip(self.envs, judged, strict=True):
            env.refuse_unscored(one)  # before any member has gone on
        results = [env.conclude(one) for env, one in zip(self.envs, judged, strict=True)]
        self._observations = [result[0] for result in results]
        infos = [result[4] for result in results]
        keys = sorted({key for info in infos for key in info})
        return (
            tuple(self._observations),
            np.array([result[1] for result in results], dtype=np.float64),
            np.array([result[2] for result in results], dtype=bool),
            np.array([result[3] for result in results], dtype=bool),
            {key: [info.get(key) for info in infos] for key in keys},
        )

    def render(self) -> tuple[str | None, ...]:  # type: ignore[override]
        """Return each member's exchange so far."""
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **kwargs: Any) -> None:
        """Close the single environments."""
        for env in self.envs:
            env.close()


def __getattr__(name: str) -> Callable[..., ReasoningVectorEnv]:
    """Return the maker of N environments of the class at a dotted path.

    Gymnasium calls a vector entry point without the single one, and only a string keeps a spec
    JSON-able: so the class's path is the attribute, `reasonenv.envs.vector:package.module.Class`.
    """
    module, _, attribute = name.rpartition(".")
    if not module:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        make_env = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise gymnasium.error.Error(f"{name}: cannot be imported ({error})") from error
    return partial(ReasoningVectorEnv, make_env)
