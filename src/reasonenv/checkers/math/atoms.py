r"""The atoms of the grammar: numbers, names, functions, fractions, roots, brackets."""

from __future__ import annotations

from reasonenv.checkers.math.cursor import Cursor
from reasonenv.checkers.math.environments import Environments
from reasonenv.checkers.math.limits import MAX_MEMBERS
from reasonenv.checkers.math.tokens import Token, UnreadableError, spelling
from reasonenv.checkers.math.tree import (
    REALS,
    BaseN,
    Bracketed,
    Call,
    Constant,
    Decimal,
    Div,
    Mixed,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Recurring,
    Set,
    SetBuilder,
    Symbol,
)

__all__ = ["Atoms", "begins_atom"]

_CONSTANTS = {"\\pi": "pi", "e": "e", "i": "i", "\\infty": "inf"}
_CALLED = frozenset("fghFGH")
"""Letters that name a function before a bracket; other letters are factors there."""
_TRIG = frozenset("sin cos tan cot sec csc".split())
_SEVERAL = frozenset("gcd lcm max min".split())
_ATOM_COMMANDS = frozenset(
    "frac sqrt cbrt binom abs floor ceil begin overline emptyset mathbbR mathbbZ mathbbN mathbbQ "
    "mathbbC angle triangle widehat overparen".split()
)
_OPENERS = frozenset(("(", "[", "{", "\\{", "|l", "||l", "lfloor", "lceil", "langle"))
_CLOSERS = {"|l": ("|r", "abs"), "||l": ("||r", "norm"), "||": ("||", "norm")}
_ROUNDED = {"lfloor": ("rfloor", "floor"), "lceil": ("rceil", "ceil")}
_SHORT_WORD = 3
"""Up to so many letters, an unknown word is a product of letters."""
_NUMBER_WIDTH = 9
"""Tokens of `(1, x, 2)` after a name that may be its arguments."""


def begins_atom(token: Token) -> bool:
    """Whether a factor may begin with `token`."""
    kind, text = token.kind, token.text
    if kind == "op":
        return text in _OPENERS
    return kind in ("sym", "fn") or (kind == "cmd" and text in _ATOM_COMMANDS)


class Atoms(Environments, Cursor):
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
        if not 2 <= base <= 36:
            raise UnreadableError
        return BaseN(digits, base)

    def symbol(self) -> Node:
        """Read a letter with its subscript and primes: a constant, a symbol, or a call."""
        token = self.take()
        name = token.text
        constant = _CONSTANTS.get(name)
        if self.at("_"):
            self.take()
            name += "_" + spelling(self.braced_tokens())
            constant = None
        while self.at("'"):
            self.take()
            name += "'"
            constant = None
        if constant is not None:
            return Constant(constant)
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
        if power == Neg(Number(1)) and isinstance(result, Call):
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
        if name in _TRIG and self.at("/") and self.peek(1).kind == "num":
            if Constant("pi") in factors:  # sin pi/6 means sin(pi/6)
                self.take()
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
            if not self.at(closer, closer[:-1] if len(closer) > 1 and closer[-1] == "r" else "|r"):
                raise UnreadableError
            self.take()
            return Call(name, (inner,))
        raise UnreadableError

    def plain_braces(self) -> Node:
        """Read the inside of `{...}` outside arguments: a group, or a set of several members."""
        if self.at("}"):
            self.take()
            return Set(())
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
        if len(items) == 1 and self.at("|", ":"):
            self.take()
            self.bar_closes = False
            condition = self.conditions()
            self.expect(closer)
            return SetBuilder(items[0], condition)
        self.expect(closer)
        return Set(items)

    def conditions(self) -> Node:
        """Read the condition of a set builder."""
        raise NotImplementedError

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


_BASE_WORDS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "twelve": 12, "sixteen": 16,
}  # fmt: skip


def begins_argument(token: Token) -> bool:
    """Whether `token` may begin the argument of a function."""
    return token.kind == "num" or begins_atom(token) or token.text in ("|", "-")


def _decimal(text: str) -> Node:
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, places = mantissa.partition(".")
    shift = 0
    if exponent:
        if len(exponent) > 12:
            raise UnreadableError
        shift = int(exponent)
    if not places and not exponent:
        return Number(int(whole))  # "100." is an integer
    return Decimal(int(whole + places or "0"), len(places) - shift)


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
