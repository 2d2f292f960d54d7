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

__all__ = ["Draws", "slot_of_attempt", "split_attempt"]

_ATTEMPT = 1 << 40  # slots of one attempt: no run has as many


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
        attempt, slot = split_attempt(slot)
        epoch, position = divmod(slot, size)
        index = (
            int(_order((self.seed, attempt), epoch, size)[position]) if self.shuffle else position
        )
        return self.problems[index]


def slot_of_attempt(slot: int, attempt: int) -> int:
    """Return the slot that draws a replacement for `slot`; attempt 0 is the slot itself."""
    return attempt * _ATTEMPT + slot


def split_attempt(slot: int) -> tuple[int, int]:
    """Return (attempt, slot), the inverse of `slot_of_attempt`."""
    return divmod(slot, _ATTEMPT)


@lru_cache(maxsize=4)
def _order(seed: tuple[int, int], epoch: int, size: int) -> npt.NDArray[np.int64]:
    first, attempt = seed
    return np.random.default_rng([first, epoch, *[attempt] * (attempt > 0)]).permutation(size)
