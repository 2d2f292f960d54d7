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
REAL_POINTS = 8
WHOLE_POINTS = 5
_SHIFTS = (-53, -53, -51, -41, -44, -55, -54, -56)
"""Sizes of the letters from point to point: some large, where one branch of a maximum rules."""
_SIGNS = {0: 1, 1: -1, 3: 1, 4: -1}
"""Signs of all letters at some points; random at the others."""
ENOUGH_POINTS = 5
"""Points at which both sides are defined and agree."""


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
            if agreed >= ENOUGH_POINTS:
                break
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
    """Return points: all letters positive, all negative, then mixed signs and sizes."""
    return [
        {letter: _coordinate(letter, index) for letter in letters} for index in range(REAL_POINTS)
    ]


@lru_cache(maxsize=2048)
def _coordinate(letter: str, index: int) -> Value:
    random = Random(f"{letter}@{index}")
    size = random.randrange(1 << 52, 1 << 54)  # with 53 bits after the point: between 1/2 and 2
    sign = _SIGNS.get(index) or random.choice((1, -1))
    shift = _SHIFTS[index % len(_SHIFTS)]
    return whole(sign * size, shift)


def _whole_points(letters: list[str]) -> list[Mapping[str, Value]]:
    """Return points of small positive integers: for factorials, `(-1)^n` and the like."""
    points: list[Mapping[str, Value]] = []
    for index in range(WHOLE_POINTS):
        random = Random(index)
        points.append({letter: whole(random.randrange(2, 12) + index, 0) for letter in letters})
    return points
