"""Bootstrap draws of a fitted curve: residuals move in blocks, which keeps their correlation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from reasonenv.dynamics.oscillator.fitting import Fit, fit_shape

__all__ = ["interval", "lag_one", "redrawn"]

_ROUNDS = 8  # of a refit, which begins at the fit itself

Floats = npt.NDArray[np.float64]


def lag_one(residuals: Floats) -> float:
    """Return the correlation of successive residuals; 0 for none at all."""
    total = float(residuals @ residuals)
    return float(residuals[1:] @ residuals[:-1]) / total if total > 0 else 0.0


def redrawn(fit: Fit, steps: Floats, draws: int, seed: int = 0) -> Iterator[Fit]:
    """Yield refits of the curve with residuals redrawn in blocks (Kuensch 1989).

    Args:
        fit: of a shape; its residuals are inflated by sqrt(n / (n - k + 1)).
        steps: those it was fitted on.
        draws: how many.
        seed: of the draws.
    """
    assert fit.shape is not None
    n = fit.n
    length = max(2, round(n ** (1 / 3)))
    rng = np.random.default_rng(seed)
    curve = fit.predict(steps)
    residuals = fit.residuals * np.sqrt(n / max(1, n - fit.k + 1))
    blocks = -(-n // length)
    for _ in range(draws):
        begins = rng.integers(0, n - length + 1, size=blocks)
        moved = (begins[:, None] + np.arange(length)).ravel()[:n]
        yield fit_shape(fit.shape, steps, curve + residuals[moved], [fit.theta], _ROUNDS)


def interval(values: list[float], level: float = 0.95) -> tuple[float, float]:
    """Return the percentile interval of bootstrap values."""
    ends = np.quantile(np.asarray(values), ((1 - level) / 2, (1 + level) / 2))
    return float(ends[0]), float(ends[1])
