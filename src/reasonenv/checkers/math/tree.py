"""The expression tree: small immutable nodes, compared by structure.

Scalars are `Number`, `Decimal`, `Recurring`, `Mixed`, `BaseN`, `Constant`, `Symbol` and what is
built of them by `Add`, `Neg`, `Mul`, `Div`, `Pow`, `Call` and `PlusMinus`. Around them stand the
structures: tuples and intervals, sets, lists, relations, matrices, pieces, quantities, words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = [
    "REALS",
    "ZERO",
    "Add",
    "BaseN",
    "Bracketed",
    "Call",
    "Chain",
    "Constant",
    "Decimal",
    "Div",
    "List",
    "Matrix",
    "Mixed",
    "Mul",
    "Neg",
    "Node",
    "Number",
    "Piecewise",
    "PlusMinus",
    "Pow",
    "Quantity",
    "Ratio",
    "Recurring",
    "Set",
    "SetBuilder",
    "SetOp",
    "Symbol",
    "Text",
    "Unreadable",
    "children",
    "contains",
    "rebuild",
    "symbols_of",
]


class Node:
    """The base of all nodes."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Number(Node):
    """An integer as written; quotients are `Div`."""

    value: int


@dataclass(frozen=True, slots=True)
class Decimal(Node):
    """`mantissa / 10**places`, with its digits as written: 0.50 is (50, 2), 2e9 is (2, -9)."""

    mantissa: int
    places: int


@dataclass(frozen=True, slots=True)
class Recurring(Node):
    r"""A recurring decimal: `0.1\overline{6}` is ("0", "1", "6")."""

    whole: str
    fixed: str
    period: str


@dataclass(frozen=True, slots=True)
class Mixed(Node):
    """A mixed number: three and a half is (3, 1, 2); a sign before it covers the whole."""

    whole: int
    top: int
    bottom: int


@dataclass(frozen=True, slots=True)
class BaseN(Node):
    """Digits with the base as subscript."""

    digits: str
    base: int


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """One of pi, e, i, inf."""

    name: str


@dataclass(frozen=True, slots=True)
class Symbol(Node):
    r"""A letter, a Greek name with its backslash, with subscript and primes in the name."""

    name: str


@dataclass(frozen=True, slots=True)
class Add(Node):
    """A sum of two or more terms."""

    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Neg(Node):
    """Minus one value."""

    value: Node


@dataclass(frozen=True, slots=True)
class Mul(Node):
    """A product of two or more factors."""

    factors: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Div(Node):
    """A quotient."""

    top: Node
    bottom: Node


@dataclass(frozen=True, slots=True)
class Pow(Node):
    """A power."""

    base: Node
    exponent: Node


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A function of its arguments: sin, root, abs, binomial, or an unknown one such as f."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class PlusMinus(Node):
    """`left ± right`, or `∓` where flipped; `left` is None for a sign in front."""

    left: Node | None
    right: Node
    flipped: bool = False


@dataclass(frozen=True, slots=True)
class Bracketed(Node):
    """A tuple, point or interval: `brackets` is one of "()", "[]", "(]", "[)"."""

    brackets: str
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Set(Node):
    """A braced set."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class List(Node):
    """Bare items joined by commas, "and" or "or" (`joiner`)."""

    items: tuple[Node, ...]
    joiner: str = ","


@dataclass(frozen=True, slots=True)
class SetOp(Node):
    r"""Sets joined by `operator`: "cup", "cap" or "setminus"."""

    operator: str
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class SetBuilder(Node):
    """`{member | condition}`."""

    member: Node
    condition: Node


@dataclass(frozen=True, slots=True)
class Chain(Node):
    """`items[0] operators[0] items[1] ...`: an equation, an inequality, a chain of them."""

    operators: tuple[str, ...]
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Ratio(Node):
    """`3:2`, or a clock time."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Matrix(Node):
    """Rows of equal length."""

    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Piecewise(Node):
    """Rows of (value, condition)."""

    rows: tuple[tuple[Node, Node], ...]


@dataclass(frozen=True, slots=True)
class Quantity(Node):
    """A value with the unit or counted noun after it, in one spelling."""

    value: Node
    unit: str


@dataclass(frozen=True, slots=True)
class Text(Node):
    """An answer in words, as written but for spaces and marks."""

    words: str


@dataclass(frozen=True, slots=True)
class Unreadable(Node):
    """What no rule reads: equal to nothing but its own spelling."""

    spelling: str


ZERO = Number(0)
INFINITY = Constant("inf")
REALS = Bracketed("()", (Neg(INFINITY), INFINITY))


def children(node: Node) -> list[Node]:
    """Return the nodes right below `node`, in order."""
    found: list[Node] = []
    for name in type(node).__match_args__:  # type: ignore[attr-defined]  # every node is a dataclass
        value = getattr(node, name)
        if isinstance(value, Node):
            found.append(value)
        elif type(value) is tuple:
            for item in value:
                if isinstance(item, Node):
                    found.append(item)
                elif type(item) is tuple:  # rows of a matrix or of pieces
                    found += item
    return found


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return `node` with `change` applied to the nodes right below it."""
    names = type(node).__match_args__  # type: ignore[attr-defined]
    return type(node)(*[_rebuilt(getattr(node, name), change) for name in names])


def _rebuilt(value: object, change: Callable[[Node], Node]) -> object:
    if isinstance(value, Node):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_rebuilt(item, change) for item in value)
    return value


def contains(node: Node, kinds: type[Node] | tuple[type[Node], ...]) -> bool:
    """Whether `node` or a node below it is of one of `kinds`."""
    stack = [node]
    while stack:
        top = stack.pop()
        if isinstance(top, kinds):
            return True
        if type(top) not in _LEAVES:
            stack += children(top)
    return False


def symbols_of(node: Node) -> frozenset[str]:
    """Return the names of all symbols in `node`."""
    found: set[str] = set()
    stack = [node]
    while stack:
        top = stack.pop()
        if type(top) is Symbol:
            found.add(top.name)
        elif type(top) not in _LEAVES:
            stack += children(top)
    return frozenset(found)


_LEAVES = frozenset((Number, Decimal, Recurring, Mixed, BaseN, Constant, Symbol, Text, Unreadable))
