"""`Bridge`: between TRL, which knows token ids and slots, and the environment, which judges text.

TRL calls `total` with a rank's completions. The bridge decodes them, has them judged, scores
complete groups, and hands TRL one composed number each: None where the checker failed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reasonenv.envs.core import ReasoningEnv
from reasonenv.rewards import RewardContext
from reasonenv.trainers.draws import Draws
from reasonenv.trainers.prompts import PromptFormat, decode
from reasonenv.trainers.storage import Row, rollout_rows
from reasonenv.types import Problem, Rollout, canonical_json

__all__ = ["Bridge"]


@dataclass
class Bridge:
    """Turns slots into prompts, and completions into rewards.

    Args:
        env: judges and scores.
        tokenizer: of the model.
        prompt: writes a problem's prompt.
        train: which problem a training slot draws.
        held_out: which problem an evaluation slot asks; None without evaluation.
        group_size: completions of one training draw.
        eval_samples: completions of one evaluation problem.
        end_ids: token ids that end a completion.
        total_steps: optimizer steps of the run, for schedules.
    """

    env: ReasoningEnv
    tokenizer: Any
    prompt: PromptFormat
    train: Draws
    held_out: Draws | None
    group_size: int
    eval_samples: int
    end_ids: frozenset[int]
    total_steps: int = 0
    mode: str = "train"
    """"train" or "eval": set by the trainer before each generation."""
    rows: list[Row] = field(default_factory=list)
    """The last call's rollouts of this rank, in TRL's order."""
    seconds: float = 0.0
    """What judging and scoring the last call took."""

    def problem(self, slot: int) -> Problem:
        """Return the problem behind a slot of the current mode."""
        draws = self.train if self.mode == "train" else self.held_out
        assert draws is not None
        return draws[slot]

    def resolve(self, slots: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return TRL's rows for the loader's slots: prompt, problem id and slot; never a gold."""
        rows = []
        for one in slots:
            problem = self.problem(one["slot"])
            row = {"prompt": self.prompt(problem), "problem_id": problem.id, "slot": one["slot"]}
            rows.append(row)
        return rows

    def total(
        self,
        *,
        completion_ids: Sequence[Sequence[int]],
        slot: Sequence[int],
        trainer_state: Any,
        **_: Any,
    ) -> list[float | None]:
        """Judge and score a rank's completions: TRL's reward function.

        Args:
            completion_ids: token ids of each completion; rows of one group stand together.
            slot: the slot that each answers.
            trainer_state: TRL's, for the global step.

        Returns:
            The composed reward of each completion, None where the checker failed.
        """
        started = time.perf_counter()
        step = int(trainer_state.global_step)
        size = self.group_size if self.mode == "train" else self.eval_samples
        rollouts = [
            # The position keeps two draws of one slot apart, which uneven ranks may repeat.
            self._rollout(ids, one, f"{self.mode}-{step}-{one}-{i // size}", step)
            for i, (ids, one) in enumerate(zip(completion_ids, slot, strict=True))
        ]
        context = RewardContext(step=step, total_steps=self.total_steps)
        judged, scores = self.env.judge_and_score(rollouts, context)
        self.rows = rollout_rows(judged, scores, [self._prompt_text(r.problem) for r in rollouts])
        self.seconds = time.perf_counter() - started
        return [None if np.isnan(value) else float(value) for value in scores.total]

    def _rollout(self, ids: Sequence[int], slot: int, group_id: str, step: int) -> Rollout:
        text, truncated = decode(self.tokenizer, ids, self.end_ids, self.tokenizer.pad_token_id)
        return Rollout(
            problem=self.problem(slot),
            completion=text,
            group_id=group_id,
            prefill=self.prompt.prefill,
            n_tokens=len(ids),
            truncated=truncated,
            step=step,
        )

    def _prompt_text(self, problem: Problem) -> str:
        prompt = self.prompt(problem)
        return prompt if isinstance(prompt, str) else canonical_json(prompt)
