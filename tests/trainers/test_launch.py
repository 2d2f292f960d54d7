"""Launching: which machines, which command, what is refused, and what an ended rank is told as."""

from __future__ import annotations

import importlib.util
import json
import signal
import socket
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from reasonenv import GRPOLearner, Recipe
from reasonenv.cli.app import app
from reasonenv.errors import LaunchError, MissingExtraError, RecipeError
from reasonenv.trainers import failures
from reasonenv.trainers.batch import plan_batches
from reasonenv.trainers.cluster import Cluster, cluster_of, first_host
from reasonenv.trainers.launch import command
from reasonenv.trainers.run import Run, joined_run
from reasonenv.trainers.sharding import check_devices, check_optimizer, sharding
from reasonenv.trainers.trl_config import check_sections, grpo_config

from .conftest import small

STEP = {
    "SLURM_JOB_ID": "41234",
    "SLURM_STEP_NUM_NODES": "2",
    "SLURM_STEP_NUM_TASKS": "2",
    "SLURM_NODEID": "1",
    "SLURM_STEP_NODELIST": "gpu[07,12]",
}


def test_one_machine_is_the_default() -> None:
    assert cluster_of(environment={}) == Cluster()
    assert cluster_of(1, environment={}) == Cluster()


def test_machines_are_given_by_options_or_by_slurm() -> None:
    assert cluster_of(3, 2, "node0:29500", {}) == Cluster(3, 2, "node0", 29500)
    assert cluster_of(2, 0, "[fd00::1]:29500", {}) == Cluster(2, 0, "fd00::1", 29500)
    assert cluster_of(environment=STEP) == Cluster(2, 1, "gpu07", 21234)
    assert cluster_of(2, 1, "other:29500", STEP) == Cluster(2, 1, "other", 29500)


def test_a_batch_script_outside_of_srun_is_one_machine() -> None:
    assert cluster_of(environment={"SLURM_JOB_ID": "1", "SLURM_NNODES": "4"}) == Cluster()


@pytest.mark.parametrize(
    ("given", "environment", "says"),
    [
        ((0,), {}, "at least 1"),
        ((2,), {}, "give --rank"),
        ((2, 2, "a:1"), {}, "0 to 1"),
        ((2, 0), {}, "ADDR:PORT"),
        ((2, 0, "a"), {}, "ADDR:PORT"),
        ((2, 0, "a:99999"), {}, "ADDR:PORT"),
        ((1, 1), {}, "--nodes above 1"),
        ((), {**STEP, "SLURM_STEP_NUM_TASKS": "16"}, "--ntasks-per-node=1"),
    ],
)
def test_machines_that_cannot_be_are_refused(given: Any, environment: Any, says: str) -> None:
    with pytest.raises(LaunchError, match=says):
        cluster_of(*given, environment=environment)


@pytest.mark.parametrize(
    ("nodes", "first"),
    [("n1", "n1"), ("n[3-5]", "n3"), ("a[01,07-9],b2", "a01"), ("a,b", "a"), ("x[2]y", "x2y")],
)
def test_the_first_machine_of_slurms_list_is_found(nodes: str, first: str) -> None:
    assert first_host(nodes) == first


def test_each_machine_starts_torchrun_with_its_rank() -> None:
    words = command("RUN", 4, cluster=Cluster(2, 1, "node0", 29500))
    assert words[1:3] == ["-m", "reasonenv.trainers.agent"]
    options = dict(zip(words[3:11:2], words[4:12:2], strict=True))
    assert options == {
        "--nnodes": "2",
        "--node-rank": "1",
        "--master-addr": "node0",
        "--master-port": "29500",
    }
    assert words[-3:] == ["-m", "reasonenv.trainers.worker", "RUN"]
    assert "--standalone" in command("RUN", 4)


def test_a_port_in_use_is_refused_with_a_free_one(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(LaunchError, match=rf"port {port} .* \d+ is free"):
            Cluster(2, 0, "127.0.0.1", port).check_port()
        Cluster(2, 1, "127.0.0.1", port).check_port()  # it is the first machine's
        learner = GRPOLearner(
            out=tmp_path / "run", cluster=Cluster(2, 0, "127.0.0.1", port), **small(processes=1)
        )
        with pytest.raises(LaunchError, match=f"port {port}"):
            learner.train()
    assert not (tmp_path / "run").exists()


def test_several_machines_need_a_directory_that_they_share() -> None:
    with pytest.raises(LaunchError, match="--out DIR"):
        GRPOLearner(cluster=Cluster(2, 0, "a", 1), **small())


def test_a_machine_joins_the_first_ones_run_of_the_same_recipe(tmp_path: Path) -> None:
    recipe = Recipe.make(small())
    with pytest.raises(LaunchError, match="The first machine"):
        joined_run(tmp_path / "run", recipe, seconds=0)
    Run.create(tmp_path / "run", recipe)
    assert joined_run(tmp_path / "run", recipe).path == tmp_path / "run"
    with pytest.raises(LaunchError, match="seed: 0 there, 7 here"):
        joined_run(tmp_path / "run", Recipe.make(small(seed=7)))


def test_the_rank_that_died_is_named_and_not_those_that_lost_it(tmp_path: Path) -> None:
    assert failures.first_failure(tmp_path) is None
    failures.note_rank(tmp_path, 0, "RuntimeError: connection closed by peer")
    failures.note_rank(tmp_path, 2, "RuntimeError: connection closed by peer")
    failures.note_node(tmp_path, 0, {0: 1, 1: -signal.SIGKILL, 2: -signal.SIGTERM})
    assert str(failures.first_failure(tmp_path)).startswith("rank 1 was killed by SIGKILL")
    failures.clear(tmp_path)
    assert failures.first_failure(tmp_path) is None


def test_the_earliest_error_counts_where_none_was_killed(tmp_path: Path) -> None:
    for rank, says in ((3, "no such model"), (0, "connection closed by peer")):
        failures.note_rank(tmp_path, rank, says)
    failures.note_node(tmp_path, 1, {0: 1, 3: 1})
    assert failures.first_failure(tmp_path) == "rank 3 failed: no such model"


def test_a_rank_without_a_word_is_told_by_its_exit_status(tmp_path: Path) -> None:
    failures.note_node(tmp_path, 0, {1: 3})
    assert "rank 1 ended with exit status 3" in str(failures.first_failure(tmp_path))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--processes", "8"), "8 prompts x 4 completions = 32 a generation, on 8 processes"),
        (
            ("--processes", "4", "--nodes", "2", "--rank", "1", "--master", "n0:29500"),
            "8 prompts x 4 completions = 32 a generation, on 8 processes",
        ),
        (("--processes", "1"), "8 prompts x 4 completions = 32 a generation, on 1 process:"),
    ],
)
def test_a_dry_run_prints_arithmetic_and_command(
    tmp_path: Path, words: tuple[str, ...], expected: str
) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(Recipe.make(small(prompts_per_step=8)).to_yaml())
    given = ["train", str(file), "--dry-run", "--out", str(tmp_path / "run"), *words]
    result = CliRunner().invoke(app, given, env={"COLUMNS": "400"})
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    assert expected in said
    if "--nodes" in words:
        assert "machines: 2, each with 4 processes" in said
        assert "--nnodes 2 --node-rank 1 --master-addr n0 --master-port 29500" in said
        assert f"-m reasonenv.trainers.worker {tmp_path / 'run'}" in said
    assert not (tmp_path / "run").exists()


def test_a_parted_model_is_a_few_keys_of_training_arguments(tmp_path: Path) -> None:
    assert sharding("none") == {}
    recipe = Recipe.make(small(shard="fsdp"))
    check_sections(recipe)
    plan = plan_batches(processes=1, group_size=4, prompts_per_step=4)
    config = grpo_config(recipe, plan, run=tmp_path, steps=1, evaluate=False, resumed=False)
    assert config.fsdp_plugin_args["fsdp_version"] == 2
    assert config.fsdp_plugin_args["activation_checkpointing"] is True
    assert config.gradient_checkpointing is False
    for stage in (2, 3):
        section = sharding(f"zero{stage}")["deepspeed"]
        assert section["zero_optimization"]["stage"] == stage
        json.dumps(section)


def test_a_model_is_parted_in_one_way_only() -> None:
    recipe = Recipe.make(small(shard="zero3", grpo={"fsdp_config": {"version": 2}}))
    with pytest.raises(RecipeError, match="leave one out"):
        check_sections(recipe)
    with pytest.raises(RecipeError, match="shard"):
        Recipe.make(small(shard="zero4"))


def test_a_model_cannot_be_parted_where_there_is_nothing_to_part_it_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    if not torch.cuda.is_available():
        with pytest.raises(LaunchError, match="--set shard=none"):
            GRPOLearner(out=tmp_path / "run", **small(shard="fsdp", processes=2)).train()
        assert not (tmp_path / "run").exists()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(LaunchError, match="several processes"):
        check_devices("fsdp", 1)
    with pytest.raises(LaunchError, match=r"8 processes .* 1 GPU is there"):
        GRPOLearner(out=tmp_path / "run", **small(processes=8))
    try:
        import deepspeed  # type: ignore[import-not-found,unused-ignore]  # noqa: F401
    except ImportError:
        with pytest.raises(MissingExtraError, match=r"reasonenv\[deepspeed\]"):
            check_devices("zero3", 2)


@pytest.mark.parametrize("name", ["adamw_8bit", "paged_adamw_32bit"])
def test_an_optimizer_of_bitsandbytes_is_refused_before_a_model_is_loaded(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(LaunchError, match=r"torch sees none here.*--set grpo\.optim=adamw_torch"):
        GRPOLearner(out=tmp_path / "run", **small(grpo={"optim": name})).train()
    assert not (tmp_path / "run").exists()
    check_optimizer("adamw_torch")
    check_optimizer("")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    if importlib.util.find_spec("bitsandbytes") is None:
        with pytest.raises(LaunchError, match="pip install bitsandbytes"):
            check_optimizer(name)
