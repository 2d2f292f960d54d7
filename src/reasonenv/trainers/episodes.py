"""`Conversations`: episodes of several turns, all rows of a batch turn by turn.

TRL's `rollout_func`. Each turn generates for all episodes that go on, in one batch, and judges what
they said, in one call. What the model wrote stays the ids that it sampled; only feedback is
tokenised, and its tokens are masked out of the loss. An episode ends as `env.step` would end it, or
where its tokens leave no room for feedback and one token more.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reasonenv.envs.endings import ending
from reasonenv.types import Judged, Problem, Rollout

if TYPE_CHECKING:
    from reasonenv.trainers.bridge import Bridge

__all__ = ["Conversations", "Episode"]

_FEEDBACK = -1


@dataclass
class Episode:
    """One conversation of a batch.

    Attributes:
        problem: what it asks.
        prompt: token ids of the prompt.
        ids: of all that follows, the model's and the feedback's, shape (T,).
        turn_of: for each of them, which turn's completion it belongs to, -1 in feedback.
        logprobs: of the sampler, 0.0 in feedback; empty where it tells none.
        turns: the exchanges before the last completion.
        judged: the last completion.
    """

    problem: Problem
    prompt: list[int]
    ids: list[int] = field(default_factory=list)
    turn_of: list[int] = field(default_factory=list)
    logprobs: list[float | None] = field(default_factory=list)
    turns: tuple[tuple[str, str], ...] = ()
    judged: Judged | None = None

    @property
    def own_tokens(self) -> int:
        """How many tokens the model wrote, over all turns."""
        return sum(turn != _FEEDBACK for turn in self.turn_of)

    def say(self, ids: Sequence[int], logprobs: Sequence[float | None] | None) -> None:
        """Append a completion."""
        self.ids += ids
        self.turn_of += [len(self.turns)] * len(ids)
        if logprobs is not None:
            self.logprobs += logprobs[: len(ids)]

    def hear(self, completion: str, feedback: str, ids: Sequence[int]) -> None:
        """Append the feedback on the last completion."""
        self.turns = (*self.turns, (completion, feedback))
        self.ids += ids
        self.turn_of += [_FEEDBACK] * len(ids)
        if self.logprobs:
            self.logprobs += [0.0] * len(ids)


class Conversations:
    """Samples episodes of several turns: TRL's `rollout_func`.

    Args:
        bridge: knows what each row asks, and judges.
        max_tokens: of an episode after its prompt, feedback included.
    """

    def __init__(self, bridge: Bridge, max_tokens: int) -> None:
        self.bridge, self.max_tokens = bridge, max_tokens
        self.seconds = 0.0
        """What judging took, in the last call."""

    def __call__(self, prompts: list[Any], trainer: Any) -> dict[str, Any]:
        """Return the batch's ids, `env_mask` (1 for the model's own tokens), and logprobs."""
        self.seconds = 0.0
        prompt_ids, _, _ = trainer._tokenize_prompts(prompts)
        problems = self.bridge.problems()
        episodes = [
            Episode(problem, list(ids)) for problem, ids in zip(problems, prompt_ids, strict=True)
        ]
        going = list(episodes)
        while rows := _rows_of_turn(trainer, len(going)):
            self._generate(trainer, going, along=[episodes[0].prompt] * (rows - len(going)))
            going = self._judge(going)
        self.bridge.episodes = episodes
        told = all(episode.logprobs for episode in episodes)
        return {
            "prompt_ids": [episode.prompt for episode in episodes],
            "completion_ids": [episode.ids for episode in episodes],
            "env_mask": [[int(t != _FEEDBACK) for t in episode.turn_of] for episode in episodes],
            "logprobs": [episode.logprobs for episode in episodes] if told else None,
        }

    def _generate(self, trainer: Any, going: list[Episode], along: list[list[int]]) -> None:
        """Let the model write the next completion of each episode, in one batch.

        Args:
            trainer: TRL's.
            going: the episodes that go on.
            along: contexts to generate for, and to forget, so that all ranks have as many rows.
        """
        contexts = [one.prompt + one.ids for one in going]
        self.bridge.expect(contexts, [one.problem for one in going])
        # One completion of each context: contexts of one group differ after their first turn.
        written, logprobs = trainer._generate_single_turn(contexts + along, None, {}, 1)
        for i, episode in enumerate(going):
            room = self.max_tokens - len(episode.ids)
            episode.say(written[i][:room], logprobs[i] if logprobs is not None else None)

    def _judge(self, going: list[Episode]) -> list[Episode]:
        """Judge the last completions, give feedback, and return the episodes that go on."""
        started = time.perf_counter()
        bridge = self.bridge
        judged = bridge.env.judge([self._last(episode) for episode in going])
        still = []
        for episode, one in zip(going, judged, strict=True):
            episode.judged = one
            if any(ending(one, bridge.env.max_turns)):
                continue
            feedback = bridge.env.feedback(one)
            ids = bridge.prompt.feedback_ids(feedback, bridge.end_ids)
            if len(episode.ids) + len(ids) < self.max_tokens:
                episode.hear(one.rollout.completion, feedback, ids)
                still.append(episode)
        self.seconds += time.perf_counter() - started
        return still

    def _last(self, episode: Episode) -> Rollout:
        """Return the last completion of an episode as a rollout."""
        turn = len(episode.turns)
        ids = [i for i, t in zip(episode.ids, episode.turn_of, strict=True) if t == turn]
        text, truncated = self.bridge.decode(ids)
        return Rollout(
            episode.problem,
            text,
            prefill=self.bridge.prompt.prefill,
            n_tokens=len(ids),
            truncated=truncated,
            turns=episode.turns,
        )


def _rows_of_turn(trainer: Any, going: int) -> int:
    """Return how many rows this rank generates next; 0 once no rank has an episode that goes on.

    With sharded weights, and with vLLM, a rank can generate only while the others do; a vLLM server
    takes as many prompts from each. There every rank has as many rows as the one with the most.
    """
    sharded = trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled
    if trainer.accelerator.num_processes == 1 or not (sharded or trainer.use_vllm):
        return going
    import torch

    count = torch.tensor([going], device=trainer.accelerator.device)
    return int(trainer.accelerator.gather(count).max())
