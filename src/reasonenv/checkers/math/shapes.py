"""One shape for the ways to write the same structure, before anything is compared.

Plus-minus signs become lists, matrices take their scalar factors in, sums of sets become set
operations, degrees become quantities, nested lists become flat. Scalars stay as they are.
"""

from __future__ import annotations

from reasonenv.checkers.math.limits import MAX_EXPANSIONS, MAX_MEMBERS
from reasonenv.checkers.math.tree import (
    Add,
    Bracketed,
    Call,
    Chain,
    Div,
    List,
    Matrix,
    Mul,
    Neg,
    Node,
    PlusMinus,
    Quantity,
    Set,
    SetOp,
    Symbol,
    children,
    contains,
    rebuild,
)

__all__ = ["is_scalar", "shaped"]

_STRUCTURES = (List, Set, SetOp, Bracketed, Chain, Matrix, Quantity)
_TO_SHAPE = (*_STRUCTURES, PlusMinus)
_SETS = (Set, SetOp, Bracketed)


def is_scalar(node: Node) -> bool:
    """Whether a node is one value: built of numbers and letters only."""
    return not contains(node, _STRUCTURES)


def is_number(node: Node) -> bool:
    """Whether a node is one value without letters."""
    return is_scalar(node) and not contains(node, Symbol)


def shaped(node: Node) -> Node:
    """Return the one shape of `node`."""
    if not contains(node, _TO_SHAPE):
        return _quantity(node)
    if contains(node, PlusMinus):
        expanded = _expanded(node)
        if expanded is None:
            return node
        node = expanded
    if isinstance(node, List):
        return _flat(List(tuple(shaped(item) for item in node.items), node.joiner))
    if isinstance(node, Set):
        members = _flat(List(tuple(shaped(item) for item in node.items)))
        return Set(members.items if isinstance(members, List) else (members,))
    if isinstance(node, SetOp):  # plain {3} beside a union is the set
        items = [shaped(item) for item in node.items]
        return SetOp(node.operator, tuple(Set((i,)) if is_number(i) else i for i in items))
    if isinstance(node, Bracketed):
        rows = tuple(item.items for item in node.items if isinstance(item, Bracketed))
        is_matrix = len(rows) == len(node.items) > 0 and len({len(row) for row in rows}) == 1
        if is_matrix and node.brackets == "[]":  # [[1,2],[3,4]]
            return rebuild(Matrix(rows), shaped)
        return rebuild(node, shaped)
    if isinstance(node, Chain):
        return rebuild(node, shaped)
    if isinstance(node, Quantity):
        return Quantity(shaped(node.value), node.unit)
    if isinstance(node, Matrix):
        return rebuild(node, shaped)
    return _sets(_matrix(node))


def _quantity(node: Node) -> Node:
    r"""Turn `90^\circ` into 90 with a unit; inside functions a degree stays a number."""
    if isinstance(node, Call) and node.name == "degree":
        return Quantity(node.arguments[0], "degree")
    if isinstance(node, Neg):
        inner = _quantity(node.value)
        if isinstance(inner, Quantity):
            return Quantity(Neg(inner.value), inner.unit)
    return node


def _flat(node: List) -> Node:
    if not any(isinstance(item, List) for item in node.items):
        return node
    items: list[Node] = []
    for item in node.items:
        items += item.items if isinstance(item, List) else (item,)
    return List(tuple(items[: MAX_MEMBERS + 1]), node.joiner)


def _expanded(node: Node) -> Node | None:
    r"""Return the values that a node with plus-minus signs stands for, None for too many.

    With a `\mp` the signs go together; without one each is free.
    """
    if isinstance(node, List | Set):
        items = [_expanded(item) if contains(item, PlusMinus) else item for item in node.items]
        return None if any(item is None for item in items) else type(node)(tuple(items))  # type: ignore[arg-type]
    signs = _signs(node)
    together = any(sign.flipped for sign in signs) and not all(sign.flipped for sign in signs)
    if not together and 2 ** len(signs) > MAX_EXPANSIONS:
        return None
    values: list[Node] = []
    for choice in range(2 if together else 2 ** len(signs)):
        bits = iter([choice & 1 if together else choice >> k & 1 for k in range(len(signs))])
        value = _chosen(node, bits)
        if value not in values:
            values.append(value)
    return List(tuple(values), "or")


def _signs(node: Node) -> list[PlusMinus]:
    found = [node] if isinstance(node, PlusMinus) else []
    for child in children(node):
        found += _signs(child)
    return found


def _chosen(node: Node, bits: object) -> Node:
    if not contains(node, PlusMinus):
        return node
    if not isinstance(node, PlusMinus):
        return rebuild(node, lambda child: _chosen(child, bits))
    negative = next(bits) ^ node.flipped  # type: ignore[call-overload]
    left = None if node.left is None else _chosen(node.left, bits)
    right = _chosen(node.right, bits)
    signed = Neg(right) if negative else right
    return signed if left is None else Add((left, signed))


def _matrix(node: Node) -> Node:
    """Multiply a matrix by its scalar factor, divide it, negate it."""
    if isinstance(node, Neg) and contains(node.value, Matrix):
        inner = _matrix(node.value)
        if isinstance(inner, Matrix):
            return _entries(inner, Neg)
    if isinstance(node, Div) and contains(node.top, Matrix):
        inner, bottom = _matrix(node.top), node.bottom
        if isinstance(inner, Matrix):
            return _entries(inner, lambda entry: Div(entry, bottom))
    if isinstance(node, Mul):
        matrices = [factor for factor in node.factors if isinstance(factor, Matrix)]
        if len(matrices) == 1:
            others = tuple(factor for factor in node.factors if not isinstance(factor, Matrix))
            return _entries(matrices[0], lambda entry: Mul((*others, entry)))
    if isinstance(node, Add):
        terms = [_matrix(term) for term in node.terms]
        shapes = {
            (len(term.rows), len(term.rows[0])) if isinstance(term, Matrix) else None
            for term in terms
        }
        if len(shapes) == 1 and None not in shapes:
            rows = zip(*[term.rows for term in terms if isinstance(term, Matrix)], strict=True)
            return Matrix(
                tuple(tuple(Add(entries) for entries in zip(*row, strict=True)) for row in rows)
            )
    return node


def _entries(matrix: Matrix, change: object) -> Matrix:
    return Matrix(tuple(tuple(change(e) for e in row) for row in matrix.rows))  # type: ignore[operator]


def _sets(node: Node) -> Node:
    r"""Read `R - {0}` as a set difference."""
    if isinstance(node, Add) and len(node.terms) == 2:
        left, right = node.terms
        taken = right.value if isinstance(right, Neg) else None
        if isinstance(taken, Set) and isinstance(left, (*_SETS, Symbol)):
            return SetOp("setminus", (shaped(left), shaped(taken)))
    return node
