"""`Bridge`: between TRL, which knows token ids and slots, and the environment, which judges text.

TRL calls `total` with a rank's completions. The bridge decodes them, has them judged, scores
complete groups, and hands TRL one composed number each: None where the checker failed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from reasonenv.envs.core import ReasoningEnv
from reasonenv.models.prompts import PromptFormat, decode
from reasonenv.rewards import RewardContext
from reasonenv.trainers.draws import Draws
from reasonenv.trainers.storage import Row, rollout_rows
from reasonenv.types import Problem, Rollout, canonical_json

__all__ = ["Bridge"]


class _Asked(NamedTuple):
    """What a slot of the current generation asks; made once for the whole group."""

    problem: Problem
    prompt: str | list[dict[str, str]]
    text: str


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

    _asked: dict[int, _Asked] = field(default_factory=dict)

    def resolve(self, slots: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return TRL's rows for the loader's slots: prompt, problem id and slot; never a gold."""
        draws = self.train if self.mode == "train" else self.held_out
        assert draws is not None
        self._asked = {slot: self._ask(draws[slot]) for slot in {one["slot"] for one in slots}}
        return [
            {
                "prompt": self._asked[one["slot"]].prompt,
                "problem_id": self._asked[one["slot"]].problem.id,
                "slot": one["slot"],
            }
            for one in slots
        ]

    def _ask(self, problem: Problem) -> _Asked:
        prompt = self.prompt(problem)
        text = prompt if isinstance(prompt, str) else canonical_json(prompt)
        return _Asked(problem, prompt, text)

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
        decoded = {tuple(ids): self._decode(ids) for ids in completion_ids}
        rollouts = []
        for i, (ids, one) in enumerate(zip(completion_ids, slot, strict=True)):
            text, truncated = decoded[tuple(ids)]
            rollout = Rollout(
                problem=self._asked[one].problem,
                completion=text,
                # The position keeps two draws of one slot apart, which uneven ranks may repeat.
                group_id=f"{self.mode}-{step}-{one}-{i // size}",
                prefill=self.prompt.prefill,
                n_tokens=len(ids),
                truncated=truncated,
                step=step,
            )
            rollouts.append(rollout)
        context = RewardContext(step=step, total_steps=self.total_steps)
        judged, scores = self.env.judge_and_score(rollouts, context)
        self.rows = rollout_rows(judged, scores, [self._asked[one].text for one in slot])
        self.seconds = time.perf_counter() - started
        return [None if np.isnan(value) else float(value) for value in scores.total]

    def _decode(self, ids: Sequence[int]) -> tuple[str, bool]:
        return decode(self.tokenizer, ids, self.end_ids, self.tokenizer.pad_token_id)
