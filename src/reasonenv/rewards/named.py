"""Whole rewards that a formula calls by a dotted name: `study.gsm8k()`."""

from __future__ import annotations

from collections.abc import Callable

from reasonenv.errors import RewardError, did_you_mean
from reasonenv.rewards import ours, study
from reasonenv.rewards.base import Reward

__all__ = ["NAMED_REWARDS", "named_reward"]

NAMED_REWARDS: dict[str, Callable[[], Reward]] = {
    f"{name}.{function}": getattr(module, function)
    for name, module in (("study", study), ("ours", ours))
    for function in module.__all__
}
"""Dotted name -> what makes the reward."""


def named_reward(name: str) -> Reward:
    """Return the reward of this dotted name.

    Raises:
        RewardError: there is none.

    >>> named_reward("ours.opencoder_gated").range(correct=False).high
    1.0
    """
    if name not in NAMED_REWARDS:
        hint = did_you_mean(name, NAMED_REWARDS)
        raise RewardError(f"no reward is called {name!r}; {hint}")
    return NAMED_REWARDS[name]()
