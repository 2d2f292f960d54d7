"""`sample_problem`: a model's completions of one problem, judged and scored."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reasonenv.envs.core import ReasoningEnv
from reasonenv.evaluation.asking import as_drawn
from reasonenv.evaluation.backends.base import Asked, Backend
from reasonenv.evaluation.sampling import Sampling, seed_of
from reasonenv.rewards import Scores
from reasonenv.types import Judged, Problem, Rollout

__all__ = ["Sampled", "sample_problem"]


@dataclass(frozen=True)
class Sampled:
    """What a model said about one problem, with verdicts and rewards."""

    asked: Asked
    judged: list[Judged]
    scores: Scores


def sample_problem(
    backend: Backend, env: ReasoningEnv, problem: Problem, sampling: Sampling
) -> Sampled:
    """Draw `sampling.n` completions of a problem and judge and score them as one group.

    Args:
        backend: draws them.
        env: judges and scores.
        problem: what is asked.
        sampling: how to draw.
    """
    problem = as_drawn(env, problem, sampling.seed)[0]
    asked = backend.ask(env, problem)
    seeds = [seed_of(sampling.seed, problem.id, i) for i in range(sampling.n)]
    drawn = backend.sample([asked] * sampling.n, sampling, seeds)
    rollout = Rollout(problem, "", group_id=problem.id, prefill=asked.prefill)
    rollouts = [
        replace(rollout, completion=one.text, n_tokens=one.n_tokens, truncated=one.truncated)
        for one in drawn
    ]
    judged, scores = env.judge_and_score(rollouts)
    return Sampled(asked, judged, scores)
