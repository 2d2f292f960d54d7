"""Whether an answer is worked out, or restates the sum: the option `must_be_evaluated` (P10u)."""

from __future__ import annotations

from math import gcd

from reasonenv.checkers.math.rational import rational_or_none
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
    children,
)

__all__ = ["is_evaluated"]

_LITERALS = (Number, Decimal, Recurring, BaseN, Mixed)


def is_evaluated(node: Node) -> bool:
    r"""Whether nothing in `node` is left to be worked out as a rational number.

    >>> is_evaluated(Div(Number(3), Number(4))), is_evaluated(Pow(Number(2), Number(10)))
    (True, False)
    """
    if isinstance(node, _LITERALS):
        return True
    if isinstance(node, Neg) and not isinstance(node.value, Neg):
        return is_evaluated(node.value)
    if isinstance(node, Call) and node.name in ("percent", "degree"):
        return is_evaluated(node.arguments[0])
    if rational_or_none(node) is not None:
        return _is_reduced(node) or _is_scientific(node)
    parts: tuple[Node, ...] = ()
    if isinstance(node, Add):
        parts = node.terms
    elif isinstance(node, Mul):
        parts = node.factors
    if sum(rational_or_none(part) is not None for part in parts) > 1:
        return False
    return all(is_evaluated(child) for child in children(node))


def _is_reduced(node: Node) -> bool:
    if not isinstance(node, Div):
        return False
    top = node.top.value if isinstance(node.top, Neg) else node.top
    if not isinstance(top, Number) or not isinstance(node.bottom, Number):
        return False
    return node.bottom.value > 1 and gcd(top.value, node.bottom.value) == 1


def _is_scientific(node: Node) -> bool:
    if not isinstance(node, Mul) or len(node.factors) != 2:
        return False
    first, second = node.factors
    return (
        isinstance(first, Number | Decimal)
        and isinstance(second, Pow)
        and second.base == Number(10)
        and is_evaluated(second.exponent)
    )
