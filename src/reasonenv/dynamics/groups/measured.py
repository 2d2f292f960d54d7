"""Group signal measured on rollouts, beside what the closed forms predict.

A group never predicts itself: the p of its problem comes from the problem's other samples
(leave one group out). Plugging an estimate of p into a curved formula would be wrong in the mean:
the prediction is the unbiased one, the mean of the statistic over all subsets of G of the N other
samples (a U-statistic), which needs N >= G. Groups with fewer are counted and left out.

Choosing a stratum by the samples that predict would bias the prediction there (a problem that is
never solved by chance would be predicted never to be). So one half of the other samples
chooses the stratum, and the other half predicts; groups with N < 2 G count overall and in none.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reasonenv.errors import DataError

__all__ = ["GroupSignal", "Stratum", "measure_groups"]

_EDGES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
_DRAWS = 2000  # of the bootstrap
_FEWEST = 5  # problems, below which no interval is given
_NAMES = ("mixed", "variance", "deviation", "weight")


@dataclass(frozen=True, slots=True)
class Stratum:
    """Measured and predicted signal of groups whose problems are about equally hard.

    Attributes:
        low, high: the range of p, from the problem's other samples; p = high belongs to the next
            stratum, but 1 to the last.
        groups: how many; `problems`: of how many problems.
        measured: `mixed` (share of mixed groups), `variance` (of a group's outcomes, population),
            `deviation` (its root, whose mean is c_G), `weight` (deviation over p (1 - p), p from
            other samples).
        predicted: the same from the problems' other samples.
        intervals: 95 % of measured - predicted by name, from a bootstrap over problems; empty with
            fewer than 5 problems.
    """

    low: float
    high: float
    groups: int
    problems: int
    measured: Mapping[str, float]
    predicted: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class GroupSignal:
    """The signal of all predicted groups of one size.

    Attributes:
        group_size: G.
        overall: all predicted groups as one stratum; None where there are none.
        strata: by difficulty, only those that hold groups.
        left_out: groups without G other samples of their problem.
        incomplete: groups with unscored members; they have another size, and are left out.
        advantage: the mean of (1/G) sum A^2 over the same groups, A as it was stored for the loss;
            None where no advantages are stored.
        notes: what a reader has to know, in sentences.
    """

    group_size: int
    overall: Stratum | None
    strata: tuple[Stratum, ...]
    left_out: int
    incomplete: int
    advantage: float | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Group:
    problem: str
    step: float
    solved: tuple[float, ...]
    advantages: tuple[float, ...]


def measure_groups(
    rows: Iterable[Mapping[str, Any]],
    others: Iterable[Mapping[str, Any]] = (),
    *,
    window: int | None = None,
    edges: Sequence[float] = _EDGES,
    seed: int = 0,
) -> list[GroupSignal]:
    """Return the signal of each group size in the rollouts.

    Args:
        rows: stored rollouts (`problem_id`, `group_id`, `step`, `solved`, `advantage`).
        others: further samples of the same problems (of evaluations, of a probe), for p alone.
        window: only samples at most so many optimizer steps away tell of a group's p, since
            training moves it; None: all. `others` without a step count always.
        edges: of the strata of p, from 0 to 1.
        seed: of the bootstrap.

    Raises:
        DataError: edges that do not rise from 0 to 1.
    """
    if len(edges) < 2 or edges[0] != 0 or edges[-1] != 1 or list(edges) != sorted(set(edges)):
        raise DataError(f"edges={list(edges)}: they rise from 0 to 1")
    groups, incomplete = _groups(rows)
    extra: dict[str, list[tuple[float | None, float]]] = {}
    for row in others:
        if row["solved"] is not None:
            told = (row.get("step"), row["solved"])
            extra.setdefault(row["problem_id"], []).append(told)
    by_problem: dict[str, list[_Group]] = {}
    for group in groups:
        by_problem.setdefault(group.problem, []).append(group)
    signals = []
    for size in sorted({len(g.solved) for g in groups}):
        own = [g for g in groups if len(g.solved) == size]
        table, kept = [], []
        for group in own:
            known = [
                solved
                for step, solved in extra.get(group.problem, ())
                if step is None or window is None or abs(step - group.step) <= window
            ]
            for other in by_problem[group.problem]:
                near = window is None or abs(other.step - group.step) <= window
                if other is not group and near:
                    known.extend(other.solved)
            line = _predict(group, known)
            if line is not None:
                table.append(line)
                kept.append(group)
        signals.append(_signal(size, own, kept, table, incomplete, edges, seed))
    return signals


def _groups(rows: Iterable[Mapping[str, Any]]) -> tuple[list[_Group], int]:
    held: dict[tuple[Any, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        held.setdefault((row.get("step"), row["group_id"]), []).append(row)
    groups, incomplete = [], 0
    for (step, _), members in held.items():
        if any(row["solved"] is None for row in members):
            incomplete += 1
            continue
        advantages = [row.get("advantage") for row in members]
        known = () if any(a is None for a in advantages) else tuple(map(float, advantages))  # type: ignore[arg-type]
        solved = tuple(float(row["solved"]) for row in members)
        groups.append(_Group(members[0]["problem_id"], float(step or 0), solved, known))
    return groups, incomplete


def _predict(group: _Group, known: Sequence[float]) -> tuple[float, ...] | None:
    """Return p, p(1-p), then measured and predicted of mixed, variance and deviation; or None."""
    size = len(group.solved)
    choosing: Sequence[float] = ()
    predicting = known
    if len(known) >= 2 * max(2, size):
        choosing, predicting = known[::2], known[1::2]
    n, k = len(predicting), int(sum(predicting))
    if n < max(2, size):
        return None
    share = sum(group.solved) / size
    chances = [
        math.comb(k, j) * math.comb(n - k, size - j) / math.comb(n, size) for j in range(size + 1)
    ]
    inner = range(1, size)
    variance = [j / size * (1 - j / size) for j in range(size + 1)]
    spread = k * (n - k) / (n * (n - 1))  # unbiased for p (1 - p)
    return (
        sum(choosing) / len(choosing) if choosing else math.nan,  # in no stratum
        spread,
        float(0 < share < 1),
        share * (1 - share),
        math.sqrt(share * (1 - share)),
        sum(chances[j] for j in inner),
        sum(chances[j] * variance[j] for j in inner),
        sum(chances[j] * math.sqrt(variance[j]) for j in inner),
    )


def _signal(
    size: int,
    own: Sequence[_Group],
    kept: Sequence[_Group],
    table: Sequence[tuple[float, ...]],
    incomplete: int,
    edges: Sequence[float],
    seed: int,
) -> GroupSignal:
    left_out = len(own) - len(kept)
    notes = []
    if left_out:
        notes.append(
            f"{left_out} of {len(own)} groups of {size} are left out: their problem has fewer than "
            f"{size} other samples to take its p from"
        )
    if incomplete:
        notes.append(f"{incomplete} groups hold unscored members and are left out")
    overall, strata = None, []
    if kept:
        values = np.array(table)
        problems = np.array([g.problem for g in kept])
        overall = _stratum(values, problems, 0.0, 1.0, seed)
        for low, high in itertools.pairwise(edges):
            inside = (values[:, 0] >= low) & ((values[:, 0] < high) | (high == 1.0))
            if inside.any():
                strata.append(_stratum(values[inside], problems[inside], low, high, seed))
        outside = int(np.isnan(values[:, 0]).sum())
        if outside:
            notes.append(
                f"{outside} groups of {size} are in no stratum of difficulty: their problem has "
                f"fewer than {2 * size} other samples, half to choose one and half to predict"
            )
        if overall.problems < _FEWEST:
            notes.append(
                f"only {overall.problems} problems: too few for an interval, so none is given"
            )
    stored = [g.advantages for g in kept if g.advantages]
    advantage = float(np.mean([np.mean(np.square(a)) for a in stored])) if stored else None
    return GroupSignal(size, overall, tuple(strata), left_out, incomplete, advantage, tuple(notes))


def _stratum(
    values: npt.NDArray[np.float64],
    problems: npt.NDArray[Any],
    low: float,
    high: float,
    seed: int,
) -> Stratum:
    names, index = np.unique(problems, return_inverse=True)
    sums = np.zeros((len(names), values.shape[1] + 1))
    np.add.at(sums, index, np.column_stack([values, np.ones(len(values))]))
    total = sums.sum(0)
    mean_all = (total[:-1] / total[-1])[None]
    measured, predicted = (
        {name: float(_figure(mean_all, name, offset)[0]) for name in _NAMES} for offset in (2, 5)
    )
    intervals: dict[str, tuple[float, float]] = {}
    if len(names) >= _FEWEST:
        rng = np.random.default_rng(seed)
        drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=_DRAWS)
        again = drawn @ sums
        mean = again[:, :-1] / again[:, -1:]
        for name in _NAMES:
            gaps = _figure(mean, name, 2) - _figure(mean, name, 5)
            gaps = gaps[np.isfinite(gaps)]
            if len(gaps):
                ends = np.quantile(gaps, (0.025, 0.975))
                intervals[name] = (float(ends[0]), float(ends[1]))
    return Stratum(low, high, len(values), len(names), measured, predicted, intervals)


def _figure(mean: npt.NDArray[np.float64], name: str, offset: int) -> npt.NDArray[np.float64]:
    """Return a figure of each row of means; measured ones begin at column 2, predicted at 5."""
    if name != "weight":
        return mean[:, offset + _NAMES.index(name)]
    spread = mean[:, 1]
    known = spread > 0
    return np.where(known, mean[:, offset + 2] / np.where(known, spread, 1.0), np.nan)
