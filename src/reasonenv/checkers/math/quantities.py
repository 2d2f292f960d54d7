"""Values with a unit, a counted noun, a magnitude or a percent word behind them (P4, P5)."""

from __future__ import annotations

from reasonenv.checkers.math.cursor import Cursor
from reasonenv.checkers.math.tokens import UnreadableError
from reasonenv.checkers.math.tree import (
    Call,
    Chain,
    List,
    Mul,
    Neg,
    Node,
    Number,
    Quantity,
    SetOp,
    Symbol,
    contains,
)
from reasonenv.checkers.math.units import MAGNITUDES, unit_of
from reasonenv.checkers.math.vocabulary import PERCENT_WORDS

__all__ = ["Quantities"]

_OUTSIDE_SCALARS = (Chain, List, SetOp, Symbol)


class Quantities(Cursor):
    """The part of the parser that reads what stands behind a value in words."""

    def quantity(self) -> Node:
        """Read a sum and the unit behind it."""
        value = self.sum()
        token = self.peek()
        is_word = token.kind == "word" or (token.marked and token.kind == "sym")
        if not is_word and not (token.text == "frac" and self.is_unit_fraction()):
            return value
        if isinstance(value, _OUTSIDE_SCALARS) or (not token.marked and contains(value, Symbol)):
            raise UnreadableError
        words = self.unit_words()
        if words and words[0].lower() in MAGNITUDES:
            value = Mul((value, Number(MAGNITUDES[words[0].lower()])))
            words = words[1:]
        if [word.lower() for word in words[:2]] == ["per", "cent"]:
            words = ["percent", *words[2:]]
        if words and words[0].lower() in PERCENT_WORDS:
            value = Call("percent", (value,))
            words = words[1:]
            if words and words[0].lower() in ("point", "points"):
                words = words[1:]
        if not words:
            return value
        unit = unit_of(words)
        if unit is None:
            raise UnreadableError
        return Quantity(value, unit)

    def is_unit_fraction(self) -> bool:
        r"""Whether `\frac{miles}{hour}` stands here."""
        return self.peek(1).text == "{" and self.peek(2).kind == "word" and self.peek(2).marked

    def unit_words(self) -> list[str]:
        """Take the words, powers and strokes of a unit."""
        words: list[str] = []
        while True:
            token = self.peek()
            if token.kind in ("word", "sym") or token.text in ("in", "min", "deg"):
                words.append(self.take().text)
            elif token.kind == "op" and token.text == "^":
                self.take()
                power = self.exponent()
                words.append(f"^{_small_integer(power)}")
            elif (
                token.kind == "op"
                and token.text in ("/", "*", "-")
                and self.peek(1).kind
                in (
                    "word",
                    "sym",
                )
            ):
                if self.take().text == "/":
                    words.append("per")
            elif token.text == "frac":
                self.take()
                words += [t.text for t in self.braced_tokens()]
                words.append("per")
                words += [t.text for t in self.braced_tokens()]
            elif token.kind == "bad" and token.text == "." and words:
                self.take()  # "5 sq. ft."
            else:
                return words


def _small_integer(node: Node) -> int:
    sign = 1
    if isinstance(node, Neg):
        sign, node = -1, node.value
    if isinstance(node, Number) and node.value < 10:
        return sign * node.value
    raise UnreadableError
