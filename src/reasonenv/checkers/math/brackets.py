r"""The brackets of the grammar: groups, tuples, intervals, sets, absolute values, floors."""

from __future__ import annotations

from reasonenv.checkers.math.cursor import Cursor
from reasonenv.checkers.math.limits import MAX_MEMBERS
from reasonenv.checkers.math.tokens import UnreadableError
from reasonenv.checkers.math.tree import (
    Bracketed,
    Call,
    Div,
    List,
    Matrix,
    Node,
    Piecewise,
    Set,
    SetBuilder,
)

__all__ = ["Brackets"]

_CLOSERS = {"|l": ("|r", "abs"), "||l": ("||r", "norm"), "||": ("||", "norm")}
_ROUNDED = {"lfloor": ("rfloor", "floor"), "lceil": ("rceil", "ceil")}


def system_of(matrix: Matrix) -> Node:
    """Return what a brace before an array means: pieces, or equations that hold together."""
    rows = matrix.rows
    if len(rows[0]) == 1:
        return List(tuple(row[0] for row in rows), "and")
    if len(rows[0]) == 2:
        return Piecewise(tuple((row[0], row[1]) for row in rows))
    raise UnreadableError


class Brackets(Cursor):
    """The part of the parser that reads what a bracket opens."""

    def brace_group(self) -> Node:
        r"""Read `{...}` around one expression, `{a \over b}` and `{n \choose k}` too."""
        self.expect("{")
        return self.group_end(self.item())

    def group_end(self, inner: Node) -> Node:
        r"""Read what may stand between the item of a group and its `}`."""
        if self.at("over", "choose"):
            kind = self.take().text
            bottom = self.sum()
            inner = Div(inner, bottom) if kind == "over" else Call("binomial", (inner, bottom))
        self.expect("}")
        return inner

    def bracket(self) -> Node:
        """Read what a bracket opens."""
        opener = self.take().text
        if opener == "{":
            return self.plain_braces()
        if opener == "\\{":
            return self.braces("\\}")
        if opener in ("(", "["):
            return self.round_or_square(opener)
        if opener == "langle":
            items = self.members("rangle")
            self.expect("rangle")
            return Bracketed("()", items)
        if opener in _ROUNDED:
            closer, name = _ROUNDED[opener]
            inner = self.sum()
            if self.at(closer):
                self.take()
                return Call(name, (inner,))
            raise UnreadableError
        if opener in ("|", "|l", "||", "||l"):
            closer, name = _CLOSERS.get(opener, ("|", "abs"))
            self.bar_closes = True
            inner = self.item()
            self.bar_closes = False
            if opener == "|" and self.at("||"):  # |x||y|
                self.split_bars()
            if not self.at(closer, closer[:-1] if len(closer) > 1 and closer[-1] == "r" else "|r"):
                raise UnreadableError
            self.take()
            return Call(name, (inner,))
        raise UnreadableError

    def plain_braces(self) -> Node:
        """Read the inside of `{...}` outside arguments: a group, or a set of several members."""
        items = self.members("}")
        if len(items) > 1:
            self.expect("}")
            return Set(items)
        return self.group_end(items[0])

    def braces(self, closer: str) -> Node:
        """Read the inside of a set up to `closer`."""
        if self.at(closer):
            self.take()
            return Set(())
        self.bar_closes = True
        items = self.members(closer)
        if len(items) == 1 and isinstance(items[0], Matrix) and not self.at(closer):
            return system_of(items[0])  # a brace that only opens: \left\{ ... \right.
        if len(items) == 1 and self.at("|", ":"):
            self.take()
            self.bar_closes = False
            condition = self.conditions()
            self.expect(closer)
            return SetBuilder(items[0], condition)
        self.expect(closer)
        return Set(items)

    def members(self, closer: str) -> tuple[Node, ...]:
        """Read items up to a closer, which stays."""
        items = [self.item()]
        while self.at(",", ";") or self.peek().kind == "join":
            self.take()
            while self.peek().kind == "join":
                self.take()
            items.append(self.item())
            if len(items) > MAX_MEMBERS:
                raise UnreadableError
        return tuple(items)

    def round_or_square(self, opener: str) -> Node:
        """Read a group, a tuple or an interval."""
        items = self.members(")")
        if not self.at(")", "]"):
            raise UnreadableError
        closer = self.take().text
        if len(items) > 1:
            return Bracketed(opener + closer, items)
        if (opener, closer) not in (("(", ")"), ("[", "]")):
            raise UnreadableError
        return items[0]
