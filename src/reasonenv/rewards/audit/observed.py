"""What scored rollouts show of a reward that its ranges cannot.

Everything within groups is over the scored members of each group, pooled over groups: that is what
an advantage sees.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from reasonenv.rewards.audit.rows import Columns, columns
from reasonenv.rewards.audit.witness import Side, Witness
from reasonenv.rewards.base import Floats, Reward, RewardContext
from reasonenv.types import Judged

__all__ = ["Flip", "Observed", "Suspect", "TermFacts", "observe"]

_DEAD = 1e-6  # a deviation within groups below which a value teaches nothing
_SATURATED = 0.02  # how near to an end of its values a mean is, as a share of their range
_SUSPECTS = 5


@dataclass(frozen=True, slots=True)
class TermFacts:
    """What one leaf, or one part, did on the rollouts.

    Attributes:
        name: of the leaf or the part.
        mean: over all scored rollouts.
        deviation: within groups (divisor n), averaged over groups.
        outcome_correlation: with the task outcome, over all; None where either is constant.
        share: of the variance within groups of the total, cov(part, total) / var(total), and so of
            the advantage; shares of all parts sum to 1. None for leaves, and without variance.
        state: "", "dead" (no deviation within any group), "saturated" (dead at an end of what it
            can be worth: at its best or its worst).
    """

    name: str
    mean: float
    deviation: float
    outcome_correlation: float | None
    share: float | None = None
    state: str = ""


@dataclass(frozen=True, slots=True)
class Flip:
    """A group in which a wrong answer earned as much as a right one, or more.

    Attributes:
        step: at which it was sampled.
        problem: its id.
        wrong_best: the most that a wrong answer earned there.
        right_least: the least that a right one did.
    """

    step: int
    problem: str
    wrong_best: float
    right_least: float


@dataclass(frozen=True, slots=True)
class Suspect:
    """A wrong answer that earned much.

    Attributes:
        step: at which it was sampled.
        problem: its id.
        total: what it earned.
        above: by how much it lies above its group's mean.
        completion: its text.
        parts: what each part was worth.
    """

    step: int
    problem: str
    total: float
    above: float
    completion: str
    parts: dict[str, float]


@dataclass(frozen=True, slots=True)
class Observed:
    """What the rollouts show.

    Attributes:
        rollouts, unscored, groups: counts.
        mixed: groups that hold right and wrong answers.
        terms: facts of each leaf.
        parts: facts of each part, with its share.
        flips: mixed groups whose order the shaping turns round, the worst first.
        shaped_alone: the share of groups of one outcome in which totals differ all the same: there
            shaping is the whole advantage.
        suspects: wrong answers that earned most above their group's mean.
    """

    rollouts: int
    unscored: int
    groups: int
    mixed: int
    terms: tuple[TermFacts, ...]
    parts: tuple[TermFacts, ...]
    flips: tuple[Flip, ...]
    shaped_alone: float
    suspects: tuple[Suspect, ...]
    witness: Witness | None = None


def observe(
    reward: Reward | None,
    rollouts: Iterable[Judged | Mapping[str, Any]],
    context: RewardContext | None = None,
) -> Observed:
    """Return what rollouts show of a reward.

    Args:
        reward: what they were scored by; it scores judged ones anew. None, for stored rows alone:
            then nothing is known to be saturated.
        rollouts: `Judged`, or the stored rows of a run's training.
        context: where in training judged ones are taken to be.

    Raises:
        RewardError: no rollouts, or none of them scored.
    """
    data = columns(rollouts, reward, context)
    within = _Within(data.group)
    total = within.centred(data.total)
    variance = float((total**2).sum())
    leaves, addends = ([], ()) if reward is None else (list(reward.leaves()), reward.addends())
    ends = {leaf.label: leaf.range(True).union(leaf.range(False)) for leaf in leaves}
    part_ends = {part.label: part.range(True).union(part.range(False)) for part in addends}

    def facts(name: str, values: Floats, limits: Any, of_total: bool) -> TermFacts:
        centred = within.centred(values)
        share = float((centred * total).sum()) / variance if of_total and variance > 0 else None
        deviation = within.deviation(values)
        return TermFacts(
            name,
            float(np.nanmean(values)) if (~np.isnan(values)).any() else math.nan,
            deviation,
            _correlation(values, data.solved),
            share,
            _state(values, deviation, limits),
        )

    right, wrong = data.solved == 1, data.solved == 0
    right_least = within.each(np.where(right, data.total, np.inf), np.minimum, np.inf)
    wrong_best = within.each(np.where(wrong, data.total, -np.inf), np.maximum, -np.inf)
    mixed = np.isfinite(right_least) & np.isfinite(wrong_best)
    spread = within.each(np.abs(total), np.maximum, 0.0)
    alone = spread[~mixed] > _DEAD
    return Observed(
        rollouts=len(data) + data.unscored,
        unscored=data.unscored,
        groups=within.count,
        mixed=int(mixed.sum()),
        terms=tuple(facts(n, v, ends.get(n), False) for n, v in data.terms.items()),
        parts=tuple(facts(n, v, part_ends.get(n), True) for n, v in data.parts.items()),
        flips=_flips(data, mixed, right_least, wrong_best),
        shaped_alone=float(alone.mean()) if alone.size else 0.0,
        suspects=_suspects(data, total, wrong),
        witness=_witness(data, right_least, wrong_best, mixed),
    )


class _Within:
    """Statistics within groups, all groups at once."""

    def __init__(self, group: Any) -> None:
        self.group, self.count = group, int(group.max()) + 1
        self.size = np.bincount(group, minlength=self.count)

    def centred(self, values: Floats) -> Floats:
        known = np.nan_to_num(values)
        means = np.bincount(self.group, known, self.count) / self.size
        return np.asarray(known - means[self.group])

    def deviation(self, values: Floats) -> float:
        squares = np.bincount(self.group, self.centred(values) ** 2, self.count)
        return float(np.sqrt(squares / self.size).mean())

    def each(self, values: Floats, ufunc: Any, start: float) -> Floats:
        found = np.full(self.count, start)
        ufunc.at(found, self.group, values)
        return found


def _correlation(values: Floats, solved: Floats) -> float | None:
    if np.isnan(values).any() or np.ptp(values) < _DEAD or np.ptp(solved) == 0:
        return None
    return float(np.corrcoef(values, solved)[0, 1])


def _state(values: Floats, deviation: float, limits: Any) -> str:
    """Return whether a value has stopped to teach, and whether at an end of its range."""
    if not deviation < _DEAD:
        return ""
    if limits is None or not math.isfinite(limits.width) or limits.width == 0:
        return "dead"
    place = (float(np.nanmean(values)) - limits.low) / limits.width
    return "saturated" if place > 1 - _SATURATED else "dead"


def _flips(data: Columns, mixed: Any, least: Floats, best: Floats) -> tuple[Flip, ...]:
    turned = np.flatnonzero(mixed & (best >= least))
    first = {int(g): i for i, g in reversed(list(enumerate(data.group)))}
    found = [
        Flip(data.steps[first[g]], data.problems[first[g]], float(best[g]), float(least[g]))
        for g in map(int, turned)
    ]
    return tuple(sorted(found, key=lambda flip: flip.right_least - flip.wrong_best))


def _suspects(data: Columns, above: Floats, wrong: Any) -> tuple[Suspect, ...]:
    """Return the wrong answers that training pushed most, one for each text."""
    order = np.argsort(-np.where(wrong, above, -np.inf), kind="stable")
    found: dict[str, Suspect] = {}
    for i in map(int, order):
        if not wrong[i] or above[i] <= _DEAD or len(found) == _SUSPECTS:
            break
        parts = {name: float(values[i]) for name, values in data.parts.items()}
        suspect = Suspect(
            data.steps[i],
            data.problems[i],
            float(data.total[i]),
            float(above[i]),
            data.texts[i],
            parts,
        )
        found.setdefault(data.texts[i], suspect)
    return tuple(found.values())


def _witness(data: Columns, least: Floats, best: Floats, mixed: Any) -> Witness | None:
    """Return the pair of one group in which the wrong answer leads most."""
    turned = np.flatnonzero(mixed & (best >= least))
    if not len(turned):
        return None
    group = int(turned[np.argmax((best - least)[turned])])
    inside = np.flatnonzero(data.group == group)
    wrong = next(i for i in inside if data.solved[i] == 0 and data.total[i] == best[group])
    right = next(i for i in inside if data.solved[i] == 1 and data.total[i] == least[group])

    def side(i: Any) -> Side:
        terms = {name: float(values[i]) for name, values in data.terms.items()}
        parts = {name: float(values[i]) for name, values in data.parts.items()}
        return Side(data.texts[i], float(data.total[i]), terms, parts)

    return Witness(side(wrong), side(right), "rollouts")
