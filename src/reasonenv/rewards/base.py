"""What every node of a reward is: `Reward`, and `Term` for its leaves.

`Range`, `RewardContext` and `Scores` live in `ranges` and `scores`, and are found here, too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reasonenv.errors import ReasonEnvError, RewardError
from reasonenv.rewards.ranges import NOTHING, Given, Range
from reasonenv.rewards.scores import Floats, RewardContext, Scores
from reasonenv.rewards.spelling import plain, shown, snake
from reasonenv.types import FrozenDict, Group, Judged, Status

if TYPE_CHECKING:
    from reasonenv.rewards.audit import Audit

__all__ = ["Floats", "Range", "Reward", "RewardContext", "Scores", "Term"]

_TOLERANCE = 1e-9  # what rounding may add to a value beyond its declared range


class Reward(ABC):
    """A frozen, picklable node of the reward algebra; `repr` is its formula.

    Combine nodes with `+`, `-` and `*`; numbers mix in. Call a node on a group to score it.
    """

    __array_ufunc__ = None  # numpy's numbers leave `*` and `+` to this class
    own_needs: ClassVar[frozenset[str]] = frozenset()
    own_state: ClassVar[Mapping[str, Any] | None] = None

    def __call__(self, group: Group, context: RewardContext | None = None) -> Scores:
        """Score the members of one group.

        Members whose checker failed are left out before any term looks: their scores are NaN,
        and no group-relative term sees them. So are members that a term cannot score (see
        `Term.unscored`): a judge model that gives no answer is no verdict on the completion.

        Args:
            group: the complete group, G judged rollouts.
            context: where in training it was sampled.

        Raises:
            RewardError: a term failed, or returned NaN, the wrong length, or a value outside its
                range; the message names the term and its place in the formula.
        """
        context = context or RewardContext()
        scored = self.scored(group, context)
        members = [group[i] for i in scored]
        return self.spread(group, scored, *self.combine(members, context, {}))

    def scored(self, group: Group, context: RewardContext) -> list[int]:
        """Return which members are scored: judged, and valued by every term that can fail."""
        scored = [i for i, judged in enumerate(group) if judged.verdict.status.is_evidence]
        for leaf in self.leaves():
            if leaf.can_fail and scored:
                members = [group[i] for i in scored]
                leaf.prepare(members, context)
                failed = leaf.unscored(members, context)
                scored = [i for i, no_value in zip(scored, failed, strict=True) if not no_value]
        return scored

    def combine(
        self, members: Group, context: RewardContext, terms: dict[str, Floats]
    ) -> tuple[dict[str, Floats], dict[str, Floats], list[Floats] | None]:
        """Return terms, parts and per-turn rewards of scored members.

        Args:
            members: of one group, or of several where nothing `needs` a group.
            context: where in training they were sampled.
            terms: raw values of leaves that are measured already; the others are added.
        """
        if not members:
            empty = {leaf.label: np.zeros(0) for leaf in self.leaves()}
            return empty, {part.label: np.zeros(0) for part in self.addends()}, None
        parts: dict[str, Floats] = {}
        for part in self.addends():
            try:
                parts[part.label] = part.values(members, context, terms)
            except RewardError as error:
                raise self._placed(error, part) from error
        return terms, parts, self.turn_values(members, context)

    def measure_leaf(
        self, leaf: Reward, members: Group, context: RewardContext, terms: dict[str, Floats]
    ) -> None:
        """Measure a leaf of this reward into `terms`; an error says where in the formula it is."""
        try:
            leaf.values(members, context, terms)
        except RewardError as error:
            part = next(p for p in self.addends() if any(node is leaf for node in p.walk()))
            raise self._placed(error, part) from error

    def spread(
        self,
        group: Group,
        scored: Sequence[int],
        terms: Mapping[str, Floats],
        parts: Mapping[str, Floats],
        turns: Sequence[Floats] | None,
    ) -> Scores:
        """Return the scores of a whole group from those of its scored members."""
        everyone = len(scored) == len(group)

        def whole(values: Floats) -> Floats:
            if everyone:
                return values
            spread = np.full(len(group), np.nan)
            spread[scored] = values
            return spread

        right = [group[i].verdict.status is Status.CORRECT for i in scored]
        total = sum(parts.values(), np.zeros(len(scored)))
        ragged: tuple[tuple[float, ...], ...] = ()
        if "turns" in self.needs:
            found = dict(zip(scored, turns or (), strict=False))
            ragged = tuple(tuple(map(float, found.get(i, ()))) for i in range(len(group)))
        return Scores(
            solved=whole(np.array(right, dtype=float)),
            terms=FrozenDict({name: whole(values) for name, values in terms.items()}),
            parts=FrozenDict({name: whole(values) for name, values in parts.items()}),
            total=whole(total),
            turns=ragged,
            group_ids=tuple([judged.rollout.group_id for judged in group]),
        )

    def _placed(self, error: RewardError, part: Reward) -> RewardError:
        """Return the error with the place in this formula at which it arose."""
        parts = self.addends()
        if len(parts) == 1 and not part.children():
            return error
        where = f"part {parts.index(part) + 1} of {len(parts)} of " if len(parts) > 1 else ""
        return type(error)(f"{error} (in `{part!r}`, {where}the reward `{self!r}`)")

    # What a node is

    @abstractmethod
    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return this node's value for each member, shape (len(group),).

        Every member is scored. Leaves also write their raw values into `terms`.
        """

    @abstractmethod
    def bounds(self, correct: bool, given: Given) -> Range:
        """Return what this node can be worth, under what is given."""

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

    def range(self, correct: bool) -> Range:
        """Return what this node can be worth to a right, or to a wrong, answer.

        By interval arithmetic through the tree: it holds every value that can occur, at any step
        of a schedule and in any stage of a curriculum. It may hold more, as it takes terms for
        independent.
        """
        return self.bounds(correct, NOTHING)

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

    def walk(self) -> Iterator[Reward]:
        """Yield this node and all below it."""
        yield self
        for child in self.children():
            yield from child.walk()

    @property
    def needs(self) -> frozenset[str]:
        """What scoring takes beyond a completion: some of "group", "tokens", "turns", "verdict".

        "group": a member's value depends on the others; "tokens": lengths in tokens; "turns": a
        learner with turn-level advantages; "verdict": what the judge said.
        """
        return self.own_needs.union(*(child.needs for child in self.children()))

    @property
    def needs_group(self) -> bool:
        """Whether a member's value depends on the other members of its group."""
        return "group" in self.needs

    # Per-turn rewards

    def turn_values(self, group: Group, context: RewardContext) -> list[Floats] | None:
        """Return each member's per-turn rewards, None where this node has none."""
        return None

    # State

    def init_state(self) -> dict[str, Any]:
        """Return what the stateful nodes below remember before training: plain data, by label."""
        return {k: v for child in self.children() for k, v in child.init_state().items()}

    def update(self, state: Mapping[str, Any], scores: Scores) -> dict[str, Any]:
        """Return the state after a generation; pure, so every process comes to the same.

        Args:
            state: from `init_state` or `update`; {} is the first.
            scores: of all complete groups of the generation, gathered from all processes.
        """
        return {k: v for child in self.children() for k, v in child.update(state, scores).items()}

    # What a person should know

    def audit(self, rollouts: Any = None) -> Audit:
        """Prove from the ranges that no wrong answer outscores a right one, or refute it.

        Args:
            rollouts: a list of `Judged`, or stored rows of a run; they add what ranges cannot
                show, and may refute what the ranges leave open.

        Returns:
            An `Audit`: print it, or read its fields.
        """
        from reasonenv.rewards.audit import audit

        return audit(self, rollouts)

    def warnings(self) -> tuple[str, ...]:
        """Return what a person should know before training on this reward, in words.

        From the ranges alone, so it costs nothing; `audit` proves, refutes and says what to change.
        """
        from reasonenv.rewards.audit import dominance

        found = dominance(self)
        if found.proved:
            return ()
        return (
            f"a wrong answer can earn {found.wrong_high:g} and a right one may earn "
            f"{found.right_low:g}: correctness does not dominate",
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

    A subclass says by class variables what it looks at beyond the completion's text:
    `group_relative` if a member's value depends on the others of its group (terms that do not say
    so may be measured on many groups at once), and `reads`, some of "tokens" and "verdict".

    Args:
        name: under which it is logged; the class's name in snake case unless given.
    """

    name: str = field(default="", kw_only=True)
    group_relative: ClassVar[bool] = False
    reads: ClassVar[frozenset[str]] = frozenset()
    can_fail: ClassVar[bool] = False
    """Whether it asks something that may not answer; then `unscored` says where it did not."""

    @abstractmethod
    def measure(self, group: Group, context: RewardContext) -> Floats | list[float]:
        """Return the raw value of each member of a group, all of them scored."""

    def prepare(self, judged: Sequence[Judged], context: RewardContext) -> None:
        """See the judged rollouts of several groups before any is scored; asked where `can_fail`.

        A term that asks something slow asks about all of them at once.
        """

    def unscored(self, group: Group, context: RewardContext) -> Sequence[bool]:
        """Return, for each member, whether this term cannot value it; asked where `can_fail`.

        Such a member is not scored by the whole reward. `measure` then sees the others alone, so
        a term that asks something slow keeps what it heard here.
        """
        return [False] * len(group)

    @abstractmethod
    def range(self, correct: bool) -> Range:
        """Return what this term can be worth to a right, or to a wrong, answer."""

    def bounds(self, correct: bool, given: Given) -> Range:
        """Return what is given of this term, else its own range."""
        return given.terms.get(self.label) or self.range(correct)

    @property
    def needs(self) -> frozenset[str]:
        """What this term looks at beyond the completion's text."""
        return self.reads | {"group"} if self.group_relative else self.reads

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Measure, check, and record under this term's name; once for a group."""
        label = self.label
        if label not in terms:
            terms[label] = self.checked(group, context)
        return terms[label]

    def checked(self, group: Group, context: RewardContext) -> Floats:
        """Measure, and refuse what is no number for each member inside the declared range."""
        called = f"term {self.label} = {self!r}"
        try:
            measured = self.measure(group, context)
        except ReasonEnvError:
            raise
        except Exception as error:
            raise RewardError(
                f"{called} failed on a group of {len(group)}: {type(error).__name__}: {error}"
            ) from error
        try:
            values = np.asarray(measured, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise RewardError(
                f"{called} returned {measured!r:.200}: return one number for each member"
            ) from error
        if values.shape != (len(group),):
            raise RewardError(
                f"{called} returned shape {values.shape} for a group of {len(group)}: "
                "return one number for each member"
            )
        right, wrong = self.range(True), self.range(False)
        if (
            values.min() >= max(right.low, wrong.low) - _TOLERANCE
            and values.max() <= min(right.high, wrong.high) + _TOLERANCE
            and np.isfinite(values).all()
        ):
            return values  # inside both ranges: who is right need not be asked
        solved = np.array([one.verdict.status is Status.CORRECT for one in group])
        low = np.where(solved, right.low, wrong.low) - _TOLERANCE
        high = np.where(solved, right.high, wrong.high) + _TOLERANCE
        outside = ~((low <= values) & (values <= high) & np.isfinite(values))
        if outside.any():
            self._refuse(group[int(outside.argmax())], float(values[outside.argmax()]))
        return values

    def _refuse(self, judged: Judged, value: float) -> None:
        low, high = self.range(judged.verdict.status is Status.CORRECT)
        raise RewardError(
            f"term {self.label} = {self!r} returned {value} for a completion of problem "
            f"{judged.rollout.problem.id}; its range there is [{low:g}, {high:g}]: mend "
            "the term or its declared range"
        )

    def children(self) -> tuple[Reward, ...]:
        """Return nothing: a term is a leaf."""
        return ()

    def leaves(self) -> Iterator[Term]:
        """Yield this term."""
        yield self

    @property
    def label(self) -> str:
        """The given name, or the class's name in snake case."""
        return self.name or snake(type(self).__name__)

    def arguments(self) -> dict[str, Any]:
        """Return the constructor's arguments that are not at their defaults."""
        return {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.init and getattr(self, f.name) != f.default
        }

    def to_config(self) -> dict[str, Any]:
        """Return `{"term": class name, argument: value, ...}`."""
        given = {name: plain(value) for name, value in self.arguments().items()}
        return {"term": type(self).__name__, **given}

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={shown(value)}" for name, value in self.arguments().items())
        return f"{type(self).__name__}({given})"
