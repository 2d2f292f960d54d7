"""Exact rational values of trees: integers and fractions, no floats, every size bounded first."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from reasonenv.checkers.math.limits import MAX_BITS, MAX_FACTORIAL
from reasonenv.checkers.math.tree import (
    Add,
    BaseN,
    Call,
    Decimal,
    Div,
    Mixed,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Recurring,
)

__all__ = [
    "NotRationalError",
    "Rational",
    "UndefinedError",
    "exact_root",
    "rational",
    "rational_or_none",
]

Rational: TypeAlias = int | Fraction


class NotRationalError(Exception):
    """The tree has no rational value that this module works out, or one over the limits."""


class UndefinedError(Exception):
    """The tree has no value at all: a division by zero."""


def rational_or_none(node: Node) -> Rational | None:
    """Return the exact value of `node`, None where it has none or an undefined one."""
    try:
        return rational(node)
    except (NotRationalError, UndefinedError):
        return None


def rational(node: Node) -> Rational:
    """Return the exact value of `node`.

    Raises:
        NotRationalError: it is not rational, not recognised as such, or over the size limits.
        UndefinedError: it divides by zero.
    """
    rule = _RULES.get(type(node))
    if rule is None:
        raise NotRationalError
    return rule(node)


def _decimal(node: Decimal) -> Rational:
    if abs(node.places) * 3.33 > MAX_BITS:
        raise NotRationalError
    if node.places <= 0:
        shifted: int = node.mantissa * 10**-node.places
        return shifted
    return _tidy(Fraction(node.mantissa, 10**node.places))


def recurring_value(node: Recurring) -> Fraction:
    """Return the value of a recurring decimal."""
    scale = 10 ** len(node.fixed)
    period = Fraction(int(node.period), (10 ** len(node.period) - 1) * scale)
    return Fraction(int((node.whole + node.fixed) or "0"), scale) + period


def _add(node: Add) -> Rational:
    total: Rational = 0
    for term in node.terms:
        total += rational(term)
    return _bounded(total)


def _mul(node: Mul) -> Rational:
    product: Rational = 1
    for factor in node.factors:
        product *= rational(factor)
        _bounded(product)
    return _tidy(product)


def _div(node: Div) -> Rational:
    top, bottom = rational(node.top), rational(node.bottom)
    if bottom == 0:
        raise UndefinedError
    if isinstance(top, int) and isinstance(bottom, int):
        whole, rest = divmod(top, bottom)
        return whole if rest == 0 else Fraction(top, bottom)
    return _bounded(_tidy(Fraction(top) / bottom))


def _pow(node: Pow) -> Rational:
    return power(rational(node.base), rational(node.exponent))


def power(base: Rational, exponent: Rational) -> Rational:
    """Return `base ** exponent` where that is rational and small enough."""
    if base == 0:
        if exponent <= 0:
            raise UndefinedError
        return 0
    if isinstance(exponent, Fraction):
        if exponent.denominator > MAX_BITS:
            raise NotRationalError
        base, exponent = exact_root(base, exponent.denominator), exponent.numerator
    if base == 1 or base == -1:
        return 1 if base == 1 or exponent % 2 == 0 else -1
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if (bits - 1) * abs(exponent) > MAX_BITS:
        raise NotRationalError
    if exponent < 0:
        return _tidy(Fraction(1) / Fraction(base) ** -exponent)
    return base**exponent


def exact_root(value: Rational, degree: int) -> Rational:
    """Return the real root of `value` where it is rational.

    Raises:
        NotRationalError: it is not, or an even root of a negative number.
    """
    if value < 0:
        if degree % 2 == 0:
            raise NotRationalError
        return -exact_root(-value, degree)
    top, bottom = _whole_root(value.numerator, degree), _whole_root(value.denominator, degree)
    return _tidy(Fraction(top, bottom))


def _whole_root(value: int, degree: int) -> int:
    if value < 2:
        return value
    if degree == 2:
        root = math.isqrt(value)
    else:
        bits = value.bit_length() // degree
        root = 1 << (bits + 1)
        while True:  # Newton's method from above, on integers
            step = ((degree - 1) * root + value // root ** (degree - 1)) // degree
            if step >= root:
                break
            root = step
    if root**degree != value:
        raise NotRationalError
    return root


def _call(node: Call) -> Rational:
    rule = _CALLS.get(node.name)
    if rule is None:
        raise NotRationalError
    if node.name == "mod" and isinstance(node.arguments[0], Pow):
        return _power_mod(node.arguments[0], rational(node.arguments[1]))
    return rule(*[rational(argument) for argument in node.arguments])


def _power_mod(node: Pow, modulus: Rational) -> Rational:
    """Return a power modulo a number without forming the power."""
    base, exponent = rational(node.base), rational(node.exponent)
    if not (isinstance(base, int) and isinstance(exponent, int) and isinstance(modulus, int)):
        raise NotRationalError
    if modulus == 0:
        raise UndefinedError
    if exponent < 0:
        raise NotRationalError
    return pow(base, exponent, modulus)


def _factorial(value: Rational) -> Rational:
    if not isinstance(value, int) or not 0 <= value <= MAX_FACTORIAL:
        raise NotRationalError
    if value > 20 and math.lgamma(value + 1) > MAX_BITS * 0.69:
        raise NotRationalError
    return math.factorial(value)


def _double_factorial(value: Rational) -> Rational:
    if not isinstance(value, int) or not 0 <= value <= 1000:
        raise NotRationalError
    return math.prod(range(value, 0, -2))


def _binomial(n: Rational, k: Rational) -> Rational:
    if not (isinstance(n, int) and isinstance(k, int) and 0 <= k <= n <= MAX_BITS):
        raise NotRationalError
    return math.comb(n, k)


def _sqrt(value: Rational) -> Rational:
    return exact_root(value, 2)


def _root(value: Rational, degree: Rational) -> Rational:
    if not isinstance(degree, int) or not 0 < degree <= MAX_BITS:
        raise NotRationalError
    return exact_root(value, degree)


def _mod(value: Rational, modulus: Rational) -> Rational:
    if modulus == 0:
        raise UndefinedError
    return _tidy(value % modulus)


def _whole(function: Callable[..., int]) -> Callable[..., Rational]:
    def apply(*values: Rational) -> Rational:
        if not all(isinstance(value, int) for value in values):
            raise NotRationalError
        return function(*values)

    return apply


def _tidy(value: Rational) -> Rational:
    return value.numerator if value.denominator == 1 else value


def _bounded(value: Rational) -> Rational:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise NotRationalError
    return _tidy(value)


def _percent(value: Rational) -> Rational:
    return _tidy(Fraction(value) / 100)


def _min(*values: Rational) -> Rational:
    return min(values)


def _max(*values: Rational) -> Rational:
    return max(values)


_CALLS: dict[str, Callable[..., Rational]] = {
    "percent": _percent,
    "factorial": _factorial,
    "doublefactorial": _double_factorial,
    "binomial": _binomial,
    "sqrt": _sqrt,
    "root": _root,
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "mod": _mod,
    "gcd": _whole(math.gcd),
    "lcm": _whole(math.lcm),
    "min": _min,
    "max": _max,
}
_RULES: dict[type[Node], Callable[..., Rational]] = {
    Number: lambda node: node.value,
    Decimal: _decimal,
    Recurring: recurring_value,
    Mixed: lambda node: node.whole + Fraction(node.top, node.bottom),
    BaseN: lambda node: int(node.digits, node.base),
    Add: _add,
    Neg: lambda node: -rational(node.value),
    Mul: _mul,
    Div: _div,
    Pow: _pow,
    Call: _call,
}
