"""Rewards as text and as plain data: a formula such as a recipe holds, or a config.

A formula is what `repr` prints: `Correct(2.0) + 0.5 * TagCount('answer')`. It is read by a parser
that knows numbers, strings, `+ - *`, `gate` and the catalogue's terms, and nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from reasonenv.errors import RewardError, did_you_mean
from reasonenv.rewards.algebra import (
    CONDITIONS,
    Constant,
    add,
    as_node,
    condition,
    gate,
    multiply,
)
from reasonenv.rewards.base import Reward, Term
from reasonenv.rewards.choice import CHOICE_TERMS
from reasonenv.rewards.code import CODE_TERMS
from reasonenv.rewards.custom import load_function_term
from reasonenv.rewards.layout import Format, NumericPresent, TagCount, _Tagged
from reasonenv.rewards.length import KimiLength, Overlong, ShortestCorrect
from reasonenv.rewards.outcome import Correct, Score

__all__ = ["TERMS", "from_config", "parse"]

TERMS: dict[str, type[Term]] = {
    cls.__name__: cls
    for cls in (
        Correct,
        Format,
        KimiLength,
        NumericPresent,
        Overlong,
        Score,
        ShortestCorrect,
        TagCount,
    )
} | {cls.__name__: cls for cls in (*CHOICE_TERMS, *CODE_TERMS)}


MAX_DEPTH = 100
"""How deep a formula or a config may nest; a sum of as many terms nests as deep."""

_SHOWN = 200  # characters of a formula or a config that a message quotes

_FIELDS = {
    "sum": ("sum",),
    "scale": ("scale", "of"),
    "product": ("product",),
    "constant": ("constant",),
    "gate": ("gate", "when"),
}
"""What a config of each kind holds, terms apart."""


def from_config(config: Reward | str | float | Mapping[str, Any]) -> Reward:
    """Return the reward that a formula, a number or a `to_config()` describes.

    Raises:
        RewardError: it describes none; the message names the place.

    >>> from_config("Correct(2.0) + 0.5 * Format('answer')").to_config()["sum"][0]
    {'term': 'Correct', 'value': 2.0}
    """
    return _from_config(config, MAX_DEPTH)


def _from_config(config: Any, depth: int) -> Reward:
    if isinstance(config, Reward):
        return config
    if isinstance(config, str):
        return parse(config)
    if isinstance(config, int | float):
        return as_node(config)
    if depth == 0:
        raise RewardError(f"a reward nests at most {MAX_DEPTH} deep")
    kinds = ("term", *_FIELDS)
    found = [kind for kind in kinds if kind in config] if isinstance(config, Mapping) else []
    if len(found) != 1:
        raise RewardError(
            f"a reward is a formula or holds one of {', '.join(kinds)}; got {_short(config)}"
        )
    kind = found[0]
    try:
        return _term(config) if kind == "term" else _node(kind, config, depth - 1)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise RewardError(f"cannot make a reward of {_short(config)}: {error}") from error


def _node(kind: str, config: Mapping[str, Any], depth: int) -> Reward:
    for key in config:
        if key not in _FIELDS[kind]:
            valid = ", ".join(_FIELDS[kind])
            raise RewardError(f"{_short(config)} has {key!r}; a {kind} holds {valid}")
    if kind == "constant":
        return Constant(float(config["constant"]))
    if kind == "scale":
        return multiply(float(config["scale"]), _from_config(config["of"], depth))
    if kind == "gate":
        return gate(_from_config(config["gate"], depth), when=config["when"])
    below = config[kind]
    if isinstance(below, str) or not isinstance(below, Sequence) or len(below) < 2:
        raise RewardError(f"a {kind} is a list of at least two rewards, got {_short(below)}")
    return reduce(add if kind == "sum" else multiply, [_from_config(c, depth) for c in below])


def _term(config: Mapping[str, Any]) -> Term:
    arguments = {key: value for key, value in config.items() if key != "term"}
    name = config["term"]
    if isinstance(name, str) and ":" in name:
        if arguments:
            raise RewardError(f"{name}: a function's term takes no arguments, got {arguments!r}")
        return load_function_term(name)
    tags = arguments.pop("tags", ())
    if isinstance(tags, str):
        raise RewardError(f"{name}: tags is a list of tag names, got {tags!r}")
    return _make_term(name, tuple(tags), arguments)


def _make_term(name: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Term:
    if not isinstance(name, str) or name not in TERMS:
        hint = did_you_mean(str(name), TERMS)
        raise RewardError(f"no reward term is called {name!r}; {hint}")
    cls = TERMS[name]
    if not isinstance(kwargs.get("name", ""), str):
        raise RewardError(f"{name}: name is a text, got {kwargs['name']!r}")
    try:
        return cls(*args, **kwargs)
    except TypeError as error:
        wants = "tag names" if issubclass(cls, _Tagged) else ", ".join(cls.__match_args__)
        raise RewardError(f"{name}: {error}; it takes: {wants or 'nothing'}") from error


def parse(formula: str) -> Reward:
    """Return the reward that a formula spells; nothing in it is executed.

    Raises:
        RewardError: it is no formula; the message shows the part that is not.

    >>> parse("Correct() - 0.5 * Overlong(512, cache=128)").range(correct=False)
    Range(low=-0.5, high=0.0)
    """
    try:
        tree = ast.parse(formula.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RewardError(f"reward {_short(formula)}: not a formula ({error})") from error
    return as_node(_Reader(formula).read(tree, MAX_DEPTH))


def _short(given: Any) -> str:
    text = repr(given)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


class _Reader:
    """Turns the syntax tree of a formula into nodes."""

    def __init__(self, formula: str) -> None:
        self.formula = formula

    def read(self, tree: ast.expr, depth: int) -> Reward | float:
        if depth == 0:
            raise self._error(tree, f"it nests more than {MAX_DEPTH} deep")
        depth -= 1
        match tree:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                try:
                    return float(value)
                except OverflowError as error:
                    raise self._error(tree, "numbers are finite") from error
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.read(operand, depth)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.read(left, depth) + self.read(right, depth)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self.read(left, depth) - self.read(right, depth)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return self.read(left, depth) * self.read(right, depth)
            case ast.Call(func=ast.Name(id="gate"), args=args, keywords=keywords):
                if len(args) == 1 and [k.arg for k in keywords] == ["when"]:
                    when = keywords[0].value
                    if isinstance(when, ast.Name):
                        inside = as_node(self.read(args[0], depth))
                        return gate(inside, when=condition(when.id))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                positional = tuple(self._literal(arg) for arg in args)
                named = {str(k.arg): self._literal(k.value) for k in keywords}
                if len(named) < len(keywords):
                    raise self._error(tree, "an argument stands in it twice")
                return _make_term(name, positional, named)
            case ast.Name(id=name):
                raise self._error(tree, f"write {name}() for a term; {did_you_mean(name, TERMS)}")
            case _:
                pass
        raise self._error(
            tree,
            "it may hold numbers, + - *, terms such as Correct(), and gate(term, when=...) with "
            + " or ".join(CONDITIONS),
        )

    def _literal(self, tree: ast.expr) -> Any:
        try:
            return ast.literal_eval(tree)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
            raise self._error(tree, "arguments are numbers and texts") from error

    def _error(self, tree: ast.expr, valid: str) -> RewardError:
        part = ast.get_source_segment(self.formula.strip(), tree)
        return RewardError(f"reward {_short(self.formula)}: cannot read {_short(part)}; {valid}")
