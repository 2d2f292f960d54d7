"""The tracker's figures are those of the dense weights at each step, in any Trainer."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("peft")

from reasonenv.dynamics.tracker import LOG, DisplacementTracker  # noqa: E402
from reasonenv.dynamics.weights.sharding import gathered, whole  # noqa: E402
from reasonenv.errors import ModelError  # noqa: E402

from .conftest import shake, tiny  # noqa: E402

Make = Callable[..., tuple[Any, Path]]


def lora(scale: float = 0.0, **fields: Any) -> Any:
    from peft import LoraConfig, get_peft_model

    config = {"r": 3, "lora_alpha": 5, "target_modules": "all-linear", **fields}
    return shake(get_peft_model(tiny(), LoraConfig(**config)), scale)


def state(step: int, last: int = 100) -> Any:
    return SimpleNamespace(global_step=step, max_steps=last, is_world_process_zero=True)


def merged(model: Any) -> dict[str, Any]:
    """Return the merged weight of each adapted or trainable matrix, by the tracker's names."""
    from reasonenv.dynamics.weights.names import base_name

    found = {}
    for name, module in model.named_modules():
        if hasattr(module, "lora_A") and "default" in module.lora_A:
            weight = module.get_base_layer().weight
            delta = module.get_delta_weight("default")
            value = weight.double() + delta.double()
            if "default" in module.lora_magnitude_vector:
                magnitude = module.lora_magnitude_vector["default"].weight.double()
                value = magnitude[:, None] * value / value.norm(dim=1, keepdim=True)
            found[f"{base_name(name)}.weight"] = value.detach().clone()
    for name, parameter in model.named_parameters():
        if parameter.requires_grad and "lora" not in name:
            found[base_name(name)] = parameter.detach().double().clone()
    return found


def follow(model: Any, tracker: DisplacementTracker, steps: int, only: str) -> list[Any]:
    """Move the model step by step under the tracker; return the dense weights after each."""
    tracker.on_train_begin(None, state(0), None, model=model)
    seen = [merged(model)]
    for step in range(1, steps + 1):
        generator = torch.Generator().manual_seed(step)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if parameter.requires_grad and only in name:
                    parameter.add_(0.02 * torch.randn(parameter.shape, generator=generator))
        tracker.on_step_end(None, state(step, steps), None, model=model)
        seen.append(merged(model))
    return seen


def rows(folder: Path, kind: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / LOG).read_text().splitlines()]
    return [row for row in lines if row["kind"] == kind]


KINDS: list[tuple[dict[str, Any] | None, str]] = [
    ({}, ""),
    ({"use_rslora": True, "rank_pattern": {"q_proj": 2}}, ""),
    ({"use_dora": True}, ""),
    ({"init_lora_weights": False}, ""),
    ({"target_modules": ["q_proj"], "modules_to_save": ["lm_head"]}, ""),
    (None, ""),
    (None, "mlp"),
]


@pytest.mark.parametrize(("fields", "only"), KINDS, ids=str)
def test_norms_steps_and_cosines_are_those_of_the_dense_weights(
    tmp_path: Path, fields: dict[str, Any] | None, only: str
) -> None:
    model = tiny() if fields is None else lora(**fields)
    seen = follow(model, DisplacementTracker(tmp_path), 4, only)
    (head,) = rows(tmp_path, "tensors")
    assert set(head["names"]) == set(seen[0])
    steps = rows(tmp_path, "step")
    assert [row["step"] for row in steps] == [1, 2, 3, 4]
    moves = [{n: seen[t][n] - seen[t - 1][n] for n in head["names"]} for t in range(1, len(seen))]
    for t, row in enumerate(steps, 1):
        total = 0.0
        for i, name in enumerate(head["names"]):
            norm = float((seen[t][name] - seen[0][name]).norm())
            total += norm**2
            assert row["norm"][i] == pytest.approx(norm, rel=1e-4, abs=1e-6), name
            step = float(moves[t - 1][name].norm())
            assert row["step_norm"][i] == pytest.approx(step, rel=1e-4, abs=1e-6)
            if t > 1 and step > 0:
                one, other = moves[t - 1][name].flatten(), moves[t - 2][name].flatten()
                cosine = float(one @ other / one.norm() / other.norm())
                assert row["cosine"][i] == pytest.approx(cosine, abs=1e-4)
            else:
                assert row["cosine"][i] is None or t > 1
        base = math.sqrt(sum(norm**2 for norm in head["base_norms"]))
        assert row["pooled"] == pytest.approx(math.sqrt(total) / base, rel=1e-4)


def test_spectra_and_subspaces_are_kept_for_the_steps_asked_for(tmp_path: Path) -> None:
    model = lora()
    seen = follow(model, DisplacementTracker(tmp_path, spectra_every=2), 5, "")
    spectra = rows(tmp_path, "spectra")
    assert [row["step"] for row in spectra] == [2, 4, 5]
    (head,) = rows(tmp_path, "tensors")
    for row in spectra:
        for name, sigma in zip(head["names"], row["sigma"], strict=True):
            dense = torch.linalg.svdvals(seen[row["step"]][name] - seen[0][name])
            assert sigma == pytest.approx(dense[:3].tolist(), rel=1e-4)
    assert spectra[0]["to_last"][0] is None
    assert spectra[1]["to_last"] == spectra[1]["to_first"]
    one, other = (np.load(tmp_path / f"subspaces-00000{step}.npz") for step in (4, 5))
    name = head["names"][0]
    expected = float(((one[name].T @ other[name]) ** 2).sum()) / one[name].shape[1]
    assert spectra[2]["to_last"][0] == pytest.approx(expected, rel=1e-4)


def test_a_trainer_of_transformers_is_followed_and_a_resumed_one_goes_on(tmp_path: Path) -> None:
    from transformers import Trainer, TrainerCallback, TrainingArguments

    data = [{"input_ids": [1, 2, 3, i], "labels": [1, 2, 3, i]} for i in range(8)]
    logged: list[dict[str, float]] = []

    class Listen(TrainerCallback):  # type: ignore[misc]
        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            logged.append(dict(logs))

    def train(steps: int, resume: bool) -> None:
        model = lora()
        arguments = TrainingArguments(
            str(tmp_path / "out"), max_steps=steps, per_device_train_batch_size=4,
            save_steps=2, logging_steps=1, report_to=[], use_cpu=True, learning_rate=1e-2,
            disable_tqdm=True,
        )  # fmt: skip
        tracker = DisplacementTracker(tmp_path / "dynamics", every=2)
        trainer = Trainer(model, arguments, train_dataset=data, callbacks=[tracker, Listen()])
        trainer.train(resume_from_checkpoint=resume)

    train(4, resume=False)
    assert [row["step"] for row in rows(tmp_path / "dynamics", "step")] == [2, 4]
    assert [row.get("weights/displacement", 0) > 0 for row in logged[:4]] == [0, 1, 0, 1]
    with open(tmp_path / "dynamics" / LOG, "a") as file:
        file.write('{"kind": "step", "st')  # cut off
    train(7, resume=True)
    steps = rows(tmp_path / "dynamics", "step")
    assert [row["step"] for row in steps] == [2, 4, 6, 7]
    assert steps[-1]["pooled"] > steps[0]["pooled"] > 0


def test_full_fine_tuning_is_measured_from_a_saved_reference(
    base_folder: Path, tmp_path: Path
) -> None:
    model = shake(tiny(), 0.1, only="up_proj")  # has moved before the tracker began
    tracker = DisplacementTracker(tmp_path, reference=base_folder)
    tracker.on_train_begin(None, state(3), None, model=model)
    tracker.on_step_end(None, state(4), None, model=model)
    (head,), (row,) = rows(tmp_path, "tensors"), rows(tmp_path, "step")
    moved = {n for n, norm in zip(head["names"], row["norm"], strict=True) if norm > 0}
    assert moved == {n for n in head["names"] if "up_proj" in n}


def test_nan_weights_are_named_once_and_training_goes_on(tmp_path: Path) -> None:
    model = lora(0.1)
    tracker = DisplacementTracker(tmp_path, spectra_every=1)
    tracker.on_train_begin(None, state(0), None, model=model)
    with torch.no_grad():
        next(p for n, p in model.named_parameters() if "layers.1" in n and "lora_B" in n).fill_(
            math.nan
        )
    with pytest.warns(UserWarning, match="NaN"):
        tracker.on_step_end(None, state(1), None, model=model)
    tracker.on_step_end(None, state(2), None, model=model)
    (note,) = rows(tmp_path, "note")
    assert "layers.1" in note["text"]
    last = rows(tmp_path, "step")[-1]
    assert last["norm"].count(None) == 1
    assert last["pooled"] is not None


def test_what_cannot_be_gathered_is_said_and_training_goes_on(tmp_path: Path) -> None:
    model = lora()
    for parameter in model.parameters():
        parameter.ds_id = 0  # as ZeRO-3 marks its partitions
    tracker = DisplacementTracker(tmp_path)
    with pytest.warns(UserWarning, match="weights are not tracked: .*ZeRO-3"):
        tracker.on_train_begin(None, state(0), None, model=model)
    tracker.on_step_end(None, state(1), None, model=model)
    assert not (tmp_path / LOG).exists()
    empty = torch.nn.Parameter(torch.zeros(0))
    with pytest.raises(ModelError, match="empty on this rank"), gathered(model, [empty]):
        pass


def test_a_model_without_trainable_weights_is_said(tmp_path: Path) -> None:
    model = tiny().requires_grad_(False)
    with pytest.warns(UserWarning, match="no trainable weights"):
        DisplacementTracker(tmp_path).on_train_begin(None, state(0), None, model=model)


def test_parameters_in_one_piece_stay_as_they_are() -> None:
    parameter = torch.nn.Parameter(torch.zeros(2))
    assert whole(parameter) is parameter
    with pytest.raises(ValueError, match="at least 1"):
        DisplacementTracker("nowhere", every=0)


@pytest.mark.parametrize("fields", [{}, None], ids=["lora", "full"])
def test_weights_sharded_by_fsdp_2_are_gathered(
    tmp_path: Path, fields: dict[str, Any] | None
) -> None:
    from torch import distributed
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    def make() -> Any:
        return tiny() if fields is None else lora(**fields)

    follow(make(), DisplacementTracker(tmp_path / "whole", spectra_every=2), 2, "")
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        model = make()
        fully_shard(model, mesh=init_device_mesh("cpu", (1,)))
        tracker = DisplacementTracker(tmp_path / "sharded", spectra_every=2)
        tracker.on_train_begin(None, state(0), None, model=model)
        for step in (1, 2):
            generator = torch.Generator().manual_seed(step)
            with torch.no_grad():
                for parameter in model.parameters():
                    if parameter.requires_grad:
                        local = parameter.to_local()
                        local.add_(0.02 * torch.randn(local.shape, generator=generator))
            tracker.on_step_end(None, state(step, 2), None, model=model)
    finally:
        distributed.destroy_process_group()
    for kind, figure in (("tensors", "base_norms"), ("step", "norm"), ("step", "step_norm")):
        one, other = rows(tmp_path / "whole", kind), rows(tmp_path / "sharded", kind)
        assert len(one) == len(other) > 0
        for x, y in zip(one, other, strict=True):
            assert x[figure] == pytest.approx(y[figure], rel=1e-5)
    one, other = rows(tmp_path / "whole", "spectra"), rows(tmp_path / "sharded", "spectra")
    assert one[0]["sigma"][0] == pytest.approx(other[0]["sigma"][0], rel=1e-4)
