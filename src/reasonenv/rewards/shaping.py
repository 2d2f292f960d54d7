"""`PotentialBased`: per-turn rewards that leave the best policy as it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Floats, Range, Reward, RewardContext, Term
from reasonenv.rewards.ranges import Given, times
from reasonenv.types import Group, Judged, Rollout, Status, Verdict

__all__ = ["PotentialBased", "check_turns", "step_reward"]

_OPEN = Verdict(Status.NO_ANSWER, detail={"state": "an episode that goes on"})


@dataclass(frozen=True, repr=False)
class PotentialBased(Reward):
    """Pays each turn for the potential that it gains: F_t = gamma * phi(s_t+1) - phi(s_t).

    The state s_t is the episode before its completion t, t = 0 ... T-1: the problem, and the
    completions and feedback so far. `phi` is measured on the last completion of a state, s_0 on an
    empty one; the terminal state s_T has the potential 0. Discounted, the per-turn rewards of an
    episode sum to -phi(s_0), the same for every episode of a problem. That is why they change no
    policy's rank, only how soon a learner sees what was worth something.

    `Scores.turns` holds the F_t, the part's value (and so `total`) their discounted sum, -phi(s_0):
    equal in a group, so it moves no episode-level advantage. Such a node works through turn-level
    advantages alone; with one turn, or with one advantage for an episode, it would do nothing, so
    environments and the learner refuse it there.

    Not potential-based: a bonus at the end for a property of the completion. It can change which
    answer is best, whatever its weight.

    Source: Ng, Harada and Russell (1999), Policy invariance under reward transformations; terminal
    potential 0: Grzes (2017), Reward shaping in episodic reinforcement learning.

    Args:
        phi: a term that reads the completion's text, not the verdict and no other member. It sees
            each state as a rollout: `completion` the last one, `turns` those before it.
        gamma: the discount of the task, in (0, 1].

    >>> from reasonenv.rewards import Correct, TagCount
    >>> Correct() + 0.5 * PotentialBased(TagCount("answer"), gamma=0.9)
    Correct() + 0.5 * PotentialBased(TagCount('answer'), gamma=0.9)
    """

    phi: Term
    gamma: float = 1.0
    own_needs: ClassVar[frozenset[str]] = frozenset({"turns"})

    def __post_init__(self) -> None:
        if not isinstance(self.phi, Term):
            raise RewardError(
                f"PotentialBased takes a single term as its potential, got {self.phi!r}; weigh "
                "the whole instead: 0.5 * PotentialBased(term)"
            )
        if self.phi.needs:
            raise RewardError(
                f"PotentialBased: a potential reads the text of a state alone, and {self.phi!r} "
                f"needs {', '.join(sorted(self.phi.needs))}, which a state in the middle of an "
                "episode does not have"
            )
        if self.phi.range(True) != self.phi.range(False):
            raise RewardError(
                f"PotentialBased: {self.phi!r} depends on whether the answer is right, which a "
                "state in the middle of an episode does not tell"
            )
        number = isinstance(self.gamma, int | float) and not isinstance(self.gamma, bool)
        if not (number and 0 < self.gamma <= 1):
            raise RewardError(f"PotentialBased needs 0 < gamma <= 1, got gamma={self.gamma!r}")

    def potentials(self, group: Group, context: RewardContext) -> list[Floats]:
        """Return phi(s_0) ... phi(s_T-1) of each member."""
        states = [_states(judged.rollout) for judged in group]
        flat = self.phi.checked([state for one in states for state in one], context)
        ends = np.cumsum([len(one) for one in states])
        return np.split(flat, ends[:-1])

    def turn_values(self, group: Group, context: RewardContext) -> list[Floats]:
        """Return F_0 ... F_T-1 of each member, one for each of its T completions."""
        return [
            self.gamma * np.append(phi[1:], 0.0) - phi for phi in self.potentials(group, context)
        ]

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return -phi(s_0); the potential of the last state before the end is the logged term."""
        potentials = self.potentials(group, context)
        terms[self.phi.label] = np.array([phi[-1] for phi in potentials])
        return np.array([-phi[0] for phi in potentials])

    def bounds(self, correct: bool, given: Given) -> Range:
        """Return the potential's range, turned round: it is the sum over the whole episode."""
        if given.within_group:
            return Range(0.0, 0.0)
        either = self.phi.bounds(True, given).union(self.phi.bounds(False, given))
        return times(Range(-1.0, -1.0), either)

    def children(self) -> tuple[Reward, ...]:
        """Return the potential."""
        return (self.phi,)

    @property
    def label(self) -> str:
        """The potential's name, marked as such."""
        return f"potential({self.phi.label})"

    def to_config(self) -> dict[str, Any]:
        """Return `{"potential": term, "gamma": gamma}`."""
        return {"potential": self.phi.to_config(), "gamma": self.gamma}

    def __repr__(self) -> str:
        return f"PotentialBased({self.phi!r}, gamma={self.gamma!r})"


def _states(rollout: Rollout) -> list[Judged]:
    """Return the states of an episode before each of its completions."""
    empty = replace(rollout, completion="", prefill="", turns=(), n_tokens=None, truncated=False)
    return [Judged(empty, _OPEN)] + [
        Judged(replace(empty, completion=said, turns=rollout.turns[:i]), _OPEN)
        for i, (said, _) in enumerate(rollout.turns)
    ]


def step_reward(
    reward: Reward, judged: Judged, *, total: float = 0.0, feedback: str | None = None
) -> float:
    """Return what one step of an episode pays, per-turn rewards among it.

    Args:
        reward: of the environment.
        judged: the step's completion, with the turns before it.
        total: what the episode's end earned; leave it out where the episode goes on.
        feedback: what the policy is told where the episode goes on; None at its end.

    Discounted, an episode's steps sum to its total at the (discounted) end, less the potential of
    the start.
    """
    if "turns" not in reward.needs:
        return total
    context, rollout = RewardContext(), judged.rollout

    def turns(one: Rollout) -> Floats:
        return (reward.turn_values([Judged(one, judged.verdict)], context) or [])[0]

    if feedback is not None:
        said = (*rollout.turns, (rollout.completion, feedback))
        return float(turns(replace(rollout, completion="", turns=said))[-2])
    whole = float(turns(replace(rollout, turns=()))[0])  # of an episode of one turn: -phi(s_0)
    return total - whole + float(turns(rollout)[-1])


def check_turns(reward: Reward, *, max_turns: int, turn_level: bool = True) -> None:
    """Refuse per-turn rewards where they would do nothing.

    Args:
        reward: any reward; one without potential-based parts passes.
        max_turns: of the environment.
        turn_level: whether each turn gets an advantage of its own.

    Raises:
        RewardError: the episodes have one turn, or one advantage is shared by all of it.
    """
    if "turns" not in reward.needs:
        return
    if max_turns == 1:
        why = "each episode has one turn, over which a potential is the same for every answer"
        instead = "make the environment with max_turns above 1, or leave it out"
    elif not turn_level:
        why = (
            "one advantage is shared by all turns of an episode: over it the per-turn rewards sum "
            "to -phi(start), which is the same for the whole group and cancels"
        )
        instead = "use a learner with turn-level advantages, or leave it out"
    else:
        return
    node = next(node for node in reward.walk() if isinstance(node, PotentialBased))
    raise RewardError(f"{node!r} would do nothing in `{reward!r}`: {why}; {instead}")
