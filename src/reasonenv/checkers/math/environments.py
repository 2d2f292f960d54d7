r"""LaTeX environments: matrices, arrays, cases, and aligned equations."""

from __future__ import annotations

from reasonenv.checkers.math.cursor import Cursor
from reasonenv.checkers.math.limits import MAX_MEMBERS
from reasonenv.checkers.math.tokens import UnreadableError, spelling
from reasonenv.checkers.math.tree import Call, List, Matrix, Node, Piecewise, Text
from reasonenv.checkers.math.words import words_of

__all__ = ["Environments"]

_MATRICES = frozenset(
    words_of("matrix pmatrix bmatrix Bmatrix smallmatrix psmallmatrix bsmallmatrix array")
)
_DETERMINANTS = frozenset(("vmatrix", "Vmatrix"))
_ALIGNED = frozenset(words_of("align aligned equation gather gathered split alignat multline"))
_IF = frozenset(words_of("if for when where whenever"))
_ELSE = frozenset(words_of("otherwise else elsewhere"))


class Environments(Cursor):
    r"""The part of the parser that reads `\begin{...} ... \end{...}`."""

    def environment(self) -> Node:
        r"""Read from behind `\begin`."""
        name = spelling(self.braced_tokens()).rstrip("*")
        if name in _MATRICES or name in _DETERMINANTS:
            if name == "array":
                self.braced_tokens()  # the columns' alignment
            rows = [tuple(cells) for cells in self.rows(name)]
            if len({len(row) for row in rows}) != 1:
                raise UnreadableError
            matrix = Matrix(tuple(rows))
            return Call("det", (matrix,)) if name in _DETERMINANTS else matrix
        if name in ("cases", "dcases", "rcases"):
            return self.cases(name)
        if name in _ALIGNED:
            items = [row[0] for row in self.rows(name, aligned=True)]
            return items[0] if len(items) == 1 else List(tuple(items), "and")
        raise UnreadableError

    def rows(self, name: str, aligned: bool = False) -> list[list[Node]]:
        """Read rows of cells up to the end; in an aligned one, `&` means nothing."""
        if aligned:
            done, rest = self.tokens[: self.position], self.tokens[self.position :]
            self.tokens = done + [token for token in rest if token.text != "&"]
        rows: list[list[Node]] = [[]]
        cells = 0
        while True:
            if self.ends(name):
                break
            if self.at("\\\\"):
                self.take()
                if not self.ends(name, stay=True):
                    rows.append([])
            elif self.at("&"):
                self.take()
            else:
                rows[-1].append(self.item())
                cells += 1
                if self.at(","):
                    self.take()
            if cells > MAX_MEMBERS * 4:
                raise UnreadableError
        if not all(rows):
            raise UnreadableError
        return rows

    def cases(self, name: str) -> Node:
        """Read a piecewise definition, or a system where no row has a condition."""
        rows: list[tuple[Node, Node | None]] = []
        while not self.ends(name):
            value = self.item()
            while self.at(",", "&"):
                self.take()
            condition: Node | None = None
            if not (self.at("\\\\") or self.ends(name, stay=True)):
                condition = self.condition(name)
            rows.append((value, condition))
            if self.at("\\\\"):
                self.take()
            if len(rows) > MAX_MEMBERS:
                raise UnreadableError
        if all(condition is None for _, condition in rows):
            return List(tuple(value for value, _ in rows), "and")
        return Piecewise(tuple((v, c if c is not None else Text("otherwise")) for v, c in rows))

    def condition(self, name: str) -> Node:
        """Read the condition of one row."""
        while self.peek().kind == "word" and self.peek().text.lower() in _IF:
            self.take()
        if self.peek().kind == "word" and self.peek().text.lower() in _ELSE:
            self.take()
            return Text("otherwise")
        items = [self.item()]
        while self.peek().kind == "join" or self.at(","):
            self.take()
            if self.at("\\\\") or self.ends(name, stay=True):
                break
            items.append(self.item())
        if self.at("."):
            self.take()
        return items[0] if len(items) == 1 else List(tuple(items), "and")

    def ends(self, name: str, stay: bool = False) -> bool:
        r"""Whether `\end{name}` stands here; take it unless told to stay."""
        token = self.peek()
        if token.kind == "end":
            raise UnreadableError
        if token.kind != "cmd" or token.text != "end":
            return False
        if not stay:
            self.take()
            if spelling(self.braced_tokens()).rstrip("*") != name:
                raise UnreadableError
        return True
