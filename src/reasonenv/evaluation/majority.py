"""maj@k: the chance that the commonest answer of k completions is right (Wang et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np

__all__ = ["maj_at_k"]

_FLOATS = 1000  # completions: C(1000, 500) is below the largest float


def maj_at_k(votes: Sequence[int], right: Sequence[bool], abstentions: int, k: int) -> float:
    """Return the expected credit of a majority vote among k of a problem's completions.

    Exact: over all k-element subsets of the n completions, not a draw of some of them. Answers
    that tie for the most votes share the credit evenly: the chance that one drawn among them is
    right. Completions without an answer do not vote; where none of the k has one, the credit is 0.

    Args:
        votes: completions that gave each of the different answers, each at least 1.
        right: whether that answer is right; as long as `votes`.
        abstentions: completions that gave no answer.
        k: voters, 1 <= k <= n with n = sum(votes) + abstentions.

    Raises:
        ValueError: k is out of range.

    >>> maj_at_k([3, 1], [True, False], 0, 4), maj_at_k([2, 2], [True, False], 0, 4)
    (1.0, 0.5)
    """
    n = sum(votes) + abstentions
    if not 1 <= k <= n:
        raise ValueError(f"maj@{k} needs at least k={k} completions of a problem, got n={n}")
    credit = 0.0
    for winner, is_right in enumerate(right):
        if is_right:
            others = [count for i, count in enumerate(votes) if i != winner]
            credit += _wins(votes[winner], others, abstentions, k)
    return float(credit / comb(n, k))


def _wins(mine: int, others: Sequence[int], abstentions: int, k: int) -> Any:
    """Return the number of k-subsets won by one answer, a tie of t answers counting 1/t."""
    # Numbers of subsets fit a float up to about a thousand completions, and Python's integers ever.
    kind: Any = float if mine + sum(others) + abstentions <= _FLOATS else object
    total: Any = 0.0
    for most in range(1, min(mine, k) + 1):
        # ways[tied, drawn]: choices among the others so far, none of them above `most` votes
        ways: Any = np.zeros((1, k - most + 1), dtype=kind)
        ways[0, 0] = 1
        for count in others:
            ways = _with(ways, count, most)
        silent = np.array([comb(abstentions, k - most - d) for d in range(k - most + 1)], kind)
        shares = (ways @ silent) / np.arange(1, len(ways) + 1)
        total = total + comb(mine, most) * shares.sum()
    return total


def _with(ways: Any, count: int, most: int) -> Any:
    """Return `ways` extended by an answer with `count` votes, of which at most `most` are drawn."""
    ties = count >= most
    grown = np.zeros((len(ways) + ties, ways.shape[1]), dtype=ways.dtype)
    width = ways.shape[1]
    for taken in range(min(count, most, width - 1) + 1):
        one_more = int(taken == most)
        rows = slice(one_more, one_more + len(ways))
        grown[rows, taken:] += ways[:, : width - taken] * comb(count, taken)
    return grown
