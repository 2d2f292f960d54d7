"""A softmax bandit in which the reduced-order model is exact.

Two answers, a right one with logit z and a wrong one with logit 0: p = 1 / (1 + exp(-z)). The
objective is p - beta KL(p || p_ref), whose gradient in z is p (1 - p) [1 - beta (z - z_ref)]. The
natural gradient leaves the factor away: the drift 1 - beta (z - z_ref) is linear everywhere, with
curvature K = beta and fixed point z* = z_ref + 1 / beta, and training is the linear recurrence of
`stability`, not an approximation of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reasonenv.errors import DataError

__all__ = ["SoftmaxBandit"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SoftmaxBandit:
    """The bandit and its optimizer.

    Args:
        p_ref: probability of the right answer before training, in (0, 1).
        beta: weight of the KL term, above 0.
        learning_rate: eta; the gain is a = eta beta (times p (1 - p) without natural gradient).
        momentum: heavy-ball mu, in [0, 1).
        lag: the gradient is that of `lag` updates ago.
        refresh: the gradient is computed every `refresh` updates, and held; 1: each time. Lag and
            refresh are two kinds of staleness, of which at most one is given.
        natural: whether gradients are divided by p (1 - p).
    """

    p_ref: float = 0.1
    beta: float = 1.0
    learning_rate: float = 0.05
    momentum: float = 0.0
    lag: int = 0
    refresh: int = 1
    natural: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.p_ref < 1 or self.beta <= 0 or not 0 <= self.momentum < 1:
            raise DataError(
                f"p_ref={self.p_ref}, beta={self.beta}, momentum={self.momentum}: p_ref lies in "
                "(0, 1), beta is above 0, momentum lies in [0, 1)"
            )
        if self.lag < 0 or self.refresh < 1 or (self.lag and self.refresh > 1):
            raise DataError(
                f"lag={self.lag}, refresh={self.refresh}: give a lag of at least 0 or a refresh of "
                "at least 1, not both"
            )

    @property
    def fixed_point(self) -> float:
        """z* = z_ref + 1 / beta."""
        return math.log(self.p_ref / (1 - self.p_ref)) + 1 / self.beta

    @property
    def gain(self) -> float:
        """A = eta K at the fixed point."""
        p = 1 / (1 + math.exp(-self.fixed_point))
        return self.learning_rate * self.beta * (1.0 if self.natural else p * (1 - p))

    def noise(self, group_size: int, prompts: int = 1) -> float:
        """Return the variance that sampling adds to z a step, at the fixed point.

        With the true p as baseline, a sample's gradient is (1 - p)^2 if right and p^2 if wrong.
        """
        p = 1 / (1 + math.exp(-self.fixed_point))
        single = p * (1 - p) ** 4 + (1 - p) * p**4 - (p * (1 - p)) ** 2
        if self.natural:
            single /= (p * (1 - p)) ** 2
        return self.learning_rate**2 * single / (group_size * prompts)

    def train(
        self,
        steps: int,
        *,
        start: float | None = None,
        group_size: int | None = None,
        prompts: int = 1,
        runs: int = 1,
        seed: int = 0,
    ) -> Floats:
        """Return z after 0, 1, ..., steps updates, shape (runs, steps + 1), from rest.

        Args:
            steps: updates.
            start: z at the start; z_ref if None.
            group_size: samples a prompt; None follows the exact gradient.
            prompts: prompts a step, all of the same p.
            runs: independent ones.
            seed: of the samples.
        """
        rng = np.random.default_rng(seed)
        reference = math.log(self.p_ref / (1 - self.p_ref))
        z = np.full((runs, steps + 1), reference if start is None else start)
        gradients = np.zeros((runs, steps))
        for t in range(steps):
            seen = t - t % self.refresh if self.refresh > 1 else max(0, t - self.lag)
            if self.refresh > 1 and t % self.refresh:
                gradients[:, t] = gradients[:, t - 1]
            else:
                gradients[:, t] = self._gradient(z[:, seen], reference, rng, group_size, prompts)
            before = z[:, t - 1] if t else z[:, 0]
            move = self.momentum * (z[:, t] - before) + self.learning_rate * gradients[:, t]
            z[:, t + 1] = np.clip(z[:, t] + move, -500, 500)
        return z

    def _gradient(
        self,
        z: Floats,
        reference: float,
        rng: np.random.Generator,
        group_size: int | None,
        prompts: int,
    ) -> Floats:
        p = 1 / (1 + np.exp(-z))
        spread = p * (1 - p)
        if group_size is None:
            ascent = spread
        else:
            count = group_size * prompts
            right = rng.binomial(count, p) / count
            ascent = right * (1 - p) ** 2 + (1 - right) * p**2
        pull = self.beta * (z - reference)
        if self.natural:
            return np.asarray(ascent / spread - pull)
        return np.asarray(ascent - spread * pull)
