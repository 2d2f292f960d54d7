"""Which problem a training slot draws: a pure function of (seed, slot).

TRL's data loader yields slots 0, 1, 2 ... and nothing else. The problem behind a slot is chosen
here at generation time, identically on every rank and whatever the number of ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from reasonenv.problems.base import Problems
from reasonenv.types import Problem

__all__ = ["Draws"]


@dataclass(frozen=True)
class Draws:
    """An endless sequence of draws: every problem once an epoch, each epoch in a new order.

    Args:
        problems: what is drawn from.
        seed: of the order.
        shuffle: False keeps the problems' own order (evaluation).
    """

    problems: Problems
    seed: int = 0
    shuffle: bool = True

    def __getitem__(self, slot: int) -> Problem:
        """Return the problem that slot number `slot` draws."""
        size = len(self.problems)
        epoch, position = divmod(slot, size)
        index = int(_order(self.seed, epoch, size)[position]) if self.shuffle else position
        return self.problems[index]


@lru_cache(maxsize=4)
def _order(seed: int, epoch: int, size: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng([seed, epoch]).permutation(size)
