"""`ExpectedSignal`: draws problems by the probability that their group teaches something.

What a generation draws depends on (seed, generation, estimates) alone, and the estimates are made
of rollouts gathered from all ranks: so every rank draws the same, whatever their number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from reasonenv.problems.base import ProblemList
from reasonenv.trainers.draws import Draws, split_attempt
from reasonenv.trainers.sampling.estimates import Estimates
from reasonenv.types import Problem

__all__ = ["ExpectedSignal", "level_of"]

_WINDOW = 8  # candidates for each draw from a source that is not held in memory


def level_of(problem: Problem, key: str | None = None) -> str:
    """Return a problem's level: its metadata under `key` ("level" if None), "" without one."""
    return str(problem.metadata.get(key or "level", ""))


@dataclass(frozen=True, kw_only=True)
class ExpectedSignal(Draws):
    """Draws problems with a weight of `floor + (1 - floor) P(mixed group)`.

    Draws of one generation are without replacement (Gumbel top-k), as far as the pool goes. From a
    list every problem is a candidate; from a generator, whose problems cannot be known
    beforehand, the next eight for each draw, in their own shuffled order.

    Args:
        problems: what is drawn from.
        estimates: what is known; the trainer keeps them up to date.
        prompts: draws of one generation, over all ranks.
        seed: of the draws.
        shuffle: as for `Draws`; always True.
        floor: weight of a problem without any expected signal, in (0, 1].
        level: metadata key of a problem's level.
    """

    estimates: Estimates
    prompts: int
    floor: float = 0.1
    level: str | None = None
    _drawn: dict[int, list[Problem]] = field(default_factory=dict, init=False, repr=False)

    def __getitem__(self, slot: int) -> Problem:
        """Return the problem that a slot draws; a slot of a later attempt draws a replacement."""
        attempt, slot = split_attempt(slot)
        generation, position = divmod(slot, self.prompts)
        if generation not in self._drawn:
            drawn = self._draw(generation)
            self._drawn.clear()  # the estimates move on after each generation
            self._drawn[generation] = drawn
        order = self._drawn[generation]
        return order[(attempt * self.prompts + position) % len(order)]

    @cached_property
    def _listed(self) -> tuple[list[str], list[str]] | None:
        """Ids and levels of all problems, where they are held in memory."""
        if not isinstance(self.problems, ProblemList):
            return None
        levels = [level_of(problem, self.level) for problem in self.problems]
        return [problem.id for problem in self.problems], levels

    def _draw(self, generation: int) -> list[Problem]:
        """Return this generation's problems in the order in which they are drawn."""
        if self._listed is None:
            window = _WINDOW * self.prompts
            stream = Draws(self.problems, self.seed)
            candidates = [stream[generation * window + i] for i in range(window)]
            ids = [problem.id for problem in candidates]
            levels = [level_of(problem, self.level) for problem in candidates]
        else:
            ids, levels = self._listed
        weights = self.floor + (1.0 - self.floor) * self.estimates.mixed(ids, levels)
        rng = np.random.default_rng([self.seed, 1, generation])
        keys = np.log(weights) + rng.gumbel(size=len(weights))
        order = np.argsort(-keys, kind="stable")[: _WINDOW * self.prompts]
        if self._listed is None:
            return [candidates[i] for i in order]
        return [self.problems[int(i)] for i in order]
