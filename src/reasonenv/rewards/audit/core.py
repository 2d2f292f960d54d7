"""`Audit`: what a reward pays for; plain data that prints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from reasonenv.rewards.audit.dominance import Dominance, dominance, outcome_terms
from reasonenv.rewards.audit.observed import Observed, observe
from reasonenv.rewards.audit.weights import Change, Fault, changes, faults
from reasonenv.rewards.audit.witness import Witness, find_witness
from reasonenv.rewards.base import Reward, RewardContext
from reasonenv.rewards.ranges import Given, Range
from reasonenv.rewards.scheduled import Scheduled
from reasonenv.types import Judged

__all__ = ["Assumption", "Audit", "audit"]


@dataclass(frozen=True, slots=True)
class Assumption:
    """What a term promises of right answers, or of wrong ones, and what would follow without it.

    Attributes:
        term: its name.
        right: what it is worth for a right answer.
        wrong: for a wrong one.
        right_low: the least that a right answer could earn without the promise.
        wrong_high: the most that a wrong one could.
        needed: whether the proof fails without it.
    """

    term: str
    right: Range
    wrong: Range
    right_low: float
    wrong_high: float
    needed: bool


@dataclass(frozen=True, slots=True)
class Audit:
    """What a reward pays for. Print it; its fields are plain data.

    Attributes:
        reward: its formula.
        verdict: "proved": every right answer earns more than every wrong one; "refuted": a witness
            shows a wrong one that earns as much; "not proved": neither a proof nor a witness.
        right: what a right answer can earn, by the ranges.
        wrong: what a wrong one can.
        right_low, wrong_high: the ends that decide, where right answers lead by least.
        step, stages: of that case, where the reward changes over a run.
        witness: completions that refute it, and what their terms are worth together.
        assumptions: what terms promise of right answers that the ends rest on.
        faults: parts of which a wrong answer can earn more than a right one, if not proved.
        changes: of one weight that restores dominance, the smallest first.
        shaping: parts that differ between answers of one outcome. Under group scaling they are the
            whole advantage in groups of one outcome, at any weight.
        observed: what rollouts showed, where some were given.
    """

    reward: str
    verdict: str
    right: Range
    wrong: Range
    right_low: float
    wrong_high: float
    step: int | None
    stages: Mapping[str, int]
    witness: Witness | None
    assumptions: tuple[Assumption, ...]
    faults: tuple[Fault, ...]
    changes: tuple[Change, ...]
    shaping: tuple[str, ...]
    observed: Observed | None = None

    def __bool__(self) -> bool:
        """Whether dominance is proved."""
        return self.verdict == "proved"

    def __str__(self) -> str:
        from reasonenv.rewards.audit.text import audit_text

        return audit_text(self)

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON-able data; infinite ends are None."""
        found: dict[str, Any] = _finite(asdict(self))
        return found


def audit(
    reward: Reward,
    rollouts: Iterable[Judged | Mapping[str, Any]] | None = None,
    context: RewardContext | None = None,
) -> Audit:
    """Audit a reward: prove from its ranges that correctness dominates, or refute it.

    A proof is by interval arithmetic, at each step of a schedule and each stage of a curriculum. A
    refutation is a pair of real completions, scored by the reward itself: probes made from its
    terms, or two members of one group of the rollouts.

    Args:
        reward: any reward.
        rollouts: `Judged` ones, or the stored rows of a run's training.
        context: where in training judged ones are taken to be.

    >>> from reasonenv.rewards import Correct, Format
    >>> audit(Correct() + 0.1 * Format("answer")).verdict
    'proved'
    >>> print(audit(Correct() + 1.5 * Format("answer")).changes[0])
    the weight of correct from 1 to above 1.5
    """
    found = dominance(reward)
    observed = None if rollouts is None else observe(reward, rollouts, context)
    witness = None if found.proved else find_witness(reward, found)
    if not found.proved and witness is None and observed is not None:
        witness = observed.witness
    verdict = "proved" if found.proved else "refuted" if witness else "not proved"
    return Audit(
        reward=repr(reward),
        verdict=verdict,
        right=reward.range(True),
        wrong=reward.range(False),
        right_low=found.right_low,
        wrong_high=found.wrong_high,
        step=found.given.step,
        stages=dict(found.given.stages),
        witness=witness,
        assumptions=_assumptions(reward, found),
        faults=() if found.proved else faults(reward, found),
        changes=() if found.proved else changes(reward, found),
        shaping=_shaping(reward, found),
        observed=observed,
    )


def _assumptions(reward: Reward, found: Dominance) -> tuple[Assumption, ...]:
    """Return what the deciding ends rest on: promises of terms without which they would differ."""
    made = []
    for leaf in outcome_terms(reward):
        right, wrong = leaf.range(True), leaf.range(False)
        without = dominance(reward, {leaf.label: right.union(wrong)})
        if (without.right_low, without.wrong_high) != (found.right_low, found.wrong_high):
            needed = found.proved and not without.proved
            made.append(
                Assumption(leaf.label, right, wrong, without.right_low, without.wrong_high, needed)
            )
    return tuple(made)


def _shaping(reward: Reward, found: Dominance) -> tuple[str, ...]:
    """Return the parts that can differ between two answers of one outcome."""
    ends = [n.schedule.last_change for n in reward.walk() if isinstance(n, Scheduled)]
    steps = {0, *ends, found.given.step or 0} if ends else {None}
    cases = [Given(step=step, within_group=True) for step in steps]
    return tuple(
        part.label
        for part in reward.addends()
        if any(not part.bounds(right, case).is_point for right in (True, False) for case in cases)
    )


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
