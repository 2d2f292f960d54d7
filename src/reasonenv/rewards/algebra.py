"""The nodes that combine others: `Sum`, `Scaled`, `Product`, `Constant`, `Gate`.

`+`, `-` and `*` build them; `gate(node, when=...)` pays a node only where a condition holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import product
from numbers import Real
from typing import Any

import numpy as np

from reasonenv.errors import RewardError, did_you_mean
from reasonenv.rewards.base import Floats, Range, Reward, RewardContext
from reasonenv.types import Group, Judged, Status

__all__ = [
    "Condition",
    "Constant",
    "Gate",
    "Product",
    "Scaled",
    "Sum",
    "add",
    "gate",
    "multiply",
    "solved",
    "unsolved",
    "untruncated",
]


def as_node(value: Reward | float) -> Reward:
    """Return `value` as a node: numbers become constants."""
    if isinstance(value, Reward):
        return value
    if isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value)):
        return Constant(float(value))
    raise RewardError(
        f"a reward combines with rewards and finite numbers, got {value!r}"
        + ("; wrap a function with @term(range=(low, high))" if callable(value) else "")
    )


def add(left: Reward | float, right: Reward | float) -> Reward:
    """Return `left + right` as one flat sum, its numbers added up into one that is not 0."""
    addends = (*as_node(left).addends(), *as_node(right).addends())
    constant = sum(node.value for node in addends if isinstance(node, Constant))
    kept: list[Reward] = []
    for node in addends:
        if not isinstance(node, Constant):
            kept.append(node)
        elif constant and not any(isinstance(other, Constant) for other in kept):
            kept.append(Constant(constant))
    if not kept:
        return Constant(0.0)
    return kept[0] if len(kept) == 1 else Sum(tuple(kept))


def multiply(left: Reward | float, right: Reward | float) -> Reward:
    """Return `left * right` in the one form that a formula spells: `number * node * node ...`."""
    number = 1.0
    factors: list[Reward] = []
    weighted = False
    for node in (as_node(left), as_node(right)):
        inner: Reward = node
        if isinstance(node, Constant | Scaled):
            weighted = True
            number *= node.value if isinstance(node, Constant) else node.weight
            if isinstance(node, Constant):
                continue
            inner = node.node
        factors += inner.factors()
    if not factors:
        return Constant(number)
    product = reduce(Product, factors)
    return Scaled(number, product) if weighted else product


def _finite(number: float, what: str) -> None:
    if isinstance(number, bool) or not isinstance(number, int | float) or not np.isfinite(number):
        raise RewardError(f"a {what} is a finite number, got {number!r}")


def _check_names(node: Reward) -> None:
    seen: dict[str, Reward] = {}
    for leaf in node.leaves():
        if seen.setdefault(leaf.label, leaf) != leaf:
            raise RewardError(
                f"two terms are called {leaf.label!r}: {seen[leaf.label]!r} and {leaf!r}; give "
                "one another name, as in Format('a', name='format_a')"
            )


@dataclass(frozen=True, repr=False)
class Sum(Reward):
    """The sum of its addends; each is a part of the scores."""

    nodes: tuple[Reward, ...]

    def __post_init__(self) -> None:
        if not self.nodes:
            raise RewardError("a sum has at least one addend")
        _check_names(self)
        labels = [node.label for node in self.nodes]
        for label in labels:
            if labels.count(label) > 1:
                raise RewardError(
                    f"the part {label!r} stands twice in {self!r}: add up its weights, or name a "
                    "term, as in Correct(name='bonus')"
                )

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return the sum of the addends' values."""
        zero = np.zeros(len(group))
        return sum((node.values(group, context, terms) for node in self.nodes), zero)

    def range(self, correct: bool) -> Range:
        """Return the sum of the addends' ranges."""
        ranges = [node.range(correct) for node in self.nodes]
        return Range(sum(r.low for r in ranges), sum(r.high for r in ranges))

    def children(self) -> tuple[Reward, ...]:
        """Return the addends."""
        return self.nodes

    def addends(self) -> tuple[Reward, ...]:
        """Return the addends."""
        return self.nodes

    @property
    def label(self) -> str:
        """The addends' names, joined by +."""
        return "+".join(node.label for node in self.nodes)

    def to_config(self) -> dict[str, Any]:
        """Return `{"sum": [...]}`."""
        return {"sum": [node.to_config() for node in self.nodes]}

    def __repr__(self) -> str:
        text = ""
        for node in self.nodes:
            shown = repr(node)
            if not text:
                text = shown
            elif shown.startswith("-"):
                text += f" - {shown[1:]}"
            else:
                text += f" + {shown}"
        return text


@dataclass(frozen=True, repr=False)
class Scaled(Reward):
    """A number times a node."""

    weight: float
    node: Reward

    def __post_init__(self) -> None:
        _finite(self.weight, "weight")

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return weight x the node's values."""
        return self.weight * self.node.values(group, context, terms)

    def range(self, correct: bool) -> Range:
        """Return the node's range, scaled and turned round where the weight is negative."""
        ends = [self.weight * end for end in self.node.range(correct)]
        return Range(min(ends), max(ends))

    def children(self) -> tuple[Reward, ...]:
        """Return the scaled node."""
        return (self.node,)

    @property
    def label(self) -> str:
        """The node's own name: a weight does not change what a part is called."""
        return self.node.label

    def to_config(self) -> dict[str, Any]:
        """Return `{"scale": weight, "of": node}`."""
        return {"scale": self.weight, "of": self.node.to_config()}

    def __repr__(self) -> str:
        return f"{self.weight!r} * {_bracketed(self.node)}"


@dataclass(frozen=True, repr=False)
class Product(Reward):
    """The product of two nodes, member by member."""

    left: Reward
    right: Reward

    def __post_init__(self) -> None:
        _check_names(self)

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return the product of both nodes' values."""
        return self.left.values(group, context, terms) * self.right.values(group, context, terms)

    def range(self, correct: bool) -> Range:
        """Return the hull of the four products of the ranges' ends."""
        ends = [a * b for a, b in product(self.left.range(correct), self.right.range(correct))]
        return Range(min(ends), max(ends))

    def children(self) -> tuple[Reward, ...]:
        """Return both factors."""
        return (self.left, self.right)

    def factors(self) -> tuple[Reward, ...]:
        """Return the factors, a product's own ones in its place."""
        return (*self.left.factors(), *self.right.factors())

    @property
    def label(self) -> str:
        """The factors' names, joined by *."""
        return f"{self.left.label}*{self.right.label}"

    def to_config(self) -> dict[str, Any]:
        """Return `{"product": [left, right]}`."""
        return {"product": [self.left.to_config(), self.right.to_config()]}

    def __repr__(self) -> str:
        return f"{_bracketed(self.left)} * {_bracketed(self.right)}"


@dataclass(frozen=True, repr=False)
class Constant(Reward):
    """The same number for every member: it moves a logged reward, never an advantage."""

    value: float

    def __post_init__(self) -> None:
        _finite(self.value, "constant")

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return the number for each member."""
        return np.full(len(group), self.value)

    def range(self, correct: bool) -> Range:
        """Return the number as an interval."""
        return Range(self.value, self.value)

    def children(self) -> tuple[Reward, ...]:
        """Return nothing."""
        return ()

    @property
    def label(self) -> str:
        """Always "constant"."""
        return "constant"

    def to_config(self) -> dict[str, Any]:
        """Return `{"constant": value}`."""
        return {"constant": self.value}

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class Condition:
    """When a gate is open.

    Args:
        name: how formulas and configs spell it.
        holds: whether it holds for a judged rollout.
        for_right: whether it can hold (first) and can fail (second) for a right answer.
        for_wrong: the same for a wrong one.
    """

    name: str
    holds: Callable[[Judged], bool]
    for_right: tuple[bool, bool] = (True, True)
    for_wrong: tuple[bool, bool] = (True, True)

    def __reduce__(self) -> tuple[Any, ...]:
        return condition, (self.name,)

    def __repr__(self) -> str:
        return self.name


def _is_solved(judged: Judged) -> bool:
    return judged.verdict.status is Status.CORRECT


def _is_unsolved(judged: Judged) -> bool:
    return judged.verdict.status is not Status.CORRECT


def _is_untruncated(judged: Judged) -> bool:
    return not judged.rollout.truncated


solved = Condition("solved", _is_solved, for_right=(True, False), for_wrong=(False, True))
unsolved = Condition("unsolved", _is_unsolved, for_right=(False, True), for_wrong=(True, False))
untruncated = Condition("untruncated", _is_untruncated)

CONDITIONS = {c.name: c for c in (solved, unsolved, untruncated)}


def condition(name: str) -> Condition:
    """Return the condition of this name.

    Raises:
        RewardError: there is none.
    """
    if not isinstance(name, str) or name not in CONDITIONS:
        hint = did_you_mean(str(name), CONDITIONS)
        raise RewardError(f"no condition is called {name!r}; {hint}")
    return CONDITIONS[name]


@dataclass(frozen=True, repr=False)
class Gate(Reward):
    """A node where a condition holds, 0 elsewhere; see `gate`."""

    node: Reward
    when: Condition

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return the node's value where the gate is open, else 0."""
        is_open = np.array([self.when.holds(judged) for judged in group], dtype=bool)
        return np.where(is_open, self.node.values(group, context, terms), 0.0)

    def range(self, correct: bool) -> Range:
        """Return the node's range if the gate can open, together with 0 if it can be shut."""
        can_open, can_shut = self.when.for_right if correct else self.when.for_wrong
        inside, zero = self.node.range(correct), Range(0.0, 0.0)
        if not can_open:
            return zero
        return inside.union(zero) if can_shut else inside

    def children(self) -> tuple[Reward, ...]:
        """Return the gated node."""
        return (self.node,)

    @property
    def label(self) -> str:
        """The gated node's own name."""
        return self.node.label

    def to_config(self) -> dict[str, Any]:
        """Return `{"gate": node, "when": name}`."""
        return {"gate": self.node.to_config(), "when": self.when.name}

    def __repr__(self) -> str:
        return f"gate({self.node!r}, when={self.when.name})"


def gate(node: Reward | float, *, when: Condition | str) -> Gate:
    """Pay `node` only where `when` holds: `solved`, `unsolved` or `untruncated`.

    A length bonus inside `gate(..., when=solved)` cannot teach a policy to fail fast, which an
    ungated one does.

    >>> from reasonenv.rewards import Correct, TagCount
    >>> Correct() + gate(0.3 * TagCount("answer"), when=solved)
    Correct() + gate(0.3 * TagCount('answer'), when=solved)
    """
    if not isinstance(when, Condition):
        when = condition(when)
    return Gate(as_node(node), when)


def _bracketed(node: Reward) -> str:
    return f"({node!r})" if isinstance(node, Sum) else repr(node)
