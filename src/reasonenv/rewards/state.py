"""`RewardState`: what a learner keeps for a reward's stateful nodes, and how it moves on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Reward, Scores
from reasonenv.types import FrozenDict, thaw

__all__ = ["RewardState"]


@dataclass(frozen=True, slots=True)
class RewardState:
    """The state of a reward, and how often it has changed.

    Args:
        version: 0 at first, one more with each generation that changed anything. Stored with each
            rollout, it says under which state it was scored.
        values: of `Reward.init_state` and `Reward.update`: plain data by the node's name.
    """

    version: int = 0
    values: Mapping[str, Any] = field(default_factory=FrozenDict)

    @classmethod
    def first(cls, reward: Reward) -> RewardState:
        """Return the state before training."""
        return cls(0, FrozenDict(reward.init_state()))

    def after(self, reward: Reward, scores: Scores) -> RewardState:
        """Return the state after a generation, this one itself where nothing changed.

        Args:
            reward: whose state it is.
            scores: of all complete groups of the generation, gathered from all processes.
        """
        values = reward.update(self.values, scores)
        if values == thaw(self.values):
            return self
        return RewardState(self.version + 1, FrozenDict(values))

    def to_json(self) -> dict[str, Any]:
        """Return the state as plain data, for a checkpoint."""
        return {"version": self.version, "values": thaw(self.values)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any] | None, reward: Reward) -> RewardState:
        """Return a stored state; None, as older checkpoints have it, is the first.

        Raises:
            RewardError: it is the state of another reward.
        """
        if stored is None:
            return cls.first(reward)
        values, names = stored["values"], set(reward.init_state())
        if set(values) != names:
            raise RewardError(
                f"the stored reward state is of {sorted(values)}, and {reward!r} keeps one of "
                f"{sorted(names)}: resume with the reward that the run began with"
            )
        return cls(int(stored["version"]), FrozenDict(values))
