"""Whether what a program printed is what was expected: on text alone, outside every sandbox.

Checkers: `tokens` (equal after split()), `lines` (equal lines, trailing blanks aside), `float`
(equal tokens, numbers within a tolerance).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

__all__ = ["CHECKERS", "DEFAULT_TOLERANCE", "OutputChecker", "same_output"]

DEFAULT_TOLERANCE = 1e-6

OutputChecker = Callable[[str, str, str], bool]
"""A special judge: (input, expected, printed) -> right or not. It runs in the trusted process."""


def _tokens(expected: str, printed: str, tol: float) -> bool:
    return expected.split() == printed.split()


def _lines(expected: str, printed: str, tol: float) -> bool:
    return _trimmed(expected) == _trimmed(printed)


def _trimmed(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _float(expected: str, printed: str, tol: float) -> bool:
    wanted, given = expected.split(), printed.split()
    return len(wanted) == len(given) and all(
        _close(left, right, tol) for left, right in zip(wanted, given, strict=True)
    )


def _close(wanted: str, given: str, tol: float) -> bool:
    left = _number(wanted)
    if left is None:
        return wanted == given
    right = _number(given)
    if right is None or not (math.isfinite(left) and math.isfinite(right)):
        return False
    return abs(left - right) <= tol * max(1.0, abs(left))


def _number(token: str) -> float | None:
    if len(token) > 400 or "_" in token:
        return None
    try:
        return float(token)
    except ValueError:
        return None


CHECKERS: Mapping[str, Callable[[str, str, float], bool]] = {
    "tokens": _tokens,
    "lines": _lines,
    "float": _float,
}


def same_output(
    checker: str | OutputChecker, data: str, expected: str, printed: str, tol: float | None = None
) -> bool:
    r"""Return whether `printed` is right for the input `data`.

    >>> same_output("tokens", "", "1 2\n", "1  2")
    True
    >>> same_output("float", "", "0.5", "nan")
    False
    """
    if not isinstance(checker, str):
        return checker(data, expected, printed) is True
    return CHECKERS[checker](expected, printed, DEFAULT_TOLERANCE if tol is None else tol)
