"""The last rung: sympy, in a worker. Its objects are built by calls, never parsed from text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reasonenv.checkers.math.rational import rational_or_none
from reasonenv.checkers.math.tree import Add, Call, Constant, Div, Mul, Neg, Node, Pow, Symbol
from reasonenv.checkers.math.words import words_of

__all__ = ["decide_slowly"]


class _NotAlgebraError(Exception):
    """A node that sympy is not asked about."""


def decide_slowly(gold: Node, answer: Node) -> bool:
    """Return whether sympy proves two scalars equal; letters are integers or positive reals.

    Picklable and pure, so that a worker can run it; the caller owns the deadline.
    """
    import sympy  # type: ignore[import-untyped]

    try:
        gap = _built(gold) - _built(answer)
        if gap == 0:
            return True
        return bool(sympy.simplify(gap) == 0)
    except (_NotAlgebraError, ArithmeticError, ValueError, TypeError, NotImplementedError):
        return False


def _built(node: Node) -> Any:
    import sympy

    exact = rational_or_none(node)
    if exact is not None:
        return sympy.Rational(exact.numerator, exact.denominator)
    if isinstance(node, Symbol):
        return sympy.Symbol(node.name, positive=True)
    if isinstance(node, Constant):
        return {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "inf": sympy.oo}[node.name]
    if isinstance(node, Add):
        return sympy.Add(*[_built(term) for term in node.terms])
    if isinstance(node, Neg):
        return -_built(node.value)
    if isinstance(node, Mul):
        return sympy.Mul(*[_built(factor) for factor in node.factors])
    if isinstance(node, Div):
        return _built(node.top) / _built(node.bottom)
    if isinstance(node, Pow):
        return sympy.Pow(_built(node.base), _built(node.exponent))
    if isinstance(node, Call):
        function = _functions().get(node.name)
        if function is not None:
            return function(*[_built(argument) for argument in node.arguments])
    raise _NotAlgebraError


def _functions() -> dict[str, Callable[..., Any]]:
    import sympy

    named = {
        name: getattr(sympy, name)
        for name in words_of(
            "sin cos tan cot sec csc sinh cosh tanh coth factorial binomial floor gcd lcm sqrt log"
        )
    }
    inverse = {
        "arc" + name: getattr(sympy, "a" + name)
        for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")
    }
    others = {
        "ln": sympy.log,
        "root": sympy.root,
        "abs": sympy.Abs,
        "ceil": sympy.ceiling,
        "max": sympy.Max,
        "min": sympy.Min,
        "mod": sympy.Mod,
        "percent": lambda x: x / 100,
        "degree": lambda x: x * sympy.pi / 180,
    }
    return named | inverse | others
