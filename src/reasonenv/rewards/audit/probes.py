"""Completions that a reward is tried on: laid out well and badly, of every kind of answer.

They are made from the reward itself: its terms' tags and length limits. A probe is a real
completion, measured by the real terms, so terms that exclude each other do so here. What is assumed
is its verdict alone: any text can be a wrong answer, and a text whose answer stands at the demanded
place can be a right one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

from reasonenv.rewards.base import Reward
from reasonenv.rewards.gates import Gate, untruncated
from reasonenv.types import Judged, Problem, Rollout, Status, Verdict

__all__ = ["probes"]

_TAGS = ("reasoning", "answer")
_OPTIONS = ("red", "green", "blue", "grey")  # labelled A to D

_WORKED = (
    "def solve(n):\n    total = 0\n    for i in range(n):\n        total += i * i\n    return total"
)
_FIXED = "def solve(n):\n    return 30"


@dataclass(frozen=True)
class _Answer:
    """An answer, and how it stands in a completion."""

    text: str
    shown: str
    program: bool = False


_ANSWERS = (
    _Answer("42", "42"),
    _Answer("x", "x"),
    _Answer("B", "B"),
    _Answer(_WORKED, f"```python\n{_WORKED}\n```", program=True),
    _Answer(_FIXED, f"```python\n{_FIXED}\n```", program=True),
)


def probes(reward: Reward, *, right: bool) -> list[Judged]:
    """Return completions that can be judged right, or wrong.

    Args:
        reward: whose terms say which tags and lengths matter.
        right: which of the two.
    """
    tags = _tags(reward)
    lengths = _lengths(reward) if "tokens" in reward.needs else [None]
    gated = any(isinstance(node, Gate) and node.when == untruncated for node in reward.walk())
    found = []
    for answer in _answers(reward):
        for text in dict.fromkeys(_texts(answer.shown, tags, right)):
            for verdict in _verdicts(answer, right):
                rollout = Rollout(_problem(answer, right), text, "probes")
                found += [
                    Judged(replace(rollout, n_tokens=n, truncated=cut), verdict)
                    for n, cut in product(lengths, (False, True) if gated else (False,))
                ]
    if not right:
        nothing = Verdict(Status.NO_ANSWER)
        problem = _problem(_answers(reward)[0], right)
        for text in ("", "".join(f"<{tag}></{tag}>" for tag in tags)):
            found += [
                Judged(Rollout(problem, text, "probes", n_tokens=n), nothing) for n in lengths
            ]
    return found


def _answers(reward: Reward) -> list[_Answer]:
    """Return answers of the kind that the terms are about: programs, options, or any other."""
    homes = {type(leaf).__module__.rpartition(".")[2] for leaf in reward.leaves()}
    if "code" in homes:
        return [answer for answer in _ANSWERS if answer.program]
    if "choice" in homes:
        return [answer for answer in _ANSWERS if answer.text == "B"]
    return [answer for answer in _ANSWERS if not answer.program]


def _texts(answer: str, tags: tuple[str, ...], right: bool) -> Iterator[str]:
    """Yield completions with this answer at the demanded place: in the last tag."""
    last = f"<{tags[-1]}>{answer}</{tags[-1]}>"
    others = tags[:-1]
    thought = f"First, I work it out.\nThen I check it: {answer}"
    yield "\n".join([*(f"<{tag}>\n{thought}\n</{tag}>" for tag in others), last])
    yield last
    yield "\n".join([*(f"<{tag}></{tag}>" for tag in others), last])
    yield f"Sure!\n{last}\nI hope this helps."
    if not right:
        yield answer


def _verdicts(answer: _Answer, right: bool) -> list[Verdict]:
    tests = ["passed"] * 10
    detail = {"tests": [{"outcome": outcome} for outcome in tests]} if answer.program else {}
    if right:
        return [Verdict(Status.CORRECT, 1.0, answer.text, detail)]
    wrong = [Verdict(Status.INCORRECT, 0.0, answer.text)]
    if answer.program:  # most tests passed, or none
        most = [{"outcome": outcome} for outcome in [*tests[1:], "wrong_answer"]]
        none = [{"outcome": "wrong_answer"}] * 10
        wrong = [
            Verdict(Status.INCORRECT, 0.9, answer.text, {"tests": most}),
            Verdict(Status.INCORRECT, 0.0, answer.text, {"tests": none}),
        ]
    return wrong


def _problem(answer: _Answer, right: bool) -> Problem:
    gold = answer.text if right else "another"
    metadata: dict[str, Any] = {"entry_point": "solve"} if answer.program else {}
    if answer.text == "B":
        metadata, gold = {"options": _OPTIONS}, "B" if right else "C"
    return Problem("A question.", gold, metadata, id="probe")


def _tags(reward: Reward) -> tuple[str, ...]:
    """Return the longest list of tags that a term reads, the study's where none reads any."""
    read = [getattr(leaf, "tags", ()) for leaf in reward.leaves()]
    lists: list[tuple[str, ...]] = [tags for tags in read if isinstance(tags, tuple) and tags]
    return max(lists, key=lambda tags: len(tags), default=_TAGS)


def _lengths(reward: Reward) -> list[int | None]:
    """Return lengths in tokens around every whole number that a term was given."""
    marks = {1, 64, 512}
    for leaf in reward.leaves():
        for f in fields(leaf):
            value = getattr(leaf, f.name)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                marks |= {max(1, value - 1), value, value + 1}
    return sorted(marks)[:12]  # type: ignore[return-value]
