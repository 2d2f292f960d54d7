"""Training against a vLLM server (`make test-vllm`): adapters over HTTP, and what goes wrong."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("vllm", reason="vLLM lives in an environment of its own: make test-vllm")

from reasonenv.errors import EngineError
from reasonenv.trainers import GRPOLearner, tiny
from reasonenv.trainers.bridge import Bridge
from reasonenv.trainers.storage import read_metrics, read_rollouts

GRPO = {
    "num_generations": 4,
    "max_completion_length": 8,
    "beta": 0.0,
    "bf16": False,
    "use_vllm": True,
    "vllm_mode": "server",
}
LORA = {"r": 8, "lora_alpha": 16, "target_modules": "all-linear"}


def start_server(model, log, *flags):
    """Start a server and return its process and address, once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--port", str(port)]
    command += ["--model", str(model), "--dtype", "float32", "--enforce-eager"]
    command += ["--max-model-len", "1024", "--gpu-memory-utilization", "0.3"]
    command += ["--logprobs-mode", "processed_logprobs", "--max-logprobs", "-1", *flags]
    allowed = {"VLLM_SERVER_DEV_MODE": "1", "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1"}
    with log.open("w") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=out, env={**os.environ, **allowed}, start_new_session=True
        )
    address = f"http://127.0.0.1:{port}"
    for _ in range(300):
        assert process.poll() is None, log.read_text()[-3000:]
        try:
            urllib.request.urlopen(f"{address}/health", timeout=2)
            return process, address
        except OSError:
            time.sleep(1)
    raise AssertionError(log.read_text()[-3000:])


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    log = tmp_path_factory.mktemp("server") / "log"
    flags = ("--enable-lora", "--max-lora-rank", "16", "--max-loras", "2")
    process, address = start_server(tiny.path(), log, *flags)
    yield address
    os.killpg(process.pid, 9)


def train(out, address, **changes):
    grpo = {**GRPO, "vllm_server_base_url": address, **changes}
    learner = GRPOLearner(
        recipe="quickstart",
        steps=2,
        out=out,
        prompts_per_step=4,
        eval={"problems": 8},
        lora=LORA,
        grpo=grpo,
    )
    return learner.train()


def test_a_run_samples_from_the_server_and_leaves_the_base_bit_equal(server, tmp_path):
    result = train(tmp_path / "run", server)
    facts = json.loads((result.run / "run.json").read_text())
    assert result.step == 2
    assert facts["engine"] == "vLLM, server, adapter"
    assert facts["base_unchanged"]
    assert facts["engine_gap_nats"] < 1e-3
    assert not (result.run / "engine").exists()
    served = json.load(urllib.request.urlopen(f"{server}/v1/models"))["data"]
    assert sum(one["id"].startswith("reasonenv-") for one in served) == 1  # old ones were dropped


def test_a_second_run_finds_the_first_ones_adapter_on_the_server_and_goes_on(server, tmp_path):
    first = train(tmp_path / "first", server)
    second = train(tmp_path / "second", server)  # as many versions, so the same numbers
    logged = read_metrics(second.run, "train")
    assert max(row["sampling/sampling_logp_difference/max"] for row in logged) < 1e-2
    assert first.step == second.step == 2


def test_the_members_of_a_group_are_asked_their_own_views(server, tmp_path):
    run = GRPOLearner(
        "tiny",
        env="reasonenv/Quiz-v0",
        env_args={"views": 2},
        steps=1,
        out=tmp_path / "run",
        prompts_per_step=2,
        eval={"problems": 0},
        lora=LORA,
        grpo={**GRPO, "vllm_server_base_url": server, "vllm_max_model_length": 1024},
    ).train()
    rows = [row for row in read_rollouts(run.run) if row["group_id"].startswith("train")]
    assert [json.loads(row["rendering"])["view"] for row in rows] == [0, 1, 0, 1] * 2
    assert len({row["prompt"] for row in rows}) == 4
    # Each completion was sampled after its own prompt: the engine's log-probabilities say so.
    logged = read_metrics(run.run, "train")[-1]
    assert logged["sampling/sampling_logp_difference/max"] < 1e-2


def test_completions_of_a_server_are_told_prompt_by_prompt(server, tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(Bridge, "finished", lambda self, context, ids: told.append(tuple(ids)))
    run = train(tmp_path / "run", server, vllm_max_model_length=1024)
    rows = [row for row in read_rollouts(run.run) if row["group_id"].startswith("train")]
    assert len(told) >= len(rows)
    logged = read_metrics(run.run, "train")
    assert max(row["sampling/sampling_logp_difference/max"] for row in logged) < 1e-2


def test_a_server_that_does_not_answer_is_named(tmp_path):
    with pytest.raises(EngineError, match=r"no vLLM server answers.*start one"):
        train(tmp_path / "run", "http://127.0.0.1:9", vllm_server_timeout=1.0)
    assert not Path(tmp_path / "run").exists()


def test_a_server_of_another_model_is_found_out(server, tmp_path, monkeypatch):
    tokenizer = tiny.build_tokenizer()
    other = tiny.save(tiny.build_model(tokenizer, seed=5), tokenizer, tmp_path / "other")
    with pytest.raises(EngineError, match="serves another model than the recipe's"):
        GRPOLearner(
            model=str(other),
            recipe="quickstart",
            steps=1,
            out=tmp_path / "run",
            prompts_per_step=4,
            eval={"problems": 0},
            lora=LORA,
            grpo={**GRPO, "vllm_server_base_url": server},
        ).train()


def test_a_server_that_takes_no_adapters_is_told_how_to(tmp_path):
    process, address = start_server(tiny.path(), tmp_path / "log")
    try:
        with pytest.raises(EngineError, match="--enable-lora --max-loras 2 --max-lora-rank 8"):
            train(tmp_path / "run", address)
    finally:
        os.killpg(process.pid, 9)
