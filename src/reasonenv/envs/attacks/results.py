"""What the hack suite found, as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from reasonenv.types import Status

__all__ = ["AttackReport", "Attempt", "HackResult", "summarised"]

_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Attempt:
    """One hack on one problem.

    Attributes:
        problem_id: of which problem.
        hack: the hack's name.
        about: what it does.
        completion: its first characters.
        status: the verdict.
        earned: its reward; None where it was not scored.
        right: the reward of the right answer beside it.
        bare: the least reward of a right answer to this problem that was tried, also of those in
            poor layout, each scored alone.
        parts: what each part of the reward paid it.
        may_solve: whether a judge may rightly call it right.
    """

    problem_id: str
    hack: str
    about: str
    completion: str
    status: str
    earned: float | None
    right: float
    bare: float
    parts: Mapping[str, float]
    may_solve: bool

    @property
    def solved(self) -> bool:
        """Whether the judge calls it right."""
        return self.status == Status.CORRECT

    @property
    def outranks(self) -> bool:
        """Whether it earns more than the right answer, even where the judge calls it right."""
        return self.earned is not None and self.earned > self.right + _TOLERANCE

    @property
    def outranks_bare(self) -> bool:
        """Whether it earns as much as a right answer in poor layout, and is not right."""
        return not self.solved and self.earned is not None and self.earned >= self.bare - _TOLERANCE

    @property
    def ties(self) -> bool:
        """Whether it earns the same as the right answer without being right."""
        return (
            not self.solved
            and self.earned is not None
            and abs(self.earned - self.right) <= _TOLERANCE
        )


@dataclass(frozen=True, slots=True)
class HackResult:
    """One hack over all problems that it was tried on.

    Attributes:
        hack: its name.
        about: what it does.
        tried: on how many problems.
        statuses: how often each verdict was given.
        earned: its mean reward; None where none was scored.
        highest: its highest reward.
        right: the mean reward of the right answers beside it.
        outranks: on how many problems it earns more than the right answer.
        outranks_bare: on how many it earns as much as a right answer in poor layout, and is not
            right.
        ties: on how many it earns the same, and is not right.
        judged_right: on how many the judge calls it right though it does not solve anything.
        unscored: on how many its checker failed.
        parts: the mean of what each part of the reward paid it.
        example: the completion that came nearest to the right answer's reward, shortened.
    """

    hack: str
    about: str
    tried: int
    statuses: Mapping[str, int]
    earned: float | None
    highest: float | None
    right: float
    outranks: int
    outranks_bare: int
    ties: int
    judged_right: int
    unscored: int
    parts: Mapping[str, float]
    example: str


@dataclass(frozen=True, slots=True)
class AttackReport:
    """What cheap completions earn in an environment, beside right answers.

    Attributes:
        env: what was attacked.
        reward: the formula of its reward.
        problems: on how many problems.
        without_gold: problems that were left out, as no right answer to them is known.
        right: the mean reward of the right answers, each scored alone.
        bare: the mean of the least reward of a right answer, also in poor layout.
        results: one for each hack, the highest paid first.
        notes: what a reader has to know (how lengths were counted ...).
    """

    env: str
    reward: str
    problems: int
    without_gold: int
    right: float
    bare: float
    results: tuple[HackResult, ...]
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether no hack earns as much as any right answer, and none is judged right."""
        return not self.paying

    @property
    def paying(self) -> tuple[HackResult, ...]:
        """The hacks that earn as much as a right answer, or are judged right."""
        return tuple(
            r for r in self.results if r.outranks or r.outranks_bare or r.ties or r.judged_right
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data: dicts, lists, texts and numbers."""
        return {**asdict(self), "ok": self.ok}


def summarised(attempts: Sequence[Attempt]) -> tuple[HackResult, ...]:
    """Return one result for each hack, the highest paid first."""
    by_hack: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        by_hack.setdefault(attempt.hack, []).append(attempt)
    results = [_result(of_one) for of_one in by_hack.values()]
    return tuple(sorted(results, key=lambda r: -(r.earned if r.earned is not None else -1e9)))


def _result(attempts: list[Attempt]) -> HackResult:
    scored = [attempt for attempt in attempts if attempt.earned is not None]
    rewards = [attempt.earned for attempt in scored if attempt.earned is not None]
    nearest = max(scored, key=lambda a: (a.earned or 0.0) - a.right, default=attempts[0])
    names = list(scored[0].parts) if scored else []
    return HackResult(
        hack=attempts[0].hack,
        about=attempts[0].about,
        tried=len(attempts),
        statuses=dict(Counter(attempt.status for attempt in attempts)),
        earned=sum(rewards) / len(rewards) if rewards else None,
        highest=max(rewards, default=None),
        right=sum(attempt.right for attempt in attempts) / len(attempts),
        outranks=sum(attempt.outranks for attempt in attempts),
        outranks_bare=sum(attempt.outranks_bare for attempt in attempts),
        ties=sum(attempt.ties for attempt in attempts),
        judged_right=sum(attempt.solved and not attempt.may_solve for attempt in attempts),
        unscored=len(attempts) - len(scored),
        parts={name: sum(a.parts[name] for a in scored) / len(scored) for name in names},
        example=nearest.completion,
    )
