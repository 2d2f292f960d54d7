"""What a run's files lead to. The adapter is written as PEFT writes one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reasonenv.errors import StudyError
from reasonenv.rewards import parse
from reasonenv.studies import Plan, RefineLimits, StudySpec, refine
from reasonenv.studies.refining.contribution import layer_contributions
from reasonenv.studies.refining.write import write_layer_study
from reasonenv.trainers.recipe import Recipe
from tests.studies.conftest import leave

OPENCODER = "AllPassed() + Complexity() + 0.5 * Syntax()"


def make_run(
    folder: Path,
    *,
    layers: int = 8,
    moved: dict[int, float] | None = None,
    metrics: dict[str, Any] | None = None,
    steps: int = 60,
    **recipe: Any,
) -> Path:
    """Write a run: an adapter on q_proj (large) and up_proj (small) of each layer, and metrics."""
    from safetensors.numpy import save_file

    run = folder / "run"
    (run / "adapter").mkdir(parents=True)
    fields = {"steps": steps, "model": "somewhere", "lora": {"r": 2, "lora_alpha": 4}, **recipe}
    (run / "recipe.yaml").write_text(Recipe.make(fields).to_yaml())
    rng = np.random.default_rng(0)
    tensors = {}
    for layer in range(layers):
        for module, size in (("self_attn.q_proj", 1.0), ("mlp.up_proj", 0.1)):
            name = f"base_model.model.model.layers.{layer}.{module}"
            scale = size * (moved or {}).get(layer, 1.0)
            down = rng.normal(size=(2, 6))
            tensors[f"{name}.lora_A.weight"] = down.astype(np.float32)
            tensors[f"{name}.lora_B.weight"] = (scale * rng.normal(size=(6, 2))).astype(np.float32)
    save_file(tensors, run / "adapter/adapter_model.safetensors")
    config = {"peft_type": "LORA", "r": 2, "lora_alpha": 4, "base_model_name_or_path": "somewhere",
              "target_modules": ["q_proj", "up_proj"]}  # fmt: skip
    (run / "adapter/adapter_config.json").write_text(json.dumps(config))
    rows = []
    for step in range(1, steps + 1):
        row = {"step": step, "kind": "train", "reward": 1.0, "reward_cv": 0.5}
        for name, value in (metrics or {}).items():
            row[name] = value(step) if callable(value) else value
        rows.append(row)
    (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return run


def test_placements_compete_at_equal_parameters(tmp_path: Path) -> None:
    run = make_run(tmp_path, moved={2: 5.0, 5: 9.0})
    found = {one.label: one for one in refine(run).proposals}
    assert found["first + last"].changes["lora.layers"] == "first:1+last:1"
    assert found["middle"].changes["lora.layers"] == "middle:2"
    assert found["top by displacement"].changes["lora.layers"] == [2, 5]
    parameters = 8 * 2 * 2 * (2 * 6)
    assert {one.changes["lora.match_parameters"] for one in found.values()} == {parameters}
    assert "of the update's mass in 2 of 8 layers (25% if all moved alike)" in (
        found["top by displacement"].figure
    )
    assert found["fewer modules"].changes["lora.target_modules"] == ["q_proj"]


def test_the_written_study_runs_baseline_and_treatments(tmp_path: Path) -> None:
    run = make_run(tmp_path, seed=5)
    spec, folder = StudySpec.load(refine(run).path)
    plan = Plan.make(spec, tmp_path / "out", folder)
    assert next(iter(plan.arms)) == "baseline"
    assert set(plan.baselines.values()) == {"baseline"}
    assert spec.seeds == [5, 6, 7]
    assert not plan.warnings
    assert all(arm.reason and arm.figure for arm in list(plan.arms.values())[1:])


def test_growing_kl_asks_for_a_larger_beta_by_the_named_factor(tmp_path: Path) -> None:
    run = make_run(tmp_path, metrics={"kl": lambda step: 0.01 * step**1.5},
                   grpo={"beta": 0.003})  # fmt: skip
    found = {one.label: one for one in refine(run).proposals}
    assert found["beta=0.01"].changes == {"grpo.beta": 0.01}
    assert "nats a token" in found["beta=0.01"].figure or "grew" in found["beta=0.01"].figure
    doubled = refine(run, limits=RefineLimits.of({"beta_factor": 2}))
    assert "beta=0.006" in {one.label for one in doubled.proposals}
    quiet = refine(run, limits=RefineLimits.of({"kl": 1e6, "kl_factor": 1e6}))
    assert not [one for one in quiet.proposals if one.label.startswith("beta")]


def test_a_low_cv_asks_for_a_larger_clip_or_temperature(tmp_path: Path) -> None:
    run = make_run(tmp_path, metrics={"reward_cv": 0.08}, grpo={"temperature": 0.8})
    assert not [one for one in refine(run).proposals if "epsilon" in one.label]
    found = {one.label: one for one in refine(run, limits=RefineLimits.of({"cv": 0.1})).proposals}
    assert found["epsilon_high=0.3"].changes == {"grpo.epsilon_high": 0.3}
    assert found["temperature=1"].changes == {"grpo.temperature": 1.0}
    assert "0.08" in found["temperature=1"].figure


def test_a_reward_that_correctness_does_not_rule_is_weighed_and_gated(tmp_path: Path) -> None:
    run = make_run(tmp_path, reward=OPENCODER)
    found = {one.label: one for one in refine(run).proposals}
    heavier, gated = found["correctness x 1.5"], found["gated shaping"]
    for one in (heavier, gated):
        assert not parse(one.changes["reward"]).warnings()
        assert "a wrong answer can earn 1.5, a right one may earn 1.5" in one.figure
    assert parse(gated.changes["reward"]).range(correct=False).high == 0
    ruled = make_run(tmp_path / "b", reward="Correct(2.0) + 0.5 * Format('answer')")
    assert not [one for one in refine(ruled).proposals if "reward" in one.changes]


def test_a_run_without_an_adapter_says_so(tmp_path: Path) -> None:
    run = make_run(tmp_path, lora=None)
    for file in (run / "adapter").iterdir():
        file.unlink()
    (run / "adapter/config.json").write_text("{}")
    found = refine(run)
    assert found.path is None
    assert any("trained all weights" in line for line in found.missing)


def test_a_short_run_and_a_wrong_threshold_say_so(tmp_path: Path) -> None:
    run = make_run(tmp_path, steps=10)
    assert any("fewer than two windows" in line for line in refine(run).missing)
    with pytest.raises(StudyError, match="did you mean `module_share`"):
        RefineLimits.of({"modul_share": 0.5})
    with pytest.raises(StudyError, match="at most 1"):
        RefineLimits.of({"layer_share": 2})
    (run / "metrics.jsonl").write_text("")
    with pytest.raises(StudyError, match="no training step"):
        refine(run)


def test_measured_contributions_choose_the_layers(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    spec, folder = StudySpec.load(write_layer_study(run))
    out = tmp_path / "layers"
    plan = Plan.make(spec, out, folder)
    assert len(plan.arms) == 9

    def accuracy(one: Any, step: int) -> float:
        layer = (one.recipe.lora or {}).get("layers", "all")
        gain = 0.4 if layer == "all" else {3: 0.3, 6: 0.2}.get(layer[0], 0.0)
        return 0.2 + gain * step / 10

    leave(plan, accuracy)
    (out / "study.yaml").write_text(
        spec.model_copy(update={"base": str(run / "recipe.yaml")}).to_yaml()
    )
    measured = layer_contributions(out)
    assert measured[3] == pytest.approx(0.75)
    assert measured[0] == pytest.approx(0.0)
    found = {one.label: one for one in refine(run, contributions=out).proposals}
    assert found["top by contribution"].changes["lora.layers"] == [3, 6]
