"""Whether a wrong answer can earn as much as a right one: interval arithmetic, case by case.

A schedule or a curriculum treats all answers of a group alike, so the comparison is made at each
step and in each stage, not between the best step of one and the worst of the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reasonenv.rewards.base import Reward, Term
from reasonenv.rewards.curriculum import Curriculum
from reasonenv.rewards.ranges import Given, Range
from reasonenv.rewards.scheduled import Scheduled

__all__ = ["Dominance", "dominance", "outcome_terms"]

_MAX_CASES = 20_000  # steps x stages that are looked at one by one


@dataclass(frozen=True, slots=True)
class Dominance:
    """What the ranges say of the case in which right answers lead by least.

    Attributes:
        proved: no wrong answer earns as much as a right one.
        right_low: the least that a right answer can earn in that case.
        wrong_high: the most that a wrong one can.
        given: the case: its step and stages, where the reward changes over a run.
        everywhere: whether every case was looked at; if not, the ends are those of all together.
    """

    proved: bool
    right_low: float
    wrong_high: float
    given: Given
    everywhere: bool = True

    @property
    def gap(self) -> float:
        """How much a wrong answer can earn beyond a right one; below 0 is dominance."""
        return self.wrong_high - self.right_low


def dominance(reward: Reward, terms: dict[str, Range] | None = None) -> Dominance:
    """Return whether every right answer earns more than every wrong one, from the ranges alone.

    Args:
        reward: any reward.
        terms: intervals of leaves, in place of their own for right and for wrong answers.
    """
    base = Given(terms=terms or {}, within_group=True)
    together = _compare(reward, base, everywhere=False)
    if together.proved:
        return together
    last = [node.schedule.last_change for node in reward.walk() if isinstance(node, Scheduled)]
    every = range(max(last, default=0) + 1)
    cases = list(itertools.islice(_cases(reward, base, every), _MAX_CASES + 1))
    whole = len(cases) <= _MAX_CASES
    if not whole:  # too many to prove anything by: the steps at which schedules begin and end
        cases = list(_cases(reward, base, sorted({0, *last, *(step // 2 for step in last)})))
    worst = max((_compare(reward, case) for case in cases), key=lambda found: found.gap)
    return worst if whole or worst.gap >= 0 else together


def _compare(reward: Reward, given: Given, everywhere: bool = True) -> Dominance:
    right, wrong = reward.bounds(True, given), reward.bounds(False, given)
    return Dominance(wrong.high < right.low, right.low, wrong.high, given, everywhere)


def _cases(reward: Reward, base: Given, steps: Iterable[int]) -> Iterator[Given]:
    """Yield each of the steps in each stage; a step of None where nothing is scheduled."""
    scheduled = any(isinstance(node, Scheduled) for node in reward.walk())
    at: Iterable[int | None] = steps if scheduled else [None]
    stages = {
        node.name: range(len(node.stages)) for node in reward.walk() if isinstance(node, Curriculum)
    }
    for step in at:
        for chosen in itertools.product(*stages.values()):
            yield base._replace(step=step, stages=dict(zip(stages, chosen, strict=True)))


def outcome_terms(reward: Reward) -> list[Term]:
    """Return leaves whose range depends on the outcome without being the outcome itself.

    A proof that needs one rests on what the term promises: that a right program parses, say.
    """
    found = {}
    for leaf in reward.leaves():
        right, wrong = leaf.range(True), leaf.range(False)
        if right != wrong and not (right.is_point and wrong.is_point):
            found[leaf.label] = leaf
    return list(found.values())
