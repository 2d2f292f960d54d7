"""Which of a problem's answers are the same one: what a majority vote counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from reasonenv.checkers import ChoiceJudge, MathJudge, judge_answer
from reasonenv.envs.core import ReasoningEnv
from reasonenv.types import Status

__all__ = ["Ballot", "Same", "ballot", "same_answer"]


class Same(NamedTuple):
    """How answers are told apart.

    Args:
        equal: whether two answers are the same one.
        one_right: whether all right answers are one: each equals the gold.
    """

    equal: Callable[[str, str], bool]
    one_right: bool = False


_NO_VOTE = frozenset({"code", "countdown"})  # kinds with as many right answers as there are ways
_PAIRS = 400  # comparisons by a checker for one problem; answers beyond count by their spelling


class Ballot(NamedTuple):
    """The votes of one problem's completions: as `maj_at_k` takes them."""

    votes: list[int]
    right: list[bool]
    abstentions: int


def same_answer(env: ReasoningEnv) -> Same | None:
    """Return how an environment tells two answers apart, None where a vote means nothing.

    A judge of one's own may have a method `same_answer(a, b)`; without it answers that are spelled
    alike (but for case and spaces) are the same.
    """
    judge: Any = env.judge_one
    own = getattr(judge, "same_answer", None)
    if callable(own):
        return Same(lambda a, b: bool(own(a, b)))
    if env.kind in _NO_VOTE or env.eval_views > 1:  # there a letter is another option each time
        return None
    if isinstance(judge, MathJudge):
        return Same(
            lambda a, b: judge_answer(a, b, judge.options).status is Status.CORRECT, one_right=True
        )
    if isinstance(judge, ChoiceJudge):
        return Same(lambda a, b: a == b, one_right=True)
    return Same(lambda a, b: False)  # beyond spelling, which `ballot` compares first


def ballot(rows: Sequence[Mapping[str, Any]], same: Same, unscored_right: bool = False) -> Ballot:
    """Return the votes of one problem's completions.

    Answers that were judged right are one answer where the checker holds them to be the same;
    a wrong answer never joins a right one.

    Args:
        rows: stored completions of one problem (`status`, `answer`).
        same: from `same_answer`.
        unscored_right: how completions count that could not be judged: as votes for the right
            answer, or for the strongest wrong one, so that the two bound the truth.
    """
    answers: list[str] = []  # one of each: the first that was spelled so
    rights: list[bool] = []
    votes: list[int] = []
    spelled: dict[tuple[str, bool], int] = {}
    abstentions = unscored = compared = 0
    for row in rows:
        status, answer = Status(row["status"]), row.get("answer")
        if not status.is_evidence:
            unscored += 1
            continue
        if answer is None or status in (Status.NO_ANSWER, Status.MALFORMED):
            abstentions += 1
            continue
        right = status is Status.CORRECT
        key = (" ".join(answer.split()).casefold(), right)
        at = spelled.get(key)
        for i, other in enumerate(answers if at is None else ()):
            if rights[i] is not right:
                continue
            compared += 1
            if (right and same.one_right) or (compared <= _PAIRS and same.equal(other, answer)):
                at = i
                break
        if at is None:
            at = len(answers)
            answers.append(answer)
            rights.append(right)
            votes.append(0)
        spelled[key] = at
        votes[at] += 1
    if unscored:
        side = [i for i, right in enumerate(rights) if right is unscored_right]
        if not side:
            side = [len(votes)]
            votes.append(0)
            rights.append(unscored_right)
        votes[max(side, key=votes.__getitem__)] += unscored
    return Ballot(votes, rights, abstentions)
