r"""Sets of reals: intervals, unions, solved inequalities, `x \in S`, set builders (P8).

A set is a sorted tuple of disjoint pieces; a point is a piece that is closed at both ends. Ends are
ordered by value and compared as the scalars they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from reasonenv.checkers.math.scalars import constant_value
from reasonenv.checkers.math.tree import (
    Bracketed,
    Chain,
    Constant,
    List,
    Neg,
    Node,
    Quantity,
    Set,
    SetBuilder,
    SetOp,
    Symbol,
)

__all__ = ["Piece", "RealSet", "is_set_like", "real_set"]

_FAR = Fraction(10) ** 30_000
"""Stands for infinity where ends are ordered; no constant within the limits is as large."""
_SAME_END = Fraction(1, 10**45)
_LESS = {"<": False, "<=": True}
_MORE = {">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Piece:
    """An interval: ends as values and as written, and whether they belong to it."""

    low: Fraction
    low_in: bool
    high: Fraction
    high_in: bool
    low_tree: Node
    high_tree: Node


@dataclass(frozen=True, slots=True)
class RealSet:
    """Disjoint pieces in order, and the letter that ranges over them if one was named."""

    pieces: tuple[Piece, ...]
    name: str | None = None


_INF = Constant("inf")


def is_set_like(node: Node) -> bool:
    """Whether a node can only be a set of reals, or a condition that describes one."""
    if isinstance(node, SetOp | SetBuilder):
        return True
    if isinstance(node, Bracketed):
        return node.brackets in ("(]", "[)") or any(_is_infinite(item) for item in node.items)
    if isinstance(node, Chain):
        if node.operators == ("in",):
            return is_set_like(node.items[1]) or isinstance(node.items[1], Bracketed)
        return all(operator in ("<", ">", "<=", ">=", "!=") for operator in node.operators)
    if isinstance(node, List):
        return all(is_set_like(item) for item in node.items)
    return False


def real_set(node: Node) -> RealSet | None:
    """Return the set of reals that a node denotes, None where it denotes none that is solved."""
    if isinstance(node, Bracketed):
        return _interval(node)
    if isinstance(node, Set):
        return _points(node.items)
    if isinstance(node, SetOp):
        return _operation(node)
    if isinstance(node, Chain):
        return _chain(node)
    if isinstance(node, List):
        return _list(node)
    if isinstance(node, SetBuilder):
        return _builder(node)
    return None


def _end(node: Node) -> Fraction | None:
    if isinstance(node, Quantity):
        node = node.value
    if node == _INF:
        return _FAR
    if node == Neg(_INF):
        return -_FAR
    value = constant_value(node)
    return Fraction(value) if value is not None else None


def _is_infinite(node: Node) -> bool:
    return node in (_INF, Neg(_INF))


def _piece(low: Node, low_in: bool, high: Node, high_in: bool) -> RealSet | None:
    left, right = _end(low), _end(high)
    if left is None or right is None or left > right:
        return None
    if abs(left) == _FAR:
        low_in = False
    if abs(right) == _FAR:
        high_in = False
    if left == right and not (low_in and high_in):
        return RealSet(())
    return RealSet((Piece(left, low_in, right, high_in, low, high),))


def _interval(node: Bracketed) -> RealSet | None:
    if len(node.items) != 2:
        return None
    low, high = node.items
    return _piece(low, node.brackets[0] == "[", high, node.brackets[1] == "]")


def _points(items: Sequence[Node]) -> RealSet | None:
    sets = [_piece(item, True, item, True) for item in items]
    return _merged(sets)


def _operation(node: SetOp) -> RealSet | None:
    sets = [real_set(item) for item in node.items]
    if node.operator == "cup":
        return _merged(sets)
    result = sets[0]
    for other in sets[1:]:
        if result is None or other is None:
            return None
        result = _cut(result, other if node.operator == "cap" else _complement(other))
    return result


def _merged(sets: Sequence[RealSet | None]) -> RealSet | None:
    """Return the union: sorted, with pieces that overlap or touch made one."""
    pieces: list[Piece] = []
    for part in sets:
        if part is None:
            return None
        pieces += part.pieces
    pieces.sort(key=lambda piece: (piece.low, not piece.low_in))
    merged: list[Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if last is not None and _touch(last, piece):
            if (piece.high, piece.high_in) > (last.high, last.high_in):
                last = replace(
                    last, high=piece.high, high_in=piece.high_in, high_tree=piece.high_tree
                )
            merged[-1] = last
        else:
            merged.append(piece)
    return RealSet(tuple(merged))


def _touch(left: Piece, right: Piece) -> bool:
    gap = right.low - left.high
    if abs(gap) <= _SAME_END * max(Fraction(1), abs(right.low)):
        return left.high_in or right.low_in
    return gap < 0


def _complement(whole: RealSet) -> RealSet:
    pieces: list[Piece] = []
    low, low_in, low_tree = -_FAR, False, Neg(_INF)
    edge: tuple[Fraction, bool, Node] = (low, low_in, low_tree)
    for piece in whole.pieces:
        if edge[0] < piece.low or (edge[1] and not piece.low_in):
            pieces.append(
                Piece(edge[0], edge[1], piece.low, not piece.low_in, edge[2], piece.low_tree)
            )
        edge = (piece.high, not piece.high_in and piece.high < _FAR, piece.high_tree)
    if edge[0] < _FAR:
        pieces.append(Piece(edge[0], edge[1], _FAR, False, edge[2], _INF))
    return RealSet(tuple(p for p in pieces if p.low < p.high or (p.low_in and p.high_in)))


def _cut(one: RealSet, other: RealSet) -> RealSet:
    """Return the intersection."""
    pieces: list[Piece] = []
    for a in one.pieces:
        for b in other.pieces:
            low, high = max(a, b, key=_low_key), min(a, b, key=_high_key)
            cut = Piece(low.low, low.low_in, high.high, high.high_in, low.low_tree, high.high_tree)
            if cut.low < cut.high or (cut.low == cut.high and cut.low_in and cut.high_in):
                pieces.append(cut)
    return RealSet(tuple(pieces), one.name or other.name)


_low_key: Callable[[Piece], tuple[Fraction, bool]] = lambda piece: (piece.low, not piece.low_in)  # noqa: E731
_high_key: Callable[[Piece], tuple[Fraction, bool]] = lambda piece: (piece.high, piece.high_in)  # noqa: E731


def _chain(node: Chain) -> RealSet | None:
    if node.operators == ("in",):
        inside = real_set(node.items[1])
        if inside is None or not isinstance(node.items[0], Symbol):
            return None
        return replace(inside, name=node.items[0].name)
    letters = [item for item in node.items if isinstance(item, Symbol)]
    if len(letters) != 1 or len(node.items) > 3:
        return None
    name = letters[0].name
    operators, items = node.operators, node.items
    if all(operator in _MORE for operator in operators):
        operators = tuple(_MORE[operator] for operator in reversed(operators))
        items = tuple(reversed(items))
    at = items.index(letters[0])
    if operators in (("!=",), ("=",)):
        point = _points([items[1 - at]])
        if point is None:
            return None
        return replace(point if operators == ("=",) else _complement(point), name=name)
    if not all(operator in _LESS for operator in operators):
        return None
    low: Node = Neg(_INF)
    high: Node = _INF
    low_in = high_in = False
    if at > 0:
        low, low_in = items[at - 1], _LESS[operators[at - 1]]
    if at + 1 < len(items):
        high, high_in = items[at + 1], _LESS[operators[at]]
    if len(items) == 3 and at != 1:
        return None
    found = _piece(low, low_in, high, high_in)
    return replace(found, name=name) if found is not None else None


def _list(node: List) -> RealSet | None:
    """Join conditions: "or" is a union, "and" an intersection, a comma one unless that is empty."""
    sets: list[RealSet] = []
    for item in node.items:
        part = real_set(item)
        if part is None:
            return None
        sets.append(part)
    names = {part.name for part in sets if part.name is not None}
    if len(names) > 1:
        return None
    name = next(iter(names), None)
    conditions = all(isinstance(item, Chain) for item in node.items)
    if conditions and node.joiner != "or":
        cut = sets[0]
        for part in sets[1:]:
            cut = _cut(cut, part)
        if cut.pieces or node.joiner == "and":
            return replace(cut, name=name)
    union = _merged(sets)
    return replace(union, name=name) if union is not None else None


def _builder(node: SetBuilder) -> RealSet | None:
    member, domain = node.member, None
    if isinstance(member, Chain) and member.operators == ("in",):
        domain = real_set(member.items[1])
        if domain is None:
            return None
        member = member.items[0]
    inside = real_set(node.condition)
    if inside is None or not isinstance(member, Symbol) or inside.name not in (member.name, None):
        return None
    inside = replace(inside, name=None)  # a bound letter has no name outside
    return inside if domain is None else _cut(inside, replace(domain, name=None))
