"""OneLiners: small functions that one expression solves, made on demand with tests and solution."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from reasonenv.types import Problem, content_hash

__all__ = ["OneLiners"]

_FIRST = 4  # inputs among which the example of the prompt is chosen
_TRIES = 40  # inputs looked at for one that tells a near miss from the solution
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class _Step:
    """One part of a function: what the task says, and the expression over `x` or `items`."""

    text: str
    code: str


@dataclass(frozen=True)
class _Family:
    """Functions of one kind of argument: where the items come from, and what is done to them."""

    noun: str
    argument: str
    says: str
    source: str
    keeps: tuple[_Step, ...]
    changes: tuple[_Step, ...]
    finishes: tuple[tuple[str, _Step], ...]


def _steps(*pairs: tuple[str, str], values: str | range) -> tuple[_Step, ...]:
    return tuple(
        _Step(text.format(k=value), code.format(k=repr(value)))
        for text, code in pairs
        for value in values
    )


_INT_KEEPS = _steps(
    ("that are greater than {k}", "x > {k}"),
    ("that are less than {k}", "x < {k}"),
    ("that are divisible by {k}", "x % {k} == 0"),
    ("that are not divisible by {k}", "x % {k} != 0"),
    values=range(2, 10),
)
_INT_CHANGES = (
    *_steps(
        ("itself plus {k}", "x + {k}"),
        ("itself times {k}", "x * {k}"),
        ("{k} minus itself", "{k} - x"),
        ("its remainder modulo {k}, as Python's `%` gives it", "x % {k}"),
        values=range(2, 10),
    ),
    _Step("its square", "x * x"),
)
_INT_FINISHES = (
    ("sum", _Step("their sum", "sum({items})")),
    ("count", _Step("how many different values there are", "len(set({items}))")),
    ("largest", _Step("the largest, or 0 if there is none", "max({items}, default=0)")),
    ("smallest", _Step("the smallest, or 0 if there is none", "min({items}, default=0)")),
    ("list", _Step("them as a list in the same order", "list({items})")),
    ("reverse", _Step("them as a list in reverse order", "list({items})[::-1]")),
    ("rank", _Step("them as a list from largest to smallest", "sorted({items}, reverse=True)")),
    ("distinct", _Step("the different ones as a list from smallest up", "sorted(set({items}))")),
)
_TEXT_FINISHES = (
    ("join", _Step("them joined into one string", "''.join({items})")),
    ("dash", _Step("them joined by '-'", "'-'.join({items})")),
    ("reverse", _Step("them joined in reverse order", "''.join(list({items})[::-1])")),
    ("sort", _Step("them joined in alphabetical order", "''.join(sorted({items}))")),
    ("list", _Step("them as a list in the same order", "list({items})")),
    ("distinct", _Step("the different ones as a sorted list", "sorted(set({items}))")),
)
_FAMILIES = (
    _Family(
        "numbers",
        "xs",
        "the numbers in the list `xs`",
        "xs",
        _INT_KEEPS,
        _INT_CHANGES,
        _INT_FINISHES,
    ),
    _Family(
        "digits",
        "n",
        "the decimal digits of the non-negative integer `n`, from the left",
        "map(int, str(n))",
        _INT_KEEPS,
        _INT_CHANGES,
        _INT_FINISHES,
    ),
    _Family(
        "letters",
        "s",
        "the characters of the string `s`",
        "s",
        (
            *_steps(
                ("that are not '{k}'", "x != {k}"),
                ("that come before '{k}' in the alphabet", "x < {k}"),
                ("that come after '{k}' in the alphabet", "x > {k}"),
                values=_LETTERS[3:20],
            ),
            _Step("that are vowels (a, e, i, o, u)", "x in 'aeiou'"),
            _Step("that are not vowels (a, e, i, o, u)", "x not in 'aeiou'"),
        ),
        (
            _Step("its upper-case form", "x.upper()"),
            *_steps(("itself {k} times in a row", "x * {k}"), values=range(2, 6)),
            *_steps(("itself with '{k}' behind it", "x + {k}"), values=_LETTERS[:12]),
        ),
        _TEXT_FINISHES,
    ),
    _Family(
        "words",
        "s",
        "the words of the string `s`, which are separated by spaces",
        "s.split()",
        (
            *_steps(
                ("that are longer than {k} characters", "len(x) > {k}"),
                ("that are shorter than {k} characters", "len(x) < {k}"),
                values=range(2, 6),
            ),
            *_steps(
                ("that contain '{k}'", "{k} in x"),
                ("that do not contain '{k}'", "{k} not in x"),
                values="aeinorst",
            ),
        ),
        (
            _Step("its upper-case form", "x.upper()"),
            _Step("itself spelled backwards", "x[::-1]"),
            _Step("its first character", "x[0]"),
            *_steps(
                ("its last {k} characters, or all of it if it is shorter", "x[-{k}:]"),
                values=range(2, 5),
            ),
            *_steps(("itself with '{k}' in front", "{k} + x"), values=_LETTERS[:12]),
        ),
        _TEXT_FINISHES,
    ),
)


@dataclass(frozen=True)
class _Spec:
    family: _Family
    keep: _Step | None
    change: _Step | None
    finish: tuple[str, _Step]

    def code(self) -> str:
        """Return the expression that solves the task."""
        template = self.finish[1].code
        if not self.keep and not self.change:
            return template.format(items=self.family.source)
        shown = self.change.code if self.change else "x"
        condition = f" if {self.keep.code}" if self.keep else ""
        items = f"{shown} for x in {self.family.source}{condition}"
        # A generator needs brackets of its own unless it is the only argument.
        return template.format(items=items if "({items})" in template else f"({items})")

    def name(self) -> str:
        """Return the function's name."""
        return f"{self.finish[0]}_of_{self.family.noun}"

    def text(self) -> str:
        """Return the task in words, without the function's name."""
        kept = f", but only those {self.keep.text}" if self.keep else ""
        changed = f" Replace each of them by {self.change.text}." if self.change else ""
        return f"Take {self.family.says}{kept}.{changed} Return {self.finish[1].text}."

    def function(self) -> Callable[[Any], Any]:
        """Return what `code` computes, made of its parts: far faster than compiling it anew."""
        source = _function(self.family.argument, self.family.source)
        finish = _function("items", self.finish[1].code.format(items="items"))
        keep = _function("x", self.keep.code) if self.keep else None
        change = _function("x", self.change.code) if self.change else None

        def run(given: Any) -> Any:
            items = source(given)
            if keep is not None:
                items = filter(keep, items)
            return finish(map(change, items) if change is not None else items)

        return run

    def near(self) -> Iterator[_Spec]:
        """Yield specs that differ in one part: what a slightly wrong program would do."""
        for keep in _neighbours(self.keep, self.family.keeps):
            yield replace(self, keep=keep)
        for change in _neighbours(self.change, self.family.changes):
            yield replace(self, change=change)
        for finish in self.family.finishes:
            if finish != self.finish:
                yield replace(self, finish=finish)


def _neighbours(step: _Step | None, steps: tuple[_Step, ...]) -> Iterator[_Step | None]:
    """Yield no step at all, and the two beside it: the next thresholds, or another comparison."""
    if step is not None:
        at = steps.index(step)
        yield None
        yield steps[at - 1]
        yield steps[(at + 1) % len(steps)]


@cache
def _function(argument: str, code: str) -> Callable[[Any], Any]:
    """Return an expression of this module's own as a function of its argument."""
    function: Callable[[Any], Any] = eval(f"lambda {argument}: {code}")
    return function


@dataclass(frozen=True)
class OneLiners:
    """Write a function that takes items, drops some, changes the rest, and returns what is left.

    Items are the numbers of a list, the digits of a number, the characters or the words of a
    string. The prompt names the function and shows one example. The tests depend on the task
    alone and are chosen so that a program that differs in one part (the next threshold, no change,
    another result) fails at least one of them, where one input in forty tells them apart.

    A problem's id is that of its task: the same task is always the same problem.

    Args:
        parts: how many parts a task has, 1 to 3: what is returned, what is changed, what is kept.
        tests: the least number of tests, 3 to 50.

    Raises:
        ValueError: a number out of range.

    >>> problem = OneLiners()(np.random.default_rng(0))
    >>> problem.metadata["kind"], problem.metadata["entry_point"] in problem.prompt
    ('assert', True)
    """

    parts: int = 3
    tests: int = 6

    def __post_init__(self) -> None:
        if not 1 <= self.parts <= 3 or not 3 <= self.tests <= 50:
            raise ValueError(f"parts from 1 to 3 and tests from 3 to 50 are needed, got {self}")

    def __call__(self, rng: np.random.Generator) -> Problem:
        """Return the task that `rng` draws."""
        while True:
            problem = self._problem(self._spec(rng))
            if problem is not None:
                return problem

    def _spec(self, rng: np.random.Generator) -> _Spec:
        family = _FAMILIES[int(rng.integers(len(_FAMILIES)))]
        keep = family.keeps[int(rng.integers(len(family.keeps)))]
        change = family.changes[int(rng.integers(len(family.changes)))]
        finish = family.finishes[int(rng.integers(len(family.finishes)))]
        if self.parts == 3:
            return _Spec(family, keep, change, finish)
        if self.parts == 1:  # bare finishes would be a handful of tasks
            finish = next(one for one in family.finishes if one[0] in ("list", "join"))
        keeps = bool(rng.integers(2))
        return _Spec(family, keep if keeps else None, None if keeps else change, finish)

    def _problem(self, spec: _Spec) -> Problem | None:
        """Return the problem of a spec, None where one constant would pass all its tests."""
        name, argument = spec.name(), spec.family.argument
        header = f"Write a Python function `{name}({argument})`. {spec.text()}"
        id = content_hash(header)
        solve = spec.function()
        # The tests follow from the task alone, so that one id is one problem.
        inputs = _inputs(spec, solve, self.tests, random.Random(int(id, 16)))
        results = [solve(given) for given in inputs]
        if all(result == results[0] for result in results[:-1]):
            return None
        tests = [
            f"assert {name}({given!r}) == {result!r}"
            for given, result in zip(inputs, results, strict=True)
        ]
        metadata = {
            "kind": "assert",
            "entry_point": name,
            "solution": f"def {name}({argument}):\n    return {spec.code()}\n",
            "source": "one_liners",
            "family": spec.family.noun,
        }
        shown = f"For example, `{name}({inputs[0]!r})` returns `{results[0]!r}`."
        return Problem(f"{header} {shown}", tests, metadata, id=id)


def _inputs(spec: _Spec, solve: Callable[[Any], Any], least: int, rng: random.Random) -> list[Any]:
    """Return inputs that tell the solution from its near misses, the empty one the last."""
    draw = _DRAWS[spec.family.noun]
    drawn = [draw(rng) for _ in range(_FIRST)]
    # The example in the prompt should show something.
    chosen = [max(drawn, key=lambda given: len(repr(solve(given))))]
    for other in spec.near():
        miss = other.function()
        if any(solve(given) != miss(given) for given in chosen):
            continue
        for given in _endless(drawn, draw, rng):
            if solve(given) != miss(given):
                chosen.append(given)
                break
    for given in _endless(drawn, draw, rng):
        if len(chosen) + 1 >= least:
            break
        if given not in chosen:
            chosen.append(given)
    return [*chosen, _EMPTY.get(spec.family.noun, "")]


def _endless(drawn: list[Any], draw: Callable[[random.Random], Any], rng: random.Random) -> Any:
    """Yield what was drawn, then draw more, up to `_TRIES` in all."""
    yield from drawn
    while len(drawn) < _TRIES:
        drawn.append(draw(rng))
        yield drawn[-1]


def _word(rng: random.Random, least: int = 1, most: int = 8) -> str:
    return "".join(rng.choices(_LETTERS, k=rng.randint(least, most)))


_DRAWS: dict[str, Callable[[random.Random], Any]] = {
    "numbers": lambda rng: [rng.randint(-12, 30) for _ in range(rng.randint(3, 8))],
    "digits": lambda rng: rng.randint(1_000, 99_999_999),
    "letters": lambda rng: _word(rng, 4, 12),
    "words": lambda rng: " ".join(_word(rng) for _ in range(rng.randint(3, 6))),
}
_EMPTY: dict[str, Any] = {"numbers": [], "digits": 0}
