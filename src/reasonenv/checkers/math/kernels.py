r"""Values of trees at one point and one precision, on `mpmath.libmp`'s stateless kernels.

A real value is libmp's (sign, mantissa, exponent, bits); a complex one is a pair of them. Sizes
are checked before a kernel is called: nothing here forms a number of unbounded exponent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from mpmath import libmp  # type: ignore[import-untyped]
from mpmath.libmp import fone, fzero, round_nearest  # type: ignore[import-untyped]

from reasonenv.checkers.math.limits import MAX_LOG2
from reasonenv.checkers.math.rational import (
    Rational,
    UndefinedError,
    rational_or_none,
    recurring_value,
)
from reasonenv.checkers.math.tree import (
    Add,
    BaseN,
    Call,
    Constant,
    Decimal,
    Div,
    Mixed,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Recurring,
    Symbol,
)

__all__ = [
    "Evaluator",
    "NoValueError",
    "TooLargeError",
    "Value",
    "difference",
    "magnitude",
    "to_fraction",
    "whole",
]

Value: TypeAlias = tuple[Any, ...]
"""A real value (4 parts) or a complex one (2 parts); libmp has no types."""

MAX_TURNS_LOG2 = 4_000
"""Of the argument of a sine: reducing it takes as many digits."""
MAX_GAMMA_LOG2 = 33
"""Of the argument of a factorial."""


class NoValueError(Exception):
    """No value here: a pole, an even root of a negative number, an unknown function."""


class TooLargeError(Exception):
    """A value beyond the limits on exponents."""


def whole(value: int, shift: int) -> Value:
    """Return the real value `value * 2**shift`."""
    return libmp.from_man_exp(value, shift)  # type: ignore[no-any-return]


def is_complex(value: Value) -> bool:
    """Whether a value is a pair."""
    return len(value) == 2


def magnitude(value: Value) -> int | None:
    """Return the binary exponent of the size of a value; None for zero."""
    if is_complex(value):
        parts = [m for m in map(magnitude, value) if m is not None]
        return max(parts) if parts else None
    return value[2] + value[3] if value[1] else None


def difference(one: Value, other: Value, bits: int) -> Value:
    """Return `one - other`."""
    if is_complex(one) or is_complex(other):
        return libmp.mpc_sub(_complex(one), _complex(other), bits, round_nearest)  # type: ignore[no-any-return]
    return libmp.mpf_sub(one, other, bits, round_nearest)  # type: ignore[no-any-return]


def to_fraction(value: Value) -> Fraction | None:
    """Return a real value as a fraction; None for a complex or a huge one."""
    if is_complex(value):
        size, part = magnitude(value), magnitude(value[1])
        if part is not None and size is not None and part > size - 60:
            return None
        value = value[0]
    sign, mantissa, exponent, _ = value
    if abs(exponent) > 100_000:
        return None
    number = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -number if sign else number


def _complex(value: Value) -> Value:
    return value if is_complex(value) else (value, fzero)


def _real_part_if_real(value: Value, bits: int) -> Value:
    return value[0] if value[1] == fzero else value


class Evaluator:
    """Values of trees at one point.

    Args:
        bits: the precision of every step.
        point: values of the letters.
        imaginary: whether complex values may occur on the way.

    Attributes:
        largest: binary exponent of the largest term or argument met: what may have cancelled.
    """

    def __init__(self, bits: int, point: Mapping[str, Value], imaginary: bool) -> None:
        self.bits = bits + 16
        self.point = point
        self.imaginary = imaginary
        self.largest = 0

    def value(self, node: Node) -> Value:
        """Return the value of `node`.

        Raises:
            NoValueError: it has none at this point.
            TooLargeError: it is beyond the limits.
        """
        rule = _RULES.get(type(node))
        if rule is None:
            raise NoValueError
        try:
            result = rule(self, node)
        except (libmp.ComplexResult, ZeroDivisionError, ValueError, UndefinedError) as error:
            raise NoValueError from error
        except (OverflowError, MemoryError) as error:
            raise TooLargeError from error
        if not is_complex(result) and not result[1] and result[2]:  # libmp's inf and nan
            raise NoValueError
        size = magnitude(result)
        if size is not None and abs(size) > MAX_LOG2:
            raise TooLargeError
        return result

    def note(self, value: Value) -> Value:
        """Remember the size of a term or argument."""
        size = magnitude(value)
        if size is not None and size > self.largest:
            self.largest = size
        return value

    def _rational(self, value: Rational) -> Value:
        return libmp.from_rational(  # type: ignore[no-any-return]
            value.numerator, value.denominator, self.bits, round_nearest
        )

    def _number(self, node: Number) -> Value:
        return libmp.from_int(node.value, self.bits, round_nearest)  # type: ignore[no-any-return]

    def _decimal(self, node: Decimal) -> Value:
        ten = libmp.from_int(10)
        if abs(node.places) > MAX_LOG2 >> 3:
            raise TooLargeError
        scale = libmp.mpf_pow_int(ten, -node.places, self.bits + 40, round_nearest)
        return libmp.mpf_mul(libmp.from_int(node.mantissa), scale, self.bits, round_nearest)  # type: ignore[no-any-return]

    def _exact(self, node: Node) -> Value:
        exact = recurring_value(node) if isinstance(node, Recurring) else rational_or_none(node)
        if exact is None:
            raise NoValueError
        return self._rational(exact)

    def _symbol(self, node: Symbol) -> Value:
        value = self.point.get(node.name)
        if value is None:
            raise NoValueError
        return value

    def _constant(self, node: Constant) -> Value:
        if node.name == "pi":
            return libmp.mpf_pi(self.bits)  # type: ignore[no-any-return]
        if node.name == "e":
            return libmp.mpf_e(self.bits)  # type: ignore[no-any-return]
        if node.name == "i" and self.imaginary:
            return (fzero, fone)
        raise NoValueError

    def _add(self, node: Add) -> Value:
        total = self.note(self.value(node.terms[0]))
        for term in node.terms[1:]:
            value = self.note(self.value(term))
            if is_complex(total) or is_complex(value):
                total = libmp.mpc_add(_complex(total), _complex(value), self.bits, round_nearest)
            else:
                total = libmp.mpf_add(total, value, self.bits, round_nearest)
        return total

    def _neg(self, node: Neg) -> Value:
        value = self.value(node.value)
        return libmp.mpc_neg(value) if is_complex(value) else libmp.mpf_neg(value)  # type: ignore[no-any-return]

    def _mul(self, node: Mul) -> Value:
        product = self.value(node.factors[0])
        for factor in node.factors[1:]:
            product = self.times(product, self.value(factor))
        return product

    def times(self, one: Value, other: Value) -> Value:
        """Return the product of two values."""
        if is_complex(one) or is_complex(other):
            product = libmp.mpc_mul(_complex(one), _complex(other), self.bits, round_nearest)
            return _real_part_if_real(product, self.bits)
        return libmp.mpf_mul(one, other, self.bits, round_nearest)  # type: ignore[no-any-return]

    def _div(self, node: Div) -> Value:
        top, bottom = self.value(node.top), self.value(node.bottom)
        if magnitude(bottom) is None:
            raise NoValueError
        if is_complex(top) or is_complex(bottom):
            quotient = libmp.mpc_div(_complex(top), _complex(bottom), self.bits, round_nearest)
            return _real_part_if_real(quotient, self.bits)
        return libmp.mpf_div(top, bottom, self.bits, round_nearest)  # type: ignore[no-any-return]

    def _pow(self, node: Pow) -> Value:
        exact = rational_or_none(node.exponent)
        base = self.value(node.base)
        if exact is not None and exact.denominator != 1:
            degree = exact.denominator
            if degree < 1000 and not is_complex(base):
                root = self.root(base, degree)
                return self.integer_power(root, exact.numerator)
        if isinstance(exact, int):
            return self.integer_power(base, exact)
        return self.power(base, self.note(self.value(node.exponent)))

    def integer_power(self, base: Value, exponent: int) -> Value:
        """Return `base ** exponent`."""
        size = magnitude(base)
        if size is None:
            if exponent <= 0:
                raise NoValueError
            return base
        if exponent.bit_length() + abs(size).bit_length() > 42 and base != fone:
            raise TooLargeError
        if is_complex(base):
            power = libmp.mpc_pow_int(base, exponent, self.bits, round_nearest)
            return _real_part_if_real(power, self.bits)
        self.largest = max(self.largest, exponent.bit_length())
        return libmp.mpf_pow_int(base, exponent, self.bits, round_nearest)  # type: ignore[no-any-return]

    def power(self, base: Value, exponent: Value) -> Value:
        """Return `base ** exponent` for any exponent."""
        size, growth = magnitude(exponent), magnitude(base)
        if growth is None:
            if is_complex(exponent) or exponent[0] or size is None:
                raise NoValueError
            return fzero  # type: ignore[no-any-return]
        if size is not None and size + abs(growth).bit_length() > 42:
            raise TooLargeError
        if not is_complex(base) and not is_complex(exponent):
            if not base[0] or exponent[2] >= 0:
                return libmp.mpf_pow(base, exponent, self.bits, round_nearest)  # type: ignore[no-any-return]
            if not self.imaginary:
                raise NoValueError
        power = libmp.mpc_pow(_complex(base), _complex(exponent), self.bits, round_nearest)
        return _real_part_if_real(power, self.bits)

    def root(self, value: Value, degree: int) -> Value:
        """Return the real root where there is one, else the principal complex one if allowed."""
        if is_complex(value):
            if degree == 2:
                return libmp.mpc_sqrt(value, self.bits, round_nearest)  # type: ignore[no-any-return]
            return libmp.mpc_nthroot(value, degree, self.bits, round_nearest)  # type: ignore[no-any-return]
        if not value[0]:
            if degree == 2:
                return libmp.mpf_sqrt(value, self.bits, round_nearest)  # type: ignore[no-any-return]
            return libmp.mpf_nthroot(value, degree, self.bits, round_nearest)  # type: ignore[no-any-return]
        if degree % 2:
            return libmp.mpf_neg(  # type: ignore[no-any-return]
                libmp.mpf_nthroot(libmp.mpf_neg(value), degree, self.bits, round_nearest)
            )
        if not self.imaginary:
            raise NoValueError
        if degree == 2:
            return (fzero, libmp.mpf_sqrt(libmp.mpf_neg(value), self.bits, round_nearest))
        return libmp.mpc_nthroot(_complex(value), degree, self.bits, round_nearest)  # type: ignore[no-any-return]

    def _call(self, node: Call) -> Value:
        name = node.name
        if name in ("sqrt", "root"):
            degree = 2 if name == "sqrt" else rational_or_none(node.arguments[1])
            if not isinstance(degree, int) or not 0 < degree < 1000:
                inverse = self._quotient(fone, self.value(node.arguments[1]))
                return self.power(self.value(node.arguments[0]), inverse)
            return self.root(self.value(node.arguments[0]), degree)
        if name in _EXACT:
            exact = rational_or_none(node)
            if exact is not None:
                return self._rational(exact)
        arguments = [self.value(argument) for argument in node.arguments]
        for argument in arguments:
            self.note(argument)
        if name == "log":
            return self._quotient(
                self._function("ln", arguments[:1]), self._function("ln", arguments[1:])
            )
        return self._function(name, arguments)

    def _quotient(self, top: Value, bottom: Value) -> Value:
        if magnitude(bottom) is None:
            raise NoValueError
        if is_complex(top) or is_complex(bottom):
            return libmp.mpc_div(_complex(top), _complex(bottom), self.bits, round_nearest)  # type: ignore[no-any-return]
        return libmp.mpf_div(top, bottom, self.bits, round_nearest)  # type: ignore[no-any-return]

    def _function(self, name: str, arguments: list[Value]) -> Value:
        from reasonenv.checkers.math.functions import COMPLEX, REAL

        if any(is_complex(argument) for argument in arguments):
            function = COMPLEX.get(name)
        else:
            function = REAL.get(name)
        if function is None:
            raise NoValueError
        try:
            return function(self, *arguments)
        except libmp.ComplexResult:
            if not self.imaginary or name not in COMPLEX:
                raise
            return COMPLEX[name](self, *map(_complex, arguments))


_EXACT = frozenset(
    ("floor", "ceil", "mod", "gcd", "lcm", "binomial", "factorial", "doublefactorial")
)
_RULES: dict[type[Node], Callable[..., Value]] = {
    Number: Evaluator._number,
    Decimal: Evaluator._decimal,
    Recurring: Evaluator._exact,
    Mixed: Evaluator._exact,
    BaseN: Evaluator._exact,
    Constant: Evaluator._constant,
    Symbol: Evaluator._symbol,
    Add: Evaluator._add,
    Neg: Evaluator._neg,
    Mul: Evaluator._mul,
    Div: Evaluator._div,
    Pow: Evaluator._pow,
    Call: Evaluator._call,
}
