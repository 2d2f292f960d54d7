r"""The grammar above the atoms: powers, products, sums, sets, relations, lists.

From tight to loose: `^`; postfix `!`, `%`, degrees; juxtaposition, `*` and `/` from left to right
(`1/2x` is half of x); signs; `+`, `-`, `±`; unions; relations; `,`, `;`, "and", "or". So
`-2^2` is -4 and `a/b/c` is `(a/b)/c` (P10).
"""

from __future__ import annotations

from reasonenv.checkers.math.atoms import Atoms, begins_atom
from reasonenv.checkers.math.limits import MAX_MEMBERS
from reasonenv.checkers.math.quantities import Quantities
from reasonenv.checkers.math.tokens import Token, UnreadableError
from reasonenv.checkers.math.tree import (
    Add,
    Call,
    Chain,
    Div,
    List,
    Mixed,
    Mul,
    Neg,
    Node,
    PlusMinus,
    Pow,
    Quantity,
    Ratio,
    SetOp,
    Symbol,
    contains,
)
from reasonenv.checkers.math.units import is_unit_word
from reasonenv.checkers.math.vocabulary import RELATIONS

__all__ = ["Parser", "parse"]

_CIRCLES = ("circ", "deg", "°")
_TEMPERATURES = frozenset("CF")


def parse(tokens: list[Token]) -> Node:
    r"""Return the tree of a whole answer.

    Raises:
        UnreadableError: the tokens are no mathematics that the grammar reads, or too deep.
    """
    parser = Parser(tokens)
    tree = parser.listed()
    if parser.peek().kind != "end":
        raise UnreadableError
    return tree


class Parser(Quantities, Atoms):
    """A recursive descent over one list of tokens; see the module for the precedences."""

    def listed(self) -> Node:
        """Read items joined by commas, "and", "or"; one item is itself."""
        items = [self.item()]
        joiner = ","
        while True:
            found = ""
            while self.at(",", ";") or self.peek().kind == "join":
                token = self.take()
                found = token.text if token.kind == "join" else found or ","
            if not found:
                break
            joiner = found if found in ("and", "or") and joiner != "or" else joiner
            items.append(self.item())
            if len(items) > MAX_MEMBERS:
                raise UnreadableError
        return items[0] if len(items) == 1 else List(tuple(items), joiner)

    def conditions(self) -> Node:
        """Read the condition of a set builder: relations joined by "and", "or"."""
        return self.listed()

    def item(self) -> Node:
        """Read a chain of relations with its modulus, or one side."""
        with self.nested(self.bar_closes):
            return self.with_modulus(self.relation())

    def with_modulus(self, left: Node) -> Node:
        r"""Read `\pmod{5}` or `(mod 5)` behind a congruence."""
        bracketed = self.at("(") and self.peek(1).text == "mod"
        if bracketed:
            self.position += 2
        elif not self.at("pmod"):
            return left
        else:
            self.take()
        modulus = self.sum() if bracketed else self.argument()
        if bracketed:
            self.expect(")")
        if isinstance(left, Chain):
            last = Call("pmod", (left.items[-1], modulus))
            return Chain(left.operators, (*left.items[:-1], last))
        return Call("pmod", (left, modulus))

    def relation(self) -> Node:
        """Read a chain of relations, or one side."""
        left = self.named_call()
        if left is None:
            left = self.side()
        if self.peek().kind != "op" or self.peek().text not in RELATIONS:
            return left
        operators: list[str] = []
        sides = [left]
        while self.peek().kind == "op" and self.peek().text in RELATIONS:
            operator = self.take().text
            if operator == "~":
                operator = "~~"
            operators.append(operator)
            sides.append(self.side())
            if len(sides) > MAX_MEMBERS:
                raise UnreadableError
        return Chain(tuple(operators), tuple(sides))

    def side(self) -> Node:
        """Read a set expression, a quantity or a ratio."""
        left = self.quantity()
        if self.at("choose") and self.depth == 1:  # "5 choose 2"; in braces it is a group's
            self.take()
            left = Call("binomial", (left, self.sum()))
        if self.at(":") and not self.bar_closes and self.peek(1).kind in ("num", "sym"):
            items = [left]
            while self.at(":"):
                self.take()
                items.append(self.sum())
            return Ratio(tuple(items))
        while self.at("cup", "cap", "setminus"):
            operator = self.take().text
            items = [left, self.sum()]
            while self.at(operator) and operator != "setminus":
                self.take()
                items.append(self.sum())
            left = SetOp(operator, tuple(items))
        return left

    def sum(self) -> Node:
        """Read terms with their signs."""
        terms: list[Node] = []
        sign = "+"
        if self.at("+", "-", "+-", "-+"):
            sign = self.take().text
        while True:
            term = self.product()
            if sign in ("+-", "-+"):
                left = None if not terms else terms[0] if len(terms) == 1 else Add(tuple(terms))
                terms = [PlusMinus(left, term, sign == "-+")]
            else:
                terms.append(Neg(term) if sign == "-" else term)
            if not self.at("+", "-", "+-", "-+"):
                return terms[0] if len(terms) == 1 else Add(tuple(terms))
            sign = self.take().text
            if sign in ("+", "-") and self.at("-", "+"):  # 5 - -3
                sign = "+" if sign == self.take().text else "-"

    def product(self) -> Node:
        """Read factors and divisors from left to right."""
        tops: list[Node] = [self.power()]
        bottoms: list[Node] = []
        while True:
            token = self.peek()
            if token.kind == "op":
                text = token.text
                if text == "*":
                    self.take()
                    tops.append(self.signed())
                    continue
                if text == "/":
                    self.take()
                    bottoms.append(self.signed())
                    if self.tokens[self.position - 1].text == "%":
                        raise UnreadableError  # "1/2%": half a percent, or 1/(2%)?
                    continue
                if text == "mod":
                    self.take()
                    left = _quotient(tops, bottoms)
                    tops, bottoms = [Call("mod", (left, self.signed()))], []
                    continue
            if self.is_times(token):
                self.take()
                tops.append(self.power())
                continue
            if not self.is_factor(token, tops):
                return _quotient(tops, bottoms)
            tops.append(self.power())

    def is_times(self, token: Token) -> bool:
        """Whether an x stands between two numbers, as in `1.5 x 10^3`."""
        return (
            token.kind == "sym"
            and token.text in "xX"
            and self.peek(1).kind == "num"
            and self.tokens[self.position - 1].kind == "num"
        )

    def is_factor(self, token: Token, before: list[Node]) -> bool:
        """Whether `token` begins one more factor without a sign for it."""
        last = before[-1]
        if token.marked and token.kind == "sym" and not contains(last, Symbol):
            return not is_unit_word(token.text, marked=True)
        if isinstance(last, Call) and last.name == "degree" and token.text in _TEMPERATURES:
            return False
        if token.kind == "word":
            return len(token.text) <= 3 and not token.marked and not is_unit_word(token.text)
        if token.kind == "op" and token.text in ("|", "||"):
            return not self.bar_closes
        if token.text == "frac" and self.is_unit_fraction():
            return False
        if token.kind == "op" and token.text == "\\{":
            return False
        if token.kind == "num":  # 3!7! and (n-2) 2^n are products, "3 7" is none
            return self.tokens[self.position - 1].text in ("!", ")", "}")
        return begins_atom(token)

    def signed(self) -> Node:
        """Read a power with at most one sign before it."""
        if self.at("-", "+"):
            sign = self.take().text
            value = self.power()
            return Neg(value) if sign == "-" else value
        return self.power()

    def power(self) -> Node:
        """Read an atom and what stands behind it."""
        if self.at("|", "||") and self.bar_closes:
            raise UnreadableError
        value = self.atom()
        factorials = 0
        while True:
            if self.at("!"):
                self.take()
                factorials += 1
                if self.at("!"):
                    self.take()
                    value = Call("doublefactorial", (value,))
                else:
                    value = Call("factorial", (value,))
                if factorials > 2:
                    raise UnreadableError
            elif self.at("^"):
                self.take()
                value = self.raised(value)
            elif self.at("%"):
                self.take()
                if isinstance(value, Call) and value.name == "percent":
                    raise UnreadableError
                value = Call("percent", (value,))
            elif self.at("deg", "°"):
                self.take()
                value = self.degrees(value)
            else:
                return value

    def raised(self, base: Node) -> Node:
        r"""Read what stands after `^`: an exponent, or the circle of a degree."""
        if self.at("{") and self.peek(1).text in _CIRCLES and self.peek(2).text == "}":
            self.position += 3
            return self.degrees(base)
        if self.at(*_CIRCLES):
            self.take()
            return self.degrees(base)
        if isinstance(base, Mixed) and self.tokens[self.position - 2].text != ")":
            raise UnreadableError  # the power of the fraction, or of the whole?
        return Pow(base, self.exponent())

    def degrees(self, value: Node) -> Node:
        """Return `value` in degrees, or the temperature where a scale's letter follows."""
        if self.peek().kind == "sym" and self.peek().text in _TEMPERATURES:
            return Quantity(value, {"C": "celsius", "F": "fahrenheit"}[self.take().text])
        return Call("degree", (value,))

    def exponent(self) -> Node:
        """Read an exponent; `2^3^2` is `2^(3^2)`."""
        with self.nested(self.bar_closes):
            if self.at("{"):
                return self.brace_group()
            negative = self.at("-")
            if self.at("-", "+"):
                self.take()
            value = self.argument()
            if self.at("^"):
                self.take()
                value = self.raised(value)
            while self.at("!"):
                self.take()
                value = Call("factorial", (value,))
                if self.at("!"):
                    raise UnreadableError
            return Neg(value) if negative else value


def _quotient(tops: list[Node], bottoms: list[Node]) -> Node:
    top = tops[0] if len(tops) == 1 else Mul(tuple(tops))
    if not bottoms:
        return top
    return Div(top, bottoms[0] if len(bottoms) == 1 else Mul(tuple(bottoms)))
