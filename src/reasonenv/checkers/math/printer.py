"""Printing a tree so that reading the text gives it back: `read(show(tree)).tree == tree`."""

from __future__ import annotations

from collections.abc import Callable

from reasonenv.checkers.math.tree import (
    Add,
    BaseN,
    Bracketed,
    Call,
    Chain,
    Constant,
    Decimal,
    Div,
    List,
    Matrix,
    Mixed,
    Mul,
    Neg,
    Node,
    Number,
    Piecewise,
    PlusMinus,
    Pow,
    Quantity,
    Ratio,
    Recurring,
    Set,
    SetBuilder,
    SetOp,
    Symbol,
    Text,
    Unreadable,
)
from reasonenv.checkers.math.words import words_of

__all__ = ["show"]

_CONSTANTS = {"pi": "\\pi ", "e": "e", "i": "i", "inf": "\\infty "}
_RELATIONS = {
    "=": " = ",
    "<=": "\\leq ",
    ">=": "\\geq ",
    "!=": "\\neq ",
    "~~": "\\approx ",
    "in": "\\in ",
    "==": "\\equiv ",
}
_ATOMS = (Number, Constant, Symbol, Recurring, Bracketed, Set, Matrix)
_POSTFIX = {"factorial": "!", "doublefactorial": "!!", "percent": "\\%", "degree": "^\\circ "}
_AROUND = {
    "abs": ("\\lvert ", "\\rvert "),
    "norm": ("\\lVert ", "\\rVert "),
    "floor": ("\\lfloor ", "\\rfloor "),
    "ceil": ("\\lceil ", "\\rceil "),
}
_COMMANDS = frozenset(
    words_of(
        "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan ln gcd max min det arg"
    )
)


def show(node: Node) -> str:
    r"""Return `node` as LaTeX in one spelling.

    >>> show(Div(Add((Number(1), Symbol("x"))), Number(2)))
    '\\frac{1+x}{2}'
    """
    return _RULES[type(node)](node)


def _wrapped(node: Node) -> str:
    """Print an operand: bracketed unless it is an atom."""
    text = show(node)
    if isinstance(node, _ATOMS) or (isinstance(node, Call) and node.name in _AROUND):
        return text
    return f"({text})"


def _number(node: Number) -> str:
    return str(node.value)


def _decimal(node: Decimal) -> str:
    if node.places <= 0 or node.places > 40:
        return f"{node.mantissa}e{-node.places}"
    digits = str(node.mantissa).rjust(node.places + 1, "0")
    return f"{digits[: -node.places]}.{digits[-node.places :]}"


def _recurring(node: Recurring) -> str:
    return f"{node.whole or '0'}.{node.fixed}\\overline{{{node.period}}}"


def _mixed(node: Mixed) -> str:
    return f"{node.whole}\\frac{{{node.top}}}{{{node.bottom}}}"


def _base_n(node: BaseN) -> str:
    return f"{node.digits}_{{{node.base}}}"


def _symbol(node: Symbol) -> str:
    name, _, rest = node.name.partition("_")
    primes = ""
    while rest.endswith("'") or (not rest and name.endswith("'")):
        primes += "'"
        name, rest = (name, rest[:-1]) if rest else (name[:-1], rest)
    space = " " if name.startswith("\\") and not name.endswith("}") else ""
    return name + space + (f"_{{{rest}}}" if rest else "") + primes


def _add(node: Add) -> str:
    pieces = [_term(node.terms[0])]
    for term in node.terms[1:]:
        text = _term(term)
        pieces.append(text if text.startswith("-") else "+" + text)
    return "".join(pieces)


def _term(node: Node) -> str:
    if isinstance(node, Neg):
        inner = node.value
        return "-" + (show(inner) if isinstance(inner, Mul | Div | Pow) else _wrapped(inner))
    return show(node) if isinstance(node, Mul | Div | Pow) else _wrapped(node)


def _neg(node: Neg) -> str:
    return _term(node)


def _mul(node: Mul) -> str:
    return " \\cdot ".join(
        show(factor) if isinstance(factor, Pow) else _wrapped(factor) for factor in node.factors
    )


def _div(node: Div) -> str:
    return f"\\frac{{{show(node.top)}}}{{{show(node.bottom)}}}"


def _pow(node: Pow) -> str:
    return f"{_wrapped(node.base)}^{{{show(node.exponent)}}}"


def _call(node: Call) -> str:
    name, arguments = node.name, node.arguments
    inside = ",".join(show(argument) for argument in arguments)
    if name in _POSTFIX:
        return _wrapped(arguments[0]) + _POSTFIX[name]
    if name in _AROUND:
        opener, closer = _AROUND[name]
        return opener + inside + closer
    if name == "sqrt":
        return f"\\sqrt{{{inside}}}"
    if name == "root":
        return f"\\sqrt[{show(arguments[1])}]{{{show(arguments[0])}}}"
    if name == "binomial":
        return f"\\binom{{{show(arguments[0])}}}{{{show(arguments[1])}}}"
    if name == "log":
        return f"\\log_{{{show(arguments[1])}}}({show(arguments[0])})"
    if name == "mod":
        return f"{_wrapped(arguments[0])} \\bmod {_wrapped(arguments[1])}"
    if name in _COMMANDS:
        return f"\\{name}({inside})"
    if len(name) > 1 and name.isalpha():
        return f"\\operatorname{{{name}}}({inside})"
    return f"{name}({inside})"


def _plus_minus(node: PlusMinus) -> str:
    sign = "\\mp " if node.flipped else "\\pm "
    left = "" if node.left is None else show(node.left)
    if isinstance(node.left, PlusMinus):
        left = f"({left})"
    return left + sign + (_wrapped if isinstance(node.right, Neg) else _term)(node.right)


def _joined(items: tuple[Node, ...], separator: str = ", ") -> str:
    return separator.join(show(item) for item in items)


def _bracketed(node: Bracketed) -> str:
    return f"{node.brackets[0]}{_joined(node.items)}{node.brackets[1]}"


def _set(node: Set) -> str:
    return f"\\{{{_joined(node.items)}\\}}"


def _list(node: List) -> str:
    if node.joiner == ",":
        return _joined(node.items)
    return _joined(node.items, f" \\text{{ {node.joiner} }} ")


def _set_op(node: SetOp) -> str:
    return f" \\{node.operator} ".join(_wrapped(item) for item in node.items)


def _builder(node: SetBuilder) -> str:
    return f"\\{{{show(node.member)} \\mid {show(node.condition)}\\}}"


def _chain(node: Chain) -> str:
    pieces = [show(node.items[0])]
    for operator, item in zip(node.operators, node.items[1:], strict=True):
        pieces += [_RELATIONS.get(operator, operator), show(item)]
    return "".join(pieces)


def _ratio(node: Ratio) -> str:
    return ":".join(_wrapped(item) for item in node.items)


def _matrix(node: Matrix) -> str:
    rows = "\\\\".join("&".join(show(cell) for cell in row) for row in node.rows)
    return f"\\begin{{pmatrix}}{rows}\\end{{pmatrix}}"


def _piecewise(node: Piecewise) -> str:
    rows = "\\\\".join(f"{show(value)}&{_when(condition)}" for value, condition in node.rows)
    return f"\\begin{{cases}}{rows}\\end{{cases}}"


def _when(condition: Node) -> str:
    if condition == Text("otherwise"):
        return "\\text{otherwise}"
    return "\\text{if }" + show(condition)


def _quantity(node: Quantity) -> str:
    return f"{_wrapped(node.value)}\\text{{ {node.unit}}}"


_RULES: dict[type[Node], Callable[..., str]] = {
    Number: _number,
    Decimal: _decimal,
    Recurring: _recurring,
    Mixed: _mixed,
    BaseN: _base_n,
    Constant: lambda node: _CONSTANTS[node.name],
    Symbol: _symbol,
    Add: _add,
    Neg: _neg,
    Mul: _mul,
    Div: _div,
    Pow: _pow,
    Call: _call,
    PlusMinus: _plus_minus,
    Bracketed: _bracketed,
    Set: _set,
    List: _list,
    SetOp: _set_op,
    SetBuilder: _builder,
    Chain: _chain,
    Ratio: _ratio,
    Matrix: _matrix,
    Piecewise: _piecewise,
    Quantity: _quantity,
    Text: lambda node: node.words,
    Unreadable: lambda node: node.spelling,
}
