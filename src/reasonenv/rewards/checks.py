"""Checks of the numbers that terms are made with."""

from __future__ import annotations

import math
from typing import Any

from reasonenv.errors import RewardError

__all__ = ["need_integer", "need_number"]


def need_number(
    term: str,
    name: str,
    value: Any,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    above: float = -math.inf,
) -> None:
    """Raise unless `value` is a finite number in [least, most] and over `above`.

    Raises:
        RewardError: it is not; the message names term, argument and what is valid.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and math.isfinite(value) and least <= value <= most and value > above:
        return
    bounds: list[str] = []
    if above > -math.inf:
        bounds.append(f"above {above:g}")
    if least > -math.inf:
        bounds.append(f"at least {least:g}")
    if most < math.inf:
        bounds.append(f"at most {most:g}")
    valid = " ".join(["a finite number", " and ".join(bounds)]).strip()
    raise RewardError(f"{term}: {name} is {valid}, got {value!r}")


def need_integer(term: str, name: str, value: Any, *, least: int) -> None:
    """Raise unless `value` is a whole number of at least `least`.

    Raises:
        RewardError: it is not; the message names term, argument and what is valid.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise RewardError(f"{term}: {name} is a whole number of at least {least}, got {value!r}")
