"""Rewards as text and as plain data: a formula such as a recipe holds, or a config.

A formula is what `repr` prints: `Correct(2.0) + 0.5 * TagCount('answer')`. It is read by a parser
that knows numbers, strings, `+ - *`, `gate` and the catalogue's terms, and nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from reasonenv.errors import RewardError, did_you_mean
from reasonenv.rewards.algebra import (
    CONDITIONS,
    Constant,
    as_node,
    condition,
    gate,
    multiply,
)
from reasonenv.rewards.algebra import Product as _Product
from reasonenv.rewards.algebra import Sum as _Sum
from reasonenv.rewards.base import Reward, Term
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
}


def from_config(config: Reward | str | float | Mapping[str, Any]) -> Reward:
    """Return the reward that a formula, a number or a `to_config()` describes.

    Raises:
        RewardError: it describes none; the message names the place.

    >>> from_config("Correct(2.0) + 0.5 * Format('answer')").to_config()["sum"][0]
    {'term': 'Correct', 'value': 2.0}
    """
    if isinstance(config, Reward):
        return config
    if isinstance(config, str):
        return parse(config)
    if isinstance(config, int | float):
        return as_node(config)
    kinds = {
        "sum": lambda c: _Sum(tuple(from_config(node) for node in c["sum"])),
        "scale": lambda c: multiply(float(c["scale"]), from_config(c["of"])),
        "product": lambda c: _Product(*(from_config(node) for node in c["product"])),
        "constant": lambda c: Constant(float(c["constant"])),
        "gate": lambda c: gate(from_config(c["gate"]), when=c["when"]),
        "term": _term_from_config,
    }
    found = [kind for kind in kinds if kind in config]
    if len(found) != 1:
        raise RewardError(
            f"a reward is a formula or holds one of {', '.join(kinds)}; got {dict(config)!r}"
        )
    try:
        return kinds[found[0]](config)
    except (KeyError, TypeError, ValueError) as error:
        raise RewardError(f"cannot make a reward of {dict(config)!r}: {error}") from error


def _term_from_config(config: Mapping[str, Any]) -> Term:
    arguments = {key: value for key, value in config.items() if key != "term"}
    if ":" in config["term"]:
        return load_function_term(config["term"])
    return _make_term(config["term"], tuple(arguments.pop("tags", ())), arguments)


def _make_term(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Term:
    if name not in TERMS:
        raise RewardError(f"no reward term is called {name!r}; {did_you_mean(name, TERMS)}")
    cls = TERMS[name]
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
        raise RewardError(f"reward {formula!r}: not a formula ({error})") from error
    return as_node(_Reader(formula).read(tree))


class _Reader:
    """Turns the syntax tree of a formula into nodes."""

    def __init__(self, formula: str) -> None:
        self.formula = formula

    def read(self, tree: ast.expr) -> Reward | float:
        match tree:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return float(value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.read(operand)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.read(left) + self.read(right)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self.read(left) - self.read(right)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return self.read(left) * self.read(right)
            case ast.Call(func=ast.Name(id="gate"), args=[node], keywords=[when]):
                if when.arg == "when" and isinstance(when.value, ast.Name):
                    return gate(as_node(self.read(node)), when=condition(when.value.id))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                positional = tuple(self._literal(arg) for arg in args)
                named = {str(k.arg): self._literal(k.value) for k in keywords}
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
        except ValueError as error:
            raise self._error(tree, "arguments are numbers and texts") from error

    def _error(self, tree: ast.expr, valid: str) -> RewardError:
        part = ast.get_source_segment(self.formula.strip(), tree)
        return RewardError(f"reward {self.formula!r}: cannot read {part!r}; {valid}")
