"""Decimals that stand for a value they do not equal: six right digits, or a float's noise (P3)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from reasonenv.checkers.math.limits import (
    FLOAT_DIGITS,
    MAX_DIGITS,
    MIN_SIGNIFICANT_DIGITS,
)
from reasonenv.checkers.math.rational import Rational, rational_or_none
from reasonenv.checkers.math.tree import Call, Decimal, Mul, Neg, Node, Number, Pow

__all__ = ["Written", "same_float", "stands_for", "written"]

FLOAT_NOISE = 100
"""In units of the last digit of a float."""


@dataclass(frozen=True, slots=True)
class Written:
    """A decimal as written: `mantissa / 10**places`, with so many significant digits."""

    mantissa: int
    places: int
    digits: int

    @property
    def value(self) -> Fraction:
        """The exact value."""
        return Fraction(self.mantissa) * Fraction(10) ** -self.places


def written(node: Node) -> Written | None:
    """Return a side that is one decimal (with sign, power of ten, percent sign), else None."""
    if isinstance(node, Decimal):
        if abs(node.places) > MAX_DIGITS:
            return None
        return Written(node.mantissa, node.places, len(str(node.mantissa)))
    if isinstance(node, Neg):
        inner = written(node.value)
        return Written(-inner.mantissa, inner.places, inner.digits) if inner else None
    if isinstance(node, Call) and node.name == "percent":
        inner = written(node.arguments[0])
        return Written(inner.mantissa, inner.places + 2, inner.digits) if inner else None
    if isinstance(node, Mul) and len(node.factors) == 2:
        power = node.factors[1]
        if isinstance(power, Pow) and power.base == Number(10):
            inner, exponent = written(node.factors[0]), rational_or_none(power.exponent)
            if inner and isinstance(exponent, int) and abs(exponent) <= MAX_DIGITS:
                return Written(inner.mantissa, inner.places - exponent, inner.digits)
    return None


def stands_for(decimal: Written, value: Rational) -> bool:
    """Whether a decimal has enough digits of `value` and all are right, cut or rounded.

    A decimal of a float's length may be wrong in its last two digits.
    """
    if decimal.digits < MIN_SIGNIFICANT_DIGITS or decimal.places <= 0:
        return False
    if (decimal.mantissa < 0) != (value < 0):
        return False
    mantissa = abs(decimal.mantissa)
    scaled = abs(Fraction(value)) * Fraction(10) ** decimal.places
    if decimal.digits in FLOAT_DIGITS:
        return -FLOAT_NOISE < mantissa - scaled < FLOAT_NOISE
    low = scaled.numerator // scaled.denominator
    return mantissa in (low, int(scaled + Fraction(1, 2)))


def same_float(one: Written, other: Written) -> bool:
    """Whether two decimals are one number as a float printed it and as it is."""
    return (one.digits in FLOAT_DIGITS and stands_for(one, other.value)) or (
        other.digits in FLOAT_DIGITS and stands_for(other, one.value)
    )
