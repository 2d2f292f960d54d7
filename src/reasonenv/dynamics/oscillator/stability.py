"""Exact stability of the linear recurrence, in place of its second-order approximation.

Fixed lag: x_{t+1} = (1 + mu) x_t - mu x_{t-1} - a x_{t-tau}. Block refresh: the gradient is
computed every `refresh` updates and held. The published rule a tau < 1 - mu is the fixed lag's to
second order; block refresh first overshoots there and diverges at twice as much or more.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from reasonenv.errors import DataError

__all__ = [
    "continuous_equivalent",
    "critical_gain",
    "critical_refresh_gain",
    "damping_ratio",
    "roots",
]


def roots(gain: float, momentum: float, lag: int = 0) -> npt.NDArray[np.complex128]:
    """Return the roots of z^tau (z^2 - (1 + mu) z + mu) + a z = 0, largest modulus first.

    Args:
        gain: a = eta K, at least 0.
        momentum: mu, in [0, 1).
        lag: tau, updates.
    """
    _check(momentum, lag)
    # z^{t+1} = (1+mu) z^t - mu z^{t-1} - a z^{t-tau}, times z^{d - t} with d = max(1, tau)
    degree = max(1, lag) + 1
    coefficients = np.zeros(degree + 1)
    coefficients[0] = 1.0
    coefficients[1] -= 1.0 + momentum
    coefficients[2] += momentum
    coefficients[1 + lag] += gain
    found = np.roots(coefficients).astype(np.complex128)
    return found[np.argsort(-np.abs(found))]


def critical_gain(momentum: float, lag: int = 0) -> float:
    """Return the gain at which the recurrence with a fixed lag stops converging.

    It is 2 (1 + mu) without lag, 1 - mu for a lag of one update.
    """
    _check(momentum, lag)
    return _first_crossing(lambda a: float(np.abs(roots(a, momentum, lag)[0])), momentum)


def critical_refresh_gain(momentum: float, refresh: int) -> float:
    """Return the gain at which it diverges if the gradient is renewed every `refresh` updates."""
    _check(momentum, refresh - 1)

    def radius(gain: float) -> float:
        free = np.array([[1.0 + momentum, -momentum], [1.0, 0.0]])
        held = np.array([[-gain, 0.0], [0.0, 0.0]])  # times the state at the refresh
        total = np.eye(2)
        for _ in range(refresh):
            total = free @ total + held
        return float(np.max(np.abs(np.linalg.eigvals(total))))

    return _first_crossing(radius, momentum)


def damping_ratio(gain: float, momentum: float, lag: float = 0.0) -> float:
    """Return zeta = Gamma / (2 sqrt(M a)) of the second-order equation; below 1 it oscillates.

    Args:
        gain: a = eta K, above 0.
        momentum: mu.
        lag: tau, updates.
    """
    mass = (1 + momentum + gain * lag**2) / 2
    return ((1 - momentum) - gain * lag) / (2 * math.sqrt(mass * gain))


def continuous_equivalent(gain: float, momentum: float, lag: int = 0) -> tuple[float, float]:
    """Return (omega_0, zeta) of the oscillator that has the recurrence's two slowest roots.

    With s = log z for these two: omega_0^2 = s s', 2 zeta omega_0 = -(s + s'). NaN where a root is
    zero or negative: no continuous curve passes through such points.
    """
    slow = roots(gain, momentum, lag)[:2]
    if np.any(np.abs(slow) < 1e-12) or np.any((slow.real < 0) & (np.abs(slow.imag) < 1e-12)):
        return math.nan, math.nan
    s = np.log(slow)
    square = complex(s[0] * s[1]).real
    if square <= 0:
        return math.nan, math.nan
    omega = math.sqrt(square)
    return omega, -complex(s[0] + s[1]).real / (2 * omega)


def _first_crossing(radius: Callable[[float], float], momentum: float) -> float:
    """Return the least gain above 0 where the spectral radius passes 1."""
    low, high = 0.0, 1e-6 * (1 - momentum)
    while radius(high) < 1.0:  # small steps: for some refreshes the radius swings
        low, high = high, high * 1.02
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if radius(middle) < 1.0 else (low, middle)
    return (low + high) / 2


def _check(momentum: float, lag: int) -> None:
    if not 0 <= momentum < 1:
        raise DataError(f"momentum={momentum}: it lies in [0, 1)")
    if lag < 0 or lag != int(lag):
        raise DataError(f"lag={lag}: a whole number of updates, at least 0 (refresh at least 1)")
