"""`Scheduled`: a node times a number that changes over the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reasonenv.errors import RewardError
from reasonenv.rewards.algebra import as_node
from reasonenv.rewards.base import Floats, Range, Reward, RewardContext
from reasonenv.rewards.ranges import Given, times
from reasonenv.rewards.schedules import SCHEDULES, Schedule
from reasonenv.types import Group

__all__ = ["Scheduled"]


@dataclass(frozen=True, repr=False)
class Scheduled(Reward):
    """A node times a schedule: r = s(step) * x.

    Its range is the union over the whole schedule. The step is the learner's; outside training it
    is 0, so an environment's own `step` pays what the first training step does.

    Args:
        node: what is scheduled.
        schedule: `Linear`, `Cosine`, `Step` or `Constant`.

    >>> from reasonenv.rewards import Correct, Format, Linear
    >>> Correct() + Scheduled(0.5 * Format("answer"), Linear(1.0, 0.0, steps=500))
    Correct() + Scheduled(0.5 * Format('answer'), Linear(start=1.0, end=0.0, steps=500, begin=0))
    """

    node: Reward
    schedule: Schedule

    def __post_init__(self) -> None:
        object.__setattr__(self, "node", as_node(self.node))
        if not isinstance(self.schedule, Schedule):
            raise RewardError(
                f"Scheduled takes a reward and a schedule ({', '.join(SCHEDULES)}), got "
                f"{self.schedule!r}"
            )

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return the node's values times the schedule at the context's step."""
        return self.schedule.at_step(context.step) * self.node.values(group, context, terms)

    def turn_values(self, group: Group, context: RewardContext) -> list[Floats] | None:
        """Return the node's per-turn rewards times the schedule."""
        turns, factor = self.node.turn_values(group, context), self.schedule.at_step(context.step)
        return None if turns is None else [factor * member for member in turns]

    def bounds(self, correct: bool, given: Given) -> Range:
        """Return the node's range times the schedule at the given step, else times all of it."""
        factor = self.schedule.bounds()
        if given.step is not None:
            factor = Range(*[self.schedule.at_step(given.step)] * 2)
        return times(factor, self.node.bounds(correct, given))

    def children(self) -> tuple[Reward, ...]:
        """Return the scheduled node."""
        return (self.node,)

    @property
    def label(self) -> str:
        """The scheduled node's own name."""
        return self.node.label

    def to_config(self) -> dict[str, Any]:
        """Return `{"scheduled": node, "by": {"schedule": name, ...}}`."""
        return {"scheduled": self.node.to_config(), "by": self.schedule.to_config()}

    def __repr__(self) -> str:
        return f"Scheduled({self.node!r}, {self.schedule!r})"
