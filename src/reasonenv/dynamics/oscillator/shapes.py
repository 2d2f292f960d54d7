"""Curves that go from 1 at t = 0 to 0: what is left of the way to the plateau.

A reward curve is R(t) = R* - (R* - R_0) g(t): linear in plateau and start, so that only the one or
two positive parameters of g are searched. Times are in units of the curve's span.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["NULLS", "OSCILLATOR", "Shape", "step_response"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Shape:
    """A family of curves.

    Attributes:
        name: as it is reported.
        g: (times (n,), parameters (c, d)) -> values (c, n), for c parameter vectors at once.
        bounds: of each of the d positive parameters.
        parameters: their names.
    """

    name: str
    g: Callable[[Floats, Floats], Floats]
    bounds: tuple[tuple[float, float], ...]
    parameters: tuple[str, ...]


def step_response(times: Floats, omega: Floats, zeta: Floats) -> Floats:
    """Return the oscillator's distance from the plateau, from rest at distance 1.

    With x = (zeta^2 - 1)(omega t)^2 it is exp(-zeta omega t) [C(x) + zeta omega t S(x)], where C is
    cosh sqrt(x) and S is sinh sqrt(x) / sqrt(x), or cos and sin for x < 0: one formula for over-,
    critically and under-damped, smooth across zeta = 1.

    Args:
        times: shape (n,), at least 0.
        omega: natural frequency omega_0, broadcast against times.
        zeta: damping ratio, likewise.
    """
    phase = omega * times
    x = (zeta**2 - 1.0) * phase**2
    root = np.sqrt(np.abs(x))
    decay = zeta * phase
    small = root < 1e-4
    safe = np.where(small, 1.0, root)
    # exp(-decay) cosh(root) without overflow, since root <= decay
    grow, fall = np.exp(np.minimum(root - decay, 0.0)), np.exp(-root - decay)
    over = 0.5 * (grow + fall) + decay * np.where(small, np.exp(-decay), 0.5 * (grow - fall) / safe)
    swing = np.cos(root) + decay * np.where(small, 1.0, np.sin(root) / safe)
    under = np.exp(-decay) * swing
    return np.where(x >= 0, over, under)


def _column(parameters: Floats, index: int) -> Floats:
    return parameters[:, index : index + 1]


def _oscillator(t: Floats, p: Floats) -> Floats:
    return step_response(t, _column(p, 0), _column(p, 1))


def _exponential(t: Floats, p: Floats) -> Floats:
    return np.exp(-t / _column(p, 0))


def _logistic(t: Floats, p: Floats) -> Floats:
    return 1.0 / (1.0 + np.exp(np.clip((t - _column(p, 0)) / _column(p, 1), -500, 500)))


def _power(t: Floats, p: Floats) -> Floats:
    return (1.0 + t / _column(p, 0)) ** -_column(p, 1)


def _stretched(t: Floats, p: Floats) -> Floats:
    return np.exp(-((t / _column(p, 0)) ** _column(p, 1)))


_TIME = (0.003, 10.0)

OSCILLATOR = Shape("oscillator", _oscillator, ((0.2, 300.0), (0.02, 20.0)), ("omega", "zeta"))
"""The damped oscillator's step response; omega in radians a span."""

NULLS: tuple[Shape, ...] = (
    Shape("exponential", _exponential, (_TIME,), ("tau",)),
    Shape("logistic", _logistic, ((0.003, 3.0), (0.003, 3.0)), ("midpoint", "width")),
    Shape("power law", _power, (_TIME, (0.05, 10.0)), ("tau", "exponent")),
    Shape("stretched exponential", _stretched, (_TIME, (0.2, 4.0)), ("tau", "exponent")),
)
"""What the oscillator has to beat; a constant is compared as well."""
