"""Every weight measure against a dense float64 computation, and what must not change it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from reasonenv.dynamics.weights import (  # noqa: E402
    displacement,
    path,
    rank,
    updates,
)
from reasonenv.dynamics.weights.locking import (  # noqa: E402
    random_similarity,
    subspace_similarity,
)
from reasonenv.dynamics.weights.principal import (  # noqa: E402
    merged_spectrum,
    principal_angles,
    principal_overlap,
    spectral_shift,
)
from reasonenv.dynamics.weights.sparsity import visible_sparsity  # noqa: E402
from reasonenv.dynamics.weights.spectra import base_spectrum  # noqa: E402
from reasonenv.dynamics.weights.updates import Dense, Dora, LowRank, frobenius  # noqa: E402
from reasonenv.errors import DataError  # noqa: E402

SHAPES = [(12, 20, 3), (20, 12, 4), (7, 7, 7), (5, 30, 1), (6, 4, 6)]


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def factors(m: int, n: int, r: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    return normal(m, r, seed=seed), normal(r, n, seed=seed + 1)


def decaying(m: int, n: int, seed: int = 5) -> torch.Tensor:
    """A weight whose leading directions stand out, as those of trained networks do."""
    u, _ = torch.linalg.qr(normal(m, m, seed=seed))
    v, _ = torch.linalg.qr(normal(n, n, seed=seed + 1))
    k = min(m, n)
    return u[:, :k] @ torch.diag(10 * 0.6 ** torch.arange(k, dtype=torch.float64)) @ v[:, :k].T


def dora_by_hand(
    b: torch.Tensor, a: torch.Tensor, s: float, g: torch.Tensor, w: torch.Tensor
) -> torch.Tensor:
    moved = w + s * b @ a
    return g[:, None] * moved / moved.norm(dim=1, keepdim=True) - w


@pytest.mark.parametrize(("m", "n", "r"), SHAPES)
def test_a_low_rank_update_is_the_dense_product_in_every_measure(m: int, n: int, r: int) -> None:
    (b, a), (b2, a2) = factors(m, n, r), factors(m, n, r, seed=9)
    one, other, dense = LowRank(b, a, 0.25), LowRank(b2, a2, 2.0), 0.25 * b @ a
    x, y = normal(n, 3, seed=3), normal(m, 3, seed=4)
    assert float(one.squared_norm()) == pytest.approx(float(dense.square().sum()), rel=1e-12)
    assert float(one.inner(other)) == pytest.approx(float((dense * (2 * b2 @ a2)).sum()), rel=1e-9)
    difference = dense - 2 * b2 @ a2
    assert torch.allclose(one.minus(other).squared_norm(), difference.square().sum(), rtol=1e-11)
    assert torch.allclose(one.times(x), dense @ x)
    assert torch.allclose(one.transposed_times(y), dense.T @ y)
    assert torch.allclose(one.rows(1, 4), dense[1:4].float(), rtol=1e-5, atol=1e-5)
    sigma = torch.linalg.svdvals(dense)[: min(m, n, r)]
    assert torch.allclose(one.singular_values()[: len(sigma)], sigma, rtol=1e-9)
    k = min(2, r)
    _, _, vt = torch.linalg.svd(dense)
    assert subspace_similarity(one.right_vectors(k), vt[:k].T) == pytest.approx(1.0)


@pytest.mark.parametrize(("m", "n", "r"), SHAPES)
def test_a_dora_update_is_the_rescaled_weight_less_the_base(m: int, n: int, r: int) -> None:
    (b, a), w = factors(m, n, r), normal(m, n, seed=7)
    g = 1 + normal(m, seed=8).abs()
    update, dense = Dora(b, a, 0.5, g, w), dora_by_hand(b, a, 0.5, g, w)
    x, y = normal(n, 2, seed=3), normal(m, 2, seed=4)
    assert float(update.squared_norm()) == pytest.approx(float(dense.square().sum()), rel=1e-10)
    assert torch.allclose(update.times(x), dense @ x)
    assert torch.allclose(update.transposed_times(y), dense.T @ y)
    assert torch.allclose(update.rows(0, m), dense.float(), atol=1e-5)
    assert torch.allclose(update.singular_values(), torch.linalg.svdvals(dense), atol=1e-5)


def test_dora_at_its_start_has_not_moved() -> None:
    w, a = normal(6, 9), normal(2, 9, seed=1)
    update = Dora(torch.zeros(6, 2), a, 2.0, w.norm(dim=1), w)
    assert float(update.squared_norm()) == pytest.approx(0, abs=1e-24)


@pytest.mark.parametrize("limit", [1024, 8])
def test_a_dense_spectrum_is_that_of_the_svd_also_from_the_gram_matrix(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(updates, "_EXACT_SIDE", limit)
    side = 60
    matrix = normal(side, side + 7) * 1e-3
    update = Dense(matrix)
    sigma, vt = torch.linalg.svdvals(matrix), torch.linalg.svd(matrix, full_matrices=False)[2]
    assert torch.allclose(update.singular_values(), sigma, rtol=1e-6, atol=1e-9)
    assert subspace_similarity(update.right_vectors(3), vt[:3].T) == pytest.approx(1, abs=1e-6)
    tall = Dense(matrix.T)
    assert torch.allclose(tall.singular_values(), sigma, rtol=1e-6, atol=1e-9)


@given(st.integers(0, 10_000), st.floats(-3, 3))
def test_rotating_lora_factors_changes_no_measure(seed: int, exponent: float) -> None:
    b, a = factors(9, 11, 3, seed=seed)
    turn = torch.linalg.qr(normal(3, 3, seed=seed + 2))[0] * 10.0**exponent
    turn = turn @ torch.diag(torch.tensor([1.0, 2.0, 5.0], dtype=torch.float64))
    one, other = LowRank(b, a), LowRank(b @ turn, torch.linalg.inv(turn) @ a)
    assert float(other.squared_norm()) == pytest.approx(float(one.squared_norm()), rel=1e-8)
    sigma, same = one.singular_values(), other.singular_values()
    assert torch.allclose(sigma, same, rtol=1e-6)
    assert rank.effective_rank(same.numpy()) == pytest.approx(
        rank.effective_rank(sigma.numpy()), rel=1e-6
    )
    assert subspace_similarity(one.right_vectors(2), other.right_vectors(2)) == pytest.approx(1)


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=8), st.floats(1e-30, 1e30))
def test_ranks_do_not_depend_on_the_scale_and_lie_in_their_range(
    sigma: list[float], factor: float
) -> None:
    scaled = [factor * s for s in sigma]
    for measure in (rank.stable_rank, rank.effective_rank, rank.participation_ratio):
        assert measure(scaled) == pytest.approx(measure(sigma), rel=1e-9)
        assert 1 - 1e-9 <= measure(sigma) <= len(sigma) + 1e-9
    assert rank.energy_at(scaled, 2) == pytest.approx(rank.energy_at(sigma, 2))
    assert rank.energy_at(sigma, len(sigma)) == pytest.approx(1)


def test_ranks_are_the_textbook_formulas() -> None:
    s = np.array([3.0, 2.0, 0.5, 0.0])
    assert rank.stable_rank(s) == pytest.approx((9 + 4 + 0.25) / 9)
    p = s[:3] / s.sum()
    assert rank.effective_rank(s) == pytest.approx(math.exp(-(p * np.log(p)).sum()))
    assert rank.participation_ratio(s) == pytest.approx(13.25**2 / (81 + 16 + 0.0625))
    assert rank.energy_at(s, 1) == pytest.approx(9 / 13.25)
    assert rank.energy_at(s, 0) == 0
    equal = np.ones(5)
    assert rank.stable_rank(equal) == pytest.approx(5) == rank.effective_rank(equal)


def test_a_zero_update_has_no_rank_no_direction_and_no_displacement() -> None:
    zero = LowRank(torch.zeros(6, 2), normal(2, 8))
    sigma = zero.singular_values().numpy()
    assert float(zero.squared_norm()) == 0
    assert math.isnan(rank.stable_rank(sigma))
    assert math.isnan(rank.effective_rank(sigma))
    assert math.isnan(rank.energy_at(sigma, 1))
    assert displacement.relative_displacement(0.0, 3.0) == 0
    w = decaying(6, 8)
    assert visible_sparsity(w, zero).unchanged == 1 == visible_sparsity(w, zero).near
    base, merged = base_spectrum(w, 3), merged_spectrum(w, zero, 3)
    assert spectral_shift(base.sigma, merged.sigma) == 0
    assert max(principal_angles(base.u, merged.u)) < 1e-6
    assert math.isnan(principal_overlap(zero, base).both)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(3, 5), (700, 301), (1100, 1024)])
def test_the_norm_of_a_large_weight_is_summed_precisely(
    dtype: torch.dtype, shape: tuple[int, int]
) -> None:
    weight = (normal(*shape) * 1e-3).to(dtype)
    assert float(frobenius(weight)) == pytest.approx(float(weight.double().norm()), rel=1e-6)
    assert float(frobenius(weight.T)) == pytest.approx(float(weight.double().norm()), rel=1e-6)
    weight[0, 0] = math.nan
    assert math.isnan(float(frobenius(weight)))


def test_pooled_displacement_is_that_of_all_entries_together() -> None:
    ws, ds = [normal(3, 4), normal(5, 2, seed=1)], [normal(3, 4, seed=2), normal(5, 2, seed=3)]
    flat = torch.cat([d.flatten() for d in ds]).norm() / torch.cat([w.flatten() for w in ws]).norm()
    norms = [[float(x.norm()) for x in xs] for xs in (ds, ws)]
    assert displacement.pooled_displacement(*norms) == pytest.approx(float(flat))
    regular = displacement.pooled_displacement(*norms, delta=100.0)
    assert regular < displacement.pooled_displacement(*norms)
    assert math.isnan(displacement.relative_displacement(1.0, 0.0))


def test_update_mass_adds_up_by_key() -> None:
    shares = displacement.mass_share([("q", 3.0), ("v", 4.0), ("q", 0.0)])
    assert shares == {"q": pytest.approx(9 / 25), "v": pytest.approx(16 / 25)}
    assert displacement.mass_share([("q", 0.0)]) == {"q": 0.0}


def test_a_straight_path_is_straight_and_one_that_returns_is_not() -> None:
    assert path.straightness(6.0, path.path_length([1.0, 2.0, 3.0])) == pytest.approx(1)
    assert path.straightness(0.0, path.path_length([1.0, 1.0])) == 0
    assert math.isnan(path.straightness(0.0, 0.0))
    assert path.cosine(-2.0, 1.0, 2.0) == -1
    assert math.isnan(path.cosine(0.0, 0.0, 1.0))


@pytest.mark.parametrize("scale", [1e-5, 1e-3, 1e-2, 1.0])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_sparsity_counts_what_bfloat16_cannot_tell(scale: float, dtype: torch.dtype) -> None:
    w, (b, a) = normal(300, 40).to(dtype), factors(300, 40, 2, seed=3)
    merged = (w.float() + (scale * b @ a).float()).to(torch.bfloat16)
    before = w.to(torch.bfloat16)
    found = visible_sparsity(w, LowRank(b, a, scale), tolerance=0.02)
    assert found.unchanged == pytest.approx(float((merged == before).double().mean()), abs=1e-4)
    x, y = before.float(), merged.float()
    near = ((y - x).abs() <= 0.02 * torch.maximum(x.abs(), y.abs())).double().mean()
    assert found.near == pytest.approx(float(near), abs=1e-4)
    strict = visible_sparsity(w, LowRank(b, a, scale))
    near = ((y - x).abs() <= 1e-3 * torch.maximum(x.abs(), y.abs())).double().mean()
    assert strict.near == pytest.approx(float(near), abs=1e-4)


def test_measuring_sparsity_leaves_base_and_update_as_they_were() -> None:
    base, update = normal(50, 20).float(), Dense(normal(50, 20, seed=1).float())
    before = [base.clone(), update.delta.clone()]
    visible_sparsity(base, update)
    assert torch.equal(base, before[0])
    assert torch.equal(update.delta, before[1])


@pytest.mark.parametrize(("m", "n"), [(40, 60), (60, 40), (10, 10)])
def test_leading_triplets_are_those_of_the_dense_svd(m: int, n: int) -> None:
    w, (b, a) = decaying(m, n), factors(m, n, 3, seed=2)
    update = LowRank(b, a, 0.05)
    u, sigma, vt = torch.linalg.svd(w)
    found = base_spectrum(w, 4)
    assert torch.allclose(found.sigma, sigma[:4], rtol=1e-6)
    assert subspace_similarity(found.u, u[:, :4]) == pytest.approx(1, abs=1e-6)
    assert subspace_similarity(found.v, vt[:4].T) == pytest.approx(1, abs=1e-6)
    assert found.residual < 1e-3
    u2, sigma2, vt2 = torch.linalg.svd(w + 0.05 * b @ a)
    after = merged_spectrum(w, update, 4)
    assert torch.allclose(after.sigma, sigma2[:4], rtol=1e-5)
    shift = (sigma2[:4] - sigma[:4]).norm() / sigma[:4].norm()
    assert spectral_shift(found.sigma, after.sigma) == pytest.approx(float(shift), rel=1e-3)
    for dense_before, dense_after, one, other in (
        (u[:, :4], u2[:, :4], found.u, after.u),
        (vt[:4].T, vt2[:4].T, found.v, after.v),
    ):
        cosines = torch.linalg.svdvals(dense_before.T @ dense_after).clamp(max=1)
        expected = torch.rad2deg(torch.acos(cosines)).tolist()
        assert principal_angles(one, other) == pytest.approx(expected, rel=0.01, abs=0.01)


@pytest.mark.parametrize("degrees", [1e-4, 0.5, 30.0, 44.9, 45.1, 89.9, 90.0])
def test_principal_angles_are_exact_for_small_and_for_large_ones(degrees: float) -> None:
    t = math.radians(degrees)
    one = torch.eye(5, 2, dtype=torch.float64)
    other = one.clone()
    other[1, 1], other[3, 1] = math.cos(t), math.sin(t)
    assert principal_angles(one, other) == pytest.approx([0.0, degrees], rel=1e-7, abs=1e-10)
    three = torch.eye(6, 3, dtype=torch.float64)
    spread = torch.zeros(6, 3, dtype=torch.float64)
    for i, angle in enumerate((0.3, math.pi / 3, t)):
        spread[i, i], spread[i + 3, i] = math.cos(angle), math.sin(angle)
    wanted = sorted([math.degrees(0.3), 60.0, degrees])
    assert principal_angles(three, spread) == pytest.approx(wanted, rel=1e-6, abs=1e-9)


def test_principal_overlap_is_the_projected_mass_and_random_updates_meet_the_baseline() -> None:
    w = decaying(30, 50)
    base = base_spectrum(w, 5)
    u, v = base.u.double(), base.v.double()
    b, a = factors(30, 50, 4, seed=1)
    dense = b @ a
    found = principal_overlap(LowRank(b, a), base)
    total = float(dense.square().sum())
    assert found.both == pytest.approx(float((u.T @ dense @ v).square().sum()) / total, rel=1e-6)
    assert found.left == pytest.approx(float((u.T @ dense).square().sum()) / total, rel=1e-6)
    assert found.right == pytest.approx(float((dense @ v).square().sum()) / total, rel=1e-6)
    assert principal_overlap(LowRank(u, v.T), base).both == pytest.approx(1, rel=1e-6)
    drawn = [principal_overlap(LowRank(*factors(30, 50, 4, seed=s)), base) for s in range(300)]
    assert np.mean([o.both for o in drawn]) == pytest.approx(found.random_both, rel=0.15)
    assert np.mean([o.left for o in drawn]) == pytest.approx(found.random_left, rel=0.05)
    assert np.mean([o.right for o in drawn]) == pytest.approx(found.random_right, rel=0.05)


def test_subspace_similarity_of_random_subspaces_is_k_over_n() -> None:
    q = [torch.linalg.qr(normal(40, 6, seed=s))[0] for s in range(200)]
    found = np.mean([subspace_similarity(x, y) for x, y in zip(q[::2], q[1::2], strict=True)])
    assert found == pytest.approx(random_similarity(40, 6), rel=0.05)
    assert subspace_similarity(q[0][:, :3], q[0][:, 3:]) == pytest.approx(0, abs=1e-12)


def test_shapes_that_do_not_fit_are_said() -> None:
    with pytest.raises(DataError, match="do not fit"):
        LowRank(torch.zeros(3, 2), torch.zeros(4, 5))
    with pytest.raises(DataError, match="same base"):
        Dense.between(torch.zeros(3, 2), torch.zeros(2, 3))
    with pytest.raises(DataError, match="differ in shape"):
        visible_sparsity(torch.zeros(3, 3), LowRank(torch.zeros(3, 1), torch.zeros(1, 2)))
    with pytest.raises(DataError, match="do not fit"):
        Dora(torch.zeros(3, 1), torch.zeros(1, 2), 1.0, torch.ones(4), torch.zeros(3, 2))
    with pytest.raises(DataError, match="same matrix"):
        subspace_similarity(torch.zeros(3, 1), torch.zeros(4, 1))
