"""Reading a list of tokens one by one: what every part of the grammar stands on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from reasonenv.checkers.math.limits import MAX_DEPTH
from reasonenv.checkers.math.tokens import Token, UnreadableError
from reasonenv.checkers.math.tree import Node

__all__ = ["Cursor"]

_END = Token("end", "")


class Cursor:
    """A position in a list of tokens, with the depth of nesting and what `|` means here.

    Args:
        tokens: as the tokenizer made them; changed in place where one token must be split: a copy.
    """

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.position = 0
        self.depth = 0
        self.bar_closes = False

    def item(self) -> Node:
        """Read one item of a list: an expression, a relation, a set, a quantity."""
        raise NotImplementedError

    def sum(self) -> Node:
        """Read a sum."""
        raise NotImplementedError

    def power(self) -> Node:
        """Read an atom with what stands behind it: powers, `!`, `%`, degrees."""
        raise NotImplementedError

    def exponent(self) -> Node:
        """Read what stands after `^`."""
        raise NotImplementedError

    def argument(self) -> Node:
        """Read one argument as TeX does."""
        raise NotImplementedError

    def conditions(self) -> Node:
        """Read the condition of a set builder."""
        raise NotImplementedError

    def peek(self, ahead: int = 0) -> Token:
        """Return a token ahead without taking it; a token of kind "end" after the last."""
        at = self.position + ahead
        return self.tokens[at] if at < len(self.tokens) else _END

    def at(self, *texts: str) -> bool:
        """Whether the next token is an operator of one of these spellings."""
        token = self.peek()
        return token.kind == "op" and token.text in texts

    def take(self) -> Token:
        """Take the next token."""
        token = self.peek()
        self.position += 1
        return token

    def expect(self, text: str) -> None:
        """Take an operator.

        Raises:
            UnreadableError: another token stands here.
        """
        if not self.at(text):
            raise UnreadableError
        self.position += 1

    def split_bars(self) -> None:
        """Replace `||` by two bars."""
        bar = self.peek()._replace(text="|")
        self.tokens[self.position : self.position + 1] = [bar, bar]

    @contextmanager
    def nested(self, bar_closes: bool = False) -> Iterator[None]:
        """Go one level deeper; inside, `|` closes or opens an absolute value as told.

        Raises:
            UnreadableError: too deep.
        """
        outer = self.bar_closes
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnreadableError
        self.bar_closes = bar_closes
        yield
        self.bar_closes = outer
        self.depth -= 1

    def braced_tokens(self) -> list[Token]:
        """Take a braced group, or one token, and return its tokens unread."""
        if not self.at("{"):
            return [self.take()] if self.peek().kind != "end" else []
        depth, start = 0, self.position
        while self.position < len(self.tokens):
            token = self.take()
            if token.kind == "op":
                depth += {"{": 1, "}": -1}.get(token.text, 0)
                if depth == 0:
                    return self.tokens[start + 1 : self.position - 1]
        raise UnreadableError
