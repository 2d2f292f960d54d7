"""All weight measures of one adapter or one fine-tuned model, tensor by tensor.

* `analyse_adapter`: a LoRA, rsLoRA or DoRA adapter against its base.
* `analyse_models`: two saved models, for full fine-tuning.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from reasonenv.dynamics.weights.adapters import Adapter, Factors
from reasonenv.dynamics.weights.displacement import (
    mass_share,
    pooled_displacement,
    relative_displacement,
)
from reasonenv.dynamics.weights.names import Place, short_modules
from reasonenv.dynamics.weights.principal import (
    merged_spectrum,
    principal_angles,
    principal_overlap,
    spectral_shift,
)
from reasonenv.dynamics.weights.rank import (
    effective_rank,
    energy_at,
    participation_ratio,
    stable_rank,
)
from reasonenv.dynamics.weights.sparsity import visible_sparsity
from reasonenv.dynamics.weights.spectra import base_spectrum
from reasonenv.dynamics.weights.tensors import WeightFiles
from reasonenv.dynamics.weights.updates import Dense, Dora, LowRank, Update, frobenius
from reasonenv.errors import DataError

__all__ = ["TensorReport", "WeightReport", "analyse_adapter", "analyse_models", "update_of"]

_ENERGY_AT = (1, 4, 16)
_CONVERGED = 0.01  # a residual below it: the last of the leading triplets is found well enough


@dataclass(frozen=True, slots=True)
class TensorReport:
    """The measures of one tensor; NaN where one is not defined or was not asked for.

    Attributes:
        name: of the base weight.
        layer: from 0, None outside the layers.
        module: short where that is unambiguous.
        shape: (m, n), out by in.
        update_norm: ||D||_F.
        base_norm: ||W||_F.
        displacement: their ratio.
        stable_rank, effective_rank, participation: of D.
        energy: share of ||D||_F^2 in the k largest singular values, by k.
        sigma: the leading singular values of D.
        unchanged: share of entries equal in bfloat16 after merging; `near` within 1e-3.
        overlap: with the base's k leading directions on both sides, `overlap_random` by chance;
            `overlap_left`, `overlap_right` on one.
        angles: (left, right): the largest principal angle of the k leading subspaces, in degrees.
        shift: NSS over the k leading singular values.
        residual: of the base's k-th triplet; above 1e-2 angles and shift are approximate.
    """

    name: str
    layer: int | None
    module: str
    shape: tuple[int, int]
    update_norm: float
    base_norm: float = math.nan
    displacement: float = math.nan
    stable_rank: float = math.nan
    effective_rank: float = math.nan
    participation: float = math.nan
    energy: dict[int, float] = field(default_factory=dict)
    sigma: tuple[float, ...] = ()
    unchanged: float = math.nan
    near: float = math.nan
    overlap: float = math.nan
    overlap_random: float = math.nan
    overlap_left: float = math.nan
    overlap_right: float = math.nan
    angles: tuple[float, float] = (math.nan, math.nan)
    shift: float = math.nan
    residual: float = math.nan


@dataclass(frozen=True)
class WeightReport:
    """The measures of all tensors that training could change.

    Attributes:
        tensors: one report each, in the order of the adapter or the model.
        k: of the principal measures; 0 where they were not asked for.
        missing: what could not be measured, in sentences.
    """

    tensors: tuple[TensorReport, ...]
    k: int
    missing: tuple[str, ...] = ()

    @property
    def pooled(self) -> float:
        """The relative displacement of all measured tensors together."""
        known = [t for t in self.tensors if math.isfinite(t.displacement)]
        return pooled_displacement([t.update_norm for t in known], [t.base_norm for t in known])

    def by_module(self) -> dict[str, float]:
        """Return each module's share of the update mass."""
        return dict(mass_share((t.module, t.update_norm) for t in self._finite()))

    def by_layer(self) -> dict[int | None, float]:
        """Return each layer's share of the update mass."""
        return dict(mass_share((t.layer, t.update_norm) for t in self._finite()))

    def _finite(self) -> list[TensorReport]:
        return [t for t in self.tensors if math.isfinite(t.update_norm)]

    def to_json(self) -> str:
        """Return the report as strict JSON; NaN becomes null."""
        content = {
            "pooled": self.pooled,
            "k": self.k,
            "missing": list(self.missing),
            "by_module": self.by_module(),
            "by_layer": {str(key): value for key, value in self.by_layer().items()},
            "tensors": [asdict(t) for t in self.tensors],
        }
        return json.dumps(_strict(content), allow_nan=False)


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _strict(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def update_of(factors: Factors, base: Tensor | None) -> Update:
    """Return the update that LoRA factors make, in the orientation out by in.

    Args:
        factors: of one weight.
        base: its base weight out by in; needed for DoRA only.

    Raises:
        DataError: DoRA without a base, or shapes that do not fit.
    """
    if factors.magnitude is None:
        return LowRank(factors.b, factors.a, factors.scale)
    if base is None:
        raise DataError("a DoRA update depends on the base weight, which is not there")
    return Dora(factors.b, factors.a, factors.scale, factors.magnitude, base)


def analyse_adapter(
    adapter: Adapter | str | Path,
    base: WeightFiles | str | Path | None = None,
    *,
    k: int = 16,
    sparsity: bool = True,
    cache: Path | None = None,
    tell: Callable[[str], None] | None = None,
) -> WeightReport:
    """Measure a LoRA adapter.

    Args:
        adapter: or its folder.
        base: the base model's folder; without it, only what the factors alone say.
        k: leading directions of the base to compare with; 0 leaves these measures out.
        sparsity: whether to stream over the merged weights.
        cache: a folder for base spectra; see `spectra.default_cache`.
        tell: is called with each tensor's name before it is measured.

    Raises:
        ModelError: a folder is not what it should be.
        DataError: the adapter belongs to another base: no weight, or one of another shape.
    """
    adapter = adapter if isinstance(adapter, Adapter) else Adapter.read(adapter)
    files = base if isinstance(base, WeightFiles) or base is None else WeightFiles(base)
    missing = list(adapter.skipped)
    if files is None:
        missing.append(
            "the base weights are not there: no relative displacement, sparsity or overlap"
        )
    drawn = adapter.config.get("init_lora_weights", True)
    if isinstance(drawn, str) and drawn.lower() not in ("gaussian", "true"):
        missing.append(
            f"the adapter was initialised by {drawn}, which takes a part of the base into the "
            "factors: the update shown is the whole adapter, not what training changed"
        )
    measure = _Measure(k if files else 0, sparsity and files is not None, cache)

    def pairs() -> Iterator[tuple[str, Update, Tensor | None]]:
        for name, factors in adapter.factors.items():
            weight = _base_weight(files, name, adapter)
            if weight is not None and factors.transposed:
                weight = weight.T
            if weight is not None and tuple(weight.shape) != (
                factors.b.shape[0],
                factors.a.shape[1],
            ):
                raise DataError(
                    f"{name} is {tuple(weight.shape)} in {files.folder if files else base} and "
                    f"{(factors.b.shape[0], factors.a.shape[1])} for the adapter: it was trained "
                    f"on another base ({adapter.base or 'not named'}); give that one"
                )
            yield name, update_of(factors, weight), weight
        for name, tensor in adapter.others.items():
            found = None if files is None else files.find(name)
            weight = None if files is None or found is None else files[found]
            if tensor.ndim != 2 or weight is None:
                missing.append(f"{name}: saved whole, and no matrix with a base: left out")
                continue
            yield name, Dense.between(weight, tensor), weight

    return _report(pairs(), measure, missing, tell)


def _base_weight(files: WeightFiles | None, name: str, adapter: Adapter) -> Tensor | None:
    if files is None:
        return None
    found = files.find(name)
    if found is None:
        raise DataError(
            f"{files.folder} has no weight {name}: the adapter in {adapter.folder} was trained on "
            f"another base ({adapter.base or 'not named'}); give that one"
        )
    return files[found]


def analyse_models(
    base: WeightFiles | str | Path,
    trained: WeightFiles | str | Path,
    *,
    k: int = 16,
    sparsity: bool = True,
    cache: Path | None = None,
    tell: Callable[[str], None] | None = None,
) -> WeightReport:
    """Measure full fine-tuning: every matrix of two saved models; arguments as above.

    Vectors (norms, biases) are measured as one-column matrices.

    Raises:
        ModelError: a folder is not what it should be.
        DataError: the models differ in shape: they do not have the same base.
    """
    before = base if isinstance(base, WeightFiles) else WeightFiles(base)
    after = trained if isinstance(trained, WeightFiles) else WeightFiles(trained)
    missing: list[str] = []

    def pairs() -> Iterator[tuple[str, Update, Tensor | None]]:
        for name in after:
            found = before.find(name)
            if found is None:
                missing.append(f"{name}: not in the base")
                continue
            weight, tensor = before[found], after[name]
            if weight.ndim != 2 and weight.shape == tensor.shape:
                weight, tensor = weight.reshape(-1, 1), tensor.reshape(-1, 1)
            yield name, Dense.between(weight, tensor), weight

    return _report(pairs(), _Measure(k, sparsity, cache), missing, tell)


@dataclass(frozen=True)
class _Measure:
    k: int
    sparsity: bool
    cache: Path | None

    def __call__(self, name: str, update: Update, base: Tensor | None) -> TensorReport:
        place = Place.of(name)
        square = float(update.squared_norm())
        base_norm = math.nan if base is None else float(frobenius(base))
        if not math.isfinite(square) or (base is not None and not math.isfinite(base_norm)):
            return TensorReport(name, place.layer, place.module, update.shape, math.nan)
        norm = math.sqrt(max(0.0, square))
        own: dict[str, Any] = {"base_norm": base_norm}
        sigma = update.singular_values().cpu().double().numpy()
        own["stable_rank"] = stable_rank(sigma)
        own["effective_rank"] = effective_rank(sigma)
        own["participation"] = participation_ratio(sigma)
        own["energy"] = {at: energy_at(sigma, at) for at in _ENERGY_AT}
        own["sigma"] = tuple(float(s) for s in sigma[:64])
        if base is not None:
            own["displacement"] = relative_displacement(norm, base_norm)
            own |= self._against(base, update)
        return TensorReport(name, place.layer, place.module, update.shape, norm, **own)

    def _against(self, base: Tensor, update: Update) -> dict[str, Any]:
        own: dict[str, Any] = {}
        if self.sparsity:
            shares = visible_sparsity(base, update)
            own |= {"unchanged": shares.unchanged, "near": shares.near}
        if self.k and min(update.shape) > 1:
            before = base_spectrum(base, self.k, self.cache)
            after = merged_spectrum(base, update, self.k)
            overlap = principal_overlap(update, before)
            own |= {"overlap": overlap.both, "overlap_random": overlap.random_both}
            own |= {"overlap_left": overlap.left, "overlap_right": overlap.right}
            own["angles"] = tuple(
                principal_angles(one, other)[-1]
                for one, other in ((before.u, after.u), (before.v, after.v))
            )
            own["shift"] = spectral_shift(before.sigma, after.sigma)
            own["residual"] = before.residual
        return own


def _report(
    pairs: Iterator[tuple[str, Update, Tensor | None]],
    measure: _Measure,
    missing: list[str],
    tell: Callable[[str], None] | None,
) -> WeightReport:
    reports = []
    for report in _measured(pairs, measure, tell):
        reports.append(report)
        if math.isnan(report.update_norm):
            missing.append(f"{report.name}: holds NaN or infinite values, so it cannot be measured")
    loose = sum(t.residual > _CONVERGED for t in reports)
    if loose:
        missing.append(
            f"the {measure.k} leading directions of {loose} of {len(reports)} base weights are not "
            f"told apart sharply (residual above {_CONVERGED:g}): their principal angles and "
            "spectral shift are approximate"
        )
    short = short_modules(t.module for t in reports)
    named = tuple(_renamed(t, short[t.module]) for t in reports)
    return WeightReport(named, measure.k, tuple(missing))


def _measured(
    pairs: Iterator[tuple[str, Update, Tensor | None]],
    measure: _Measure,
    tell: Callable[[str], None] | None,
) -> Iterator[TensorReport]:
    """Yield the reports in order, as many tensors at a time as torch has threads, one for each.

    Matrices side by side need no barriers, which threads on one matrix spend their time at.
    """
    threads = torch.get_num_threads()
    pending: deque[Future[TensorReport]] = deque()
    try:
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            for name, update, weight in pairs:
                if tell is not None:
                    tell(name)
                pending.append(pool.submit(measure, name, update, weight))
                if len(pending) > threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
    finally:
        torch.set_num_threads(threads)


def _renamed(report: TensorReport, module: str) -> TensorReport:
    return replace(report, module=module)
