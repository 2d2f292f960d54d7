"""Sums, products, weights and numbers: what `+`, `-` and `*` build.

Also here, for those who look in one place: `gate` and its conditions, from `gates`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from numbers import Real
from typing import Any

import numpy as np

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Floats, Range, Reward, RewardContext
from reasonenv.rewards.ranges import Given, plus, times
from reasonenv.types import Group

__all__ = [
    "Number",
    "Product",
    "Scaled",
    "Sum",
    "add",
    "as_node",
    "check_names",
    "finite",
    "multiply",
    "refuse_turns",
]


def as_node(value: Reward | float) -> Reward:
    """Return `value` as a node: numbers become constants."""
    if isinstance(value, Reward):
        return value
    if isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value)):
        return Number(float(value))
    raise RewardError(
        f"a reward combines with rewards and finite numbers, got {value!r}"
        + ("; wrap a function with @term(range=(low, high))" if callable(value) else "")
    )


def add(left: Reward | float, right: Reward | float) -> Reward:
    """Return `left + right` as one flat sum, its numbers added up into one that is not 0."""
    addends = (*as_node(left).addends(), *as_node(right).addends())
    constant = sum(node.value for node in addends if isinstance(node, Number))
    kept: list[Reward] = []
    for node in addends:
        if not isinstance(node, Number):
            kept.append(node)
        elif constant and not any(isinstance(other, Number) for other in kept):
            kept.append(Number(constant))
    if not kept:
        return Number(0.0)
    return kept[0] if len(kept) == 1 else Sum(tuple(kept))


def multiply(left: Reward | float, right: Reward | float) -> Reward:
    """Return `left * right` in the one form that a formula spells: `number * node * node ...`."""
    number = 1.0
    factors: list[Reward] = []
    weighted = False
    for node in (as_node(left), as_node(right)):
        inner: Reward = node
        if isinstance(node, Number | Scaled):
            weighted = True
            number *= node.value if isinstance(node, Number) else node.weight
            if isinstance(node, Number):
                continue
            inner = node.node
        factors += inner.factors()
    if not factors:
        return Number(number)
    product = reduce(Product, factors)
    return Scaled(number, product) if weighted else product


def finite(number: float, what: str) -> None:
    """Refuse what is no finite number.

    Raises:
        RewardError: `number` is none.
    """
    if isinstance(number, bool) or not isinstance(number, int | float) or not np.isfinite(number):
        raise RewardError(f"a {what} is a finite number, got {number!r}")


def check_names(node: Reward) -> None:
    """Refuse two different leaves, or two different stateful nodes, of one name.

    Raises:
        RewardError: there are such; both are shown.
    """
    seen: dict[str, Reward] = {}
    for leaf in node.leaves():
        if seen.setdefault(leaf.label, leaf) != leaf:
            raise RewardError(
                f"two terms are called {leaf.label!r}: {seen[leaf.label]!r} and {leaf!r}; give "
                "one another name, as in Format('a', name='format_a')"
            )
    states: dict[str, Reward] = {}
    for below in node.walk():
        if below.own_state is not None and states.setdefault(below.label, below) != below:
            raise RewardError(
                f"two stateful nodes are called {below.label!r}: {states[below.label]!r} and "
                f"{below!r}; give one another name=, so that each remembers its own"
            )


def refuse_turns(node: Reward, what: str) -> None:
    """Refuse a potential-based node where it would be one no longer.

    Raises:
        RewardError: there is one at or below `node`.
    """
    if "turns" in node.needs:
        raise RewardError(
            f"{node!r} cannot stand inside {what}: only a weighted sum of per-turn rewards is "
            "potential-based and leaves the best policy as it is; add it at the top, as in "
            "Correct() + 0.5 * PotentialBased(...)"
        )


@dataclass(frozen=True, repr=False)
class Sum(Reward):
    """The sum of its addends; each is a part of the scores."""

    nodes: tuple[Reward, ...]

    def __post_init__(self) -> None:
        if not self.nodes:
            raise RewardError("a sum has at least one addend")
        check_names(self)
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

    def bounds(self, correct: bool, given: Given) -> Range:
        """Return the sum of the addends' ranges."""
        return plus(node.bounds(correct, given) for node in self.nodes)

    def turn_values(self, group: Group, context: RewardContext) -> list[Floats] | None:
        """Return the sum of the addends' per-turn rewards."""
        found = [node.turn_values(group, context) for node in self.nodes]
        there = [turns for turns in found if turns is not None]
        if not there:
            return None
        return [np.sum(member, axis=0) for member in zip(*there, strict=True)]

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
        finite(self.weight, "weight")

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return weight x the node's values."""
        return self.weight * self.node.values(group, context, terms)

    def bounds(self, correct: bool, given: Given) -> Range:
        """Return the node's range, scaled and turned round where the weight is negative."""
        return times(Range(self.weight, self.weight), self.node.bounds(correct, given))

    def turn_values(self, group: Group, context: RewardContext) -> list[Floats] | None:
        """Return weight x the node's per-turn rewards."""
        turns = self.node.turn_values(group, context)
        return None if turns is None else [self.weight * member for member in turns]

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
        check_names(self)
        refuse_turns(self.left, "a product")
        refuse_turns(self.right, "a product")

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return the product of both nodes' values."""
        return self.left.values(group, context, terms) * self.right.values(group, context, terms)

    def bounds(self, correct: bool, given: Given) -> Range:
        """Return the hull of the four products of the ranges' ends."""
        return times(self.left.bounds(correct, given), self.right.bounds(correct, given))

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
class Number(Reward):
    """The same number for every member: it moves a logged reward, never an advantage."""

    value: float

    def __post_init__(self) -> None:
        finite(self.value, "constant")

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return the number for each member."""
        return np.full(len(group), self.value)

    def bounds(self, correct: bool, given: Given) -> Range:
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


def _bracketed(node: Reward) -> str:
    return f"({node!r})" if isinstance(node, Sum) else repr(node)
