"""The engine on real vLLM (`make test-vllm`): adapters arrive, and the base is never touched."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("vllm", reason="vLLM lives in an environment of its own: make test-vllm")

SCENARIOS = Path(__file__).with_name("scenarios.py")
GAP = 1e-3  # nats on one token in float32, trainer against engine


def run(name, dtype, folder):
    done = subprocess.run(
        [sys.executable, str(SCENARIOS), name, dtype, str(folder)],
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_engine_follows_the_adapter_and_the_base_stays_bit_equal(dtype, tmp_path):
    found = run("many_syncs", dtype, tmp_path / "engine")
    assert found["merged"] is None
    # In bfloat16 both sides round: what matters is that the adapter's effect arrives.
    assert found["gap"] < (GAP if dtype == "float32" else found["effect"] / 4)
    assert found["base_kept"]
    assert found["left"] == []


def test_ranks_and_alphas_of_single_modules_and_rslora_are_served(tmp_path):
    found = run("patterns", "float32", tmp_path / "engine")
    assert found["merged"] is None
    assert found["gap"] < GAP


@pytest.mark.parametrize(("name", "why"), [("dora", "DoRA"), ("biases", "bias"), ("head", "norm")])
def test_what_vllm_cannot_serve_is_streamed_as_merged_copies(name, why, tmp_path):
    found = run(name, "float32", tmp_path / "engine")
    assert why in found["merged"]
    assert found["gap"] < GAP
    assert found["base_kept"]


def test_trls_own_sync_changes_the_base(tmp_path):
    assert not run("trl", "float32", tmp_path)["base_kept"]  # the reason for all of this


def test_a_sync_that_fails_leaves_trainer_and_engine_consistent(tmp_path):
    found = run("broken_sync", "float32", tmp_path / "engine")
    assert "does not take version 2" in found["said"]
    assert found["kept"]
    assert found["base_kept"]
    assert found["gap_after_mending"] < GAP


def test_the_probe_passes_a_good_engine_and_catches_one_that_ignores_the_adapter(tmp_path):
    found = run("probe", "float32", tmp_path / "engine")
    assert found["shift"] > 0.01
    assert found["restored"]
    assert found["gap"] < GAP
    assert "do not follow the adapter" in found["said"]


def test_rows_of_one_group_are_asked_their_own_prompts(tmp_path):
    found = run("views", "float32", tmp_path / "engine")
    assert found["prompts"] == found["asked"]


def test_episodes_of_several_turns_are_sampled_and_judged_as_they_end(tmp_path):
    found = run("several_turns", "float32", tmp_path / "run")
    assert max(found["turns"]) > 1
    # Feedback stands between the model's own tokens: one out of place, and these would differ.
    assert found["gap"] < GAP
    assert found["told"] >= sum(found["turns"])
    assert found["known"]
