"""Equations, inequalities and chains: names, truth, and equality up to a constant factor (P7)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from reasonenv.checkers.math.scalars import Comparison, constant_value, equal_scalars
from reasonenv.checkers.math.shapes import is_scalar
from reasonenv.checkers.math.tree import (
    ZERO,
    Add,
    Bracketed,
    Call,
    Chain,
    Div,
    Mul,
    Neg,
    Node,
    Number,
    Quantity,
    Ratio,
    Symbol,
    Text,
    rebuild,
    symbols_of,
)
from reasonenv.checkers.math.vocabulary import KNOWN_FUNCTIONS

__all__ = ["equal_chains", "named_value", "reduced"]

_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!=", "~~": "~~"}
_PRIMED = "'' "
"""Suffix of a letter at a second point; no name from a text ends like this."""


def named_value(node: Node) -> tuple[Node, Node] | None:
    """Return (name, value) of `x = v`, `v = x`, `f(x) = v`, `(x, y) = v`, `x in S`; else None."""
    if not isinstance(node, Chain) or len(node.items) != 2:
        return None
    left, right = node.items
    if node.operators == ("in",):
        return (left, right) if _is_name(left) else None
    if node.operators != ("=",):
        return None
    if _is_name(left):
        return left, right
    return (right, left) if isinstance(right, Symbol | Call) and _is_name(right) else None


def _is_name(node: Node) -> bool:
    if isinstance(node, Symbol | Text):
        return True
    if isinstance(node, Call):
        return node.name not in KNOWN_FUNCTIONS and all(
            isinstance(argument, Symbol | Number) for argument in node.arguments
        )
    if isinstance(node, Bracketed):
        return node.brackets == "()" and all(isinstance(item, Symbol) for item in node.items)
    if isinstance(node, Ratio):
        return all(isinstance(item, Symbol) for item in node.items)
    if isinstance(node, Div):
        return _is_differential(node.top) and _is_differential(node.bottom)
    if isinstance(node, Mul):  # a segment: AB = 5
        return all(isinstance(f, Symbol) and f.name.isupper() for f in node.factors)
    return False


def _is_differential(node: Node) -> bool:
    return isinstance(node, Mul) and node.factors[0] == Symbol("d") and len(node.factors) == 2


def reduced(node: Node, how: Comparison) -> Node:
    r"""Return what a chain counts as: `2+3=5` is 5, `\sqrt2 \approx 1.4` is its exact part."""
    if not isinstance(node, Chain):
        return node
    operators, items = node.operators, node.items
    if operators[0] == "~~":
        if not _is_name(items[0]):
            return items[0]
        operators = ("=", *operators[1:])  # a letter is no exact part: x ~ 1.4 states 1.4
    if "~~" in operators:
        end = operators.index("~~")
        operators, items = operators[:end], items[: end + 1]
    if any(operator != "=" for operator in operators):
        return Chain(operators, items)
    start = 1 if _is_name(items[0]) else 0
    values = items[start:]
    if len(values) == 1:
        return Chain(operators, items)
    quiet = Comparison(how.options)
    last = values[-1]
    bare = (*values[:-1], last.value if isinstance(last, Quantity) else last)
    if all(is_scalar(value) for value in bare) and all(
        equal_scalars(one, other, quiet) for one, other in pairwise(bare)
    ):
        return values[-1] if start == 0 else Chain(("=",), (items[0], values[-1]))
    return Chain(operators, items)


def equal_chains(
    gold: Chain, answer: Chain, how: Comparison, equal: Callable[[Node, Node], bool]
) -> bool:
    """Whether two relations are the same: side by side, flipped, or up to a constant factor."""
    if gold.operators == answer.operators and _same_items(gold.items, answer.items, equal):
        return True
    flipped = tuple(_FLIPPED.get(operator, "") for operator in reversed(answer.operators))
    turned = tuple(reversed(answer.items))
    if gold.operators == flipped and _same_items(gold.items, turned, equal):
        return True
    if len(gold.operators) != 1 or len(answer.operators) != 1:
        return False
    if not all(is_scalar(side) for side in (*gold.items, *answer.items)):
        return False
    operator, other = gold.operators[0], answer.operators[0]
    ours, theirs = (
        Add((gold.items[0], Neg(gold.items[1]))),
        Add((answer.items[0], Neg(answer.items[1]))),
    )
    if operator in ("=", "!=") and operator == other:
        return _proportional(ours, theirs, how) is not None
    if operator == other or _FLIPPED.get(operator) == other:
        factor = _proportional(ours, theirs, how)
        if factor is None:
            return False
        return factor > 0 if operator == other else factor < 0
    return False


def _same_items(
    ours: tuple[Node, ...], theirs: tuple[Node, ...], equal: Callable[[Node, Node], bool]
) -> bool:
    return len(ours) == len(theirs) and all(
        equal(one, other) for one, other in zip(ours, theirs, strict=True)
    )


def _proportional(ours: Node, theirs: Node, how: Comparison) -> int | None:
    """Return the sign of the constant c with ours = c * theirs; None where there is none.

    That is the case iff ours(p) theirs(q) = ours(q) theirs(p) at all points p, q; the second point
    is a second set of letters.
    """
    letters = symbols_of(ours)
    if not letters or letters != symbols_of(theirs):
        return None
    quiet = Comparison(how.options)
    if equal_scalars(ours, ZERO, quiet) or equal_scalars(theirs, ZERO, quiet):
        return None
    across = Mul((ours, _at_second_point(theirs)))
    along = Mul((_at_second_point(ours), theirs))
    if not equal_scalars(across, along, how):
        return None
    return _sign(ours, theirs)


def _at_second_point(node: Node) -> Node:
    if isinstance(node, Symbol):
        return Symbol(node.name + _PRIMED)
    return rebuild(node, _at_second_point)


_TRIES = ("3/7", "11/5", "-13/9", "1/8", "-5/3", "17/4")


def _sign(ours: Node, theirs: Node) -> int:
    """Return the sign of a ratio that is known to be constant; 0 where no point gives one."""
    for shift in range(len(_TRIES)):
        values = {
            letter: _fraction(_TRIES[(shift + k) % len(_TRIES)])
            for k, letter in enumerate(sorted(symbols_of(ours)))
        }
        one, other = constant_value(_put(ours, values)), constant_value(_put(theirs, values))
        if one and other:
            return 1 if (one > 0) == (other > 0) else -1
    return 0


def _fraction(text: str) -> Node:
    top, _, bottom = text.lstrip("-").partition("/")
    value = Div(Number(int(top)), Number(int(bottom)))
    return Neg(value) if text.startswith("-") else value


def _put(node: Node, values: dict[str, Node]) -> Node:
    if isinstance(node, Symbol):
        return values.get(node.name, node)
    return rebuild(node, lambda child: _put(child, values))
