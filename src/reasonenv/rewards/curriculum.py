"""`Curriculum`: rewards in stages, each until a term of it has nothing left to teach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from reasonenv.errors import RewardError, did_you_mean
from reasonenv.rewards.algebra import as_node, check_names
from reasonenv.rewards.base import Floats, Range, Reward, RewardContext, Scores
from reasonenv.rewards.ranges import Given
from reasonenv.types import FrozenDict, Group

__all__ = ["Curriculum", "Stage", "group_deviation"]


@dataclass(frozen=True)
class Stage:
    """A reward of a curriculum, and when it is over.

    Args:
        node: what is paid in this stage.
        until: the name of the term to watch; it may be of any stage. "" for the last stage.
        below: the stage is over when the term's deviation within groups, averaged over the groups
            of a generation, is below this ...
        patience: ... for so many generations in a row,
        at_least: with a mean of at least this. A term that nobody earns deviates as little as one
            that everybody earns: give it where the first is possible.
    """

    node: Reward
    until: str = ""
    below: float = 0.05
    patience: int = 10
    at_least: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "node", as_node(self.node))
        for name in ("below", "at_least"):
            value = getattr(self, name)
            if name == "at_least" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise RewardError(f"Stage: {name} is a number, got {value!r}")
        count = isinstance(self.patience, int) and not isinstance(self.patience, bool)
        if not (count and self.patience >= 1):
            raise RewardError(
                f"Stage: patience is a number of generations from 1 on, got {self.patience!r}"
            )
        if self.below <= 0:
            raise RewardError(f"Stage: below is a deviation above 0, got {self.below!r}")
        if not isinstance(self.until, str):
            raise RewardError(f"Stage: until is the name of a term, got {self.until!r}")

    def to_config(self) -> dict[str, Any]:
        """Return `{"stage": node, "until": name, ...}`."""
        config = {"stage": self.node.to_config(), "until": self.until, "below": self.below}
        config["patience"] = self.patience
        return config if self.at_least is None else {**config, "at_least": self.at_least}

    def __repr__(self) -> str:
        more = "" if self.at_least is None else f", at_least={self.at_least!r}"
        return (
            f"Stage({self.node!r}, until={self.until!r}, below={self.below!r}, "
            f"patience={self.patience!r}{more})"
        )


@dataclass(frozen=True, repr=False, init=False)
class Curriculum(Reward):
    """Rewards in stages: `Curriculum(Stage(first, until="format"), second)`.

    The value is the current stage's. A stage is over when the term that it watches has (almost) no
    deviation left within groups, so nothing that an advantage could teach. Which stage is current
    is state: the learner keeps it, stores it in checkpoints, and every process comes to the same.
    Outside training it is the first. Leaves of all stages are measured and logged throughout.

    The range is the union over the stages.

    Args:
        stages: `Stage`s, and at the end a reward that stays.
        name: under which it is logged, and its state kept.

    >>> from reasonenv.rewards import Correct, Format
    >>> Curriculum(Stage(Format("answer"), until="format"), Correct())
    Curriculum(Stage(Format('answer'), until='format', below=0.05, patience=10), Correct())
    """

    stages: tuple[Stage, ...]
    name: str = field(default="curriculum")
    own_state: ClassVar[Mapping[str, Any] | None] = FrozenDict({"stage": 0, "calm": 0})

    def __init__(self, *stages: Stage | Reward, name: str = "curriculum") -> None:
        made = tuple(s if isinstance(s, Stage) else Stage(as_node(s)) for s in stages)
        object.__setattr__(self, "stages", made)
        object.__setattr__(self, "name", name)
        if len(made) < 2 or not isinstance(name, str) or not name:
            raise RewardError(
                "a curriculum has at least two stages, as in Curriculum(Stage(Format('answer'), "
                f"until='format'), Correct()), and a name; got {len(made)} and name={name!r}"
            )
        names = sorted({leaf.label for leaf in self.leaves()})
        for i, stage in enumerate(made[:-1]):
            if stage.until not in names:
                raise RewardError(
                    f"stage {i + 1} of the curriculum waits for the term {stage.until!r}, which "
                    f"none of its stages has; {did_you_mean(stage.until, names)}"
                )
        if made[-1].until:
            raise RewardError(
                f"the last stage of a curriculum stays, and has no until=: got {made[-1]!r}"
            )
        check_names(self)

    def current(self, state: Mapping[str, Any]) -> int:
        """Return the index of the current stage."""
        return min(int((state.get(self.name) or {}).get("stage", 0)), len(self.stages) - 1)

    def values(self, group: Group, context: RewardContext, terms: dict[str, Floats]) -> Floats:
        """Return the current stage's values; the other stages' leaves are measured, too."""
        found = [stage.node.values(group, context, terms) for stage in self.stages]
        return found[self.current(context.state)]

    def turn_values(self, group: Group, context: RewardContext) -> list[Floats] | None:
        """Return the current stage's per-turn rewards; zeros where another stage has some."""
        if "turns" not in self.needs:
            return None
        node = self.stages[self.current(context.state)].node
        turns = node.turn_values(group, context)
        return turns or [np.zeros(len(judged.rollout.turns) + 1) for judged in group]

    def bounds(self, correct: bool, given: Given) -> Range:
        """Return the given stage's range, else the union over all stages."""
        if self.name in given.stages:
            return self.stages[given.stages[self.name]].node.bounds(correct, given)
        return reduce(Range.union, (s.node.bounds(correct, given) for s in self.stages))

    def init_state(self) -> dict[str, Any]:
        """Return the first stage's state, and that of stateful nodes below."""
        return {**super().init_state(), self.name: dict(self.own_state or {})}

    def update(self, state: Mapping[str, Any], scores: Scores) -> dict[str, Any]:
        """Return the state after a generation: one stage on, or one generation calmer."""
        below = super().update(state, scores)
        stage = self.current(state)
        calm = int((state.get(self.name) or {}).get("calm", 0))
        if stage < len(self.stages) - 1:
            calm = calm + 1 if self._is_calm(self.stages[stage], scores) else 0
            if calm >= self.stages[stage].patience:
                stage, calm = stage + 1, 0
        return {**below, self.name: {"stage": stage, "calm": calm}}

    def _is_calm(self, stage: Stage, scores: Scores) -> bool:
        values = scores.terms[stage.until]
        deviation = group_deviation(values, scores.group_ids)
        if np.isnan(deviation) or deviation >= stage.below:
            return False
        return stage.at_least is None or float(np.nanmean(values)) >= stage.at_least

    def children(self) -> tuple[Reward, ...]:
        """Return the stages' rewards."""
        return tuple(stage.node for stage in self.stages)

    @property
    def label(self) -> str:
        """Its name."""
        return self.name

    def to_config(self) -> dict[str, Any]:
        """Return `{"curriculum": [stage, ..., node]}`, and the name where it has one."""
        stages = [stage.to_config() for stage in self.stages[:-1]]
        config: dict[str, Any] = {"curriculum": [*stages, self.stages[-1].node.to_config()]}
        return config if self.name == "curriculum" else {**config, "name": self.name}

    def __repr__(self) -> str:
        shown = [*map(repr, self.stages[:-1]), repr(self.stages[-1].node)]
        shown += [f"name={self.name!r}"] * (self.name != "curriculum")
        return f"Curriculum({', '.join(shown)})"


def group_deviation(values: Floats, group_ids: tuple[str, ...]) -> float:
    """Return the mean over groups of the deviation (divisor n) of their scored members.

    NaN where nothing was scored.
    """
    if not len(values):
        return float("nan")
    _, group = np.unique(np.asarray(group_ids or ("",) * len(values)), return_inverse=True)
    there = ~np.isnan(values)
    if not there.any():
        return float("nan")
    group, values = group[there], values[there]
    count = np.bincount(group)
    kept = count > 0
    mean = np.bincount(group, values)[kept] / count[kept]
    centred = values - mean[np.cumsum(kept)[group] - 1]
    variance = np.bincount(group, centred**2)[kept] / count[kept]
    return float(np.sqrt(variance).mean())
