"""Which problem a training slot draws, and how it is asked: pure functions of (seed, slot).

TRL's data loader yields slots 0, 1, 2 ... and nothing else. The problem behind a slot is chosen
here at generation time, and so are the order and the labels of its options: identically on every
rank and whatever the number of ranks.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from reasonenv.envs.core import ReasoningEnv
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
        shuffle: False keeps the problems' own order, and asks each problem in one way for ever
            (evaluation).
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

    def asked(self, slot: int, env: ReasoningEnv, views: int = 1) -> tuple[Problem, ...]:
        """Return what slot number `slot` asks: its problem in `views` renderings.

        In training each slot asks anew; in evaluation (`shuffle=False`) a problem is asked in the
        same way whatever its place, so that evaluations can be compared.

        Args:
            slot: which one.
            env: renders (`ReasoningEnv.variants`).
            views: how many renderings; member i of a group is asked number i modulo `views`.
        """
        problem = self[slot]
        key = [slot] if self.shuffle else _numbers(problem.id)
        rng = np.random.default_rng([self.seed, _RENDERING, *key])
        return env.variants(problem, rng, views)


_RENDERING = 0x5E1EC7  # tells these generators from those of `_order`


def _numbers(name: str) -> list[int]:
    """Return numbers that seed a generator by a problem's id, the same on every machine."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return [int.from_bytes(digest[:8], "big")]


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
