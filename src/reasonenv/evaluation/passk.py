"""pass@k: the chance that at least one of k completions of a problem is right."""

from __future__ import annotations

__all__ = ["pass_at_k"]


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the unbiased estimate of pass@k of one problem from n completions, c of them right.

    1 - C(n - c, k) / C(n, k), as a product of ratios so that no binomial overflows (Chen et al.
    2021, arXiv:2107.03374). It is the share of the k-element subsets of the n completions that
    hold a right one. The plug-in 1 - (1 - c/n)^k is biased downwards and is not used.

    Args:
        n: completions of the problem.
        c: how many of them are right.
        k: how many may be tried.

    Raises:
        ValueError: not 0 <= c <= n, or not 1 <= k <= n.

    >>> pass_at_k(4, 1, 1), pass_at_k(4, 1, 2), pass_at_k(4, 0, 4)
    (0.25, 0.5, 0.0)
    """
    if not 0 <= c <= n:
        raise ValueError(f"c={c} right completions of n={n}: c lies between 0 and n")
    if not 1 <= k <= n:
        raise ValueError(
            f"pass@{k} needs at least k={k} completions of a problem (and k at least 1), got n={n}"
        )
    if c == 0:
        return 0.0  # the product below is 1 but for rounding
    missed = 1.0
    for i in range(k):
        missed *= max(n - c - i, 0) / (n - i)
    return 1.0 - missed
