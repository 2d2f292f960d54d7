"""Looking for a witness: a wrong and a right completion of which the wrong one earns as much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reasonenv.errors import ReasonEnvError
from reasonenv.rewards.audit.dominance import Dominance
from reasonenv.rewards.audit.probes import probes
from reasonenv.rewards.base import Floats, Reward, RewardContext
from reasonenv.types import Judged

__all__ = ["Side", "Witness", "find_witness"]

_MAX_PAIRS = 1500  # pairs that are scored as groups of two, where members are compared


@dataclass(frozen=True, slots=True)
class Side:
    """One of a witness's two completions.

    Attributes:
        completion: its text.
        total: what it earns.
        terms: the raw value of each leaf: they occur together, in this completion.
        parts: what each top-level addend is worth.
    """

    completion: str
    total: float
    terms: dict[str, float]
    parts: dict[str, float]


@dataclass(frozen=True, slots=True)
class Witness:
    """A wrong completion that earns at least as much as a right one.

    Attributes:
        wrong: the wrong one.
        right: the right one.
        source: where both come from: "probes", or "rollouts".
    """

    wrong: Side
    right: Side
    source: str = "probes"


def find_witness(reward: Reward, found: Dominance) -> Witness | None:
    """Return a witness against dominance among the probes, None where there is none.

    Args:
        reward: whose dominance is not proved.
        found: the case in which right answers lead by least.
    """
    if any(leaf.can_fail for leaf in reward.leaves()):
        return None  # it would be asked over a network
    state = {name: {"stage": stage, "calm": 0} for name, stage in found.given.stages.items()}
    context = RewardContext(step=found.given.step or 0, state=state)
    right = _scorable(reward, probes(reward, right=True), context)
    wrong = _scorable(reward, probes(reward, right=False), context)
    if not right or not wrong:
        return None
    if reward.needs_group:
        return _in_pairs(reward, wrong, right, context)
    sides = [_sides(reward, members, context) for members in (wrong, right)]
    best = max(sides[0], key=lambda side: side.total)
    least = min(sides[1], key=lambda side: side.total)
    return Witness(best, least) if best.total >= least.total else None


def _scorable(reward: Reward, members: Sequence[Judged], context: RewardContext) -> list[Judged]:
    """Return the probes that every leaf can read, one for each way in which leaves see them."""
    kept: dict[Any, Judged] = {}
    for one in members:
        seen: list[float] = []
        try:
            for leaf in reward.leaves():
                seen += _alone(leaf, one, context)
        except (ReasonEnvError, ArithmeticError):
            continue  # a term of another domain: it has nothing to say of this probe
        length = one.rollout.n_tokens if reward.needs_group else None
        kept.setdefault((*seen, length, one.verdict.score, one.rollout.truncated), one)
    return list(kept.values())


def _alone(leaf: Reward, one: Judged, context: RewardContext) -> list[float]:
    """Return what a leaf is worth to a completion that stands alone."""
    return [float(value) for value in leaf.values([one], context, {})]


def _sides(reward: Reward, members: list[Judged], context: RewardContext) -> list[Side]:
    terms, parts, _ = reward.combine(members, context, {})
    return [_side(one, i, terms, parts) for i, one in enumerate(members)]


def _side(one: Judged, i: int, terms: dict[str, Floats], parts: dict[str, Floats]) -> Side:
    worth = {name: float(values[i]) for name, values in parts.items()}
    raw = {name: float(values[i]) for name, values in terms.items()}
    return Side(one.rollout.completion, float(np.sum(list(worth.values()))), raw, worth)


def _in_pairs(
    reward: Reward, wrong: list[Judged], right: list[Judged], context: RewardContext
) -> Witness | None:
    """Return the pair that, as a group of two, refutes dominance most clearly."""
    best: Witness | None = None
    pairs = [(w, r) for w in wrong for r in right]
    stride = -(-len(pairs) // _MAX_PAIRS)
    for pair in pairs[::stride]:
        members = list(pair)
        try:
            terms, parts, _ = reward.combine(members, context, {})
        except ReasonEnvError:
            continue
        one, other = (_side(member, i, terms, parts) for i, member in enumerate(members))
        lead = one.total - other.total
        if lead >= 0 and (best is None or lead > best.wrong.total - best.right.total):
            best = Witness(one, other)
    return best
