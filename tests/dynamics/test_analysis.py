"""Whole adapters and models: the same figures as from the weights that PEFT itself merges."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("peft")

from safetensors.torch import load_file, save_file  # noqa: E402

from reasonenv.dynamics.weights.adapters import Adapter, live_factors  # noqa: E402
from reasonenv.dynamics.weights.analysis import (  # noqa: E402
    analyse_adapter,
    analyse_models,
    update_of,
)
from reasonenv.dynamics.weights.spectra import base_spectrum  # noqa: E402
from reasonenv.dynamics.weights.tensors import WeightFiles  # noqa: E402
from reasonenv.errors import DataError, ModelError  # noqa: E402

from .conftest import shake, tiny  # noqa: E402

Make = Callable[..., tuple[Any, Path]]

KINDS = [
    {},
    {"use_rslora": True},
    {"use_dora": True},
    {"use_dora": True, "use_rslora": True},
    {"rank_pattern": {"q_proj": 2}, "alpha_pattern": {"layers.1.mlp.up_proj": 40}},
    {"target_modules": ["embed_tokens", "v_proj"]},
    {"target_modules": ["q_proj"], "modules_to_save": ["lm_head"]},
]


@pytest.mark.parametrize("lora", KINDS, ids=str)
def test_an_adapter_moves_each_weight_as_far_as_merging_does(
    adapted: Make, base_folder: Path, lora: dict[str, Any]
) -> None:
    model, folder = adapted(**lora)
    report = analyse_adapter(folder, base_folder, k=3)
    base = WeightFiles(base_folder)
    merged = {
        name: tensor.double() for name, tensor in model.merge_and_unload().state_dict().items()
    }
    assert report.tensors
    for one in report.tensors:
        stored = base.find(one.name)
        assert stored is not None
        before = base[stored].double()
        moved = merged[one.name] - before
        distance = float(moved.norm() / before.norm())
        assert one.displacement == pytest.approx(distance, rel=1e-3), one.name
        sigma = torch.linalg.svdvals(moved)
        assert one.stable_rank == pytest.approx(
            float(moved.square().sum() / sigma[0] ** 2), rel=1e-3, nan_ok=True
        )
        changed = (merged[one.name].bfloat16() != before.bfloat16()).double().mean()
        assert one.unchanged == pytest.approx(1 - float(changed), abs=0.01)
        assert 0 <= one.overlap <= 1 or one.update_norm == 0
    assert sum(report.by_module().values()) == pytest.approx(1)
    assert sum(report.by_layer().values()) == pytest.approx(1)


def test_conv1d_weights_are_read_the_right_way_round(tmp_path: Path) -> None:
    peft = pytest.importorskip("peft")
    from transformers import GPT2Config, GPT2LMHeadModel

    base = GPT2LMHeadModel(GPT2Config(vocab_size=30, n_embd=8, n_layer=2, n_head=2, n_positions=8))
    base.save_pretrained(tmp_path / "base")
    config = peft.LoraConfig(r=2, target_modules=["c_attn", "c_proj"], fan_in_fan_out=True)
    model = shake(peft.get_peft_model(base, config))
    model.save_pretrained(tmp_path / "adapter")
    report = analyse_adapter(tmp_path / "adapter", tmp_path / "base", k=2)
    files, merged = WeightFiles(tmp_path / "base"), model.merge_and_unload().state_dict()
    assert {t.module for t in report.tensors} == {"c_attn", "attn.c_proj", "mlp.c_proj"}
    for one in report.tensors:
        before = files[str(files.find(one.name))]
        distance = float((merged[one.name] - before).norm() / before.norm())
        assert one.displacement == pytest.approx(distance, rel=1e-4)


@pytest.mark.parametrize("lora", [{}, {"use_dora": True}], ids=str)
def test_live_factors_are_those_of_the_saved_adapter(adapted: Make, lora: dict[str, Any]) -> None:
    model, folder = adapted(**lora)
    saved = Adapter.read(folder).factors
    found = list(live_factors(model))
    assert {name for name, _, _ in found} == set(saved)
    for name, live, layer in found:
        one = float(update_of(live, layer.weight).squared_norm())
        other = float(update_of(saved[name], layer.weight).squared_norm())
        assert one == pytest.approx(other, rel=1e-6)


def test_full_fine_tuning_is_measured_from_two_models(base_folder: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    model = shake(AutoModelForCausalLM.from_pretrained(base_folder), 1e-3, only="mlp")
    model.save_pretrained(tmp_path)
    report = analyse_models(base_folder, tmp_path, k=2)
    by_module = report.by_module()
    mlp = sum(
        share for name, share in by_module.items() if name in ("gate_proj", "up_proj", "down_proj")
    )
    assert mlp == pytest.approx(1)
    still = [t for t in report.tensors if "mlp" not in t.name]
    assert {t.displacement for t in still} == {0.0}
    assert {t.unchanged for t in still} == {1.0}
    assert any("layernorm" in t.name for t in still)


@pytest.mark.parametrize("lora", [{}, {"use_dora": True}], ids=str)
def test_a_merged_model_has_the_measures_of_its_adapter(
    adapted: Make, base_folder: Path, tmp_path: Path, lora: dict[str, Any]
) -> None:
    model, folder = adapted(scale=0.2, **lora)
    one = {t.name: t for t in analyse_adapter(folder, base_folder, k=3).tensors}
    model.merge_and_unload().save_pretrained(tmp_path / "merged")
    other = {t.name: t for t in analyse_models(base_folder, tmp_path / "merged", k=3).tensors}
    for name, measured in one.items():
        dense = other[name]
        for figure in ("displacement", "stable_rank", "effective_rank", "overlap", "overlap_left",
                       "shift", "unchanged", "near"):  # fmt: skip
            value = getattr(measured, figure)
            assert value == pytest.approx(getattr(dense, figure), rel=0.02, abs=2e-3), figure
        assert measured.angles == pytest.approx(dense.angles, abs=0.1)
        assert measured.sigma[:3] == pytest.approx(dense.sigma[:3], rel=1e-3)


def test_the_report_is_strict_json_with_null_for_what_is_undefined(
    adapted: Make, base_folder: Path
) -> None:
    _, folder = adapted(scale=0.0)
    held = json.loads(analyse_adapter(folder, base_folder, k=2).to_json())
    assert held["tensors"][0]["displacement"] == 0
    assert held["tensors"][0]["stable_rank"] is None
    assert held["tensors"][0]["shift"] == 0


def test_without_a_base_the_factors_say_what_they_can(adapted: Make) -> None:
    _, folder = adapted()
    report = analyse_adapter(folder)
    assert all(t.update_norm > 0 and math.isnan(t.displacement) for t in report.tensors)
    assert any("base weights are not there" in line for line in report.missing)
    assert any("base weight" in str(e.value) for e in [_dora_without_base(adapted)])


def _dora_without_base(adapted: Make) -> Any:
    with pytest.raises(DataError) as caught:
        analyse_adapter(adapted(use_dora=True)[1])
    return caught


def test_an_adapter_of_another_base_is_refused_by_name_or_by_shape(
    adapted: Make, tmp_path: Path
) -> None:
    _, folder = adapted()
    tiny(num_hidden_layers=1).save_pretrained(tmp_path / "shallow")
    with pytest.raises(DataError, match=r"has no weight .*another base"):
        analyse_adapter(folder, tmp_path / "shallow")
    tiny(intermediate_size=8).save_pretrained(tmp_path / "narrow")
    with pytest.raises(DataError, match="another base"):
        analyse_adapter(folder, tmp_path / "narrow")
    with pytest.raises(DataError, match="same base"):
        analyse_models(tmp_path / "narrow", Path(Adapter.read(folder).base))


def test_nan_weights_are_named_and_the_others_are_measured(
    adapted: Make, base_folder: Path
) -> None:
    _, folder = adapted()
    file = folder / "adapter_model.safetensors"
    tensors = load_file(str(file))
    name = next(n for n in tensors if "layers.1.self_attn.q_proj.lora_B" in n)
    tensors[name][0, 0] = math.nan
    save_file(tensors, str(file))
    report = analyse_adapter(folder, base_folder, k=2)
    broken = [t.name for t in report.tensors if math.isnan(t.displacement)]
    assert broken == ["model.layers.1.self_attn.q_proj.weight"]
    assert any("layers.1.self_attn.q_proj" in line and "NaN" in line for line in report.missing)
    assert math.isfinite(report.pooled)
    assert sum(report.by_layer().values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "no adapter is there"), ({"peft_type": "IA3"}, "IA3"), ("{", "cannot be read")],
)
def test_what_is_no_lora_adapter_is_said(
    adapted: Make, tmp_path: Path, content: Any, said: str
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    if content is not None:
        _, folder = adapted()
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / "adapter_config.json").write_text(text)
    with pytest.raises(ModelError, match=said):
        Adapter.read(folder)


def test_adapters_whose_start_holds_a_part_of_the_base_are_marked(
    adapted: Make, base_folder: Path
) -> None:
    _, folder = adapted(init_lora_weights="pissa")
    report = analyse_adapter(folder, base_folder, k=0, sparsity=False)
    assert any("pissa" in line for line in report.missing)


def test_base_spectra_come_from_the_cache_and_a_changed_weight_does_not(tmp_path: Path) -> None:
    weight = torch.randn(20, 30, generator=torch.Generator().manual_seed(0))
    first = base_spectrum(weight, 4, tmp_path)
    (file,) = tmp_path.iterdir()
    stamp = file.stat().st_mtime_ns
    again = base_spectrum(weight, 4, tmp_path)
    assert file.stat().st_mtime_ns == stamp
    assert torch.equal(first.u, again.u)
    assert torch.equal(first.sigma, again.sigma)
    base_spectrum(weight + 1e-3, 4, tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    file.write_bytes(file.read_bytes()[:100])  # cut off
    assert torch.equal(base_spectrum(weight, 4, tmp_path).sigma, first.sigma)
    assert torch.equal(base_spectrum(weight, 4, tmp_path).v, first.v)


def test_weights_are_found_across_shards_and_prefixes(tmp_path: Path) -> None:
    model = tiny()
    model.save_pretrained(tmp_path / "shards", max_shard_size="4KB")
    model.model.save_pretrained(tmp_path / "bare")
    shards, bare = WeightFiles(tmp_path / "shards"), WeightFiles(tmp_path / "bare")
    assert len(list((tmp_path / "shards").glob("*.safetensors"))) > 1
    name = "model.layers.1.mlp.up_proj.weight"
    found = bare.find(name)
    assert shards.find(name) == name
    assert found == "layers.1.mlp.up_proj.weight"
    assert torch.equal(shards[name], bare[found])
    assert bare.find("model.layers.9.mlp.up_proj.weight") is None
    with pytest.raises(ModelError, match="no such folder"):
        WeightFiles(tmp_path / "nowhere")
    with pytest.raises(ModelError, match=r"no model\.safetensors"):
        WeightFiles(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="cannot be read"):
        WeightFiles(tmp_path)


def test_several_threads_give_the_same_report_and_torchs_own_stay(
    adapted: Make, base_folder: Path
) -> None:
    _, folder = adapted()
    before = torch.get_num_threads()
    reports = []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            reports.append(analyse_adapter(folder, base_folder, k=3))
            assert torch.get_num_threads() == threads
            with pytest.raises(DataError):
                analyse_adapter(adapted(use_dora=True)[1])
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    one, other = reports
    assert [t.name for t in one.tensors] == [t.name for t in other.tensors]
    for x, y in zip(one.tensors, other.tensors, strict=True):
        assert x.displacement == pytest.approx(y.displacement, rel=1e-9)
        assert x.shift == pytest.approx(y.shift, rel=1e-2, abs=1e-6)
