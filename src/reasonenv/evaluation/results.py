"""What stored completions say: pass@k, maj@k, accuracy, with intervals by problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any

from reasonenv.evaluation.answers import Same, ballot
from reasonenv.evaluation.majority import maj_at_k
from reasonenv.evaluation.parts import Row
from reasonenv.evaluation.passk import pass_at_k
from reasonenv.evaluation.resampling import bootstrap_interval
from reasonenv.intervals import clustered_interval
from reasonenv.types import Status

__all__ = ["by_problem", "ks_of", "pass_values", "summarise", "tally"]

_SHOWN = (1, 3, 5, 10)  # the study's k, and one more: these get a bootstrap as a check
_ALL_MAJORITIES = 16  # up to this n every maj@k is computed, beyond it k = 1, 2, 4 ...

_pass = lru_cache(maxsize=65536)(pass_at_k)
_maj = lru_cache(maxsize=65536)(maj_at_k)


def by_problem(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return rows by problem id, in the order in which the problems first come."""
    problems: dict[str, list[Row]] = {}
    for row in rows:
        problems.setdefault(row["problem_id"], []).append(row)
    return problems


def ks_of(n: int) -> list[int]:
    """Return the k that tables show for n completions of a problem: 1, 3, 5, 10 and n."""
    return sorted({k for k in _SHOWN if k <= n} | {n})


def tally(problems: Mapping[str, Sequence[Row]], unscored_as: bool) -> dict[str, tuple[int, int]]:
    """Return how many completions each problem has, and how many of them are right.

    Args:
        problems: from `by_problem`.
        unscored_as: whether completions that could not be judged count as right.
    """
    return {
        id: (len(rows), sum(_right(row, unscored_as) for row in rows))
        for id, rows in problems.items()
    }


def pass_values(tallies: Mapping[str, tuple[int, int]], k: int) -> dict[str, float]:
    """Return pass@k of each problem with at least k completions; `tallies` are from `tally`."""
    return {id: _pass(n, c, k) for id, (n, c) in tallies.items() if n >= k}


def _right(row: Row, unscored_as: bool) -> bool:
    status = Status(row["status"])
    return status is Status.CORRECT if status.is_evidence else unscored_as


def summarise(rows: Sequence[Row], n: int, same: Same | None) -> dict[str, Any]:
    """Return a benchmark's figures as plain data.

    Args:
        rows: its stored completions.
        n: completions a problem should have.
        same: how answers are told apart, None where a majority vote means nothing.

    Returns:
        * `problems`, `completions`, `n`, `unscored`, `statuses` (counts), `short` (problems with
          fewer than n completions), `mean_tokens`, `truncated` (share cut off);
        * `accuracy` and, for each k up to n, `pass[k]`; `maj[k]` (None where there is no vote).
          Each is `{"value", "value_high", "low", "high", "problems"}`: where completions could
          not be judged, `value` counts them as wrong and `value_high` as right, and the interval
          reaches from the lower end of the first to the upper end of the second. Those shown in
          tables also have `bootstrap`, a percentile interval as a check.
    """
    problems = by_problem(rows)
    statuses = Counter(str(row["status"]) for row in rows)
    tokens = [row["n_tokens"] for row in rows if row.get("n_tokens") is not None]
    most = min(n, max(map(len, problems.values()), default=0))
    passes = {}
    tallies = [tally(problems, right) for right in (False, True)]
    for k in range(1, most + 1):
        ends = [pass_values(one, k) for one in tallies]
        wrong, right = (list(end.values()) for end in ends)
        passes[str(k)] = _estimate(wrong, right, len(rows), k, k in ks_of(most))
    return {
        "problems": len(problems),
        "completions": len(rows),
        "n": n,
        "unscored": sum(statuses[s] for s in Status if not s.is_evidence),
        "statuses": dict(statuses.most_common()),
        "short": sum(len(own) < n for own in problems.values()),
        "mean_tokens": fmean(tokens) if tokens else None,
        "truncated": fmean(bool(row.get("truncated")) for row in rows) if rows else None,
        "accuracy": passes.get("1"),
        "pass": passes,
        "maj": None if same is None else _majorities(problems, most, same),
    }


def _majorities(
    problems: Mapping[str, Sequence[Row]], n: int, same: Same
) -> dict[str, dict[str, Any]]:
    total = sum(map(len, problems.values()))
    ballots = {}
    for id, rows in problems.items():
        ballots[id] = [ballot(rows, same)] * 2
        if not all(Status(row["status"]).is_evidence for row in rows):
            ballots[id][1] = ballot(rows, same, unscored_right=True)
    doubled = {2**i for i in range(n.bit_length()) if 2**i <= n}
    ks = range(1, n + 1) if n <= _ALL_MAJORITIES else sorted(doubled | set(ks_of(n)))
    found = {}
    for k in ks:
        ends = [
            [
                _maj(tuple(votes), tuple(right), silent, k)
                for votes, right, silent in (both[end] for both in ballots.values())
                if sum(votes) + silent >= k
            ]
            for end in (0, 1)
        ]
        found[str(k)] = _estimate(ends[0], ends[1], total, k, k in ks_of(n))
    return found


def _estimate(
    wrong: Sequence[float], right: Sequence[float], completions: int, k: int, check: bool
) -> dict[str, Any]:
    """Return the estimate from values by problem, the unscored counted as wrong, and as right."""
    tries = max(len(wrong), completions // k)  # a try takes k completions
    low, _ = clustered_interval(wrong, tries)
    _, high = clustered_interval(right, tries)
    estimate: dict[str, Any] = {
        "value": fmean(wrong) if wrong else None,
        "value_high": fmean(right) if right else None,
        "low": low,
        "high": high,
        "problems": len(wrong),
    }
    if check and wrong:
        estimate["bootstrap"] = [bootstrap_interval(wrong)[0], bootstrap_interval(right)[1]]
    return estimate
