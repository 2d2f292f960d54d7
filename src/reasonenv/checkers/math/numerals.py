"""The numbers of the grammar: decimals, recurring ones, mixed numbers, numbers with a base."""

from __future__ import annotations

from reasonenv.checkers.math.cursor import Cursor
from reasonenv.checkers.math.tokens import UnreadableError, spelling
from reasonenv.checkers.math.tree import BaseN, Decimal, Mixed, Node, Number, Recurring

__all__ = ["Numerals"]

_BASE_WORDS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "twelve": 12, "sixteen": 16,
}  # fmt: skip
MAX_EXPONENT_CHARS = 12
"""Of the exponent of `1e10`."""


class Numerals(Cursor):
    """The part of the parser that reads one number."""

    def number(self) -> Node:
        """Read a number: with a base, a recurring part, or a fraction that makes it mixed."""
        token = self.take()
        text = token.text
        after = self.peek()
        if after.kind == "op" and after.text == "_" and text.isdigit():
            return self.base_n(text)
        if after.kind == "cmd" and after.text == "overline" and "." in text:
            self.take()
            period = spelling(self.braced_tokens())
            if not period.isdigit():
                raise UnreadableError
            whole, _, fixed = text.partition(".")
            return Recurring(whole, fixed, period)
        if not text.isdigit():
            return _decimal(text)
        mixed = self.mixed_tail()
        if mixed is None:
            return Number(int(text))
        top, bottom = mixed
        if not 0 < top < bottom:  # P16: an improper tail is unreadable
            raise UnreadableError
        return Mixed(int(text), top, bottom)

    def mixed_tail(self) -> tuple[int, int] | None:
        r"""Take `\frac{1}{2}` of digits, or ` 1/2`, where it follows a whole number."""
        start = self.position
        first = self.peek()
        if first.kind == "num" and first.space and first.text.isdigit():
            slash, last = self.peek(1), self.peek(2)
            if slash.text == "/" and last.kind == "num" and last.text.isdigit():
                self.position += 3
                return int(first.text), int(last.text)
        if first.kind == "cmd" and first.text == "frac":
            self.take()
            parts = [self.digits_argument(), self.digits_argument()]
            if parts[0] is not None and parts[1] is not None:
                return parts[0], parts[1]
            self.position = start
        return None

    def digits_argument(self) -> int | None:
        """Take one argument of digits; None, with the position anywhere, where it is none."""
        if self.at("{"):
            inner, closer = self.peek(1), self.peek(2)
            if inner.kind == "num" and inner.text.isdigit() and closer.text == "}":
                self.position += 3
                return int(inner.text)
            return None
        if self.peek().kind == "num" and self.peek().text.isdigit():
            return int(self.first_digit())
        return None

    def first_digit(self) -> str:
        r"""Take one digit of a number: the argument of `\frac12` is 1."""
        token = self.take()
        if len(token.text) > 1:
            self.position -= 1
            self.tokens[self.position] = token._replace(text=token.text[1:], space=False)
            self.tokens.insert(self.position, token._replace(text=token.text[0]))
            self.position += 1
        return token.text[0]

    def base_n(self, digits: str) -> Node:
        """Read the base that stands as subscript."""
        self.take()
        name = spelling(self.braced_tokens())
        base = _BASE_WORDS.get(name) or (int(name) if name.isdigit() and len(name) < 3 else 0)
        if not 2 <= base <= 36 or any(int(digit) >= base for digit in digits):
            raise UnreadableError
        return BaseN(digits, base)


def _decimal(text: str) -> Node:
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, places = mantissa.partition(".")
    shift = 0
    if exponent:
        if len(exponent) > MAX_EXPONENT_CHARS:
            raise UnreadableError
        shift = int(exponent)
    if not places and not exponent:
        return Number(int(whole))  # "100." is an integer
    return Decimal(int(whole + places or "0"), len(places) - shift)
