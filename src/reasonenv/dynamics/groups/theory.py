"""Closed forms of a group's signal, for G samples that are right with probability p each.

With u the difference of the mean scores of right and wrong samples, the policy gradient of p is
p (1 - p) u. GRPO's expected update of a prompt is

* with the mean alone as baseline: (1 - 1/G) p (1 - p) u;
* divided by the group's (population) deviation: c_G(p) u, c_G(p) = E sqrt(k/G (1 - k/G)),
  k ~ Bin(G, p), that is the gradient re-weighted by c_G(p) / (p (1 - p)): 1 for G = 2 at every p,
  and up to 1 / sqrt(p (1 - p)) for large G.

So a larger group does not only reduce noise under deviation scaling: it moves weight towards hard
and easy problems. Derived from the advantage of arXiv 2402.03300; compare arXiv 2503.06639.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from reasonenv.errors import DataError

__all__ = ["advantage_variance", "expected_deviation", "mixed_probability", "reweighting"]

Floats = npt.NDArray[np.float64]


def mixed_probability(p: float | Floats, group_size: int) -> Floats:
    """Return P_mix = 1 - p^G - (1 - p)^G: that a group holds both a right and a wrong answer.

    Args:
        p: probability of a right answer, each in [0, 1].
        group_size: G, at least 1.

    >>> round(float(mixed_probability(0.1, 4)), 3)
    0.344
    """
    q = _checked(p, group_size)
    return np.asarray(1.0 - q**group_size - (1.0 - q) ** group_size)


def expected_deviation(p: float | Floats, group_size: int) -> Floats:
    """Return c_G(p) = E sqrt(k/G (1 - k/G)), k ~ Bin(G, p): the group's mean deviation.

    Args:
        p: probability of a right answer, each in [0, 1].
        group_size: G, at least 1.
    """
    q = _checked(p, group_size)
    total = np.zeros_like(q)
    for k in range(1, group_size):
        share = k / group_size
        chance = math.comb(group_size, k) * q**k * (1.0 - q) ** (group_size - k)
        total = total + chance * math.sqrt(share * (1 - share))
    return np.asarray(total)


def reweighting(p: float | Floats, group_size: int, *, scale: str = "group") -> Floats:
    """Return the expected update over the policy gradient of p; NaN at p = 0 and p = 1.

    Args:
        p: probability of a right answer, each in [0, 1].
        group_size: G, at least 1.
        scale: as TRL's `scale_rewards`: "group" divides by the group's deviation, "none" does not.

    >>> [round(float(reweighting(0.5, g)), 2) for g in (2, 4, 8, 16)]
    [1.0, 1.62, 1.86, 1.93]
    """
    q = _checked(p, group_size)
    inside = np.where((q > 0) & (q < 1), q, np.nan)
    if scale == "none":
        return np.asarray(np.where(np.isnan(inside), np.nan, 1.0 - 1.0 / group_size))
    if scale != "group":
        raise DataError(f"scale={scale!r}; valid: group, none")
    return np.asarray(expected_deviation(inside, group_size) / (inside * (1.0 - inside)))


def advantage_variance(p: float | Floats, group_size: int, *, scale: str = "group") -> Floats:
    """Return E[(1/G) sum A^2]: P_mix with deviation scaling, (1 - 1/G) p (1 - p) without.

    Args:
        p: probability of a right answer, each in [0, 1].
        group_size: G, at least 1.
        scale: "group" or "none"; the deviation is the population's.
    """
    q = _checked(p, group_size)
    if scale == "group":
        return mixed_probability(q, group_size)
    if scale != "none":
        raise DataError(f"scale={scale!r}; valid: group, none")
    return np.asarray((1.0 - 1.0 / group_size) * q * (1.0 - q))


def _checked(p: float | Floats, group_size: int) -> Floats:
    if group_size < 1:
        raise DataError(f"group_size={group_size}: a group has at least one member")
    q = np.asarray(p, dtype=float)
    if np.any((q < 0) | (q > 1)):
        raise DataError(f"p={p}: a probability lies in [0, 1]")
    return q
