"""What every node of a reward is, and what scoring a group returns.

* `Reward`: a frozen node of the algebra; call it on a group to get `Scores`.
* `Term`: a leaf, the only kind of node that looks at rollouts.
* `Scores`: outcome, raw terms, top-level parts and total of each member of a group.
* `Range`: the interval that a node's value lies in, given a right or a wrong answer.
* `RewardContext`: where in training the group was sampled.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from reasonenv.errors import RewardError
from reasonenv.types import FrozenDict, Group, Judged, Status

__all__ = ["Floats", "Range", "Reward", "RewardContext", "Scores", "Term"]

Floats = npt.NDArray[np.float64]

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # Xml|Count, XML|Count
_TOLERANCE = 1e-9  # what rounding may add to a value beyond its declared range


class Range(NamedTuple):
    """The closed interval that a value lies in."""

    low: float
    high: float

    def union(self, other: Range) -> Range:
        """Return the smallest interval that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True, slots=True)
class RewardContext:
    """Where in training a group was sampled; all zero outside training."""

    step: int = 0
    total_steps: int = 0
    state: Mapping[str, Any] = field(default_factory=FrozenDict)


@dataclass(frozen=True, slots=True)
class Scores:
    """What each of the G members of a group earned. All arrays have shape (G,).

    Args:
        solved: the task outcome, 1.0 or 0.0, from the verdicts alone; NaN = not scored.
        terms: the raw value of each leaf, by name.
        parts: each top-level addend, by name; they sum to `total`.
        total: the composed reward. NaN for members whose checker failed, or that a term could not
            value: all four are NaN there.
    """

    solved: Floats
    terms: Mapping[str, Floats]
    parts: Mapping[str, Floats]
    total: Floats

    def __len__(self) -> int:
        return len(self.total)

    def table(self) -> str:
        """Return the breakdown as text: a row a member, a column a part."""
        heads = ["solved", *self.parts, "total"]
        columns = [self.solved, *self.parts.values(), self.total]
        widths = [max(len(head), 7) for head in heads]
        lines = ["  ".join(head.rjust(w) for head, w in zip(heads, widths, strict=True))]
        for row in zip(*columns, strict=True):
            cells = ["-" if np.isnan(value) else f"{value:.3f}" for value in row]
            lines.append("  ".join(c.rjust(w) for c, w in zip(cells, widths, strict=True)))
        return "\n".join(lines)


class Reward(ABC):
    """A frozen, picklable node of the reward algebra; `repr` is its formula.

    Combine nodes with `+`, `-` and `*`; numbers mix in. Call a node on a group to score it.
    """

    __array_ufunc__ = None  # numpy's numbers leave `*` and `+` to this class

    def __call__(self, group: Group, context: RewardContext | None = None) -> Scores:
        """Score the members of one group.

        Members whose checker failed are left out before any term looks: their scores are NaN,
        and no group-relative term sees them. So are members that a term cannot score (see
        `Term.unscored`): a judge model that gives no answer is no verdict on the completion.

        Args:
            group: the complete group, G judged rollouts.
            context: where in training it was sampled.

        Raises:
            RewardError: a term returned NaN, the wrong length, or a value outside its range.
        """
        context = context or RewardContext()
        scored = [i for i, judged in enumerate(group) if judged.verdict.status.is_evidence]
        for leaf in self.leaves():
            if leaf.can_fail:
                failed = leaf.unscored([group[i] for i in scored], context)
                scored = [i for i, no_value in zip(scored, failed, strict=True) if not no_value]
        members = [group[i] for i in scored]
        terms: dict[str, Floats] = {}
        parts = {
            part.label: part.values(members, context, terms) if members else np.zeros(0)
            for part in self.addends()
        }
        if not members:
            terms = {leaf.label: np.zeros(0) for leaf in self.leaves()}

        def spread(values: Floats) -> Floats:
            whole = np.full(len(group), np.nan)
            whole[scored] = values
            return whole

        solved = np.array([m.verdict.status is Status.CORRECT for m in members], dtype=float)
        total = sum(parts.values(), np.zeros(len(members)))
        return Scores(
            solved=spread(solved),
            terms=FrozenDict({name: spread(values) for name, values in terms.items()}),
            parts=FrozenDict({name: spread(values) for name, values in parts.items()}),
            total=spread(total),
        )

    @abstractmethod
    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return this node's value for each member, shape (len(group),).

        Every member is scored. Leaves also write their raw values into `terms`.
        """

    @abstractmethod
    def range(self, correct: bool) -> Range:
        """Return what this node can be worth to a right, or to a wrong, answer."""

    @abstractmethod
    def children(self) -> tuple[Reward, ...]:
        """Return the nodes directly below this one."""

    @abstractmethod
    def to_config(self) -> dict[str, Any]:
        """Return this node as plain data that `reasonenv.rewards.from_config` reads."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The name under which this node's values are logged."""

    def addends(self) -> tuple[Reward, ...]:
        """Return the top-level addends: themselves the parts of `Scores`."""
        return (self,)

    def factors(self) -> tuple[Reward, ...]:
        """Return the factors of a product, the node itself where it is none."""
        return (self,)

    def leaves(self) -> Iterator[Term]:
        """Yield the leaves below (or at) this node, from left to right."""
        for child in self.children():
            yield from child.leaves()

    @property
    def needs_group(self) -> bool:
        """Whether a member's value depends on the other members of its group."""
        return any(leaf.group_relative for leaf in self.leaves())

    def warnings(self) -> tuple[str, ...]:
        """Return what a person should know before training on this reward, in words."""
        wrong, right = self.range(correct=False), self.range(correct=True)
        if wrong.high < right.low:
            return ()
        return (
            f"a wrong answer can earn {wrong.high:g} and a right one may earn {right.low:g}: "
            "correctness does not dominate",
        )

    def __add__(self, other: Reward | float) -> Reward:
        from reasonenv.rewards.algebra import add

        return add(self, other)

    def __radd__(self, other: Reward | float) -> Reward:
        from reasonenv.rewards.algebra import add

        return add(other, self)

    def __sub__(self, other: Reward | float) -> Reward:
        from reasonenv.rewards.algebra import add, multiply

        return add(self, multiply(-1.0, other))

    def __rsub__(self, other: Reward | float) -> Reward:
        from reasonenv.rewards.algebra import add, multiply

        return add(other, multiply(-1.0, self))

    def __mul__(self, other: Reward | float) -> Reward:
        from reasonenv.rewards.algebra import multiply

        return multiply(self, other)

    def __rmul__(self, other: Reward | float) -> Reward:
        from reasonenv.rewards.algebra import multiply

        return multiply(other, self)

    def __neg__(self) -> Reward:
        from reasonenv.rewards.algebra import multiply

        return multiply(-1.0, self)


@dataclass(frozen=True, repr=False)
class Term(Reward):
    """A leaf: a subclass is a frozen dataclass that implements `measure` and `range`.

    Args:
        name: under which it is logged; the class's name in snake case unless given.
    """

    name: str = field(default="", kw_only=True)
    group_relative: ClassVar[bool] = False
    can_fail: ClassVar[bool] = False
    """Whether it asks something that may not answer; then `unscored` says where it did not."""

    @abstractmethod
    def measure(self, group: Group, context: RewardContext) -> Floats | list[float]:
        """Return the raw value of each member of a group, all of them scored."""

    def prepare(self, judged: Sequence[Judged], context: RewardContext) -> None:
        """Look at all members of several groups before any is scored; called where `can_fail`.

        A term that asks something slow can ask about all of them at once here, and keep what it
        hears for `unscored` and `measure`.
        """

    def unscored(self, group: Group, context: RewardContext) -> Sequence[bool]:
        """Return, for each member, whether this term cannot value it; asked where `can_fail`.

        Such a member is not scored by the whole reward. `measure` then sees the others alone, so
        a term that asks something slow keeps what it heard here.
        """
        return [False] * len(group)

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Measure, check, and record under this term's name."""
        measured = self.measure(group, context)
        try:
            values = np.asarray(measured, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise RewardError(
                f"term {self!r} returned {measured!r:.200}: return one number for each member"
            ) from error
        if values.shape != (len(group),):
            raise RewardError(
                f"term {self!r} returned shape {values.shape} for a group of {len(group)}: "
                "return one number for each member"
            )
        for judged, value in zip(group, values, strict=True):
            low, high = self.range(judged.verdict.status is Status.CORRECT)
            inside = low - _TOLERANCE <= value <= high + _TOLERANCE
            if not (inside and np.isfinite(value)):
                raise RewardError(
                    f"term {self!r} returned {value} for a completion of problem "
                    f"{judged.rollout.problem.id}; its range there is [{low:g}, {high:g}]: mend "
                    "the term or its declared range"
                )
        terms[self.label] = values
        return values

    def children(self) -> tuple[Reward, ...]:
        """Return nothing: a term is a leaf."""
        return ()

    def leaves(self) -> Iterator[Term]:
        """Yield this term."""
        yield self

    @property
    def label(self) -> str:
        """The given name, or the class's name in snake case."""
        return self.name or _WORDS.sub("_", type(self).__name__).lower()

    def arguments(self) -> dict[str, Any]:
        """Return the constructor's arguments that are not at their defaults."""
        return {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.init and getattr(self, f.name) != f.default
        }

    def to_config(self) -> dict[str, Any]:
        """Return `{"term": class name, argument: value, ...}`."""
        given = {k: list(v) if isinstance(v, tuple) else v for k, v in self.arguments().items()}
        return {"term": type(self).__name__, **given}

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments().items())
        return f"{type(self).__name__}({given})"
