"""Formulas: what `repr` prints, `Correct(2.0) + 0.5 * TagCount('answer')`, read back.

The reader knows numbers, texts, `+ - *`, the catalogue's terms and the algebra's own words (`FORMS`
and the schedules), and nothing else. Nothing in a formula is executed, with two exceptions that say
so: `term('module:name')` and `from_trl('module:name', range=...)` import that module, as the same
terms in a config do.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from reasonenv.errors import RewardError, did_you_mean
from reasonenv.rewards.algebra import as_node
from reasonenv.rewards.base import Reward
from reasonenv.rewards.config import MAX_DEPTH, TERMS, find_term, make, make_term, short, tuples
from reasonenv.rewards.curriculum import Curriculum, Stage
from reasonenv.rewards.custom import load_function_term
from reasonenv.rewards.gates import CONDITIONS, Condition, condition, gate
from reasonenv.rewards.lexicographic import lexicographic
from reasonenv.rewards.named import named_reward
from reasonenv.rewards.normalized import GroupNormalized
from reasonenv.rewards.scheduled import Scheduled
from reasonenv.rewards.schedules import SCHEDULES
from reasonenv.rewards.shapers import clip, rescale
from reasonenv.rewards.shaping import PotentialBased
from reasonenv.rewards.trl_style import from_trl

__all__ = ["FORMS", "read"]

FORMS: dict[str, tuple[Callable[..., Any], str]] = {
    "gate": (gate, "gate(term, when=...)"),
    "clip": (clip, "clip(term, low, high)"),
    "rescale": (rescale, "rescale(term, from_=(low, high), to=(low, high))"),
    "Scheduled": (Scheduled, "Scheduled(term, Linear(1.0, 0.0, steps=500))"),
    "PotentialBased": (PotentialBased, "PotentialBased(term, gamma=...)"),
    "GroupNormalized": (GroupNormalized, "GroupNormalized(term, group_size=...)"),
    "lexicographic": (lexicographic, "lexicographic(task, tie_breaker, share=...)"),
    "Curriculum": (Curriculum, "Curriculum(Stage(term, until='name'), term)"),
    "Stage": (Stage, "Stage(term, until='name', below=..., patience=...)"),
    "term": (load_function_term, "term('module:name')"),
    "from_trl": (from_trl, "from_trl('module:name', range=(low, high))"),
}
"""The words of a formula that are no terms: what makes each, and how it is spelled."""


def read(formula: str) -> Reward:
    """Return the reward that a formula spells.

    Raises:
        RewardError: it is no formula; the message shows the part that is not.
    """
    try:
        tree = ast.parse(formula.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RewardError(f"reward {short(formula)}: not a formula ({error})") from error
    reader = _Reader(formula)
    found = reader.read(tree, MAX_DEPTH)
    if not isinstance(found, Reward | int | float):
        raise reader.error(tree, "it is a part of a reward, and no reward by itself")
    return as_node(found)


class _Reader:
    """Turns the syntax tree of a formula into nodes."""

    def __init__(self, formula: str) -> None:
        self.formula = formula

    def read(self, tree: ast.expr, depth: int) -> Any:
        """Return the node, the number, the schedule or the stage that a piece spells."""
        if depth == 0:
            raise self.error(tree, f"it nests more than {MAX_DEPTH} deep")
        depth -= 1
        match tree:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                try:
                    return float(value)
                except OverflowError as error:
                    raise self.error(tree, "numbers are finite") from error
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._operand(operand, depth)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._operand(left, depth) + self._operand(right, depth)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self._operand(left, depth) - self._operand(right, depth)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return self._operand(left, depth) * self._operand(right, depth)
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=owner), attr=name), args=[], keywords=[]
            ):
                return named_reward(f"{owner}.{name}")
            case ast.Call(func=ast.Name(id=name)):
                return self._call(name, tree, depth)
            case ast.Name(id=name):
                known = [*TERMS, *FORMS]
                raise self.error(tree, f"write {name}() for a term; {did_you_mean(name, known)}")
            case _:
                pass
        raise self.error(
            tree,
            "it may hold numbers, + - *, terms such as Correct(), and "
            + ", ".join(spelled for _, spelled in FORMS.values())
            + f", where a gate opens when {' or '.join(CONDITIONS)}",
        )

    def _operand(self, tree: ast.expr, depth: int) -> Reward | float:
        found = self.read(tree, depth)
        if not isinstance(found, Reward | int | float):
            raise self.error(tree, "only rewards and numbers are added and multiplied")
        return found

    def _call(self, name: str, tree: ast.Call, depth: int) -> Any:
        names = [keyword.arg for keyword in tree.keywords]
        if len(set(names)) < len(names):
            raise self.error(tree, "an argument stands in it twice")
        if name not in FORMS:
            if name not in SCHEDULES:
                find_term(name, also=(*FORMS, *SCHEDULES))  # before its arguments are read
            args = [self._literal(arg) for arg in tree.args]
            kwargs = {str(k.arg): self._literal(k.value) for k in tree.keywords}
            if name in SCHEDULES:
                kwargs = {key: tuples(value) for key, value in kwargs.items()}
                return make(name, SCHEDULES[name], [tuples(arg) for arg in args], kwargs)
            return make_term(name, tuple(args), kwargs)
        build, spelled = FORMS[name]
        args = [self._argument(arg, depth) for arg in tree.args]
        kwargs = {str(k.arg): self._argument(k.value, depth) for k in tree.keywords}
        if name == "gate" and not isinstance(kwargs.get("when"), Condition):
            raise self.error(tree, f"write {spelled} with {' or '.join(CONDITIONS)}")
        try:
            return build(*args, **kwargs)
        except TypeError as error:
            raise self.error(tree, f"{error}; write {spelled}") from error

    def _argument(self, tree: ast.expr, depth: int) -> Any:
        """Return an argument of the algebra's own words: a node, a condition, or plain data."""
        match tree:
            case ast.Name(id=name):
                return condition(name)
            case ast.Call() | ast.BinOp():
                return self.read(tree, depth)
            case ast.UnaryOp(operand=ast.Call() | ast.BinOp() | ast.UnaryOp()):
                return self.read(tree, depth)
            case _:
                return tuples(self._literal(tree))

    def _literal(self, tree: ast.expr) -> Any:
        try:
            return ast.literal_eval(tree)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
            raise self.error(tree, "arguments are numbers and texts") from error

    def error(self, tree: ast.expr, valid: str) -> RewardError:
        """Return the error that shows a piece of the formula."""
        part = ast.get_source_segment(self.formula.strip(), tree)
        return RewardError(f"reward {short(self.formula)}: cannot read {short(part)}; {valid}")
