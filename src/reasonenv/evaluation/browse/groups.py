"""A run's rollouts as groups, and which of them deserve a look."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reasonenv.errors import EvaluationError, did_you_mean
from reasonenv.evaluation.parts import Row
from reasonenv.types import Status

__all__ = ["FILTERS", "RolloutGroup", "groups_of", "is_flipped", "suspicions"]

_MANY_OPTIONS = 4  # answers in one completion from which it looks like hedging
_RATIO = 4.0  # times the group's shortest right completion: far longer than the task needs


@dataclass(frozen=True)
class RolloutGroup:
    """The rollouts of one draw of one problem (in an evaluation: all completions of a problem).

    Args:
        key: the group's id.
        collection: "train", "eval", or a benchmark's name.
        step: the trainer's step; None in an evaluation.
        problem_id: of the problem.
        prompt: as it was stored, "" where it was not.
        members: stored rollouts.
    """

    key: str
    collection: str
    step: int | None
    problem_id: str
    prompt: str
    members: Sequence[Row]

    @property
    def right(self) -> int:
        """How many of the members are right."""
        return sum(row["status"] == Status.CORRECT for row in self.members)

    @property
    def unscored(self) -> int:
        """How many of the members could not be judged."""
        return sum(not Status(row["status"]).is_evidence for row in self.members)


def groups_of(rows: Iterable[Row]) -> Iterator[RolloutGroup]:
    """Yield the groups of stored rollouts, in the order in which they begin."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        group = row.get("group_id") or row["problem_id"]
        found.setdefault((row["collection"], row.get("step"), group), []).append(row)
    for (collection, step, key), members in found.items():
        first = members[0]
        prompt = readable(first.get("prompt") or "")
        gold = first.get("gold")
        prompt += f"\n\n[gold] {gold}" if prompt and gold is not None else ""
        yield RolloutGroup(key, collection, step, first["problem_id"], prompt, members)


def readable(prompt: str) -> str:
    """Return chat messages one after another with their roles, any other text as it is."""
    try:
        return "\n\n".join(f"[{m['role']}] {m['content']}" for m in json.loads(prompt)) or prompt
    except (ValueError, TypeError, KeyError):
        return prompt


def is_flipped(group: RolloutGroup) -> bool:
    """Return whether shaping turned the order round: a wrong member earned more than a right one.

    The advantage follows the reward, so here training pushed towards the wrong answer.
    """
    rewards: dict[bool, list[float]] = {True: [], False: []}
    for row in group.members:
        reward = row.get("reward")
        if Status(row["status"]).is_evidence and reward is not None and math.isfinite(reward):
            rewards[row["status"] == Status.CORRECT].append(float(reward))
    return bool(rewards[True] and rewards[False]) and max(rewards[False]) > min(rewards[True])


def suspicions(row: Mapping[str, Any], group: RolloutGroup) -> list[str]:
    """Return why a rollout may have won its reward without the skill; usually nothing.

    Each reason is a simple sign, not a proof: a right answer without any reasoning where the
    others reason; several answers in one completion; text after the end of the answer that looks
    like a second question; a completion of one repeated piece; a wrong answer that earned most of
    what a right one did.
    """
    text, right = str(row["completion"]), row["status"] == Status.CORRECT
    found = []
    lengths = sorted(len(str(other["completion"])) for other in group.members)
    if right and len(lengths) > 2 and 0 < len(text) * _RATIO < lengths[len(lengths) // 2]:
        found.append("right, and far shorter than its group")
    boxes = len(re.findall(r"<answer>|\\boxed\{", text))
    if boxes >= _MANY_OPTIONS:
        found.append(f"{boxes} answers in one completion")
    if _repeats(text):
        found.append("one piece repeated over most of the text")
    if re.search(r"\n\s*(Question|Problem|User|Human)\s*:", text):
        found.append("goes on with a question of its own")
    if re.search(r"(?i)\b(reward|grader|checker|test case)s?\b.{0,40}\b(pass|score|full)", text):
        found.append("speaks about its grading")
    reward = row.get("reward")
    best = max(
        (o["reward"] for o in group.members if o["status"] == Status.CORRECT and o.get("reward")),
        default=None,
    )
    if not right and reward is not None and best and reward >= 0.8 * best > 0:
        found.append("wrong, and earned most of what a right one did")
    return found


def _repeats(text: str) -> bool:
    """Return whether a line or a short piece makes up most of a long text."""
    if len(text) < 200:
        return False
    tail = text[-40:]
    return text.count(tail) * len(tail) > len(text) / 2


def _unscored(group: RolloutGroup) -> bool:
    return group.unscored > 0


def _suspect(group: RolloutGroup) -> bool:
    return any(suspicions(row, group) for row in group.members)


FILTERS: dict[str, Callable[[RolloutGroup], bool]] = {
    "unscored": _unscored,
    "flipped": is_flipped,
    "suspect": _suspect,
}
"""What `--unscored`, `--flipped` and `--suspect` keep: groups with such a member."""


def filtered(
    groups: Iterable[RolloutGroup], names: Iterable[str], problem: str | None = None
) -> Iterator[RolloutGroup]:
    """Yield the groups that pass every named filter, and are of one problem where that is given.

    Raises:
        EvaluationError: there is no such filter.
    """
    names = list(names)
    for name in names:
        if name not in FILTERS:
            raise EvaluationError(f"no filter {name!r}; {did_you_mean(name, FILTERS)}")
    for group in groups:
        if problem is not None and not group.problem_id.startswith(problem):
            continue
        if all(FILTERS[name](group) for name in names):
            yield group
