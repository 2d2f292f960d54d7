"""Regular expressions that match in time linear in the text, whatever the text.

Python's `re` backtracks: a completion can make a harmless looking pattern take hours. Here a
pattern becomes a finite automaton, whose states are made as the text asks for them. What no finite
automaton can do (backreferences, lookaround) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import Any

from reasonenv.errors import RewardError

__all__ = ["LinearPattern", "compile_linear"]

MAX_PATTERN_CHARS = 1_000
MAX_STATES = 2_000
"""The most states of a pattern's automaton: `{3,500}` of something long makes many."""
MAX_SETS = 1_000
"""Sets of states that are kept before the table is begun anew."""

_parser: Any = import_module("re._parser")  # the standard library's own reader of patterns
_constants: Any = import_module("re._constants")

_REFUSED = {
    "GROUPREF": "a backreference",
    "GROUPREF_EXISTS": "a conditional group",
    "ASSERT": "lookahead or lookbehind",
    "ASSERT_NOT": "lookahead or lookbehind",
    "ATOMIC_GROUP": "an atomic group",
    "POSSESSIVE_REPEAT": "a possessive repeat",
}


@dataclass(slots=True)
class _State:
    """A state of the automaton: what it may go to for nothing, or the one character it reads."""

    free: list[int] = field(default_factory=list)
    reads: re.Pattern[str] | None = None
    then: int = -1


@dataclass(slots=True, eq=False)
class _Set:
    """The states in which the automaton may be at a time, and what each character makes of them."""

    states: frozenset[int]
    after: dict[str, _Set] = field(default_factory=dict)


class LinearPattern:
    """A compiled pattern; `fullmatch` says whether it fits a whole text.

    Raises:
        RewardError: the pattern is no regular expression, too large, or needs backtracking.

    >>> compile_linear(r"(a|aa)*b").fullmatch("a" * 30_000)
    False
    """

    def __init__(self, pattern: str) -> None:
        if not isinstance(pattern, str) or len(pattern) > MAX_PATTERN_CHARS:
            raise RewardError(
                f"a pattern has at most {MAX_PATTERN_CHARS} characters, got {pattern!r:.80}"
            )
        self.pattern = pattern
        try:
            tree = _parser.parse(pattern, re.DOTALL)
        except (re.error, RecursionError, OverflowError) as error:
            raise RewardError(f"{pattern!r} is no regular expression: {error}") from error
        flags = tree.state.flags & ~(re.UNICODE | re.DOTALL | re.VERBOSE)
        if flags:
            raise RewardError(
                f"{pattern!r} sets {re.RegexFlag(flags)!r}: patterns here know no flags but "
                "DOTALL, which is always on"
            )
        self._states: list[_State] = []
        parts = list(tree.data)
        if parts and str(parts[0][1]) in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
            del parts[0]
        if parts and str(parts[-1][1]) in ("AT_END", "AT_END_STRING"):
            del parts[-1]
        first = self._state()
        self._last = self._build(parts, first)
        self._sets: dict[frozenset[int], _Set] = {}
        self._start = _Set(self._closure([first]))

    def fullmatch(self, text: str) -> bool:
        """Return whether the pattern fits all of `text`; its own `^` and `$` change nothing."""
        now = self._start
        for character in text:
            after = now.after.get(character)
            if after is None:
                after = self._step(now, character)
            now = after
            if not now.states:
                return False
        return self._last in now.states

    def _step(self, now: _Set, character: str) -> _Set:
        """Make the set that `character` leads to, and keep it."""
        reached = []
        for number in now.states:
            state = self._states[number]
            if state.reads is not None and state.reads.match(character):
                reached.append(state.then)
        states = self._closure(reached)
        after = self._sets.get(states)
        if after is None:
            if len(self._sets) >= MAX_SETS:  # begin anew: the sets must not hold each other either
                for old in (self._start, *list(self._sets.values())):
                    old.after.clear()
                self._sets.clear()
            after = self._sets[states] = _Set(states)
        now.after[character] = after
        return after

    def _closure(self, states: Iterable[int]) -> frozenset[int]:
        found: set[int] = set()
        left = list(states)
        while left:
            number = left.pop()
            if number not in found:
                found.add(number)
                left += self._states[number].free
        return frozenset(found)

    # From the parsed pattern to states; each builder returns the state behind its part.

    def _state(self) -> int:
        if len(self._states) >= MAX_STATES:
            raise RewardError(
                f"{self.pattern!r} makes more than {MAX_STATES} states: use smaller repeats"
            )
        self._states.append(_State())
        return len(self._states) - 1

    def _build(self, parts: Iterable[tuple[Any, Any]], at: int) -> int:
        for operator, argument in parts:
            at = self._part(str(operator), argument, at)
        return at

    def _part(self, name: str, argument: Any, at: int) -> int:
        if name in _REFUSED:
            raise RewardError(
                f"{self.pattern!r} holds {_REFUSED[name]}, which cannot be matched in linear time"
            )
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "CATEGORY"):
            return self._read(_one_character(name, argument), at)
        if name == "BRANCH":
            end = self._state()
            for branch in argument[1]:
                begin = self._state()
                self._states[at].free.append(begin)
                self._states[self._build(branch, begin)].free.append(end)
            return end
        if name == "SUBPATTERN":
            _, added, removed, inside = argument
            if (added | removed) & ~re.DOTALL:
                raise RewardError(f"{self.pattern!r} sets flags inside a group: none are known")
            return self._build(inside, at)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, inside = argument
            return self._repeat(least, most, inside, at)
        if name == "AT":
            raise RewardError(
                f"{self.pattern!r} holds an anchor inside: the pattern fits the whole text, so ^ "
                "may begin it and $ end it, and no other anchor is known"
            )
        raise RewardError(f"{self.pattern!r} holds {name}, which patterns here do not know")

    def _read(self, what: re.Pattern[str], at: int) -> int:
        end = self._state()
        begin = self._state()
        self._states[at].free.append(begin)
        self._states[begin].reads, self._states[begin].then = what, end
        return end

    def _repeat(self, least: int, most: Any, inside: Any, at: int) -> int:
        bounded = most is not _constants.MAXREPEAT
        if max(least, most if bounded else 0) > MAX_STATES:
            raise RewardError(f"{self.pattern!r} repeats something more than {MAX_STATES} times")
        for _ in range(least):
            at = self._build(inside, at)
        end = self._state()
        if not bounded:
            loop = self._state()
            self._states[at].free.append(loop)
            self._states[self._build(inside, loop)].free.append(loop)
            self._states[loop].free.append(end)
            return end
        for _ in range(most - least):
            self._states[at].free.append(end)
            step = self._state()
            self._states[at].free.append(step)
            at = self._build(inside, step)
        self._states[at].free.append(end)
        return end


_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}


def _one_character(name: str, argument: Any) -> re.Pattern[str]:
    """Return the pattern of the one character that a parsed node reads."""
    if name == "ANY":
        return re.compile("(?s:.)")
    if name == "NOT_LITERAL":
        return re.compile(f"[^{re.escape(chr(argument))}]")
    if name != "IN":
        argument = [(name, argument)]
    inside = ""
    for kind, value in argument:
        match str(kind):
            case "NEGATE":
                inside += "^"
            case "LITERAL":
                inside += re.escape(chr(value))
            case "RANGE":
                inside += "-".join(re.escape(chr(end)) for end in value)
            case _:
                inside += _CATEGORIES[str(value)]
    return re.compile(f"[{inside}]")


@lru_cache(maxsize=100)
def compile_linear(pattern: str) -> LinearPattern:
    """Return the automaton of a pattern, made once.

    Raises:
        RewardError: as for `LinearPattern`.
    """
    return LinearPattern(pattern)
