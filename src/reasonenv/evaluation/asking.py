"""How a problem is asked in an evaluation, and how a stored completion is judged as it was asked.

Multiple choice draws the order and the labels of the options anew for each draw. In an evaluation
that draw depends on the problem alone, so that two evaluations ask the same thing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from reasonenv.envs.core import ReasoningEnv
from reasonenv.evaluation.parts import Row
from reasonenv.evaluation.sampling import seed_of
from reasonenv.types import Problem, Rollout

__all__ = ["as_drawn", "rollout_of"]


def as_drawn(env: ReasoningEnv, problem: Problem, seed: int = 0) -> tuple[Problem, ...]:
    """Return a problem as it is asked: once, or in `env.eval_views` ways.

    Args:
        env: renders.
        problem: one of its problems.
        seed: of the rendering; evaluations all take 0.
    """
    rng = np.random.default_rng([seed, seed_of("rendering", problem.id)])
    return env.variants(problem, rng, env.eval_views)


def rollout_of(env: ReasoningEnv, problem: Problem, row: Row) -> Rollout:
    """Return a stored row as the rollout that it was, of the problem as it was asked.

    Raises:
        DataError: the stored rendering is none of this problem.
    """
    stored: Any = row.get("rendering")
    rendering: Mapping[str, Any] | None = json.loads(stored) if isinstance(stored, str) else stored
    return Rollout(
        env.as_asked(problem, rendering),
        row["completion"],
        prefill=row.get("prefill") or "",
        n_tokens=row.get("n_tokens"),
        truncated=bool(row.get("truncated")),
    )
