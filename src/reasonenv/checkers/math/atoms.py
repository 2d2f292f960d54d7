r"""The atoms of the grammar: numbers, names, functions, fractions, roots, brackets."""

from __future__ import annotations

from reasonenv.checkers.math.brackets import Brackets
from reasonenv.checkers.math.environments import Environments
from reasonenv.checkers.math.numerals import Numerals
from reasonenv.checkers.math.tokens import Token, UnreadableError, spelling
from reasonenv.checkers.math.tree import (
    REALS,
    Bracketed,
    Call,
    Constant,
    Div,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Set,
    Symbol,
    Text,
)
from reasonenv.checkers.math.vocabulary import KNOWN_FUNCTIONS
from reasonenv.checkers.math.words import words_of

__all__ = ["Atoms", "begins_atom"]

_CONSTANTS = {"\\pi": "pi", "e": "e", "i": "i", "\\infty": "inf"}
_CALLED = frozenset("fghFGH")
"""Letters that name a function before a bracket; other letters are factors there."""
_TRIG = frozenset(words_of("sin cos tan cot sec csc"))
_SEVERAL = frozenset(words_of("gcd lcm max min"))
_ATOM_COMMANDS = frozenset(
    words_of(
        "frac sqrt cbrt binom abs floor ceil "
        "begin overline emptyset mathbbR mathbbZ mathbbN mathbbQ "
        "mathbbC angle triangle widehat overparen"
    )
)
_OPENERS = frozenset(("(", "[", "{", "\\{", "|l", "||l", "lfloor", "lceil", "langle"))
_SHORT_WORD = 3
"""Up to so many letters, an unknown word is a product of letters."""
_NAME_WORDS = 5
"""Words before an equals sign that name what follows."""
_NUMBER_WIDTH = 9
"""Tokens of `(1, x, 2)` after a name that may be its arguments."""


def begins_atom(token: Token) -> bool:
    """Whether a factor may begin with `token`."""
    kind, text = token.kind, token.text
    if kind == "op":
        return text in _OPENERS
    return kind in ("sym", "fn") or (kind == "cmd" and text in _ATOM_COMMANDS)


class Atoms(Numerals, Brackets, Environments):
    """The part of the parser that reads one atom."""

    def atom(self) -> Node:
        """Read one atom.

        Raises:
            UnreadableError: none stands here.
        """
        token = self.peek()
        if token.kind == "num":
            return self.number()
        if token.kind == "sym":
            return self.symbol()
        if token.kind == "fn":
            with self.nested(self.bar_closes):
                return self.function()
        if token.kind == "op":
            with self.nested():
                return self.bracket()
        if token.kind == "cmd":
            with self.nested():
                return self.command()
        if token.kind == "word" and len(token.text) <= _SHORT_WORD and not token.marked:
            letters = [Token("sym", letter) for letter in token.text]
            self.tokens[self.position : self.position + 1] = letters
            return self.symbol()
        raise UnreadableError

    def symbol(self) -> Node:
        """Read a letter with its subscript and primes: a constant, a symbol, or a call."""
        token = self.take()
        name = token.text
        constant = _CONSTANTS.get(name)
        if self.at("_"):
            self.take()
            below = spelling(self.braced_tokens())
            if not below:
                raise UnreadableError
            name += "_" + below
            constant = None
        while self.at("'"):
            self.take()
            name += "'"
            constant = None
        if constant is not None:
            return Constant(constant)
        if name == "C" and self.at("(") and self.peek(2).text == ",":
            with self.nested():
                pair = self.arguments()
            if len(pair) != 2:
                raise UnreadableError
            return Call("binomial", pair)
        if self.at("(") and name[0] != "\\" and self.is_call(name):
            with self.nested():
                return Call(name, self.arguments())
        return Symbol(name)

    def is_call(self, name: str) -> bool:
        """Whether the bracket after a name holds arguments: `f(x+1)`, `I(0)`, not `n(n+1)`."""
        if name[0] in _CALLED:
            return True
        inner, closer = self.peek(1), self.peek(2)
        if inner.text == "-":
            inner, closer = closer, self.peek(3)
        return inner.kind == "num" and closer.text == ")" and not self.peek().space

    def named_call(self) -> Node | None:
        """Read `y(x)` before an equals sign, where any letter names a function; else nothing."""
        if self.peek().kind == "word":
            return self.named_in_words()
        if self.peek().kind != "sym" or self.peek(1).text != "(" or self.peek().text == "\\pi":
            return None
        for ahead in range(2, 2 + _NUMBER_WIDTH):
            token = self.peek(ahead)
            if token.text == ")":
                if ahead == 2 or self.peek(ahead + 1).text != "=":
                    return None
                name = self.take().text
                return Call(name, self.arguments())
            if token.kind not in ("sym", "num") and token.text != ",":
                return None
        return None

    def named_in_words(self) -> Node | None:
        """Read `Total area` before an equals sign; else nothing."""
        for ahead in range(1, _NAME_WORDS + 1):
            token = self.peek(ahead)
            if token.text == "=":
                first = self.peek()
                if ahead == 1 and not (first.marked or first.text.istitle() or len(first.text) > 3):
                    return None  # xy = 1
                return Text(" ".join(self.take().text for _ in range(ahead)))
            if token.kind != "word":
                return None
        return None

    def arguments(self) -> tuple[Node, ...]:
        """Read `(a, b, ...)`."""
        self.expect("(")
        items = [self.item()]
        while self.at(",", ";"):
            self.take()
            items.append(self.item())
        self.expect(")")
        return tuple(items)

    def function(self) -> Node:
        """Read a named function with its power, base and argument, in every usual spelling."""
        name = self.take().text
        power: Node | None = None
        base: Node | None = None
        while self.at("^", "_"):
            if self.take().text == "^":
                power = self.exponent()
            elif self.peek().kind == "num" and not begins_argument(self.peek(1)):
                base = Number(int(self.first_digit()))  # log_28 is log_2 of 8
            else:
                base = self.argument()
        if self.peek().text == "|" and not self.bar_closes:
            arguments: tuple[Node, ...] = (self.atom(),)
        elif self.at("("):
            arguments = self.arguments()
        elif self.at("{", "[", "\\{"):
            with self.nested():
                arguments = (self.bracket(),)
        else:
            arguments = (self.bare_argument(name),)
        if name in _SEVERAL and len(arguments) == 1:
            only = arguments[0]
            if isinstance(only, Set | Bracketed):
                arguments = only.items
        result = _call(name, arguments, base)
        if power is None:
            return result
        if power == Neg(Number(1)) and "arc" + name in KNOWN_FUNCTIONS:
            return Call("arc" + name, arguments)
        return Pow(result, power)

    def bare_argument(self, name: str) -> Node:
        r"""Read the argument of `\sin 2x \cos x`: factors up to a function, a bracket, a sign."""
        negative = self.at("-")
        if negative:
            self.take()
        factors = [self.power()]
        while begins_atom(self.peek()) and self.peek().kind != "fn" and not self.peek().marked:
            if self.at("(", "[", "\\{") and not all(isinstance(f, Number) for f in factors):
                break
            factors.append(self.power())
        argument = factors[0] if len(factors) == 1 else Mul(tuple(factors))
        is_fraction = self.at("/") and self.peek(1).kind == "num"
        if name in _TRIG and is_fraction and Constant("pi") in factors:
            self.take()  # sin pi/6 means sin(pi/6)
            argument = Div(argument, self.power())
        return Neg(argument) if negative else argument

    def argument(self) -> Node:
        r"""Read one argument as TeX does, but for numbers, which are taken whole: `\sqrt12`."""
        with self.nested():
            if self.at("{"):
                return self.brace_group()
            if self.peek().kind == "sym":
                token = self.peek().text
                if token in _CONSTANTS:
                    self.take()
                    return Constant(_CONSTANTS[token])
            return self.atom()

    def tex_argument(self) -> Node:
        r"""Read one argument of `\frac`, where `12` is two of them."""
        if self.peek().kind == "num" and self.peek().text.isdigit():
            return Number(int(self.first_digit()))
        return self.argument()

    def command(self) -> Node:
        """Read a command with its arguments."""
        token = self.take()
        name = token.text
        if name == "frac":
            top = self.tex_argument()
            return Div(top, self.tex_argument())
        if name == "binom":
            if self.at("("):
                pair = self.arguments()
                if len(pair) != 2:
                    raise UnreadableError
                return Call("binomial", pair)
            top = self.tex_argument()
            return Call("binomial", (top, self.tex_argument()))
        if name == "sqrt":
            index: Node | None = None
            if self.at("["):
                self.take()
                index = self.sum()
                self.expect("]")
            radicand = self.argument()
            return Call("sqrt", (radicand,)) if index is None else Call("root", (radicand, index))
        if name == "cbrt":
            return Call("root", (self.argument(), Number(3)))
        if name in ("abs", "floor", "ceil"):
            return Call(name, (self.argument(),))
        if name == "begin":
            return self.environment()
        if name == "emptyset":
            return Set(())
        if name == "mathbbR":
            return REALS
        if name in ("mathbbZ", "mathbbN", "mathbbQ", "mathbbC"):
            return Symbol("\\" + name)
        if name in ("overline", "angle", "triangle", "widehat", "overparen"):
            return Symbol(f"\\{name}{{{self.letters()}}}")
        raise UnreadableError

    def letters(self) -> str:
        """Take the letters that name a segment, an angle or a triangle."""
        if self.at("{"):
            inner = spelling(self.braced_tokens())
        else:
            inner = ""
            while self.peek().kind in ("sym", "word") and self.peek().text.isupper():
                inner += self.take().text
            if not inner and self.peek().kind == "sym":
                inner = self.take().text
        if not inner.isalpha():
            raise UnreadableError
        return inner


def begins_argument(token: Token) -> bool:
    """Whether `token` may begin the argument of a function."""
    return token.kind == "num" or begins_atom(token) or token.text in ("|", "-")


def _call(name: str, arguments: tuple[Node, ...], base: Node | None) -> Node:
    if name == "exp" and len(arguments) == 1:
        return Pow(Constant("e"), arguments[0])
    if name in ("log", "lg", "ln") and len(arguments) == 1:
        if base is not None:
            return Call("log", (arguments[0], base))
        return Call("ln", arguments) if name == "ln" else Call("log", (arguments[0], Number(10)))
    if base is not None or (name not in _SEVERAL and len(arguments) != 1 and name != "log"):
        raise UnreadableError
    return Call(name, arguments)
