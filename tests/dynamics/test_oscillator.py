"""The reduced-order model: its closed forms, its fits, and the bandit in which it is exact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonenv.dynamics.oscillator import (
    OscillatorModel,
    SoftmaxBandit,
    compare,
    continuous_equivalent,
    critical_gain,
    critical_refresh_gain,
    noise_exponent,
    stationary_variance,
)
from reasonenv.dynamics.oscillator.shapes import NULLS, step_response
from reasonenv.dynamics.oscillator.stability import damping_ratio
from reasonenv.dynamics.seeds import across
from reasonenv.errors import DataError

STEPS = np.arange(240.0)


def curve(omega: float, zeta: float, noise: float = 0.02, seed: int = 0) -> np.ndarray:
    response = step_response(STEPS, np.array(omega), np.array(zeta))
    draw = np.random.default_rng(seed).standard_normal(len(STEPS))
    return 0.8 - 0.6 * response + noise * draw


@given(st.floats(0.01, 0.5), st.sampled_from([0.02, 0.3, 0.99, 0.999999, 1.0, 1.000001, 1.5, 19.0]))
def test_the_step_response_solves_the_equation_of_motion(omega: float, zeta: float) -> None:
    h = 1e-3 / omega
    times = np.array([0.0, 1.0, 5.0, 20.0])[:, None] + np.array([-1, 0, 1]) * h + h
    g = step_response(times.ravel(), np.array(omega), np.array(zeta)).reshape(times.shape)
    second = (g[:, 2] - 2 * g[:, 1] + g[:, 0]) / h**2
    first = (g[:, 2] - g[:, 0]) / (2 * h)
    left = second + 2 * zeta * omega * first + omega**2 * g[:, 1]
    assert np.abs(left).max() <= 1e-3 * omega**2 * max(1, zeta)
    start = step_response(np.array([0.0, h]), np.array(omega), np.array(zeta))
    assert start[0] == pytest.approx(1)
    assert abs(start[1] - 1) < 1e-5


def test_an_overdamped_response_far_from_critical_is_the_single_exponential() -> None:
    omega, zeta = 0.5, 15.0
    times = np.linspace(5, 200, 50)
    decay = np.exp(-times * omega / (2 * zeta))
    response = step_response(times, np.array(omega), np.array(zeta))
    assert np.abs(response - decay).max() < 0.01


@pytest.mark.parametrize(
    ("omega", "zeta", "regime"),
    [(0.03, 2.0, "overdamped"), (0.05, 0.3, "underdamped"), (0.04, 1.0, "critically damped")],
)
def test_a_fit_finds_regime_and_parameters_within_their_intervals(
    omega: float, zeta: float, regime: str
) -> None:
    model = OscillatorModel.fit(STEPS, curve(omega, zeta), draws=60)
    assert model.regime == regime
    true = {"start": 0.2, "plateau": 0.8, "zeta": zeta, "rate": omega / (2 * zeta)}
    for name, value in true.items():
        low, high = model.intervals[name]
        slack = 0.25 * (high - low)  # 60 draws, and one noise: not every interval holds all
        assert low - slack <= value <= high + slack, name
    assert model.r2 > 0.9
    shown = model.predict([0, 1e9])
    assert shown[0] == pytest.approx(model.start)
    assert shown[1] == pytest.approx(model.plateau)
    assert (model.overshoot > 0.3) == (zeta == 0.3)


def test_steps_may_have_gaps_any_unit_and_missing_rewards() -> None:
    clean = curve(0.05, 0.4, noise=0.0)
    one = OscillatorModel.fit(STEPS, clean, draws=0)
    holed = [math.nan if i % 7 == 3 else r for i, r in enumerate(clean)]
    other = OscillatorModel.fit(100 + 10 * STEPS, holed, draws=0)
    assert one.omega == pytest.approx(0.05, rel=1e-3)
    assert other.omega == pytest.approx(0.005, rel=1e-3)
    assert other.zeta == pytest.approx(0.4, rel=1e-2)
    assert not one.intervals
    assert one.margin(0.9, 1)[1] is None


def test_gain_and_margin_come_back_from_a_curve_made_by_the_recurrence() -> None:
    for momentum, lag, gain in ((0.9, 0, 0.002), (0.9, 1, 0.05), (0.5, 2, 0.01), (0.0, 4, 0.01)):
        bandit = SoftmaxBandit(beta=1.0, learning_rate=gain, momentum=momentum, lag=lag)
        rise = bandit.train(600)[0]
        model = OscillatorModel.fit(np.arange(601), rise, draws=0)
        assert model.gain(momentum, lag) == pytest.approx(gain, rel=0.15)
        margin = 1 - gain / critical_gain(momentum, lag)
        assert model.margin(momentum, lag)[0] == pytest.approx(margin, abs=0.1)


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9, 0.99])
def test_thresholds_without_lag_and_with_a_lag_of_one_are_the_closed_forms(
    momentum: float,
) -> None:
    assert critical_gain(momentum, 0) == pytest.approx(2 * (1 + momentum), rel=1e-9)
    assert critical_gain(momentum, 1) == pytest.approx(1 - momentum, rel=1e-9)


@pytest.mark.parametrize(
    ("momentum", "lag"), [(0.0, 1), (0.0, 2), (0.0, 8), (0.9, 1), (0.9, 4), (0.9, 8)]
)
def test_the_bandit_converges_below_the_fixed_lag_threshold_and_diverges_above(
    momentum: float, lag: int
) -> None:
    for factor, stays in ((0.97, True), (1.03, False)):
        rate = factor * critical_gain(momentum, lag)
        bandit = SoftmaxBandit(beta=1.0, learning_rate=rate, momentum=momentum, lag=lag)
        start = bandit.fixed_point + 0.01
        away = np.abs(bandit.train(6000, start=start)[0] - bandit.fixed_point)
        assert (away[-200:].max() < away[:200].max()) == stays
    rule = critical_gain(momentum, lag) * lag / (1 - momentum)
    assert 1 - 1e-9 <= rule <= math.pi / 2  # the published rule is 1: a little conservative


@pytest.mark.parametrize(("momentum", "refresh"), [(0.0, 4), (0.0, 8), (0.9, 8), (0.9, 32)])
def test_block_refresh_diverges_at_twice_the_rule_or_more(momentum: float, refresh: int) -> None:
    limit = critical_refresh_gain(momentum, refresh)
    assert limit * refresh / (1 - momentum) >= 2 - 1e-6
    if momentum == 0:
        assert limit * refresh == pytest.approx(2, rel=1e-6)
    for factor, stays in ((0.97, True), (1.03, False)):
        bandit = SoftmaxBandit(
            beta=1.0, learning_rate=factor * limit, momentum=momentum, refresh=refresh
        )
        start = bandit.fixed_point + 0.01
        away = np.abs(bandit.train(300 * refresh, start=start)[0] - bandit.fixed_point)
        assert (away[-60 * refresh :].max() < away[: 60 * refresh].max()) == stays


def test_without_momentum_block_refresh_overshoots_from_the_rule_on() -> None:
    for factor, overshoots in ((0.95, False), (1.05, True)):
        bandit = SoftmaxBandit(beta=1.0, learning_rate=factor / 8, refresh=8)
        rise = bandit.train(400)[0]
        assert bool((rise > bandit.fixed_point + 1e-9).any()) == overshoots


def test_the_damping_transition_lies_where_the_two_slow_roots_meet() -> None:
    momentum = 0.9
    border = (1 - math.sqrt(momentum)) ** 2
    for factor, oscillates in ((0.9, False), (1.1, True)):
        gain = factor * border
        _, zeta = continuous_equivalent(gain, momentum)
        assert (zeta < 1) == oscillates
        assert damping_ratio(gain, momentum) == pytest.approx(zeta, rel=0.03)
        bandit = SoftmaxBandit(beta=1.0, learning_rate=gain, momentum=momentum)
        rise = bandit.train(4000)[0]
        assert bool((rise > bandit.fixed_point + 1e-12).any()) == oscillates
    omega, zeta = continuous_equivalent(0.01, momentum)
    bandit = SoftmaxBandit(beta=1.0, learning_rate=0.01, momentum=momentum)
    model = OscillatorModel.fit(np.arange(401), bandit.train(400)[0], draws=0)
    assert model.omega == pytest.approx(omega, rel=0.03)
    assert model.zeta == pytest.approx(zeta, rel=0.06)
    assert model.r2 > 0.999


def test_lag_takes_damping_away() -> None:
    ratios = [continuous_equivalent(0.004, 0.9, lag)[1] for lag in (0, 2, 8)]
    assert ratios[0] > ratios[1] > ratios[2] > 0


def test_fluctuation_at_the_plateau_is_the_predicted_one_and_falls_as_one_over_g() -> None:
    sizes, variances = [], []
    for seed, size in enumerate((4, 16, 64) * 2):
        bandit = SoftmaxBandit(p_ref=0.2, beta=1.0, learning_rate=0.02, momentum=0.5)
        z = bandit.train(
            3000, start=bandit.fixed_point, group_size=size, prompts=8, runs=12, seed=seed
        )[:, 500:]
        expected = stationary_variance(bandit.gain, 0.5, bandit.noise(size, 8))
        assert float(z.var(1).mean()) == pytest.approx(expected, rel=0.2)
        sizes.append(size)
        variances.append(float(z.var(1).mean()))
    found = noise_exponent(sizes, variances)
    assert found.interval is not None
    assert found.interval[0] - 0.02 <= -1 <= found.interval[1] + 0.02
    assert found.exponent == pytest.approx(-1, abs=0.06)


@pytest.mark.parametrize(("momentum", "lag"), [(0.0, 0), (0.5, 0), (0.9, 1), (0.3, 3)])
def test_stationary_variance_is_that_of_a_long_simulation(momentum: float, lag: int) -> None:
    gain = 0.3 * critical_gain(momentum, lag)
    rng = np.random.default_rng(0)
    x = np.zeros((400, 3000))
    noise = rng.standard_normal(x.shape)
    first = lag + 1
    for t in range(first, x.shape[1] - 1):
        move = momentum * (x[:, t] - x[:, t - 1]) - gain * x[:, t - lag]
        x[:, t + 1] = x[:, t] + move + noise[:, t]
    assert float(x[:, 1000:].var()) == pytest.approx(
        stationary_variance(gain, momentum, 1.0, lag=lag), rel=0.05
    )
    small = 1e-4 * critical_gain(momentum, lag)
    exact = stationary_variance(small, momentum, 1.0, lag=lag)
    leading = stationary_variance(small, momentum, 1.0, lag=lag, leading=True)
    assert leading == pytest.approx(exact, rel=0.01)
    with pytest.raises(DataError, match="stationary state"):
        stationary_variance(1.01 * critical_gain(momentum, lag), momentum, 1.0, lag=lag)


def test_the_sampled_bandit_follows_the_exact_one_whatever_the_group_size() -> None:
    bandit = SoftmaxBandit(p_ref=0.3, beta=0.5, learning_rate=0.02, momentum=0.5, natural=False)
    exact = bandit.train(600)[0]
    for size in (4, 16):
        mean = bandit.train(600, group_size=size, prompts=8, runs=100, seed=size).mean(0)
        assert np.abs(mean - exact).max() < 0.08
    assert exact[-1] == pytest.approx(bandit.fixed_point, abs=0.2)


TRUTH = [
    ("oscillator", curve(0.06, 0.3)),
    ("constant", curve(0.06, 0.3) * 0 + 0.02 * np.random.default_rng(3).standard_normal(240)),
    *(
        (shape.name, 0.8 - 0.6 * shape.g(STEPS / 239, np.array([theta]))[0] + 0.02
         * np.random.default_rng(4).standard_normal(240))
        for shape, theta in zip(
            NULLS, [(0.15,), (0.4, 0.06), (0.05, 0.8), (0.08, 0.45)], strict=True
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "reward"), TRUTH, ids=[name for name, _ in TRUTH])
def test_aicc_prefers_the_curve_that_made_the_data(name: str, reward: np.ndarray) -> None:
    found = compare(STEPS, reward, draws=0)
    assert found[name].behind <= 4  # a mimic may win by its luck, never by much
    assert sum(one.weight for one in found.candidates) == pytest.approx(1)
    assert found.noise == pytest.approx(0.02, rel=0.2)
    assert ("constant" in " ".join(found.notes)) == (name == "constant")


def test_extrapolation_from_the_first_third_shows_what_a_null_cannot_foresee() -> None:
    found = compare(STEPS, curve(0.12, 0.25), draws=20)
    oscillator, exponential = found["oscillator"], found["exponential"]
    assert oscillator.extrapolation < 2 * found.noise
    assert exponential.extrapolation > 2 * oscillator.extrapolation
    assert oscillator.extrapolation_interval is not None
    low, high = oscillator.extrapolation_interval
    assert low <= oscillator.extrapolation * 1.2
    assert low < high
    short = compare(STEPS[:20], curve(0.12, 0.25)[:20], draws=0)
    assert any("nothing is extrapolated" in note for note in short.notes)


def test_correlated_residuals_are_said() -> None:
    drift = np.cumsum(np.random.default_rng(1).standard_normal(240)) * 0.02
    assert any("correlate" in note for note in compare(STEPS, drift, draws=0).notes)


def test_a_constant_reward_is_fitted_without_a_fault() -> None:
    model = OscillatorModel.fit(STEPS, np.full(240, 0.5), draws=5)
    assert model.plateau == pytest.approx(0.5)
    assert math.isnan(model.r2)
    assert compare(STEPS, np.full(240, 0.5), draws=2).candidates


def test_bad_curves_and_arguments_are_named() -> None:
    with pytest.raises(DataError, match="at least 8"):
        OscillatorModel.fit([1, 2, 3], [0.1, 0.2, 0.3])
    with pytest.raises(DataError, match="do not pair up"):
        OscillatorModel.fit([1, 2, 3], [0.1, 0.2])
    with pytest.raises(DataError, match="momentum"):
        critical_gain(1.0)
    with pytest.raises(DataError, match="lag"):
        critical_gain(0.5, -1)
    with pytest.raises(DataError, match="not both"):
        SoftmaxBandit(lag=2, refresh=2)
    with pytest.raises(DataError, match="p_ref"):
        SoftmaxBandit(p_ref=1.0)
    with pytest.raises(DataError, match="at least two"):
        noise_exponent([4, 4], [1.0, 1.0])
    with pytest.raises(DataError, match="above 0"):
        noise_exponent([4, 8], [1.0, 0.0])


def test_too_few_seeds_give_no_interval_and_say_so() -> None:
    assert noise_exponent([4, 8], [1.0, 0.5]).interval is None
    assert "too few" in noise_exponent([4, 8], [1.0, 0.5]).note
    assert "too few for an interval" in str(across([0.5, 0.6]))
    assert str(across([None, math.nan])) == "not measured"
    found = across([0.4, 0.5, 0.6, None])
    assert found.interval is not None
    half = 4.302653 * 0.1 / math.sqrt(3)
    assert found.interval == pytest.approx((0.5 - half, 0.5 + half))
