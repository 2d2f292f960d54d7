"""The statistics of an evaluation, against enumeration, closed forms and simulation."""

from __future__ import annotations

import math
from itertools import combinations, product
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasonenv.evaluation.answers import Same, ballot
from reasonenv.evaluation.majority import maj_at_k
from reasonenv.evaluation.passk import pass_at_k
from reasonenv.evaluation.resampling import bootstrap_interval, holm, sign_flip_p
from reasonenv.evaluation.results import ks_of, summarise
from reasonenv.intervals import clustered_interval, paired_interval, t_quantile

PROPERTY = settings(max_examples=150, deadline=None, derandomize=True)


@pytest.mark.parametrize("n", range(1, 8))
def test_pass_at_k_is_the_share_of_subsets_with_a_right_completion(n: int) -> None:
    for c in range(n + 1):
        completions = [True] * c + [False] * (n - c)
        for k in range(1, n + 1):
            subsets = list(combinations(completions, k))
            share = sum(map(any, subsets)) / len(subsets)
            assert pass_at_k(n, c, k) == pytest.approx(share, abs=1e-12), (n, c, k)


def test_pass_at_k_is_unbiased_where_the_plug_in_is_not() -> None:
    n, k, p = 6, 4, 0.3
    chances = [math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    truth = 1 - (1 - p) ** k
    ours = sum(chance * pass_at_k(n, c, k) for c, chance in enumerate(chances))
    plug_in = sum(chance * (1 - (1 - c / n) ** k) for c, chance in enumerate(chances))
    assert ours == pytest.approx(truth, abs=1e-12)
    assert plug_in < truth - 0.01


def test_pass_at_k_stays_exact_where_binomials_overflow_a_float() -> None:
    n, c, k = 20_000, 3, 2_000
    exact = 1 - math.prod((n - k - i) / (n - i) for i in range(c))
    assert pass_at_k(n, c, k) == pytest.approx(exact, rel=1e-9)


@PROPERTY
@given(st.integers(1, 60), st.data())
def test_pass_at_k_grows_with_k_and_with_the_right_ones(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    value = pass_at_k(n, c, k)
    assert 0.0 <= value <= 1.0
    assert pass_at_k(n, c, 1) == pytest.approx(c / n)
    assert pass_at_k(n, c, n) == (c > 0)
    if k < n:
        assert value <= pass_at_k(n, c, k + 1) + 1e-12
    if c < n:
        assert value <= pass_at_k(n, c + 1, k) + 1e-12


@pytest.mark.parametrize(("n", "c", "k"), [(4, 5, 1), (4, -1, 1), (4, 2, 0), (4, 2, 5)])
def test_pass_at_k_refuses_what_it_cannot_estimate(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match=r"n=4"):
        pass_at_k(n, c, k)


def by_enumeration(votes: list[int], right: list[bool], silent: int, k: int) -> float:
    voters = [i for i, count in enumerate(votes) for _ in range(count)] + [None] * silent
    credit = []
    for subset in combinations(voters, k):
        counts = [subset.count(i) for i in range(len(votes))]
        most = max(counts, default=0)
        winners = [i for i, count in enumerate(counts) if count == most and most > 0]
        credit.append(fmean(right[i] for i in winners) if winners else 0.0)
    return fmean(credit)


@PROPERTY
@given(
    st.lists(st.tuples(st.integers(1, 4), st.booleans()), max_size=4),
    st.integers(0, 3),
    st.data(),
)
def test_maj_at_k_equals_the_vote_over_all_subsets(
    answers: list[tuple[int, bool]], silent: int, data: st.DataObject
) -> None:
    votes, right = [v for v, _ in answers], [r for _, r in answers]
    n = sum(votes) + silent
    if n == 0 or n > 12:
        return
    k = data.draw(st.integers(1, n))
    expected = by_enumeration(votes, right, silent, k)
    assert maj_at_k(votes, right, silent, k) == pytest.approx(expected, abs=1e-9)


def test_a_vote_among_thousands_is_counted_exactly() -> None:
    assert maj_at_k([1200, 900], [True, False], 0, 1) == pytest.approx(12 / 21, rel=1e-12)
    small, large = (
        maj_at_k([60, 40], [True, False], 0, 5),
        maj_at_k([600, 400], [True, False], 5, 5),
    )
    assert large == pytest.approx(small, abs=0.02)


def rows_of(*answers: tuple[str, str | None]) -> list[dict[str, object]]:
    return [{"status": status, "answer": answer} for status, answer in answers]


def test_answers_that_the_checker_holds_equal_vote_together() -> None:
    same = Same(lambda a, b: float(a) == float(b), one_right=True)
    rows = rows_of(
        ("correct", "1/2"), ("correct", "0.5"), ("incorrect", "2"), ("incorrect", "2.0"),
        ("incorrect", "3"), ("no_answer", None), ("malformed", "4"),
    )  # fmt: skip
    found = ballot(rows, same)
    assert sorted(zip(found.votes, found.right, strict=True)) == [(1, False), (2, False), (2, True)]
    assert found.abstentions == 2


def test_unscored_completions_vote_for_the_strongest_wrong_answer_then_for_the_right_one() -> None:
    same = Same(lambda a, b: False)
    rows = rows_of(
        ("correct", "a"), ("incorrect", "b"), ("incorrect", "b"), ("checker_error", None)
    )
    worst, best = ballot(rows, same), ballot(rows, same, unscored_right=True)
    assert dict(zip(worst.right, worst.votes, strict=True)) == {True: 1, False: 3}
    assert dict(zip(best.right, best.votes, strict=True)) == {True: 2, False: 2}
    alone = ballot(rows_of(("checker_timeout", None)), same, unscored_right=True)
    assert alone.votes == [1]
    assert alone.right == [True]


@pytest.mark.parametrize(
    ("p", "df", "table"),
    [(0.975, 1, 12.7062), (0.975, 5, 2.5706), (0.95, 30, 1.6973), (0.995, 2, 9.9248)],
)
def test_students_quantiles_agree_with_the_printed_table(p: float, df: int, table: float) -> None:
    assert t_quantile(p, df) == pytest.approx(table, abs=5e-5)


@pytest.mark.parametrize(
    ("problems", "samples", "a", "b"), [(12, 4, 1.0, 1.0), (40, 8, 0.3, 0.5), (150, 2, 0.2, 2.0)]
)
def test_clustered_intervals_hold_the_truth_as_often_as_they_say(
    problems: int, samples: int, a: float, b: float
) -> None:
    rng = np.random.default_rng(7)
    held = []
    for _ in range(600):
        skill = rng.beta(a, b, size=problems)
        values = rng.binomial(samples, skill) / samples
        low, high = clustered_interval(list(values), problems * samples)
        held.append(low <= a / (a + b) <= high)
    assert 0.925 <= np.mean(held) <= 0.99


@pytest.mark.parametrize(("problems", "gain"), [(15, 0.0), (60, 0.1), (300, 0.03)])
def test_paired_intervals_hold_the_truth_as_often_as_they_say(problems: int, gain: float) -> None:
    rng = np.random.default_rng(11)
    held = []
    for _ in range(600):
        skill = rng.uniform(0.0, 1.0 - gain, size=problems)
        differences = (rng.binomial(4, skill + gain) - rng.binomial(4, skill)) / 4
        low, high = paired_interval(list(differences))
        held.append(low <= gain <= high)
    assert 0.925 <= np.mean(held) <= 0.997  # with few problems rather too wide


def test_the_bootstrap_agrees_with_the_clustered_interval_on_many_problems() -> None:
    values = list(np.random.default_rng(3).binomial(4, 0.6, size=400) / 4)
    ours, check = clustered_interval(values, 1600), bootstrap_interval(values)
    assert ours == pytest.approx(check, abs=0.006)


@PROPERTY
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_an_interval_lies_in_the_unit_interval_and_holds_the_mean(values: list[float]) -> None:
    low, high = clustered_interval(values, len(values))
    assert 0.0 <= low <= fmean(values) + 1e-9
    assert fmean(values) - 1e-9 <= high <= 1.0
    assert low < high


def test_agreement_of_all_problems_is_no_certainty() -> None:
    assert clustered_interval([1.0] * 10, 40)[0] < 0.8
    assert paired_interval([0.0] * 10) == pytest.approx((-0.193, 0.193), abs=0.01)
    assert clustered_interval([], 0) == (0.0, 1.0)
    assert paired_interval([]) == (-1.0, 1.0)


@PROPERTY
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), max_size=8))
def test_the_sign_flip_test_is_the_share_of_patterns_as_extreme(differences: list[float]) -> None:
    patterns = product((1, -1), repeat=len(differences))
    sums = [abs(sum(s * d for s, d in zip(p, differences, strict=True))) for p in patterns]
    expected = fmean(total >= abs(sum(differences)) - 1e-12 for total in sums)
    assert sign_flip_p(differences) == pytest.approx(expected)


def test_the_sign_flip_test_by_draws_agrees_with_the_exact_one_and_is_never_zero() -> None:
    differences = [0.5, -0.25, 1, 0.5, 0.25, -0.5, 0.75, 0.5, -0.25, 0.5, 0.25, -0.75, 0.5, 1, -1]
    signs = np.array(list(product((1, -1), repeat=15)))
    exact = np.mean(np.abs(signs @ differences) >= abs(sum(differences)) - 1e-12)
    assert sign_flip_p(differences) == pytest.approx(exact, abs=0.01)
    assert 0 < sign_flip_p([1.0] * 200) < 0.0001


def test_p_values_are_uniform_where_nothing_differs() -> None:
    rng = np.random.default_rng(5)
    found = [sign_flip_p(list(rng.normal(size=10))) for _ in range(400)]
    assert np.mean(np.array(found) <= 0.05) == pytest.approx(0.05, abs=0.025)


@PROPERTY
@given(st.lists(st.floats(0, 1), max_size=6))
def test_holm_lies_between_the_raw_and_the_bonferroni_values(values: list[float]) -> None:
    adjusted = holm(values)
    for raw, one in zip(values, adjusted, strict=True):
        assert raw <= one <= min(1.0, raw * len(values)) + 1e-12
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [adjusted[i] for i in order] == sorted(adjusted)


def stored(problem: str, *statuses: str) -> list[dict[str, object]]:
    return [
        {"problem_id": problem, "status": s, "answer": s[0], "n_tokens": 5, "truncated": False}
        for s in statuses
    ]


def test_unscored_completions_widen_the_figures_to_their_bounds() -> None:
    rows = stored("a", "correct", "correct") + stored("b", "incorrect", "checker_error")
    figures = summarise(rows, 2, None)
    assert figures["unscored"] == 1
    assert figures["accuracy"]["value"] == 0.5
    assert figures["accuracy"]["value_high"] == 0.75
    alone = summarise(
        stored("a", "correct", "correct") + stored("b", "incorrect", "incorrect"), 2, None
    )
    assert figures["accuracy"]["low"] == alone["accuracy"]["low"]
    assert figures["accuracy"]["high"] > alone["accuracy"]["high"]
    assert figures["maj"] is None


def test_problems_with_too_few_completions_leave_only_the_larger_k() -> None:
    rows = stored("a", "correct", "incorrect", "incorrect") + stored("b", "correct")
    figures = summarise(rows, 3, None)
    assert figures["short"] == 1
    assert figures["accuracy"]["value"] == pytest.approx((1 / 3 + 1) / 2)
    assert figures["pass"]["3"]["problems"] == 1
    assert figures["pass"]["3"]["value"] == 1.0


def test_every_k_up_to_n_is_reported() -> None:
    rows = stored("a", *["correct", "incorrect"] * 8)
    figures = summarise(rows, 16, Same(lambda a, b: False))
    assert list(figures["pass"]) == [str(k) for k in range(1, 17)]
    assert list(figures["maj"]) == [str(k) for k in range(1, 17)]
    assert ks_of(16) == [1, 3, 5, 10, 16]
    assert ks_of(1) == [1]
