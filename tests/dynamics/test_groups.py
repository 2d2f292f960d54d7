"""Group signal: the closed forms by counting, and the measured one against what made the data."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonenv.dynamics.groups import (
    advantage_variance,
    expected_deviation,
    measure_groups,
    mixed_probability,
    reweighting,
)
from reasonenv.errors import DataError


@pytest.mark.parametrize("p", [0.0, 0.05, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 6])
def test_closed_forms_are_the_sums_over_all_outcomes(p: float, size: int) -> None:
    mixed = deviation = variance = scaled = 0.0
    for outcome in itertools.product([0, 1], repeat=size):
        chance = math.prod(p if x else 1 - p for x in outcome)
        r = np.array(outcome, dtype=float)
        mixed += chance * (0 < r.sum() < size)
        deviation += chance * r.std()
        variance += chance * r.var()
        if r.std() > 0:
            scaled += chance * float((((r - r.mean()) / r.std()) ** 2).mean())
    assert float(mixed_probability(p, size)) == pytest.approx(mixed, abs=1e-12)
    assert float(expected_deviation(p, size)) == pytest.approx(deviation, abs=1e-12)
    assert float(advantage_variance(p, size)) == pytest.approx(scaled, abs=1e-12)
    assert float(advantage_variance(p, size, scale="none")) == pytest.approx(variance, abs=1e-12)


def test_expected_update_of_a_softmax_policy_is_the_reweighted_gradient() -> None:
    # Two answers with logit z; the score of a right one is 1 - p, of a wrong one -p: u = 1.
    p, size = 0.2, 5
    for scale in ("group", "none"):
        update = 0.0
        for outcome in itertools.product([0, 1], repeat=size):
            chance = math.prod(p if x else 1 - p for x in outcome)
            r = np.array(outcome, dtype=float)
            spread = r.std() if scale == "group" else 1.0
            if spread > 0:
                update += chance * float(((r - r.mean()) / spread * (r - p)).mean())
        assert float(reweighting(p, size, scale=scale)) == pytest.approx(update / (p * (1 - p)))


@given(st.floats(0.01, 0.99), st.integers(2, 40))
def test_larger_groups_weigh_hard_problems_more_and_pairs_not_at_all(p: float, size: int) -> None:
    assert float(reweighting(p, 2)) == pytest.approx(1)
    one, more = float(reweighting(p, size)), float(reweighting(p, size + 1))
    assert one <= more + 1e-9 <= 1 / math.sqrt(p * (1 - p)) + 2e-9
    assert float(reweighting(p, size)) == pytest.approx(float(reweighting(1 - p, size)))
    assert float(mixed_probability(p, size)) <= float(mixed_probability(p, size + 1)) + 1e-12


def rollouts(ps: dict[str, float], groups: int, size: int, seed: int = 0) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    return [
        {"problem_id": name, "group_id": f"{name}-{g}", "step": g, "advantage": float(x) - p,
         "solved": float(x)}
        for name, p in ps.items()
        for g in range(groups)
        for x in rng.random(size) < p
    ]  # fmt: skip


def test_measured_signal_meets_the_prediction_in_every_stratum() -> None:
    ps = {f"q{i}": p for i, p in enumerate(np.linspace(0.02, 0.98, 60))}
    (signal,) = measure_groups(rollouts(ps, groups=16, size=4))
    assert signal.overall is not None
    assert signal.overall.groups == 960
    exact = float(np.mean([mixed_probability(p, 4) for p in ps.values()]))
    assert signal.overall.predicted["mixed"] == pytest.approx(exact, abs=0.03)
    assert len(signal.strata) >= 5
    inside = total = 0
    for stratum in (signal.overall, *signal.strata):
        for name, (low, high) in stratum.intervals.items():
            assert low <= stratum.measured[name] - stratum.predicted[name] <= high
            total += 1
            inside += low <= 0 <= high
    assert inside / total > 0.85
    assert signal.advantage is not None


def test_a_group_does_not_predict_itself() -> None:
    # A mixed group beside groups that are all wrong: its own right answers tell it nothing.
    rows = [
        {"problem_id": "q", "group_id": g, "step": 0, "advantage": 0.0, "solved": s}
        for g, own in (("a", (1.0, 0.0)), ("b", (0.0, 0.0)), ("c", (0.0, 0.0)))
        for s in own
    ]
    (signal,) = measure_groups(rows[:4])
    assert signal.strata == ()
    assert any("in no stratum" in note for note in signal.notes)
    (signal,) = measure_groups(rows)
    a, rest = signal.strata
    assert (a.low, a.groups, a.measured["mixed"], a.predicted["mixed"]) == (0.0, 1, 1.0, 0.0)
    assert rest.measured["mixed"] == 0
    assert any("too few for an interval" in note for note in signal.notes)
    assert signal.overall is not None
    assert not signal.overall.intervals


def test_problems_drawn_once_are_left_out_unless_other_samples_are_given() -> None:
    ps = {f"q{i}": 0.4 for i in range(30)}
    rows = rollouts(ps, groups=1, size=4)
    (signal,) = measure_groups(rows)
    assert signal.overall is None
    assert signal.left_out == 30
    assert "fewer than 4 other samples" in signal.notes[0]
    probe = rollouts(ps, groups=1, size=8, seed=1)
    (signal,) = measure_groups(rows, probe)
    assert signal.overall is not None
    assert signal.overall.predicted["mixed"] == pytest.approx(
        float(mixed_probability(0.4, 4)), abs=0.08
    )


def test_far_steps_and_unscored_groups_tell_nothing() -> None:
    rows = rollouts({"q": 0.5}, groups=6, size=2)
    (signal,) = measure_groups(rows, window=0)
    assert signal.left_out == 6
    (signal,) = measure_groups(rows, window=1)
    assert signal.left_out == 0
    rows[0] = {**rows[0], "solved": None}
    signal = measure_groups(rows)[0]
    assert signal.incomplete == 1


def test_groups_of_several_sizes_are_told_apart() -> None:
    rows = rollouts({"q": 0.5}, 4, 2) + [
        {**row, "group_id": f"x{row['group_id']}"} for row in rollouts({"q": 0.5}, 4, 8)
    ]
    assert [s.group_size for s in measure_groups(rows)] == [2, 8]
    assert measure_groups([]) == []


def test_bad_arguments_are_named() -> None:
    with pytest.raises(DataError, match=r"\[0, 1\]"):
        mixed_probability(1.5, 4)
    with pytest.raises(DataError, match="at least one member"):
        mixed_probability(0.5, 0)
    with pytest.raises(DataError, match="valid: group, none"):
        reweighting(0.5, 4, scale="batch")
    with pytest.raises(DataError, match="rise from 0 to 1"):
        measure_groups([], edges=(0.0, 0.5))
