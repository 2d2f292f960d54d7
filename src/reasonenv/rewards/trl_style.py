"""`from_trl`: a reward function written for TRL, as a term."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Range, RewardContext, Term
from reasonenv.rewards.custom import as_bounds, load_object
from reasonenv.rewards.spelling import plain, shown
from reasonenv.types import Group, thaw

__all__ = ["TrlTerm", "from_trl"]


@dataclass(frozen=True, repr=False)
class TrlTerm(Term):
    """A term that calls a TRL reward function; `from_trl` makes them."""

    function: Callable[..., Any]
    limits: tuple[float, float]
    group: bool = False
    messages: bool = False

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Call the function once, with the columns that it would find in TRL."""
        found = list(self.function(**self._wanted(_columns(group, self.messages))))
        if None in found:
            raise RewardError(
                f"term {self.label} = {self!r} returned None for {found.count(None)} of "
                f"{len(found)} completions, which TRL adds up as 0: let it return a number (0.0, "
                "say), or leave failing checkers to the environment's judge"
            )
        return found

    def _wanted(self, columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """Return the columns that the function takes; all where it takes **kwargs."""
        parameters = inspect.signature(self.function).parameters.values()
        if any(p.kind is p.VAR_KEYWORD for p in parameters):
            return columns
        names = {p.name for p in parameters}
        missing = {p.name for p in parameters if p.default is p.empty} - columns.keys()
        if missing:
            raise RewardError(
                f"term {self!r} asks for {', '.join(sorted(missing))}; there are prompts, "
                "completions, answer and the problem's metadata: "
                + ", ".join(sorted(columns.keys() - {"prompts", "completions", "answer"}))
            )
        return {name: column for name, column in columns.items() if name in names}

    def range(self, correct: bool) -> Range:
        """Return the declared bounds."""
        return Range(*self.limits)

    @property
    def needs(self) -> frozenset[str]:
        """The group's other members, where the function compares them."""
        return frozenset({"group"} if self.group else ())

    @property
    def label(self) -> str:
        """The given name, or the function's."""
        return self.name or str(getattr(self.function, "__name__", type(self.function).__name__))

    @property
    def path(self) -> str:
        """Where the function is found again: `module:name`."""
        return f"{self.function.__module__}:{self.function.__qualname__}"

    def _options(self) -> dict[str, Any]:
        options: dict[str, Any] = {"range": self.limits}
        options |= {"name": self.name} if self.name else {}
        options |= {"group": True} if self.group else {}
        return options | ({"messages": True} if self.messages else {})

    def to_config(self) -> dict[str, Any]:
        """Return `{"term": "from_trl", "function": "module:name", "range": [low, high], ...}`."""
        options = {key: plain(value) for key, value in self._options().items()}
        return {"term": "from_trl", "function": self.path, **options}

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={shown(value)}" for key, value in self._options().items())
        return f"from_trl({self.path!r}, {options})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _load, (self.path, self.limits, self.name, self.group, self.messages)


def from_trl(
    function: Callable[..., Any] | str,
    range: tuple[float, float],
    name: str = "",
    group: bool = False,
    messages: bool = False,
) -> TrlTerm:
    """Turn a reward function in TRL's form into a term.

    It is called with keyword arguments, as TRL calls it: `prompts` and `completions` (texts, or
    lists of messages where the prompt is messages), `answer` (the gold), and the problem's
    metadata by name, each a list with one item a rollout; only those that it takes. A completion
    is prefill + completion. `completion_ids` and `trainer_state` are not there.

    Args:
        function: `f(completions, **columns) -> list of float`, or where it is: "module:name".
        range: the interval that its values never leave; leaving it is an error.
        name: under which it is logged; the function's name unless given.
        group: whether it compares the completions that it gets, so must get whole groups.
        messages: whether it takes completions and prompts as lists of messages, as TRL's own do,
            also where the problem's prompt is a text.

    Raises:
        RewardError: no function, or no finite range.

    >>> def short(completions, **columns):
    ...     return [float(len(text) < 100) for text in completions]
    >>> from reasonenv.rewards import Correct
    >>> (Correct() + 0.1 * from_trl(short, range=(0, 1))).range(correct=True)
    Range(low=1.0, high=1.1)
    """
    if isinstance(function, str):
        function = load_object(function, "reward function")
    if not callable(function) or isinstance(function, type):
        raise RewardError(f"from_trl takes a function, or its 'module:name', got {function!r}")
    if not isinstance(name, str) or not all(isinstance(one, bool) for one in (group, messages)):
        raise RewardError(
            f"from_trl: name is a text, group and messages are True or False; got {name!r}, "
            f"{group!r} and {messages!r}"
        )
    return TrlTerm(function, as_bounds(range), group, messages, name=name)


def _load(path: str, range: tuple[float, float], name: str, group: bool, messages: bool) -> TrlTerm:
    return from_trl(path, range, name, group, messages)


def _columns(group: Group, messages: bool) -> dict[str, list[Any]]:
    prompts = [thaw(judged.rollout.problem.prompt) for judged in group]
    if messages:
        prompts = [[{"role": "user", "content": p}] if isinstance(p, str) else p for p in prompts]
    columns: dict[str, list[Any]] = {
        "prompts": prompts,
        "completions": [
            judged.rollout.text
            if isinstance(prompt, str)
            else [{"role": "assistant", "content": judged.rollout.text}]
            for judged, prompt in zip(group, prompts, strict=True)
        ],
        "answer": [thaw(judged.rollout.problem.answer) for judged in group],
    }
    names = {name for judged in group for name in judged.rollout.problem.metadata}
    for extra in sorted(names - columns.keys()):
        columns[extra] = [thaw(j.rollout.problem.metadata.get(extra)) for j in group]
    return columns
