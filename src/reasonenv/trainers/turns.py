"""Advantages of single turns, where the reward pays turn by turn.

Turn t of an episode has the return of what follows from there on,

    G_t = outcome + sum over k >= t of gamma^(k - t) F_k

with the per-turn rewards F_k of potential-based parts (`Scores.turns`) and all else that the
episode earned as its outcome; G_0 is the composed reward. Its advantage is

    A_t = (G_t - mean) / (deviation + 1e-4)

with mean and deviation (unbiased) over all turns of the group: process supervision of GRPO
(arXiv 2402.03300, section 4.1.3) with returns in place of sums of normalised rewards. As
sum_k gamma^(k-t) F_k = -phi(s_t), a turn is credited with what it adds to the potential.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reasonenv.errors import RewardError
from reasonenv.rewards import PotentialBased, Reward, Scores
from reasonenv.rewards.scores import Floats

__all__ = ["discount_of", "turn_advantages", "turn_returns"]

_EPSILON = 1e-4  # TRL's


def discount_of(reward: Reward) -> float | None:
    """Return the discount of the reward's potential-based parts, None where it has none.

    Raises:
        RewardError: they have several.
    """
    found = {node.gamma for node in reward.walk() if isinstance(node, PotentialBased)}
    if len(found) > 1:
        raise RewardError(
            f"{reward!r}: its potential-based parts have the discounts "
            f"{', '.join(map(str, sorted(found)))}; a task has one: give all the same gamma"
        )
    return found.pop() if found else None


def turn_returns(scores: Scores, gamma: float) -> list[Floats]:
    """Return G_t of each member, one for each of its completions; empty where not scored."""
    returns = []
    for total, rewards in zip(scores.total, scores.turns, strict=True):
        ahead = np.zeros(len(rewards))
        following = 0.0
        for k in reversed(range(len(rewards))):
            following = rewards[k] + gamma * following
            ahead[k] = following
        scored = len(rewards) and not np.isnan(total)
        returns.append(total - ahead[0] + ahead if scored else np.zeros(0))
    return returns


def turn_advantages(
    returns: Sequence[Floats], group_size: int, scale: str, batch_deviation: float = 0.0
) -> list[Floats]:
    """Return A_t of each member.

    Args:
        returns: of N members, groups together, empty where not scored.
        group_size: G.
        scale: "group", "batch" or "none": what the deviation is taken over; "none" leaves it out.
        batch_deviation: of all ranks' returns, with "batch".
    """
    advantages: list[Floats] = []
    for first in range(0, len(returns), group_size):
        group = returns[first : first + group_size]
        flat = np.concatenate(group)
        silent = not len(flat) or flat.max() == flat.min()
        divisor = 1.0
        if scale == "batch":
            divisor = batch_deviation + _EPSILON
        elif scale == "group":
            divisor = deviation(flat) + _EPSILON
        for one in group:
            advantages.append(np.zeros(len(one)) if silent else (one - flat.mean()) / divisor)
    return advantages


def deviation(values: Floats) -> float:
    """Return the unbiased standard deviation, 0 of fewer than two values."""
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0
