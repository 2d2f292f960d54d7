r"""The tokenizer: LaTeX and plain text to one stream of tokens, in one pass.

Looks (fonts, sizes, spacing, `$`) are dropped here and meaning is kept: whether a space stood
before a token, and whether it stood in `\text{}`. Thousands groups are joined here since only the
raw spelling tells `1,234` from `1,2` (P2).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from reasonenv.checkers.math.limits import MAX_DIGITS, MAX_TOKENS
from reasonenv.checkers.math.vocabulary import (
    FUNCTIONS,
    JOINERS,
    LETTER_LIKE,
    OPERATORS,
    SKIPPED,
    TEXT_COMMANDS,
)

__all__ = ["Token", "UnreadableError", "spelling", "tokenize"]


class UnreadableError(Exception):
    """The text is nothing that the grammar reads, or is over a limit."""


class Token(NamedTuple):
    """One token.

    Args:
        kind: "num", "sym" (a letter), "word", "fn", "op", "cmd", "join" or "bad".
        text: its one spelling.
        space: whether space stood before it.
        marked: whether it stood in a text command.
    """

    kind: str
    text: str
    space: bool = False
    marked: bool = False


_GROUP = r"(?:,\\!\s?|\{,\}\s?|\\[,;:!]\s?|,|[ ])"
_DROPPED = "color|textcolor|hspace\\*?|vspace\\*?|phantom|hphantom|vphantom|label|tag|kern"
_TOKEN = re.compile(
    rf"""
    (?P<speed>(?<=\d)[ ]?m/s(?![A-Za-z]))
  | (?P<space>\s+|~|\\[ ,;:!>\n]|&nbsp;)
  | (?P<grouped>
        (?<![\d.])[1-9]\d{{0,2}}(?P<sep>{_GROUP})\d{{3}}(?:(?P=sep)\d{{3}})*
        (?!\d)(?!(?P=sep)\d)(?:\.\d+)?
    )
  | (?P<num>(?:\d+(?:\.\d+|\.(?![\w.]))?|\.\d+)(?:[eE][+-]?\d+(?![\w.]))?)
  | \\(?:{TEXT_COMMANDS})\s*\{{(?P<text>[^{{}}]*)\}}
  | \\(?:{_DROPPED})\s*\{{(?P<dropped>[^{{}}]*)\}}
  | \\(?:left|right)\s*(?P<dot>\.)
  | \\mathbb\s*(?:\{{\s*)?(?P<numbers>[RZNQC])\s*\}}?
  | \\(?P<cmd>[A-Za-z]+)\*?
  | (?P<newline>\\\\(?:\[[^\]]{{0,9}}\])?)
  | (?P<escaped>\\[{{}}%|$()\[\]\#&_/])
  | (?P<word>[A-Za-z]+)
  | (?P<comma>\{{,\}})
  | (?P<op>
        \*\*|<=|>=|=<|=>|(?<![\d)}}])!=|:=|==|<>|\+/-|\|\||\.\.\.|[-+*/^_!%=<>()\[\]{{}}|,;:&'°]
    )
  | (?P<money>[$€£¥₹])
  | (?P<bad>.)
    """,
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_ESCAPED = {
    "\\{": "\\{", "\\}": "\\}", "\\%": "%", "\\|": "||", "\\&": "&", "\\_": "_", "\\/": "",
    "\\$": "", "\\(": "", "\\)": "", "\\[": "", "\\]": "", "\\#": "#",
}  # fmt: skip
_OPS = {
    "**": "^", "=<": "<=", "<>": "!=", "==": "=", ":=": "=", "+/-": "+-", "=>": "bad",
    "...": "dots",
}  # fmt: skip
_NON_DIGITS = re.compile(r"[^\d.]")
_DEPTH = {"(": 1, "[": 1, "\\{": 1, ")": -1, "]": -1, "\\}": -1}
_PLAIN_NAMES = {
    "pi": ("sym", "\\pi"), "oo": ("sym", "\\infty"), "inf": ("sym", "\\infty"),
    "infty": ("sym", "\\infty"), "infinity": ("sym", "\\infty"), "Infinity": ("sym", "\\infty"),
    "sqrt": ("cmd", "sqrt"), "cbrt": ("cmd", "cbrt"), "abs": ("cmd", "abs"),
    "floor": ("cmd", "floor"), "ceil": ("cmd", "ceil"), "binom": ("cmd", "binom"),
    "mod": ("op", "mod"), "choose": ("op", "choose"),
    "union": ("op", "cup"), "cup": ("op", "cup"), "Pi": ("sym", "\\pi"),
}  # fmt: skip
_FUNCTION_AND_LETTER = re.compile(
    r"(sin|cos|tan|cot|sec|csc|sinh|cosh|tanh|ln|log|exp|sqrt|pi)([a-z])\Z"
)


def tokenize(text: str) -> list[Token]:
    r"""Return the tokens of `text`, which holds only folded characters; linear.

    Raises:
        UnreadableError: too many tokens or digits.

    >>> [token.text for token in tokenize("\\frac{1,234}{x_1} \\text{ cm}")]
    ['frac', '{', '1234', '}', '{', 'x', '_', '1', '}', 'cm']
    """
    out: list[Token] = []
    _tokenize(text, out, marked=False)
    return out


def _tokenize(text: str, out: list[Token], marked: bool) -> None:
    space, depth, position, end = False, 0, 0, len(text)
    match = _TOKEN.match
    while position < end:
        found = match(text, position)
        assert found is not None  # the last alternative takes any character
        position = found.end()
        kind = found.lastgroup
        value = found[0]
        if kind == "space":
            space = True
            continue
        if kind == "num" or kind == "grouped" or kind == "sep":
            if kind != "num":
                if depth and found["sep"] == "," and not _has_zero_group(value):
                    value = value[: value.index(",")]  # (1,234) is a pair
                    position = found.start() + len(value)
                value = _NON_DIGITS.sub("", value)
            if len(value) > MAX_DIGITS:
                raise UnreadableError
            out.append(Token("num", value, space, marked))
        elif kind == "op":
            value = _OPS.get(value, value)
            depth += _DEPTH.get(value, 0)
            out.append(Token("op", value, space, marked))
        elif kind == "word":
            _word(value, space, marked, out)
        elif kind == "cmd":
            depth += _command(found["cmd"], space, marked, out)
        elif kind == "text":
            before = len(out)
            _tokenize(found["text"], out, marked=True)
            if len(out) > before:
                first = out[before]
                out[before] = first._replace(space=True) if space else first
        elif kind == "escaped":
            value = _ESCAPED[value]
            if not value:
                continue
            depth += _DEPTH.get(value, 0)
            out.append(Token("op" if value != "#" else "bad", value, space, marked))
        elif kind == "speed":  # the one unit of bare letters: no variables stand like this
            out += (
                Token("word", "m", True, True),
                Token("op", "/"),
                Token("word", "s", False, True),
            )
        elif kind == "comma":
            out.append(Token("op", ",", space, marked))
        elif kind == "newline":
            out.append(Token("op", "\\\\", space, marked))
        elif kind == "numbers":
            out.append(Token("cmd", f"mathbb{found['numbers']}", space, marked))
        elif kind == "bad":
            out.append(Token("bad", value, space, marked))
        elif kind == "dropped" or kind == "dot" or kind == "money":
            continue
        space = False
        if len(out) > MAX_TOKENS:
            raise UnreadableError


def _has_zero_group(value: str) -> bool:
    return any(group.startswith("0") for group in value.split(",")[1:])


def _word(value: str, space: bool, marked: bool, out: list[Token]) -> None:
    if len(value) == 1:
        out.append(Token("sym", value, space, marked))
    elif value in FUNCTIONS:
        out.append(Token("fn", FUNCTIONS[value], space, marked))
    elif value in _PLAIN_NAMES:
        kind, name = _PLAIN_NAMES[value]
        out.append(Token(kind, name, space, marked))
    elif value.lower() in JOINERS:
        out.append(Token("join", value.lower(), space, marked))
    elif value in LETTER_LIKE and value not in ("Re", "Im", "square", "star", "top", "flat"):
        out.append(Token("sym", "\\" + value, space, marked))
    else:
        split = None if marked else _FUNCTION_AND_LETTER.match(value)
        if split:
            _word(split[1], space, marked, out)
            out.append(Token("sym", split[2], False, marked))
        else:
            out.append(Token("word", value, space, marked))


def _command(name: str, space: bool, marked: bool, out: list[Token]) -> int:
    r"""Append the token of `\name` and return how it changes the depth of brackets."""
    if name in SKIPPED:
        return 0
    if name in FUNCTIONS:
        out.append(Token("fn", FUNCTIONS[name], space, marked))
    elif name in OPERATORS:
        value = OPERATORS[name]
        kind = "join" if value in JOINERS else "op"
        out.append(Token(kind, value, space, marked))
        return _DEPTH.get(value, 0)
    elif name in ("pi", "infty"):
        out.append(Token("sym", "\\" + name, space, marked))
    elif name in LETTER_LIKE:
        out.append(Token("sym", "\\" + name.replace("var", ""), space, marked))
    else:
        out.append(Token("cmd", _COMMANDS.get(name, name), space, marked))
    return 0


_COMMANDS = {
    "dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "dbinom": "binom", "tbinom": "binom",
    "varnothing": "emptyset", "R": "mathbbR", "Z": "mathbbZ", "reals": "mathbbR", "bar": "overline",
    "ldots": "dots", "cdots": "dots", "dotsc": "dots", "vdots": "dots",
}  # fmt: skip


def spelling(tokens: list[Token]) -> str:
    r"""Return the tokens as one string without looks: equal spellings are the same text.

    >>> spelling(tokenize("x +\\, 1 ")) == spelling(tokenize("$x+1$"))
    True
    """
    pieces: list[str] = []
    wordy = False
    for token in tokens:
        is_wordy = token.kind in ("word", "join", "num", "fn", "cmd") or token.text[:1] == "\\"
        if pieces and ((wordy and is_wordy) or (token.space and token.kind == "sym" and wordy)):
            pieces.append(" ")
        pieces.append(token.text)
        wordy = is_wordy
    return "".join(pieces)
