"""Whether a reward curve is an oscillator's at all: the nulls, AICc, and what each extrapolates.

R^2 is no evidence: any curve that saturates reaches 0.9. AICc says which one describes the curve
best; the error on the last two thirds, fitted on the first one, says which one could have told.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reasonenv.dynamics.oscillator.fitting import FEWEST, Fit, checked, fit_constant, fit_shape
from reasonenv.dynamics.oscillator.resampling import interval, lag_one, redrawn
from reasonenv.dynamics.oscillator.shapes import NULLS, OSCILLATOR

__all__ = ["Candidate", "Comparison", "compare"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Candidate:
    """One curve's standing.

    Attributes:
        fit: on the whole curve.
        aicc: its AICc.
        behind: AICc less the best one's.
        weight: Akaike weight exp(-behind / 2), normalised over the candidates.
        r2: on the whole curve.
        extrapolation: root mean square error on the last part, fitted on the first; NaN where the
            first part has too few points.
        extrapolation_interval: 95 %, from residuals redrawn in blocks; None where none was drawn.
    """

    fit: Fit
    aicc: float
    behind: float
    weight: float
    r2: float
    extrapolation: float
    extrapolation_interval: tuple[float, float] | None

    @property
    def name(self) -> str:
        """Of the curve."""
        return self.fit.name


@dataclass(frozen=True)
class Comparison:
    """All candidates, the best AICc first.

    Attributes:
        candidates: the oscillator, its nulls, and a constant.
        noise: root mean square of the best fit's residuals: no extrapolation can be below it.
        notes: what limits the comparison, in sentences.
    """

    candidates: tuple[Candidate, ...]
    noise: float
    notes: tuple[str, ...]

    def __getitem__(self, name: str) -> Candidate:
        return next(one for one in self.candidates if one.name == name)


def compare(
    steps: Sequence[float],
    reward: Sequence[float],
    *,
    first: float = 1 / 3,
    draws: int = 100,
    seed: int = 0,
) -> Comparison:
    """Compare the oscillator with its nulls on one reward curve.

    Args:
        steps: optimizer steps; NaN rewards are left out.
        reward: one a step.
        first: share of the steps that extrapolations are fitted on.
        draws: of the bootstrap behind their intervals; 0 gives none.
        seed: of the bootstrap.

    Raises:
        DataError: fewer than 8 points.
    """
    t, r = checked(steps, reward)
    fits = [fit_constant(t, r), *(fit_shape(shape, t, r) for shape in (OSCILLATOR, *NULLS))]
    fits.sort(key=lambda fit: fit.aicc)
    best, total = fits[0].aicc, float(((r - r.mean()) ** 2).sum())
    weights = [math.exp(-(fit.aicc - best) / 2) for fit in fits]
    early = t <= t[0] + first * (t[-1] - t[0])
    candidates, notes = [], []
    enough = len(np.unique(t[early])) >= FEWEST and bool((~early).any())
    for fit, weight in zip(fits, weights, strict=True):
        error, ends = math.nan, None
        if enough:
            error, ends = _extrapolate(fit, t, r, early, draws, seed)
        r2 = 1 - fit.sse / total if total > 0 else math.nan
        behind = fit.aicc - best
        candidates.append(Candidate(fit, fit.aicc, behind, weight / sum(weights), r2, error, ends))
    if not enough:
        notes.append(
            f"the first {first:.0%} of the steps hold fewer than {FEWEST} points: nothing is "
            "extrapolated"
        )
    correlation = lag_one(fits[0].residuals)
    if correlation > 0.3:
        notes.append(
            f"successive residuals correlate by {correlation:.2f}: AICc takes them as independent, "
            "so its differences are too large"
        )
    if candidates[0].name == "constant":
        notes.append("a constant describes the curve best: there are no dynamics to model")
    noise = math.sqrt(fits[0].sse / fits[0].n)
    return Comparison(tuple(candidates), noise, tuple(notes))


def _extrapolate(
    fit: Fit, t: Floats, r: Floats, early: npt.NDArray[np.bool_], draws: int, seed: int
) -> tuple[float, tuple[float, float] | None]:
    def error(of: Fit) -> float:
        return float(np.sqrt(np.mean((of.predict(t[~early]) - r[~early]) ** 2)))

    if fit.shape is None:
        return error(fit_constant(t[early], r[early])), None
    part = fit_shape(fit.shape, t[early], r[early])
    again = [error(one) for one in redrawn(part, t[early], draws, seed)]
    return error(part), interval(again) if again else None
