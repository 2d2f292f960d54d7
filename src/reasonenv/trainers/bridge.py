"""`Bridge`: between TRL, which knows token ids and slots, and the environment, which judges text.

TRL calls `total` with a rank's completions. The bridge decodes them, has them judged, scores
complete groups, and hands TRL one composed number each: None where the checker failed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from reasonenv.checkers.ahead import JudgeAhead
from reasonenv.envs.core import ReasoningEnv
from reasonenv.models.prompts import PromptFormat, decode
from reasonenv.rewards import Reward, RewardContext, RewardState, Scores, score_groups
from reasonenv.rewards.scores import Floats
from reasonenv.trainers.draws import Draws
from reasonenv.trainers.episodes import Episode
from reasonenv.trainers.storage import Row, rollout_rows, scores_of
from reasonenv.trainers.turns import discount_of, turn_returns
from reasonenv.types import Judged, Problem, Rollout, canonical_json

__all__ = ["Bridge"]


class _Asked(NamedTuple):
    """What a slot of the current generation asks in one of its views; made once for all members."""

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
        learned: what the loss reads in place of the environment's reward (GDPO's rewriting of it);
            None: that reward itself.
        state: what the reward's stateful nodes remember.
        ahead: the environment's judge, where completions are judged as soon as they are finished.
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
    learned: Reward | None = None
    state: RewardState = field(default_factory=RewardState)
    ahead: JudgeAhead | None = None
    mode: str = "train"
    """"train" or "eval": set by the trainer before each generation."""
    rows: list[Row] = field(default_factory=list)
    """The last call's rollouts of this rank, in TRL's order."""
    seconds: float = 0.0
    """What judging and scoring the last call took: how long the batch waited for it."""

    episodes: list[Episode] | None = None
    """The conversations of the current batch, where episodes have several turns."""
    returns: list[Floats] | None = None
    """Of the last call, what each turn of a rollout returned; None without per-turn rewards."""

    _asked: dict[tuple[int, int], _Asked] = field(default_factory=dict)
    _order: list[tuple[int, int]] = field(default_factory=list)
    _contexts: dict[tuple[int, ...], Problem | None] = field(default_factory=dict)

    def resolve(self, slots: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return TRL's rows for the loader's slots: prompt, problem id, slot, view; never a gold.

        The rows of one group stand together: row i of a group asks view i modulo the number of
        views of its slot.
        """
        training = self.mode == "train"
        draws = self.train if training else self.held_out
        assert draws is not None
        size = self.group_size if training else self.eval_samples
        views = self.env.views if training else self.env.eval_views
        self._asked = {
            (slot, view): self._ask(problem)
            for slot in {one["slot"] for one in slots}
            for view, problem in enumerate(draws.asked(slot, self.env, views))
        }
        rows = []
        self._order, self.episodes = [], None
        for i, one in enumerate(slots):
            view = i % size % views
            asked = self._asked[one["slot"], view]
            self._order.append((one["slot"], view))
            rows.append(
                {
                    "prompt": asked.prompt,
                    "problem_id": asked.problem.id,
                    "slot": one["slot"],
                    "view": view,
                }
            )
        return rows

    def problems(self) -> list[Problem]:
        """Return what each row of the current batch asks, in TRL's order."""
        return [self._asked[key].problem for key in self._order]

    def expect(self, contexts: Sequence[Sequence[int]], problems: Sequence[Problem]) -> None:
        """Note what is asked by each context that completions are generated for.

        Args:
            contexts: token ids.
            problems: what each asks; of one that two problems share, nothing is judged ahead.
        """
        self._contexts = {}
        for context, problem in zip(contexts, problems, strict=True):
            known = self._contexts.setdefault(tuple(context), problem)
            if known is not problem and known != problem:
                self._contexts[tuple(context)] = None
        if self.ahead is not None:
            self.ahead.forget()

    def finished(self, context: Sequence[int], ids: Sequence[int]) -> None:
        """Begin to judge a completion while others are still generated.

        Args:
            context: token ids of what it answers; those that are not expected here (another
                rank's) are left alone.
            ids: its own.
        """
        problem = self._contexts.get(tuple(context))
        if self.ahead is not None and problem is not None:
            self.ahead.start(problem, self.prompt.prefill + self.decode(ids)[0])

    def _ask(self, problem: Problem) -> _Asked:
        prompt = self.prompt(problem)
        text = prompt if isinstance(prompt, str) else canonical_json(prompt)
        return _Asked(problem, prompt, text)

    def total(
        self,
        *,
        completion_ids: Sequence[Sequence[int]],
        slot: Sequence[int],
        view: Sequence[int],
        trainer_state: Any,
        **_: Any,
    ) -> list[float | None]:
        """Judge and score a rank's completions: TRL's reward function.

        Args:
            completion_ids: token ids of each completion; rows of one group stand together.
            slot: the slot that each answers.
            view: in which of the slot's views it was asked.
            trainer_state: TRL's, for the global step.

        Returns:
            The composed reward of each completion, None where the checker failed.
        """
        started = time.perf_counter()
        step = int(trainer_state.global_step)
        size = self.group_size if self.mode == "train" else self.eval_samples
        asked = [self._asked[key] for key in zip(slot, view, strict=True)]
        # The position keeps two draws of one slot apart, which uneven ranks may repeat.
        group_ids = [f"{self.mode}-{step}-{one}-{i // size}" for i, one in enumerate(slot)]
        context = RewardContext(step, self.total_steps, self.state.values)
        if self.episodes is None:
            rollouts = self._rollouts(completion_ids, asked, group_ids, step)
            judged, scores = self.env.judge_and_score(rollouts, context)
        else:
            judged = [
                Judged(replace(one.rollout, group_id=group_id, step=step), one.verdict)
                for one, group_id in zip(self._last_turns(), group_ids, strict=True)
            ]
            scores = self.env.score(judged, context)
        gamma = discount_of(self.env.reward)
        self.returns = turn_returns(scores, gamma) if gamma is not None else None
        learned: Scores | None = None
        if self.learned is not None and self.mode == "train":
            learned = score_groups(self.learned, judged, context)
        prompts = [one.text for one in asked]
        self.rows = rollout_rows(judged, scores, prompts, learned, self.state.version)
        for row, episode in zip(self.rows, self.episodes or (), strict=False):
            row["episode_tokens"] = episode.own_tokens
        self.seconds = time.perf_counter() - started
        total = scores.total if learned is None else learned.total
        return [None if np.isnan(value) else float(value) for value in total]

    def _rollouts(
        self,
        completion_ids: Sequence[Sequence[int]],
        asked: Sequence[_Asked],
        group_ids: Sequence[str],
        step: int,
    ) -> list[Rollout]:
        """Return completions of one turn each as rollouts; equal ones are decoded once."""
        written = [tuple(ids) for ids in completion_ids]
        decoded = {ids: self.decode(ids) for ids in dict.fromkeys(written)}
        rollouts = []
        for ids, one, group_id in zip(written, asked, group_ids, strict=True):
            text, truncated = decoded[ids]
            rollout = Rollout(
                problem=one.problem,
                completion=text,
                group_id=group_id,
                prefill=self.prompt.prefill,
                n_tokens=len(ids),
                truncated=truncated,
                step=step,
            )
            rollouts.append(rollout)
        return rollouts

    def _last_turns(self) -> list[Judged]:
        """Return the last completion of each conversation, which was judged in its turn."""
        return [one.judged for one in self.episodes or () if one.judged is not None]

    def remember(self, rows: Sequence[Row]) -> None:
        """Move the reward's state on by a training generation.

        Args:
            rows: of all ranks, so that each rank comes to the same state.
        """
        if self.state.values:
            self.state = self.state.after(self.env.reward, scores_of(rows))

    def decode(self, ids: Sequence[int]) -> tuple[str, bool]:
        """Return a completion's text, and whether it was cut off at the length limit."""
        return decode(self.tokenizer, ids, self.end_ids, self.tokenizer.pad_token_id)
