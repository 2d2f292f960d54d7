"""`gate(node, when=...)`: pays a node only where a condition holds.

Conditions: `solved`, `unsolved`, `untruncated`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from reasonenv.errors import RewardError, did_you_mean
from reasonenv.rewards.algebra import as_node, refuse_turns
from reasonenv.rewards.base import Floats, Range, Reward, RewardContext
from reasonenv.rewards.ranges import Given
from reasonenv.types import Group, Judged, Status

__all__ = [
    "CONDITIONS",
    "Condition",
    "Gate",
    "condition",
    "gate",
    "solved",
    "unsolved",
    "untruncated",
]


@dataclass(frozen=True)
class Condition:
    """When a gate is open.

    Args:
        name: how formulas and configs spell it.
        holds: whether it holds for a judged rollout.
        for_right: whether it can hold (first) and can fail (second) for a right answer.
        for_wrong: the same for a wrong one.
    """

    name: str
    holds: Callable[[Judged], bool]
    for_right: tuple[bool, bool] = (True, True)
    for_wrong: tuple[bool, bool] = (True, True)

    def __reduce__(self) -> tuple[Any, ...]:
        return condition, (self.name,)

    def __repr__(self) -> str:
        return self.name


def _is_solved(judged: Judged) -> bool:
    return judged.verdict.status is Status.CORRECT


def _is_unsolved(judged: Judged) -> bool:
    return judged.verdict.status is not Status.CORRECT


def _is_untruncated(judged: Judged) -> bool:
    return not judged.rollout.truncated


solved = Condition("solved", _is_solved, for_right=(True, False), for_wrong=(False, True))
unsolved = Condition("unsolved", _is_unsolved, for_right=(False, True), for_wrong=(True, False))
untruncated = Condition("untruncated", _is_untruncated)

CONDITIONS = {c.name: c for c in (solved, unsolved, untruncated)}


def condition(name: str) -> Condition:
    """Return the condition of this name.

    Raises:
        RewardError: there is none.
    """
    if not isinstance(name, str) or name not in CONDITIONS:
        hint = did_you_mean(str(name), CONDITIONS)
        raise RewardError(f"no condition is called {name!r}; {hint}")
    return CONDITIONS[name]


@dataclass(frozen=True, repr=False)
class Gate(Reward):
    """A node where a condition holds, 0 elsewhere; see `gate`."""

    node: Reward
    when: Condition

    def __post_init__(self) -> None:
        refuse_turns(self.node, "a gate")

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return the node's value where the gate is open, else 0."""
        is_open = np.array([self.when.holds(judged) for judged in group], dtype=bool)
        return np.where(is_open, self.node.values(group, context, terms), 0.0)

    def bounds(self, correct: bool, given: Given) -> Range:
        """Return the node's range if the gate can open, together with 0 if it can be shut."""
        can_open, can_shut = self.when.for_right if correct else self.when.for_wrong
        inside, zero = self.node.bounds(correct, given), Range(0.0, 0.0)
        if not can_open:
            return zero
        return inside.union(zero) if can_shut else inside

    def children(self) -> tuple[Reward, ...]:
        """Return the gated node."""
        return (self.node,)

    @property
    def label(self) -> str:
        """The gated node's own name."""
        return self.node.label

    def to_config(self) -> dict[str, Any]:
        """Return `{"gate": node, "when": name}`."""
        return {"gate": self.node.to_config(), "when": self.when.name}

    def __repr__(self) -> str:
        return f"gate({self.node!r}, when={self.when.name})"


def gate(node: Reward | float, *, when: Condition | str) -> Gate:
    """Pay `node` only where `when` holds: `solved`, `unsolved` or `untruncated`.

    A length bonus inside `gate(..., when=solved)` cannot teach a policy to fail fast, which an
    ungated one does.

    >>> from reasonenv.rewards import Correct, TagCount
    >>> Correct() + gate(0.3 * TagCount("answer"), when=solved)
    Correct() + gate(0.3 * TagCount('answer'), when=solved)
    """
    if not isinstance(when, Condition):
        when = condition(when)
    return Gate(as_node(node), when)
