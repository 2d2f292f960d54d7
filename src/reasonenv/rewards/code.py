"""Terms for programs: what their tests say, and how they are written.

All read the verdict of a judge of programs: `verdict.answer` is the extracted program,
`verdict.detail["tests"]` the outcome of each test, `verdict.score` the share that passed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Floats, Range, RewardContext, Term
from reasonenv.rewards.triviality import does_something, parsed_program, worked_share
from reasonenv.types import Group, Judged, Status

__all__ = [
    "CODE_TERMS",
    "AllPassed",
    "Complexity",
    "FractionPassed",
    "RarityWeightedTests",
    "Syntax",
    "outcomes",
]

PASSED = "passed"
"""What a judge calls the outcome of a test that the program passed."""


def outcomes(judged: Judged) -> tuple[str, ...]:
    """Return the outcome of each test, in their order: "passed", "wrong_answer", "timeout" ...

    Empty where no test was reached: no program was found, or it does not parse.
    """
    tests = judged.verdict.detail.get("tests") or ()
    return tuple(str(t.get("outcome", "")) if isinstance(t, Mapping) else str(t) for t in tests)


@dataclass(frozen=True, repr=False)
class Syntax(Term):
    """1 if a program was found that parses and does something.

    Formula: r = 1[an answer was extracted, it parses as Python, and it holds a statement other than
    `pass`, imports, and bare names or constants]. Range: {1} if right, {0, 1} if wrong. Not
    potential-based. What it cannot see: whether the program has to do with the task; `print()`
    earns it, so gate it or keep its weight small. Source: the study's "syntax (parses) 0.5" (arXiv
    2609.39321), with empty programs refused.

    >>> Syntax().range(correct=False)
    Range(low=0.0, high=1.0)
    """

    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return 1.0 where the program parses."""
        return [float(self._parses(judged)) for judged in group]

    def _parses(self, judged: Judged) -> bool:
        if judged.verdict.status is Status.CORRECT:
            return True
        if judged.verdict.detail.get("syntax_ok") is False:
            return False
        tree = parsed_program(judged.verdict.answer)
        return tree is not None and does_something(tree)

    def range(self, correct: bool) -> Range:
        """Return {1} if right, [0, 1] if wrong."""
        return Range(1.0 if correct else 0.0, 1.0)


@dataclass(frozen=True, repr=False)
class AllPassed(Term):
    """1 if every test passed: the task's outcome itself, under the name that is used for programs.

    Formula: r = 1[status = CORRECT]. Range: {1} if right, {0} if wrong. Not potential-based: it is
    the task. What it cannot see: anything among programs that fail (it is sparse), and programs
    that write down the results of the tests that they know. Source: the all-pass rule reward of
    AceCoder (arXiv 2502.01718) and the study's correctness of programs (arXiv 2609.39321).

    >>> AllPassed().range(correct=True)
    Range(low=1.0, high=1.0)
    """

    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return 1.0 where the verdict is CORRECT."""
        return [float(judged.verdict.status is Status.CORRECT) for judged in group]

    def range(self, correct: bool) -> Range:
        """Return one point: 1, or 0."""
        return Range(1.0, 1.0) if correct else Range(0.0, 0.0)


@dataclass(frozen=True, repr=False)
class FractionPassed(Term):
    """The share of the tests that passed.

    Formula: r = #passed / #tests = verdict.score. Range: {1} if right, [0, 1] if wrong. Where the
    judge stops at the first failure, tests that were not run count as failed. Not potential-based.
    What it cannot see: which tests matter. It pays for programs that pass many easy tests by doing
    nothing, and in controlled runs it is not reliably better than all or nothing (arXiv
    2605.02944). Source: the code reward of open-r1.

    >>> FractionPassed().range(correct=False)
    Range(low=0.0, high=1.0)
    """

    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return each verdict's score."""
        return [judged.verdict.score for judged in group]

    def range(self, correct: bool) -> Range:
        """Return {1} if right, [0, 1] if wrong."""
        return Range(1.0 if correct else 0.0, 1.0)


@dataclass(frozen=True, repr=False)
class RarityWeightedTests(Term):
    """Tests weighted by how rarely the other members of the group pass them.

    Formula, for member i and test j, with p_kj = 1[member k passed test j] in a group of G:
    rho_ij = sum over k != i of p_kj / (G - 1); w_ij = (1 - rho_ij) ** gamma;
    r_i = share * sum_j w_ij p_ij / sum_j w_ij + (1 - share) * 1[all passed]. Where all weights are
    0 (the others pass everything), or G = 1, the weights are equal. Range: {1} if right,
    [0, share] if wrong: below `share` = 1 a right program earns more than any wrong one.

    A test that everyone passes tells nothing and weighs nothing, however many of its kind there
    are. Leaving a member's own result out of its weights keeps it from being paid less for passing.
    Not potential-based. What it cannot see: why a test is rarely passed; one that is broken, or
    that only a special case passes, weighs most.
    Source: per-test weights from the pass rate in the group, beside the outcome of all tests, after
    VeRPO (arXiv 2601.03525); the leave-one-out form is this library's.

    Args:
        gamma: how steeply rarity counts, above 0.
        share: how much of the reward the tests share out, in [0, 1]; the rest is for passing all.

    >>> RarityWeightedTests(gamma=2.0).range(correct=False)
    Range(low=0.0, high=0.5)
    """

    gamma: float = 1.0
    share: float = 0.5
    group_relative: ClassVar[bool] = True
    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def __post_init__(self) -> None:
        numbers = all(
            isinstance(n, int | float) and not isinstance(n, bool) for n in (self.gamma, self.share)
        )
        if not (numbers and 0 < self.gamma < float("inf") and 0 <= self.share <= 1):
            raise RewardError(
                f"RarityWeightedTests needs gamma > 0 and a share in [0, 1], got {self!r}"
            )

    def measure(self, group: Group, context: RewardContext) -> Floats:
        """Return each member's reward, from the tests that it and the others passed."""
        passed = _passed(group)
        right = np.array([judged.verdict.status is Status.CORRECT for judged in group])
        size, tests = passed.shape
        if tests == 0:
            return right.astype(float)
        others = (passed.sum(axis=0) - passed) / max(size - 1, 1)
        weights = (1.0 - others) ** self.gamma if size > 1 else np.ones((size, tests))
        weights[weights.sum(axis=1) == 0] = 1.0
        weighted = (weights * passed).sum(axis=1) / weights.sum(axis=1)
        # A right member is worth 1 exactly; rounding must not make two right ones differ.
        return np.asarray(np.where(right, 1.0, self.share * weighted))

    def range(self, correct: bool) -> Range:
        """Return {1} if right, [0, share] if wrong."""
        return Range(1.0, 1.0) if correct else Range(0.0, self.share)


def _passed(group: Group) -> Floats:
    """Return 1.0 where member i passed test j, shape (G, tests)."""
    rows = [outcomes(judged) for judged in group]
    width = max((len(row) for row in rows), default=0)
    passed = np.zeros((len(group), width))
    for i, (judged, row) in enumerate(zip(group, rows, strict=True)):
        if judged.verdict.status is Status.CORRECT:
            passed[i] = 1.0  # also where a judge reports no single tests
        else:
            passed[i, : len(row)] = [outcome == PASSED for outcome in row]
    return passed


@dataclass(frozen=True, repr=False)
class Complexity(Term):
    """How much of a program works its results out, against trivial and hard-coded solutions.

    Formula: r = w / (w + max(0, h - free)), and 0 where w = 0, over the results that the
    function under test returns or yields (without one: that the program prints), each counted once
    where it stands in the source. *Written down* (h)
    are: a value without any input in it; an argument handed back untouched; and each entry of a
    literal table that bare arguments look up (`{(1, 2): 3}[a, b]`). A constant is *worked out* (w)
    all the same where a condition that computes with the input decides on it (`return False` in a
    loop over divisors), but not where the condition only compares arguments with constants
    (`if n == 7`). Everything else that depends on an argument, on `input()` or on `sys.stdin` is
    worked out, as is a function without results that changes its argument. `free` results may be
    written down without loss: base cases are no cheating.

    Range: [0, 1], right or wrong; 0 where nothing parses. Not potential-based. Longer programs earn
    no more, so padding earns nothing.

    What it cannot see: whether what is worked out has to do with the task (`return len(str(n))`
    earns 1); constants that are dressed up (`x * 0 + 5`, a table that a loop builds); code that
    never runs; what the functions do that it calls; `exec` and `eval`. It reads names without
    scopes, so one name in two functions is one. Where the right solution is a constant or a table,
    it punishes that. Source: the study's "code complexity (penalise trivial or degenerate
    solutions) 1.0", whose formula is not published; this one is the library's own.

    >>> Complexity()
    Complexity()
    """

    free: int = 2
    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def __post_init__(self) -> None:
        if not isinstance(self.free, int) or isinstance(self.free, bool) or self.free < 0:
            raise RewardError(f"Complexity lets a number of results be free, got {self.free!r}")

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return the share of worked-out results of each program."""
        return [self._share(judged) for judged in group]

    def _share(self, judged: Judged) -> float:
        tree = parsed_program(judged.verdict.answer)
        name = judged.rollout.problem.metadata.get("entry_point")
        return 0.0 if tree is None else worked_share(tree, self.free, name)

    def range(self, correct: bool) -> Range:
        """Return [0, 1]: the program's text decides, right or wrong."""
        return Range(0.0, 1.0)


CODE_TERMS: tuple[type[Term], ...] = (
    AllPassed,
    Complexity,
    FractionPassed,
    RarityWeightedTests,
    Syntax,
)
"""The terms of this module, for the catalogue."""
