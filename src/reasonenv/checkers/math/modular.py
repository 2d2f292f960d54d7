r"""Identity testing modulo a large prime: a ring homomorphism applied at one hashed point.

Sums, products, quotients and powers of numbers, letters, pi, e and real radicals of rationals map
to residues; two sides with different residues differ, and two different sides share a residue
with probability about degree / 2^135 (Schwartz 1980, Zippel 1979). What has no residue of its own
(a sine, a symbolic exponent, a nested root) becomes a letter named by its arguments' residues:
equal residues still prove equality then, different ones prove nothing.

The prime makes real roots single-valued: it is 7 mod 8, every prime q below 100 is a square mod P
and does not divide P - 1. So each q has exactly one square root, cube root, ... among the squares,
and these multiply as the positive real roots do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import gcd

from reasonenv.checkers.math.limits import MAX_FACTORIAL, MAX_POWER_BITS
from reasonenv.checkers.math.rational import (
    NotRationalError,
    Rational,
    UndefinedError,
    exact_root,
    rational,
    rational_or_none,
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

__all__ = ["Fingerprint", "P", "fingerprint"]

P = 37960817439312219195748909143071550809159
"""The prime; see the module."""
_SQUARES = (P - 1) // 2
_SMALL_PRIMES = [q for q in range(2, 100) if all(q % d for d in range(2, int(q**0.5) + 1))]
_MAX_CHOICES = 20
"""The largest k for which n over k is worked out as a polynomial in n."""
_COMMUTATIVE = frozenset(("gcd", "lcm", "max", "min"))


class _NoResidueError(Exception):
    """A node that denotes no number: infinity, a set, a word."""


class Fingerprint:
    """The residue of a tree, and whether a different residue proves a difference.

    Attributes:
        value: the residue, None where there is none.
        certain: whether no letter stands for anything but itself.
    """

    __slots__ = ("certain", "value")

    def __init__(self, node: Node) -> None:
        self.certain = True
        self.value: int | None = None
        try:
            self.value = self._of(node)
        except _NoResidueError:
            self.certain = False

    def _of(self, node: Node) -> int:
        rule = _RULES.get(type(node))
        if rule is None:
            raise _NoResidueError
        return rule(self, node)

    def _number(self, node: Number) -> int:
        return node.value % P

    def _decimal(self, node: Decimal) -> int:
        return node.mantissa * pow(10, -node.places, P) % P

    def _exact(self, node: Node) -> int:
        return _residue(rational(node))

    def _symbol(self, node: Symbol) -> int:
        return _letter(node.name)

    def _constant(self, node: Constant) -> int:
        if node.name == "inf":
            raise _NoResidueError
        if node.name == "i":
            self.certain = False  # its square is -1, which a letter does not know
        return _letter("constant " + node.name)

    def _add(self, node: Add) -> int:
        return sum([self._of(term) for term in node.terms]) % P

    def _neg(self, node: Neg) -> int:
        return -self._of(node.value) % P

    def _mul(self, node: Mul) -> int:
        product = 1
        for factor in node.factors:
            product = product * self._of(factor) % P
        return product

    def _div(self, node: Div) -> int:
        return self._of(node.top) * self._inverse(self._of(node.bottom)) % P

    def _inverse(self, value: int) -> int:
        if value == 0:
            raise UndefinedError
        return pow(value, -1, P)

    def _pow(self, node: Pow) -> int:
        exponent = rational_or_none(node.exponent)
        if exponent is None or exponent.numerator.bit_length() > MAX_POWER_BITS:
            return self._named("pow", (self._of(node.base), self._of(node.exponent)))
        return self._raised(node.base, exponent)

    def _raised(self, base: Node, exponent: Rational) -> int:
        if exponent.denominator == 1:
            value = self._of(base)
            if exponent <= 0 and value == 0:
                raise UndefinedError
            return pow(value, int(exponent), P)
        degree = exponent.denominator
        exact = rational_or_none(base)
        if exact is not None and gcd(degree, _SQUARES) == 1:
            return self._radical(exact, degree, exponent.numerator)
        root = self._content(base, degree, exponent.numerator)
        if root is not None:
            return root
        value = self._of(base)
        if degree % 2 and gcd(degree, P - 1) == 1:
            self.certain = False  # roots of sums obey relations that hold only in the reals
            power = exponent.numerator * pow(degree, -1, P - 1) % (P - 1)
            return pow(value, power, P)
        root = self._named("root", (value, degree))
        return pow(root, exponent.numerator, P)

    def _content(self, base: Node, degree: int, power: int) -> int | None:
        r"""Take the positive rational factors out of a root: `\\sqrt{2m}` is `\\sqrt2 \\sqrt m`."""
        factors = base.factors if isinstance(base, Mul) else ()
        exact = [rational_or_none(factor) for factor in factors]
        content: Rational = 1
        for value in exact:
            content = content if value is None else content * value
        if content <= 0 or content == 1 or gcd(degree, _SQUARES) != 1:
            return None
        rest = tuple(f for f, value in zip(factors, exact, strict=True) if value is None)
        inner = self._raised(rest[0] if len(rest) == 1 else Mul(rest), Fraction(power, degree))
        return self._radical(content, degree, power) * inner % P

    def _radical(self, value: Rational, degree: int, power: int) -> int:
        """Return the residue of `value ** (power / degree)` for a rational `value`."""
        if value == 0:
            if power <= 0:
                raise UndefinedError
            return 0
        sign = 1
        if value < 0:
            if degree % 2 == 0:
                sign = pow(self._named("root of -1", (degree,)), power, P)
            elif power % 2:
                sign = -1
            value = -value
        result = sign
        step = pow(degree, -1, _SQUARES) * power
        for part, side in ((value.numerator, 1), (value.denominator, -1)):
            for prime in _SMALL_PRIMES:
                count = 0
                while part % prime == 0:
                    part //= prime
                    count += 1
                if count:
                    result = result * pow(prime, side * count * step % _SQUARES, P) % P
            if part > 1:
                try:
                    root = int(exact_root(part, degree))
                except NotRationalError:
                    root = self._named("radical", (part % P, degree))
                result = result * pow(root, side * power, P) % P
        return result

    def _call(self, node: Call) -> int:
        name, arguments = node.name, node.arguments
        if name == "sqrt":
            return self._raised(arguments[0], Fraction(1, 2))
        if name == "root":
            degree = rational_or_none(arguments[1])
            if isinstance(degree, int) and 0 < degree < 1000:
                return self._raised(arguments[0], Fraction(1, degree))
        if name == "percent":
            return self._of(arguments[0]) * pow(100, -1, P) % P
        if name == "degree":
            return self._of(arguments[0]) * _letter("constant pi") * pow(180, -1, P) % P
        exact = rational_or_none(node)
        if exact is not None:
            return _residue(exact)
        if name == "factorial":
            count = rational_or_none(arguments[0])
            if isinstance(count, int) and 0 <= count <= MAX_FACTORIAL:
                return _factorial(count)
        if name == "binomial":
            chosen = rational_or_none(arguments[1])
            if isinstance(chosen, int) and 0 <= chosen <= _MAX_CHOICES:
                return self._binomial(self._of(arguments[0]), chosen)
        values = tuple(self._of(argument) for argument in arguments)
        if name == "abs":
            values = (min(values[0], P - values[0]),)
        elif name in _COMMUTATIVE:
            values = tuple(sorted(values))
        return self._named(name, values)

    def _binomial(self, n: int, k: int) -> int:
        top, bottom = 1, 1
        for j in range(k):
            top, bottom = top * (n - j) % P, bottom * (j + 1)
        return top * pow(bottom, -1, P) % P

    def _named(self, name: str, values: tuple[int, ...]) -> int:
        self.certain = False
        return _letter(f"{name}{values}")


def fingerprint(node: Node) -> Fingerprint:
    """Return the fingerprint of `node`.

    Raises:
        UndefinedError: it divides by zero.
    """
    return Fingerprint(node)


@lru_cache(maxsize=4096)
def _letter(name: str) -> int:
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=24).digest()
    return int.from_bytes(digest, "big") % P


@lru_cache(maxsize=256)
def _factorial(count: int) -> int:
    product = 1
    for factor in range(2, count + 1):
        product = product * factor % P
    return product


def _residue(value: Rational) -> int:
    if value.denominator == 1:
        return value.numerator % P
    return value.numerator * pow(value.denominator, -1, P) % P


_RULES: dict[type[Node], Callable[..., int]] = {
    Number: Fingerprint._number,
    Decimal: Fingerprint._decimal,
    Recurring: Fingerprint._exact,
    Mixed: Fingerprint._exact,
    BaseN: Fingerprint._exact,
    Constant: Fingerprint._constant,
    Symbol: Fingerprint._symbol,
    Add: Fingerprint._add,
    Neg: Fingerprint._neg,
    Mul: Fingerprint._mul,
    Div: Fingerprint._div,
    Pow: Fingerprint._pow,
    Call: Fingerprint._call,
}
