"""A reward function in TRL's form, for those who use Math-Verify's `accuracy_reward` today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reasonenv.checkers.math.extract import extract_answer
from reasonenv.checkers.math.judge import judge_answer

__all__ = ["accuracy_reward"]


def accuracy_reward(
    completions: Sequence[str | Sequence[Mapping[str, str]]],
    solution: Sequence[Any],
    **columns: Any,
) -> list[float | None]:
    r"""Return 1.0 for each right completion, 0.0 for each wrong one, None where the checker failed.

    Args:
        completions: texts, or chats whose last message is the completion.
        solution: the gold of each: a bare answer, or a text that boxes or states it.
        columns: what else TRL passes on; ignored.

    >>> accuracy_reward(["so \\boxed{0.5}", "\\boxed{0.6}"], ["1/2", "1/2"])
    [1.0, 0.0]
    """
    rewards: list[float | None] = []
    for completion, gold in zip(completions, solution, strict=True):
        text = completion if isinstance(completion, str) else str(completion[-1]["content"])
        found = extract_answer(text)
        if found.answer is None:
            rewards.append(0.0)
            continue
        verdict = judge_answer(_bare(gold), found.answer)
        rewards.append(None if verdict.correct is None else float(verdict.correct))
    return rewards


def _bare(gold: Any) -> Any:
    """Return the answer that a worked solution boxes; anything else is a bare answer."""
    if isinstance(gold, str) and "\\boxed" in gold:
        return extract_answer(gold).answer or ""
    return gold
