"""The known ways in which a run goes wrong, as checks on its metrics.

Each is a failure mode of arXiv 2609.39321 and 2606.30789, with a threshold that can be set, and
says what to try. They read names as they stand in `metrics.jsonl`; what is not logged is not
judged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from reasonenv.errors import DataError, did_you_mean

__all__ = ["CHECKS", "Finding", "HealthLimits", "check_health"]

Row = Mapping[str, Any]
_WHOLE = {"window", "masked_fewest"}  # limits that count something


@dataclass(frozen=True)
class HealthLimits:
    """Thresholds of the checks.

    Attributes:
        window: steps that are averaged: the last so many are compared with the first so many.
        reward_gain: a rise of the reward, in its deviations at the start, that asks for a rise of
            the accuracy; `accuracy_gain`: what counts as one.
        cv: coefficient of variation of the reward below which groups hold hardly any signal.
        entropy_share: of the entropy at the start, below which it has collapsed.
        kl: nats a token above which the policy is far from the reference.
        kl_factor: growth of the KL from the middle to the end of the run that counts as running
            away, once it is above a tenth of `kl`.
        clipped: share of completions cut off at the length limit.
        dead: deviation of a reward term's mean over steps, below which it never changes.
        masked: share of rollouts that cannot be judged; `masked_cluster`: share of these on one
            problem that counts as a cluster, with `masked_fewest` of them at least.
    """

    window: int = 20
    reward_gain: float = 0.5
    accuracy_gain: float = 0.01
    cv: float = 0.05
    entropy_share: float = 0.2
    kl: float = 1.0
    kl_factor: float = 3.0
    clipped: float = 0.3
    dead: float = 1e-6
    masked: float = 0.05
    masked_cluster: float = 0.5
    masked_fewest: int = 5

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> HealthLimits:
        """Return limits with some fields given.

        Raises:
            DataError: an unknown name (the nearest is said), or a value that is no number.
        """
        known = {field.name for field in fields(cls)}
        for name, value in given.items():
            if name not in known:
                raise DataError(f"health limit `{name}`: {did_you_mean(name, known)}")
            if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
                raise DataError(f"health limit {name}={value!r}: a number of at least 0")
        whole = {}
        for name in _WHOLE & given.keys():
            if given[name] != int(given[name]) or given[name] < 1:
                raise DataError(f"health limit {name}={given[name]}: a whole number, at least 1")
            whole[name] = int(given[name])
        return cls(**{**given, **whole})


@dataclass(frozen=True)
class Finding:
    """Something that looks unhealthy.

    Attributes:
        check: which one found it.
        step: up to which it looked.
        message: what was seen, with figures.
        advice: what to try.
        figures: the numbers behind it.
    """

    check: str
    step: int
    message: str
    advice: str
    figures: Mapping[str, float]

    def __str__(self) -> str:
        return f"step {self.step}: {self.message}. {self.advice}"


@dataclass(frozen=True)
class _Seen:
    """Training lines by step, evaluation lines, and the limits."""

    train: Sequence[Row]
    evaluations: Sequence[Row]
    limits: HealthLimits

    @property
    def step(self) -> int:
        return int(self.train[-1]["step"]) if self.train else 0

    def values(self, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the finite values of a training metric."""
        held = [row.get(name) for row in self.train]
        return np.array([v for v in held if isinstance(v, int | float) and math.isfinite(v)])

    def ends(self, name: str) -> tuple[float, float] | None:
        """Return the means over the first and the last window; None with fewer than two windows."""
        values, width = self.values(name), self.limits.window
        if len(values) < 2 * width:
            return None
        return float(values[:width].mean()), float(values[-width:].mean())

    def late(self, name: str) -> float | None:
        """Return the mean over the last window; None with fewer values."""
        values, width = self.values(name), self.limits.window
        return float(values[-width:].mean()) if len(values) >= width else None


def _reward_without_accuracy(seen: _Seen) -> Finding | None:
    reward, accuracy = seen.ends("reward"), seen.ends("accuracy")
    held = [row["eval_accuracy"] for row in seen.evaluations if _is(row.get("eval_accuracy"))]
    if reward is None:
        return None
    if len(held) >= 2:  # held-out accuracy is the better witness
        accuracy = (float(held[0]), float(held[-1]))
    if accuracy is None:
        return None
    deviation = seen.values("reward_std")[: seen.limits.window]
    unit = float(deviation.mean()) if len(deviation) else abs(reward[0])
    gained = accuracy[1] - accuracy[0]
    rise = (reward[1] - reward[0]) / unit if unit > 0 else math.inf
    if reward[1] - reward[0] <= 1e-9 or rise < seen.limits.reward_gain:
        return None
    if gained >= seen.limits.accuracy_gain:
        return None
    whose = "held-out accuracy" if len(held) >= 2 else "accuracy"
    return Finding(
        "reward_without_accuracy",
        seen.step,
        f"the reward rose from {reward[0]:.3g} to {reward[1]:.3g} while {whose} went from "
        f"{accuracy[0]:.1%} to {accuracy[1]:.1%}: shaping is being earned without solving more",
        "Look at the parts' own curves; gate the ones that rise (gate(part, when=solved)) or give "
        "correctness more weight",
        {"reward_first": reward[0], "reward_last": reward[1], "accuracy_gain": gained},
    )


def _vanishing_cv(seen: _Seen) -> Finding | None:
    late = seen.late("reward_cv")
    if late is None or late >= seen.limits.cv:
        return None
    return Finding(
        "vanishing_cv",
        seen.step,
        f"the reward's coefficient of variation is {late:.3g} (limit {seen.limits.cv:g}): groups "
        "agree, so there is hardly any advantage to learn from",
        "Raise the temperature or the upper clip (epsilon_high), draw harder problems, or stop: "
        "the run may be done",
        {"cv": late},
    )


def _entropy_collapse(seen: _Seen) -> Finding | None:
    ends = seen.ends("entropy")
    if ends is None or ends[0] <= 0 or ends[1] >= seen.limits.entropy_share * ends[0]:
        return None
    return Finding(
        "entropy_collapse",
        seen.step,
        f"entropy fell from {ends[0]:.3g} to {ends[1]:.3g} nats a token, below "
        f"{seen.limits.entropy_share:.0%} of its start: the policy hardly explores any more",
        "Raise epsilon_high or the temperature, lower the learning rate, or add a KL term (beta)",
        {"first": ends[0], "last": ends[1]},
    )


def _kl_growth(seen: _Seen) -> Finding | None:
    values, limits = seen.values("kl"), seen.limits
    late = seen.late("kl")
    if late is None:
        return None
    width = limits.window
    figures = {"kl": late}
    runaway = False
    if len(values) >= 3 * width:
        middle = float(values[len(values) // 2 - width // 2 :][:width].mean())
        figures["kl_middle"] = middle
        runaway = late > limits.kl_factor * max(middle, 1e-12) and late > limits.kl / 10
    if late <= limits.kl and not runaway:
        return None
    how = (
        f"grew from {figures['kl_middle']:.3g} in the middle of the run to {late:.3g}"
        if runaway
        else f"is {late:.3g} nats a token (limit {limits.kl:g})"
    )
    return Finding(
        "kl_growth",
        seen.step,
        f"the KL to the reference {how}: the policy runs away from the model it started as",
        "Raise beta, lower the learning rate, or take an earlier checkpoint; look for a fall of "
        "accuracy or diversity",
        figures,
    )


def _clipped_completions(seen: _Seen) -> Finding | None:
    late = seen.late("completions/clipped_ratio")
    if late is None or late <= seen.limits.clipped:
        return None
    return Finding(
        "clipped_completions",
        seen.step,
        f"{late:.0%} of the completions are cut off at the length limit (limit "
        f"{seen.limits.clipped:.0%}): they are judged without their end",
        "Raise max_completion_length, add Overlong(...) to the reward, or set "
        "mask_truncated_completions",
        {"clipped": late},
    )


def _dead_terms(seen: _Seen) -> Finding | None:
    width = seen.limits.window
    names = sorted({n for row in seen.train for n in row if n.startswith("terms/")})
    dead = {}
    for name in names:
        values = seen.values(name)[-width:]
        if len(values) >= width and float(values.std()) <= seen.limits.dead:
            dead[name.removeprefix("terms/")] = float(values.mean())
    if not dead:
        return None
    said = ", ".join(f"{name} (always {value:.3g})" for name, value in dead.items())
    return Finding(
        "dead_terms",
        seen.step,
        f"terms of the reward have not changed for {width} steps: {said}",
        "A term that every completion earns, or none, adds nothing to any advantage: drop it, or "
        "make it harder or easier",
        dead,
    )


def _masked(seen: _Seen) -> Finding | None:
    late = seen.late("unscored")
    if late is None or late <= seen.limits.masked:
        return None
    return Finding(
        "masked_verdicts",
        seen.step,
        f"{late:.0%} of the rollouts cannot be judged (limit {seen.limits.masked:.0%})",
        "Look at their details in the stored rollouts: a checker or a sandbox fails",
        {"masked": late},
    )


def _masked_on_one_problem(rollouts: Iterable[Row], step: int, limits: HealthLimits) -> Any:
    failed: Counter[str] = Counter(row["problem_id"] for row in rollouts if row["solved"] is None)
    if failed.total() < limits.masked_fewest:
        return None
    problem, count = failed.most_common(1)[0]
    share = count / failed.total()
    if share < limits.masked_cluster or count < limits.masked_fewest:
        return None
    return Finding(
        "masked_on_one_problem",
        step,
        f"{count} of {failed.total()} rollouts that could not be judged are of problem {problem}",
        "Its gold, its tests or what it provokes breaks the checker: mend or drop this problem",
        {"share": share, "count": float(count)},
    )


CHECKS: dict[str, Callable[[_Seen], Finding | None]] = {
    "reward_without_accuracy": _reward_without_accuracy,
    "vanishing_cv": _vanishing_cv,
    "entropy_collapse": _entropy_collapse,
    "kl_growth": _kl_growth,
    "clipped_completions": _clipped_completions,
    "dead_terms": _dead_terms,
    "masked_verdicts": _masked,
}
"""The checks on metrics, by name; `masked_on_one_problem` reads rollouts."""


def check_health(
    metrics: Iterable[Row],
    rollouts: Iterable[Row] = (),
    limits: HealthLimits | None = None,
) -> list[Finding]:
    """Return what looks unhealthy in a run.

    Args:
        metrics: lines of `metrics.jsonl`, in any state: what is missing is not judged.
        rollouts: stored training rollouts, for masked verdicts that cluster on one problem.
        limits: thresholds.
    """
    rows = [row for row in metrics if isinstance(row.get("step"), int)]
    train = sorted((r for r in rows if r.get("kind") == "train"), key=lambda r: int(r["step"]))
    evaluations = sorted((r for r in rows if r.get("kind") == "eval"), key=lambda r: int(r["step"]))
    own = limits or HealthLimits()
    seen = _Seen(train, evaluations, own)
    findings = [found for check in CHECKS.values() if (found := check(seen)) is not None]
    clustered = _masked_on_one_problem(rollouts, seen.step, own)
    return [*findings, clustered] if clustered is not None else findings


def _is(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
