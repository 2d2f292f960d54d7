"""How a weight changes over a run: `Linear`, `Cosine`, `Step` and `Constant`.

A schedule is a function of the trainer's step alone. `Scheduled(node, schedule)` multiplies a node
with it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from reasonenv.errors import RewardError
from reasonenv.rewards.ranges import Range, hull
from reasonenv.rewards.spelling import plain, shown

__all__ = ["SCHEDULES", "Constant", "Cosine", "Linear", "Schedule", "Step"]


class Schedule(ABC):
    """A number for each step of a run, from step 0."""

    @abstractmethod
    def at_step(self, step: int) -> float:
        """Return the number at a step."""

    @abstractmethod
    def bounds(self) -> Range:
        """Return the interval of all its numbers."""

    @property
    @abstractmethod
    def last_change(self) -> int:
        """The step from which on it stays the same."""

    def to_config(self) -> dict[str, Any]:
        """Return `{"schedule": class name, argument: value, ...}`."""
        return {"schedule": type(self).__name__} | {
            f.name: plain(getattr(self, f.name))
            for f in fields(self)  # type: ignore[arg-type]
        }

    def __repr__(self) -> str:
        given = [f"{f.name}={shown(getattr(self, f.name))}" for f in fields(self)]  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(given)})"


@dataclass(frozen=True, repr=False)
class Constant(Schedule):
    """The same number at every step."""

    value: float

    def __post_init__(self) -> None:
        _numbers(self, self.value)

    def at_step(self, step: int) -> float:
        """Return the number."""
        return self.value

    def bounds(self) -> Range:
        """Return the number as an interval."""
        return Range(self.value, self.value)

    @property
    def last_change(self) -> int:
        """Always 0."""
        return 0


@dataclass(frozen=True, repr=False)
class _Ramp(Schedule):
    start: float
    end: float
    steps: int | None = None
    begin: int = 0
    shape: ClassVar[str] = ""

    def __post_init__(self) -> None:
        _numbers(self, self.start, self.end)
        if self.steps is None or not _is_count(self.steps, least=1):
            raise RewardError(
                f"{type(self).__name__} goes from start to end in a whole number of steps, at "
                f"least 1: {type(self).__name__}({self.start!r}, {self.end!r}, steps=500); got "
                f"steps={self.steps!r}"
            )
        if not _is_count(self.begin, least=0):
            raise RewardError(
                f"{type(self).__name__}: begin is the step at which it starts to change, got "
                f"{self.begin!r}"
            )

    def at_step(self, step: int) -> float:
        """Return the number at a step."""
        assert self.steps is not None
        done = min(max(step - self.begin, 0) / self.steps, 1.0)
        if done in (0.0, 1.0):
            return self.end if done else self.start
        return self.start + (self.end - self.start) * self._share(done)

    def _share(self, done: float) -> float:
        return done

    def bounds(self) -> Range:
        """Return the interval between both ends: it never leaves them."""
        return hull((self.start, self.end))

    @property
    def last_change(self) -> int:
        """The step at which it reaches its end."""
        assert self.steps is not None
        return self.begin + self.steps


@dataclass(frozen=True, repr=False)
class Linear(_Ramp):
    """From `start` to `end` in a straight line over `steps`, then `end`.

    Formula: s(t) = start + (end - start) * min(max(t - begin, 0) / steps, 1).

    >>> Linear(1.0, 0.0, steps=4).at_step(1)
    0.75
    """


@dataclass(frozen=True, repr=False)
class Cosine(_Ramp):
    """From `start` to `end` along half a cosine over `steps`, then `end`.

    Formula: s(t) = start + (end - start) * (1 - cos(pi * u)) / 2, u = min(max(t - begin, 0) /
    steps, 1).

    >>> round(Cosine(1.0, 0.0, steps=4).at_step(2), 6)
    0.5
    """

    def _share(self, done: float) -> float:
        return (1 - math.cos(math.pi * done)) / 2


@dataclass(frozen=True, repr=False)
class Step(Schedule):
    """`values[0]`, then `values[i]` from the step `at[i - 1]` on.

    >>> Step((1.0, 0.2), at=(100,)).at_step(100)
    0.2
    """

    values: tuple[float, ...]
    at: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("values", "at"):
            given = getattr(self, name)
            if not isinstance(given, tuple | list):
                raise RewardError(f"Step: {name} is a tuple of numbers, got {given!r}")
            object.__setattr__(self, name, tuple(given))
        _numbers(self, *self.values)
        counts = all(_is_count(step, least=1) for step in self.at)
        if not counts or list(self.at) != sorted(set(self.at)) or not self.at:
            raise RewardError(
                f"Step changes at rising steps from 1 on, as in Step((1.0, 0.2), at=(100,)); got "
                f"at={self.at!r}"
            )
        if len(self.values) != len(self.at) + 1:
            raise RewardError(
                f"Step has one value more than steps at which it changes, got {len(self.values)} "
                f"values and at={self.at!r}"
            )

    def at_step(self, step: int) -> float:
        """Return the number at a step."""
        return self.values[sum(step >= change for change in self.at)]

    def bounds(self) -> Range:
        """Return the hull of its values."""
        return hull(self.values)

    @property
    def last_change(self) -> int:
        """The last step at which it changes."""
        return self.at[-1]


SCHEDULES: dict[str, type[Schedule]] = {
    cls.__name__: cls for cls in (Constant, Cosine, Linear, Step)
}


def _is_count(value: Any, *, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _numbers(schedule: Schedule, *values: Any) -> None:
    for value in values:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (number and math.isfinite(value)):
            name = type(schedule).__name__
            raise RewardError(f"{name}: a schedule's values are finite numbers, got {value!r}")
