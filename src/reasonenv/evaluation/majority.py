"""maj@k: the chance that the commonest answer of k completions is right (Wang et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

__all__ = ["maj_at_k"]


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
    return credit / comb(n, k)


def _wins(mine: int, others: Sequence[int], abstentions: int, k: int) -> float:
    """Return the number of k-subsets won by one answer, a tie of t answers counting 1/t."""
    total = 0.0
    for mine_drawn in range(1, min(mine, k) + 1):
        # ways[tied][drawn]: choices among the others so far, none above `mine_drawn` votes
        ways = [[1] + [0] * (k - mine_drawn)]
        for count in others:
            ways = _with(ways, count, mine_drawn)
        for tied, by_drawn in enumerate(ways):
            for drawn, number in enumerate(by_drawn):
                silent = k - mine_drawn - drawn
                if number and silent <= abstentions:
                    chosen = comb(mine, mine_drawn) * number * comb(abstentions, silent)
                    total += chosen / (1 + tied)
    return total


def _with(ways: list[list[int]], count: int, most: int) -> list[list[int]]:
    """Return `ways` extended by an answer with `count` votes, of which at most `most` are drawn."""
    width = len(ways[0])
    grown = [[0] * width for _ in range(len(ways) + (count >= most))]
    for tied, by_drawn in enumerate(ways):
        for drawn, number in enumerate(by_drawn):
            if not number:
                continue
            for taken in range(min(count, most, width - 1 - drawn) + 1):
                grown[tied + (taken == most)][drawn + taken] += number * comb(count, taken)
    return grown
