r"""Numeric comparison at seeded points, on mpmath's integer kernels at chosen precisions.

No global state: every kernel takes its precision, so threads do not meet. A value is real where
it can be (`(-8)^{1/3}` is -2, P10) and complex where no letter occurs or `i` does. A difference
is proved by a value far above the rounding error of its precision; equality by the difference
vanishing at a precision that is raised by all the digits that cancel.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from random import Random

from reasonenv.checkers.math.kernels import (
    Evaluator,
    NoValueError,
    TooLargeError,
    Value,
    difference,
    magnitude,
    whole,
)
from reasonenv.checkers.math.limits import MAX_PRECISION_BITS
from reasonenv.checkers.math.tree import Call, Constant, Node, children, symbols_of

__all__ = ["decide", "value_of"]

LOW_BITS = 113
"""Precision of the first look, which refutes nearly every wrong answer."""
HIGH_BITS = 500
"""Precision that confirms, before what cancels is added."""
MARGIN_BITS = 24
"""A difference is real if it is so many bits above the rounding error."""
WHOLE_POINTS = 9
_WHOLE = ((2, 9), (5, 20), (100, 5000))
MAX_LONE_SIGNS = 4
"""Letters that take the other sign than all others at some point."""
_NEAR, _LARGE, _SMALL = -53, -41, -55
"""Binary exponents of letters' sizes: around 1, around 4,000, around 1/4."""


def decide(one: Node, other: Node) -> bool | None:
    """Return whether two scalars are equal as functions; None where no point could tell."""
    letters = sorted(symbols_of(one) | symbols_of(other))
    imaginary = _mentions_i(one) or _mentions_i(other)
    if not letters:
        try:
            equal = _compare(one, other, {}, imaginary, confirm=True)
            if equal is None and not imaginary:
                equal = _compare(one, other, {}, True, confirm=True)
        except TooLargeError:
            return False  # equal towers of one form were found equal before
        if equal is None and (_has_value(one, {}) or _has_value(other, {})):
            return False
        return equal
    for points in (_real_points(letters), _whole_points(letters)):
        agreed = 0
        for point in points:
            try:
                equal = _compare(one, other, point, imaginary, confirm=agreed == 0)
            except TooLargeError:
                continue
            if equal is False:
                return False
            agreed += equal is True
        if agreed:
            return True
    points = _real_points(letters) + _whole_points(letters)
    if any(_has_value(one, point) != _has_value(other, point) for point in points):
        return False  # defined at no common point
    return None


def _has_value(node: Node, point: Mapping[str, Value]) -> bool:
    try:
        Evaluator(LOW_BITS, point, imaginary=not point).value(node)
    except (NoValueError, TooLargeError):
        return False
    return True


def value_of(node: Node, bits: int) -> Value | None:
    """Return the real or complex value of a constant at a precision; None where it has none."""
    for imaginary in (False, True):
        try:
            evaluator = Evaluator(bits, {}, imaginary)
            value = evaluator.value(node)
            if bits + 2 * evaluator.largest > MAX_PRECISION_BITS:
                return None  # `(10^7)!` or `arctan(10^{10^7})`: its digits are not worked out
            if evaluator.largest > bits // 2:
                value = Evaluator(bits + 2 * evaluator.largest, {}, imaginary).value(node)
            return value
        except TooLargeError:
            return None
        except NoValueError:
            continue
    return None


def _compare(
    one: Node, other: Node, point: Mapping[str, Value], imaginary: bool, confirm: bool
) -> bool | None:
    """Compare at one point; None where a side has no value there."""
    try:
        gap, error, cancelled = _gap(one, other, point, imaginary, LOW_BITS)
        if gap is not None and gap > error + MARGIN_BITS:
            return False
        if not confirm:
            return True
        bits = HIGH_BITS + 2 * cancelled
        if bits > MAX_PRECISION_BITS:
            raise TooLargeError
        first = _values(one, other, point, imaginary, bits)
        second = _values(one, other, point, imaginary, bits + 97)
        step = magnitude(difference(first, second, bits))
        last = magnitude(second)
        if last is None or step is None:
            return last is None
        return not step < last - MARGIN_BITS  # a true difference is the same at both precisions
    except NoValueError:
        return None


def _gap(
    one: Node, other: Node, point: Mapping[str, Value], imaginary: bool, bits: int
) -> tuple[int | None, int, int]:
    """Return the binary magnitude of the difference, of its rounding error, and of the terms."""
    evaluator = Evaluator(bits, point, imaginary)
    left, right = evaluator.value(one), evaluator.value(other)
    sizes = [magnitude(left), magnitude(right)]
    size = max([0, *(s for s in sizes if s is not None)])
    error = evaluator.largest + size - bits
    return magnitude(difference(left, right, bits)), error, evaluator.largest


def _values(
    one: Node, other: Node, point: Mapping[str, Value], imaginary: bool, bits: int
) -> Value:
    evaluator = Evaluator(bits, point, imaginary)
    return difference(evaluator.value(one), evaluator.value(other), bits)


def _mentions_i(node: Node) -> bool:
    if isinstance(node, Constant):
        return node.name == "i"
    if isinstance(node, Call) and node.name == "arg":
        return True
    return any(_mentions_i(child) for child in children(node))


def _real_points(letters: list[str]) -> list[Mapping[str, Value]]:
    r"""Return points of chosen signs and sizes.

    All letters positive or negative, near one and large (where another branch of a maximum may
    rule), then each letter alone of its sign: `\sqrt{x^2 y}` is told from `x \sqrt y` where only x
    is negative.
    """
    everything = (1 << len(letters)) - 1
    patterns = [(0, _NEAR), (everything, _NEAR), (0, _LARGE), (everything, _LARGE)]
    if len(letters) > 1:
        for k in range(min(len(letters), MAX_LONE_SIGNS)):
            patterns += [(1 << k, _NEAR), (everything ^ 1 << k, _NEAR)]
    return [
        {
            letter: _coordinate(letter, index, -1 if signs >> k & 1 else 1, shift)
            for k, letter in enumerate(letters)
        }
        for index, (signs, shift) in enumerate([*patterns, (0, _SMALL), (everything, _SMALL)])
    ]


@lru_cache(maxsize=4096)
def _coordinate(letter: str, index: int, sign: int, shift: int) -> Value:
    size = Random(f"{letter}@{index}").randrange(1 << 52, 1 << 54)
    return whole(sign * size, shift)


def _whole_points(letters: list[str]) -> list[Mapping[str, Value]]:
    """Return points of positive integers: for factorials, remainders, `(-1)^n` and the like."""
    points: list[Mapping[str, Value]] = []
    for index in range(WHOLE_POINTS):
        random = Random(index)
        low, high = _WHOLE[index % len(_WHOLE)]
        points.append({letter: whole(random.randrange(low, high), 0) for letter in letters})
    return points
