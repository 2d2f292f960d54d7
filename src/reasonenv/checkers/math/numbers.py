r"""Exact rationals: one number, or simple arithmetic on numbers, as a `Fraction`. No floats.

`read_number` reads integers, decimals (recurring ones too), fractions, mixed numbers, percent,
scientific notation, powers with integer exponents, roots that come out, factorials and number
words, with a unit after them. Every size is bounded *before* anything is worked out, so a tower or
`1e1000000000` is unreadable, not slow. There is no `eval` here: a tokenizer and a recursive
descent parser of five rules.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

from reasonenv.checkers.math.limits import (
    MAX_BITS,
    MAX_DEPTH,
    MAX_FACTORIAL,
    MAX_LITERAL_CHARS,
    MAX_TOKENS,
    MIN_FLOAT_DIGITS,
    MIN_SIGNIFICANT_DIGITS,
)
from reasonenv.checkers.math.units import MAGNITUDES, number_of_words, same_unit, split_unit

__all__ = ["Number", "equal_numbers", "read_number"]


@dataclass(frozen=True, slots=True)
class Number:
    """An exact value and how it was written.

    Args:
        value: the exact value.
        places: digits after the point where it was written as one plain decimal, else None.
        digits: its significant digits in that case, else 0.
        unit: the unit or counted noun after it, None where there was none.
    """

    value: Fraction
    places: int | None = None
    digits: int = 0
    unit: str | None = None

    def __str__(self) -> str:
        return str(self.value) if self.unit is None else f"{self.value} {self.unit}"


class _UnreadableError(Exception):
    """The text is no arithmetic that this module reads, or is too large."""


_TOKEN = re.compile(
    r"(?P<recurring>\d*\.\d*\\(?:overline|bar)\{\d+\})"
    r"|(?P<mixed>\d+ \d+/\d+|\d+\\frac\{\d+\}\{\d+\})"
    r"|(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+(?![\d.]))?)"
    r"|(?P<command>\\frac|\\sqrt)"
    r"|(?P<sign>[-+*/^(){}%!\[\]])",
    re.ASCII,
)
_DECIMAL = re.compile(r"[+-]?(\d*)\.(\d+)\Z", re.ASCII)
_MIXED = re.compile(r"(\d+)(?: (\d+)/(\d+)|\\frac\{(\d+)\}\{(\d+)\})", re.ASCII)
_RECURRING = re.compile(r"(\d*)\.(\d*)\\(?:overline|bar)\{(\d+)\}", re.ASCII)


def read_number(normal: str) -> Number | None:
    r"""Return the number that a normal form denotes, None where it is no readable arithmetic.

    >>> str(read_number("3\\frac{1}{2}")), str(read_number("50%")), str(read_number("12 apples"))
    ('7/2', '1/2', '12 apple')
    >>> read_number("2x") is None, read_number("5+") is None
    (True, True)
    """
    if len(normal) > 2 * MAX_LITERAL_CHARS:
        return None
    spelled = number_of_words(normal) if normal[:1].isalpha() else None
    if spelled is not None:
        return Number(Fraction(spelled))
    text, unit = split_unit(normal)
    scale = 1
    if unit is not None:
        first, _, rest = unit.partition(" ")
        if first in MAGNITUDES:
            scale, unit = MAGNITUDES[first], rest or None
    try:
        value = _Parser(text).parse() * scale
    except _UnreadableError:
        return None
    decimal = _DECIMAL.match(text) if scale == 1 else None
    if decimal is None:
        return Number(value, unit=unit)
    digits = len((decimal[1] + decimal[2]).lstrip("0"))
    return Number(value, len(decimal[2]), digits, unit)


def equal_numbers(gold: Number, answer: Number) -> bool:
    """Whether two numbers are equal under the policy: exactly, or as a long decimal (P2, P3, P5).

    A decimal of at least six significant digits stands for a value that is no decimal itself if
    all its digits are right, cut or rounded. Two floats may differ in their last two digits.
    """
    if not same_unit(gold.unit, answer.unit):
        return False
    if gold.value == answer.value:
        return True
    if gold.places is not None and answer.places is not None:
        return (
            max(gold.digits, answer.digits) >= MIN_FLOAT_DIGITS
            and min(gold.digits, answer.digits) >= MIN_FLOAT_DIGITS - 1
            and _to_digits(gold.value, MIN_FLOAT_DIGITS - 2)
            == _to_digits(answer.value, MIN_FLOAT_DIGITS - 2)
        )
    decimal, exact = (gold, answer) if gold.places is not None else (answer, gold)
    if decimal.places is None or decimal.digits < MIN_SIGNIFICANT_DIGITS:
        return False
    scaled = abs(exact.value) * 10**decimal.places
    if scaled.denominator == 1 or (decimal.value < 0) != (exact.value < 0):
        return False
    return abs(decimal.value) * 10**decimal.places in (
        scaled.numerator // scaled.denominator,
        math.floor(scaled + Fraction(1, 2)),
    )


def _to_digits(value: Fraction, digits: int) -> tuple[int, int]:
    """Return `value` rounded to so many significant digits, as (mantissa, exponent)."""
    if value == 0:
        return 0, 0
    size = len(str(abs(value.numerator))) - len(str(value.denominator))
    exponent = size - digits
    mantissa = round(value / Fraction(10) ** exponent)
    while abs(mantissa) >= 10**digits:
        exponent += 1
        mantissa = round(value / Fraction(10) ** exponent)
    while abs(mantissa) < 10 ** (digits - 1):
        exponent -= 1
        mantissa = round(value / Fraction(10) ** exponent)
    return mantissa, exponent


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise _UnreadableError
    return value


def _integer(digits: str) -> int:
    if len(digits) > MAX_LITERAL_CHARS:
        raise _UnreadableError
    return int(digits or "0")


def _ratio(top: Fraction, bottom: Fraction) -> Fraction:
    if bottom == 0:
        raise _UnreadableError
    return _bounded(top / bottom)


def _literal(text: str) -> Fraction:
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, places = mantissa.partition(".")
    value = Fraction(_integer(whole + places), 10 ** len(places))
    if exponent:
        if len(exponent.lstrip("+-0")) > len(str(MAX_LITERAL_CHARS)):
            raise _UnreadableError
        shift = int(exponent)
        if abs(shift) > MAX_LITERAL_CHARS:
            raise _UnreadableError
        value *= Fraction(10) ** shift
    return _bounded(value)


def _recurring(text: str) -> Fraction:
    found = _RECURRING.fullmatch(text)
    assert found is not None  # the token's own pattern
    whole, places, period = found.groups()
    fixed = Fraction(_integer(whole + places), 10 ** len(places))
    return _bounded(fixed + Fraction(_integer(period), (10 ** len(period) - 1) * 10 ** len(places)))


def _mixed(text: str) -> Fraction:
    found = _MIXED.fullmatch(text)
    assert found is not None  # the token's own pattern
    whole, top, bottom = (_integer(group) for group in found.groups() if group is not None)
    if not 0 < top < bottom:  # P16: an improper tail is unreadable
        raise _UnreadableError
    return _bounded(Fraction(whole * bottom + top, bottom))


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1 or (base == 0 and exponent <= 0):
        raise _UnreadableError
    power = exponent.numerator
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(base) != 1 and base != 0 and (bits - 1) * abs(power) > MAX_BITS:
        raise _UnreadableError
    if abs(base) == 1 or base == 0:  # the exponent may be huge: only its parity counts
        power = 2 - power % 2 if base != 0 else 1
    return _bounded(base**power)


def _root(value: Fraction) -> Fraction:
    if value < 0:
        raise _UnreadableError
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    if root * root != value:
        raise _UnreadableError
    return root


class _Parser:
    """Sums of products of powers of atoms, over one list of tokens."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        position = 0
        while position < len(text):
            token = _TOKEN.match(text, position)
            if token is None or len(self.tokens) >= MAX_TOKENS:
                raise _UnreadableError
            self.tokens.append((token.lastgroup or "", token[0]))
            position = token.end()
        self.next = 0
        self.depth = 0

    def parse(self) -> Fraction:
        value = self.sum()
        if self.next != len(self.tokens):
            raise _UnreadableError
        return value

    def peek(self) -> str:
        return self.tokens[self.next][1] if self.next < len(self.tokens) else ""

    def kind(self) -> str:
        return self.tokens[self.next][0] if self.next < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.next += 1
        return token

    def expect(self, token: str) -> None:
        if self.take() != token:
            raise _UnreadableError

    def sum(self) -> Fraction:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _UnreadableError
        value = self.product()
        while self.peek() in ("+", "-"):
            sign = 1 if self.take() == "+" else -1
            value = _bounded(value + sign * self.product())
        self.depth -= 1
        return value

    def product(self) -> Fraction:
        value = self.factor(first=True)
        while True:
            if self.peek() == "*":
                self.take()
                value = _bounded(value * self.factor())
            elif self.peek() == "/":
                self.take()
                value = _ratio(value, self.factor())
                if self.tokens[self.next - 1][1] == "%":  # "1/2%": half a percent, or 1/(2%)?
                    raise _UnreadableError
            elif self.is_juxtaposed():
                value = _bounded(value * self.powered(mixed=False))
            else:
                return value

    def is_juxtaposed(self) -> bool:
        r"""Whether a bracket or command follows as a factor: `2(3)`, not `2\frac{3}{2}`."""
        before = self.tokens[self.next - 1]
        if before[1] in ("%", "!"):
            return False
        return self.peek() == "(" or (self.kind() == "command" and before[0] != "number")

    def factor(self, first: bool = False) -> Fraction:
        sign = 1
        if self.peek() in ("+", "-"):  # one sign only: "--2" is a slip, not a 2
            sign = 1 if self.take() == "+" else -1
        return sign * self.powered(mixed=first)

    def powered(self, mixed: bool) -> Fraction:
        if self.kind() == "mixed" and not mixed:  # "1/2 1/2" is no quotient of mixed numbers
            raise _UnreadableError
        was_mixed = self.kind() == "mixed"
        value = self.atom()
        if self.peek() == "!":
            value = self.factorial(value)
        if self.peek() == "^" and not was_mixed:
            self.take()
            value = _power(value, self.exponent())
        if self.peek() == "%":
            self.take()
            value /= 100
        return value

    def exponent(self) -> Fraction:
        if self.peek() == "-":
            self.take()
            return -self.atom()
        return self.atom()

    def factorial(self, value: Fraction) -> Fraction:
        self.take()
        if self.peek() == "!" or value.denominator != 1 or not 0 <= value <= MAX_FACTORIAL:
            raise _UnreadableError
        return Fraction(math.factorial(int(value)))

    def atom(self) -> Fraction:
        kind, token = self.kind(), self.take()
        if kind == "number":
            return _literal(token)
        if kind == "mixed":
            return _mixed(token)
        if kind == "recurring":
            return _recurring(token)
        if token == "\\frac":
            top = self.group("{", "}")
            return _ratio(top, self.group("{", "}"))
        if token == "\\sqrt":
            return _root(self.group("{", "}"))
        for opener, closer in (("(", ")"), ("{", "}"), ("[", "]")):
            if token == opener:
                self.next -= 1
                return self.group(opener, closer)
        raise _UnreadableError

    def group(self, opener: str, closer: str) -> Fraction:
        self.expect(opener)
        value = self.sum()
        self.expect(closer)
        return value
