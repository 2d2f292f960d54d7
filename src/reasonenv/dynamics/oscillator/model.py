"""`OscillatorModel`: a reward curve as the step response of a damped oscillator."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reasonenv.dynamics.oscillator.fitting import Fit, checked, fit_shape
from reasonenv.dynamics.oscillator.resampling import interval, lag_one, redrawn
from reasonenv.dynamics.oscillator.shapes import OSCILLATOR
from reasonenv.dynamics.oscillator.stability import critical_gain
from reasonenv.errors import DataError

__all__ = ["OscillatorModel"]

_CRITICAL = 0.05  # |zeta - 1| up to which a curve counts as critically damped


@dataclass(frozen=True)
class OscillatorModel:
    """R(t) = R* - (R* - R_0) g(t), g the oscillator's response from rest.

    Attributes:
        curve: the least-squares fit.
        intervals: 95 % intervals of `start`, `plateau`, `omega`, `zeta` and `rate` from a bootstrap
            of residuals in blocks; empty where none was asked for.
        draws: the bootstrap's (omega, zeta), omega an optimizer step.
        r2: 1 - SSE / variance; NaN for a constant curve.
        correlation: of successive residuals; far from 0, AICc counts the points as too many.
    """

    curve: Fit
    intervals: Mapping[str, tuple[float, float]]
    draws: tuple[tuple[float, float], ...]
    r2: float
    correlation: float

    @classmethod
    def fit(
        cls, steps: Sequence[float], reward: Sequence[float], *, draws: int = 200, seed: int = 0
    ) -> OscillatorModel:
        """Fit a reward curve.

        Args:
            steps: optimizer steps; NaN rewards are left out.
            reward: one a step.
            draws: of the bootstrap; 0 gives no intervals.
            seed: of the bootstrap.

        Raises:
            DataError: fewer than 8 points.
        """
        t, r = checked(steps, reward)
        fit = fit_shape(OSCILLATOR, t, r)
        total = float(((r - r.mean()) ** 2).sum())
        again = [cls(one, {}, (), math.nan, 0.0) for one in redrawn(fit, t, draws, seed)]
        intervals = {
            name: interval([getattr(one, name) for one in again])
            for name in ("start", "plateau", "omega", "zeta", "rate")
            if again
        }
        return cls(
            fit,
            intervals,
            tuple((one.omega, one.zeta) for one in again),
            1 - fit.sse / total if total > 0 else math.nan,
            lag_one(fit.residuals),
        )

    @property
    def start(self) -> float:
        """R_0."""
        return self.curve.start

    @property
    def plateau(self) -> float:
        """R*."""
        return self.curve.plateau

    @property
    def omega(self) -> float:
        """omega_0, in radians an optimizer step; with a large zeta only `rate` is well known."""
        return self.curve.theta[0] / self.curve.span

    @property
    def zeta(self) -> float:
        """The damping ratio."""
        return self.curve.theta[1]

    @property
    def rate(self) -> float:
        """omega_0 / (2 zeta) = a / Gamma: the overdamped limit's inverse time, in steps."""
        return self.omega / (2 * self.zeta)

    @property
    def regime(self) -> str:
        """Overdamped, critically damped or underdamped.

        Where the interval of zeta holds 1, the curve does not tell: "critically damped".
        """
        low, high = self.intervals.get("zeta", (self.zeta - _CRITICAL, self.zeta + _CRITICAL))
        if low > 1:
            return "overdamped"
        return "underdamped" if high < 1 else "critically damped"

    @property
    def overshoot(self) -> float:
        """exp(-pi zeta / sqrt(1 - zeta^2)), a share of the way; 0 without overshoot."""
        if self.zeta >= 1:
            return 0.0
        return math.exp(-math.pi * self.zeta / math.sqrt(1 - self.zeta**2))

    def predict(self, steps: Sequence[float]) -> npt.NDArray[np.float64]:
        """Return the curve at these steps."""
        return self.curve.predict(steps)

    def gain(self, momentum: float, lag: int = 0) -> float:
        """Return a = eta K that explains the curve, given momentum mu and lag tau in updates.

        From the rate where it is overdamped (a = rate (1 - mu) / (1 + rate tau)), else from
        omega_0^2 M = a.

        Raises:
            DataError: no gain does: the curve turns faster than the lag allows.
        """
        return _gain(self.omega, self.zeta, momentum, lag)

    def margin(self, momentum: float, lag: int = 0) -> tuple[float, tuple[float, float] | None]:
        """Return the stability margin 1 - a / a_critical, and its 95 % interval.

        1 is far from, 0 at, and below 0 beyond the exact threshold of a fixed lag
        (`critical_gain`). The interval is None where no bootstrap was drawn.

        Args:
            momentum: mu; for Adam its beta_1, where K is what the optimizer makes of it.
            lag: tau, updates between sampling and use.
        """
        limit = critical_gain(momentum, lag)
        values = []
        for omega, zeta in self.draws:
            try:
                values.append(1 - _gain(omega, zeta, momentum, lag) / limit)
            except DataError:
                values.append(-math.inf)
        margin = 1 - self.gain(momentum, lag) / limit
        return margin, interval(values) if values else None


def _gain(omega: float, zeta: float, momentum: float, lag: int) -> float:
    if zeta > 1:
        rate = omega / (2 * zeta)
        return rate * (1 - momentum) / (1 + rate * lag)
    room = 1 - omega**2 * lag**2 / 2
    if room <= 0:
        raise DataError(
            f"omega_0 = {omega:.3g} a step with a lag of {lag} updates: the curve turns faster "
            "than that lag allows; give the lag that the run had"
        )
    return omega**2 * (1 + momentum) / 2 / room
