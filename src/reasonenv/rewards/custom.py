"""`@term`: a reward term from a function of one judged rollout."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Range, RewardContext, Term
from reasonenv.types import Group, Judged

__all__ = ["FunctionTerm", "term"]

Measure = Callable[[Judged], float]


@dataclass(frozen=True, repr=False)
class FunctionTerm(Term):
    """A term whose value is a function of one judged rollout; `term` makes them."""

    function: Measure
    limits: tuple[float, float]

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Call the function on each member."""
        return [self.function(judged) for judged in group]

    def range(self, correct: bool) -> Range:
        """Return the declared bounds."""
        return Range(*self.limits)

    @property
    def label(self) -> str:
        """The given name, or the function's."""
        return self.name or self.function.__name__

    @property
    def path(self) -> str:
        """Where the term is found again: `module:name`."""
        return f"{self.function.__module__}:{self.function.__qualname__}"

    def to_config(self) -> dict[str, Any]:
        """Return `{"term": "module:name"}`."""
        return {"term": self.path}

    def __repr__(self) -> str:
        return f"term({self.path!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return load_function_term, (self.path,)


def term(*, range: tuple[float, float], name: str = "") -> Callable[[Measure], FunctionTerm]:
    """Turn a function of one `Judged` into a reward term.

    Args:
        range: the interval that its values never leave, right or wrong; leaving it is an error.
        name: under which it is logged; the function's name unless given.

    Raises:
        RewardError: a range whose ends are not finite, or in the wrong order.

    >>> @term(range=(0, 1))
    ... def says_so(judged):
    ...     return float("so" in judged.rollout.completion)
    >>> from reasonenv.rewards import Correct
    >>> (Correct() + 0.1 * says_so).range(correct=False)
    Range(low=0.0, high=0.1)
    """
    bounds = as_bounds(range)

    def decorate(function: Measure) -> FunctionTerm:
        return FunctionTerm(function, bounds, name=name)

    return decorate


def as_bounds(range: Any) -> tuple[float, float]:
    """Return a declared range as two numbers.

    Raises:
        RewardError: its ends are not finite, or in the wrong order.
    """
    try:
        low, high = (float(end) for end in range)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    if not -math.inf < low <= high < math.inf:
        raise RewardError(f"a range is (low, high), finite and low <= high, got {range!r}")
    return low, high


def load_object(path: str, what: str) -> Any:
    """Return what stands at `module:name`.

    Raises:
        RewardError: there is nothing, or the module cannot be imported.
    """
    if not isinstance(path, str):
        raise RewardError(f"{what} is found by 'module:name', got {path!r}")
    module, _, name = path.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:  # importing a module runs it
        raise RewardError(f"no {what} at {path!r} ({error})") from error
    return found


def load_function_term(path: str) -> FunctionTerm:
    """Return the term at `module:name`.

    Raises:
        RewardError: there is none.
    """
    found = load_object(path, "reward term")
    if not isinstance(found, FunctionTerm):
        raise RewardError(f"{path!r} is no reward term: decorate it with @term(range=(low, high))")
    return found
