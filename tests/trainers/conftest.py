"""Small runs of the learner that tests share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import reasonenv
from reasonenv import GRPOLearner, Rollout

SMALL: dict[str, Any] = {
    "env": "reasonenv/Arithmetic-v0",
    "env_args": {"layout": {"reasoning": None, "instruction": ""}},
    "reward": "Correct() + 0.1 * Format('answer')",
    "steps": 4,
    "prompts_per_step": 4,
    "rows_per_forward": 16,
    "cpu_threads": 1,
    "grpo": {"num_generations": 4, "max_completion_length": 8, "learning_rate": 1e-3},
    "lora": {"r": 4, "target_modules": "all-linear"},
    "eval": {"problems": 8, "every": 2},
    "checkpoint": {"every": 2},
    "report": False,  # its pictures take longer than the run
}
"""A run of seconds: 16 completions a step with the model that ships with the package."""


def small(**fields: Any) -> dict[str, Any]:
    """Return the fields of a small recipe, sections merged with the given ones."""
    merged = dict(SMALL)
    for key, value in fields.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = {**merged[key], **value} if both else value
    return merged


def score_again(rows: list[dict[str, Any]], reward: str) -> list[float]:
    """Judge and score stored rollouts anew, in this process alone; return their totals."""
    env = reasonenv.make(SMALL["env"], reward=reward, **SMALL["env_args"])
    rollouts = [
        Rollout(
            env.problems.find(row["problem_id"]),
            row["completion"],
            row["group_id"],
            n_tokens=row["n_tokens"],
        )
        for row in rows
    ]
    _, scores = env.judge_and_score(rollouts)
    return [float(total) for total in scores.total]


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of one finished small run; tests only read it."""
    out = tmp_path_factory.mktemp("runs") / "finished"
    GRPOLearner(out=out, **small(report=True)).train()
    return out
