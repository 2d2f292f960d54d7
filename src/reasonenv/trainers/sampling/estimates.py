"""`Estimates`: how probable it is that a group of a problem holds right and wrong answers.

A problem's success rate p has a Beta distribution. Before the problem was seen it is that of its
level, fitted to the groups of the level by their moments (Beta-binomial); each rollout of the
problem then adds one count. Evidence is halved every `half_life` generations, since the policy
changes. With p ~ Beta(a, b) a group of G is mixed with probability

    1 - E[p^G] - E[(1 - p)^G],    E[p^G] = prod_{i < G} (a + i) / (a + b + i).

The fit takes E[p] from the mean of k / n and E[p^2] from the mean of k (k - 1) / (n (n - 1)), which
are unbiased where k of n members are right. Only the task outcome enters, never a reward.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Estimates", "Outcome", "mixed_probability"]

Floats = npt.NDArray[np.float64]

_PRIOR_GROUPS = 2.0  # what a level starts with: so many groups of a p that is uniform in (0, 1)
_STRENGTH = (0.2, 200.0)  # smallest and largest a + b of a fitted level


class Outcome(NamedTuple):
    """How a group of one problem came out: `right` of its `scored` members were solved."""

    problem_id: str
    level: str
    right: int
    scored: int


def mixed_probability(a: Floats, b: Floats, group_size: int) -> Floats:
    """Return the probability of a mixed group of G where p ~ Beta(a, b); shapes as given."""
    right, wrong = np.ones_like(a), np.ones_like(a)
    for i in range(group_size):
        right *= (a + i) / (a + b + i)
        wrong *= (b + i) / (a + b + i)
    return np.clip(1.0 - right - wrong, 0.0, 1.0)


class Estimates:
    """Success estimates of a run's problems, decayed.

    Args:
        group_size: G.
        half_life: generations after which evidence counts half.
        by_problem: False keeps levels only: an endless source hardly shows a problem twice.
    """

    def __init__(
        self, group_size: int, half_life: float = 20.0, *, by_problem: bool = True
    ) -> None:
        self.group_size, self.half_life, self.by_problem = group_size, half_life, by_problem
        self.generation = 0
        self._levels: dict[str, list[float]] = {}  # groups, sum of k/n, sum of k(k-1)/(n(n-1))
        self._problems: dict[str, list[float]] = {}  # right, wrong, generation

    def prior(self, level: str) -> tuple[float, float]:
        """Return the Beta distribution (a, b) of success rates in a level."""
        groups, first, second = self._levels.get(level, (0.0, 0.0, 0.0))
        total = groups + _PRIOR_GROUPS
        mean = (first + _PRIOR_GROUPS / 2) / total
        square = (second + _PRIOR_GROUPS / 3) / total
        spread, most = square - mean * mean, mean * (1.0 - mean)
        strength = most / spread - 1.0 if spread > 0.0 else _STRENGTH[1]
        strength = min(max(strength, _STRENGTH[0]), _STRENGTH[1])
        return mean * strength, (1.0 - mean) * strength

    def mixed(self, ids: Sequence[str], levels: Sequence[str]) -> Floats:
        """Return each problem's probability of a mixed group; `ids` and `levels` are parallel."""
        priors = {level: self.prior(level) for level in set(levels)}
        counts = np.array([[*priors[level]] for level in levels], dtype=float).reshape(-1, 2)
        if self._problems:
            for i, one in enumerate(ids):
                seen = self._problems.get(one)
                if seen is not None:
                    left = 0.5 ** ((self.generation - seen[2]) / self.half_life)
                    counts[i, 0] += seen[0] * left
                    counts[i, 1] += seen[1] * left
        return mixed_probability(counts[:, 0], counts[:, 1], self.group_size)

    def observe(self, groups: Iterable[Outcome]) -> None:
        """Take one generation's groups into account: of all ranks, in one order on all of them."""
        self.generation += 1
        left = 0.5 ** (1.0 / self.half_life)
        for sums in self._levels.values():
            sums[:] = [value * left for value in sums]
        for one, level, right, scored in groups:
            if scored >= 2:
                sums = self._levels.setdefault(level, [0.0, 0.0, 0.0])
                sums[0] += 1.0
                sums[1] += right / scored
                sums[2] += right * (right - 1) / (scored * (scored - 1))
            if self.by_problem and scored:
                seen = self._problems.get(one, [0.0, 0.0, float(self.generation)])
                kept = 0.5 ** ((self.generation - seen[2]) / self.half_life)
                self._problems[one] = [
                    seen[0] * kept + right,
                    seen[1] * kept + scored - right,
                    float(self.generation),
                ]

    def to_json(self) -> dict[str, Any]:
        """Return the state as plain data; `load` takes it back exactly."""
        return {
            "generation": self.generation,
            "levels": {level: list(sums) for level, sums in self._levels.items()},
            "problems": {one: list(seen) for one, seen in self._problems.items()},
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of `to_json`."""
        self.generation = int(state["generation"])
        self._levels = {level: list(sums) for level, sums in state["levels"].items()}
        self._problems = {one: list(seen) for one, seen in state["problems"].items()}
