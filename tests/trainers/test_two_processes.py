"""Two ranks on a CPU: the same problems, whole groups, and one decision for both."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import reasonenv
from reasonenv import GRPOLearner
from reasonenv.errors import BatchArithmeticError, LaunchError
from reasonenv.rewards import RewardState, from_config
from reasonenv.trainers import Run, read_metrics, read_rollouts
from reasonenv.trainers.run import MARK
from reasonenv.trainers.storage import scores_of

from .conftest import SMALL, score_again, small

pytestmark = pytest.mark.training

REWARD = "Correct() + gate(0.3 * ShortestCorrect(), when=solved) + 0.1 * KimiLength()"


STAGED = (
    "Curriculum(Stage(Format('answer'), until='format', below=1.0, patience=2), 2.0 * Correct()) "
    "+ 0.1 * Format('answer')"
)
"""A reward with a state; the deviation of a share is below 1, so the stage is over after two."""


@pytest.fixture(scope="module")
def two_ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two ranks with a group-relative reward and a KL term."""
    out = tmp_path_factory.mktemp("runs") / "two"
    fields = small(reward=REWARD, eval={"problems": 9, "every": None}, grpo={"beta": 0.01})
    GRPOLearner(out=out, processes=2, **fields).train()
    return out


def trained(run: Path) -> list[dict[str, Any]]:
    return [row for row in read_rollouts(run) if row["kind"] == "train"]


def test_two_ranks_really_took_part(two_ranks: Path) -> None:
    for step in range(4):
        ranks = [row["rank"] for row in trained(two_ranks) if row["step"] == step]
        assert sorted(ranks) == [0] * 8 + [1] * 8


def test_each_step_asks_the_problems_that_one_process_asks(
    two_ranks: Path, finished_run: Path
) -> None:
    def asked(run: Path) -> list[list[str]]:
        return [
            [row["problem_id"] for row in trained(run) if row["step"] == step] for step in range(4)
        ]

    assert asked(two_ranks) == asked(finished_run)


def test_a_group_relative_term_scores_as_one_process_does(two_ranks: Path) -> None:
    rows = trained(two_ranks)
    assert score_again(rows, REWARD) == pytest.approx([row["reward"] for row in rows])
    sizes = {row["group_id"]: 0 for row in rows}
    for row in rows:
        sizes[row["group_id"]] += 1
    assert set(sizes.values()) == {4}


def test_metrics_are_of_all_ranks_and_written_once(two_ranks: Path) -> None:
    metrics = read_metrics(two_ranks, "train")
    assert [row["step"] for row in metrics] == [1, 2, 3, 4]
    for row in metrics:
        rows = [r for r in trained(two_ranks) if r["step"] == row["step"] - 1]
        assert row["reward"] == pytest.approx(sum(r["reward"] for r in rows) / len(rows))


def test_an_uneven_evaluation_counts_each_problem_once(two_ranks: Path) -> None:
    evaluations = read_metrics(two_ranks, "eval")
    assert [row["eval_problems"] for row in evaluations] == [9, 9]
    rows = [row for row in read_rollouts(two_ranks) if row["kind"] == "eval" and row["step"] == 0]
    assert len({row["problem_id"] for row in rows}) == len(rows) == 9


def test_a_batch_that_two_ranks_cannot_share_is_refused_before_they_start(tmp_path: Path) -> None:
    with pytest.raises(BatchArithmeticError, match="multiples of 2"):
        GRPOLearner(out=tmp_path / "run", processes=2, **small(prompts_per_step=3)).train()
    assert not (tmp_path / "run").exists()


def test_an_environment_object_cannot_be_sent_to_ranks(tmp_path: Path) -> None:
    env = reasonenv.make(SMALL["env"], **SMALL["env_args"])
    fields = small()
    del fields["env"], fields["env_args"]
    with pytest.raises(LaunchError, match=r"path/to/file\.py:id"):
        GRPOLearner(env=env, out=tmp_path / "run", processes=2, **fields).train()


BROKEN_ENV = """
import reasonenv
from reasonenv import MathEnv, Problem, Status, Verdict

class Away:
    concurrency = 1
    def __call__(self, problem, completion):
        return Verdict(Status.SANDBOX_UNAVAILABLE, detail={"error": "no engine"})

class Broken(MathEnv):
    def load_problems(self, split, data):
        offset = 0 if split == "train" else 1000
        return [Problem(f"{i + offset}+1=", str(i + offset + 1)) for i in range(20)]
    def make_judge(self):
        return Away()

reasonenv.register("acme/Broken-v0", Broken)
"""


def test_every_rank_halts_alike_when_checkers_fail(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broken.py"
    file.write_text(BROKEN_ENV)
    fields = small(
        env=f"{file}:acme/Broken-v0",
        eval={"problems": 0, "every": None},
        unscored={"limit": 0.5, "patience": 2},
    )
    with pytest.raises(LaunchError, match="failed: step 1: for 2 generations in a row"):
        GRPOLearner(out=tmp_path / "run", processes=2, **fields).train()
    said = capfd.readouterr().err
    for rank in (0, 1):
        assert f"rank {rank}: step 1: for 2 generations in a row" in said


def test_ranks_agree_on_members_that_could_not_be_judged(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    judge = 'Verdict(Status.SANDBOX_UNAVAILABLE, detail={"error": "no engine"})'
    odd = f"{judge} if sum(map(ord, completion)) % 4 == 0 else Verdict(Status.INCORRECT)"
    file.write_text(BROKEN_ENV.replace(judge, odd).replace("Broken-v0", "Flaky-v0"))
    fields = small(
        env=f"{file}:acme/Flaky-v0",
        reward="Correct() + 0.1 * TagCount('answer')",
        eval={"problems": 0, "every": None},
        unscored={"limit": 1.0},
        grpo={"beta": 0.1},
    )
    out = tmp_path / "run"
    assert GRPOLearner(out=out, processes=2, **fields).train().step == 4
    for row in read_metrics(out, "train"):
        rows = [one for one in trained(out) if one["step"] == row["step"] - 1]
        assert row["unscored"] == pytest.approx(
            sum(one["solved"] is None for one in rows) / len(rows)
        )
    assert any(row["unscored"] > 0 for row in read_metrics(out, "train"))


def test_a_signal_to_the_launcher_leaves_a_checkpoint_of_all_ranks(tmp_path: Path) -> None:
    out, recipe = tmp_path / "run", tmp_path / "small.yaml"
    fields = small(steps=2000, checkpoint={"every": None}, eval={"problems": 0, "every": None})
    recipe.write_text(reasonenv.Recipe.make(fields).to_yaml())
    command = [sys.executable, "-m", "reasonenv", "train", str(recipe), "--out", str(out)]
    process = subprocess.Popen(
        [*command, "--processes", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    deadline = time.monotonic() + 180
    while not (out / "rollouts.parquet" / "train-000002.parquet").exists():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, "the run did not start"
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    assert "stopped at step" in output
    checkpoint = Run.open(out).checkpoint()
    assert checkpoint is not None
    step = int(checkpoint.name.rpartition("-")[2])
    result = GRPOLearner.resume(out, steps=step + 1)
    assert result.step == step + 1
    assert not result.stopped
    assert [row["step"] for row in read_metrics(out, "train")] == list(range(1, step + 2))


@pytest.mark.filterwarnings("ignore:reward Curriculum.*does not dominate")
def test_ranks_draw_and_replace_alike_and_skip_the_same_work(tmp_path: Path) -> None:
    metrics = []
    for skip in ("auto", "off"):
        out = tmp_path / skip
        fields = small(
            steps=3,
            reward=STAGED,
            rows_per_forward=4,  # two passes a rank, whose shares of live rows differ
            sampling={"by": "expected_signal", "resample": 1},
            skip_silent=skip,
            eval={"problems": 0, "every": None},
            grpo={"loss_type": "grpo", "temperature": 0.3},  # most groups are of one outcome
        )
        GRPOLearner(out=out, processes=2, **fields).train()
        metrics.append(read_metrics(out, "train"))
        reward = from_config(STAGED)
        state = RewardState.first(reward)
        for step in range(3):
            rows = [row for row in trained(out) if row["step"] == step]
            assert {row["state_version"] for row in rows} == {state.version}
            state = state.after(reward, scores_of(rows))
            used = [row for row in rows if row["advantage"] is not None]
            assert sorted(row["rank"] for row in used) == [0] * 8 + [1] * 8
            # Ranks that drew for themselves would draw some problem twice.
            assert len({row["problem_id"] for row in used}) == 4
        # The state is that of all rollouts in their order, whichever rank sampled them.
        kept = Run.open(out).checkpoint()
        assert kept is not None
        assert json.loads((kept / MARK).read_text())["reward_state"] == state.to_json()
        assert state.version == 2
    for ours, whole in zip(*metrics, strict=True):
        assert ours["rollouts"] == whole["rollouts"]
        assert ours["loss"] == pytest.approx(whole["loss"], rel=1e-4, abs=1e-6)
        assert ours["grad_norm"] == pytest.approx(whole["grad_norm"], rel=1e-4)
        assert whole["skipped_rows"] == 0.0
    assert sum(row["skipped_rows"] for row in metrics[0]) > 0.0


def start(out: Path, recipe: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "reasonenv", "train", str(recipe), "--out", str(out), *words]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "COLUMNS": "400"},
    )


def rank_of(run: Path, rank: int) -> int:
    """Return the process id of a rank of a run on this machine."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode().split("\0")
            variables = (process / "environ").read_bytes().decode().split("\0")
        except OSError:  # another one's, or gone
            continue
        if str(run) in words and f"RANK={rank}" in variables:
            return int(process.name)
    raise AssertionError(f"no rank {rank} of {run} is running")


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds the ranks in /proc")
def test_a_killed_rank_stops_the_others_and_is_named(tmp_path: Path) -> None:
    out, recipe = tmp_path / "run", tmp_path / "small.yaml"
    fields = small(steps=2000, checkpoint={"every": 1}, eval={"problems": 0, "every": None})
    recipe.write_text(reasonenv.Recipe.make(fields).to_yaml())
    process = start(out, recipe, "--processes", "2")
    deadline = time.monotonic() + 180
    while not (out / "rollouts.parquet" / "train-000003.parquet").exists():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, "the run did not start"
        time.sleep(0.01)
    ranks = [rank_of(out, rank) for rank in (0, 1)]
    os.kill(ranks[1], signal.SIGKILL)
    output, _ = process.communicate(timeout=60)  # a hang would end here
    assert process.returncode == 1, output
    told = " ".join(output.split()).rpartition("rank 1 was killed by SIGKILL")[2]
    assert f"go on with --resume {out}" in told, output
    assert not Path(f"/proc/{ranks[0]}").exists()


FAILS_ON_RANK_1 = """
import os
import reasonenv
from reasonenv import MathEnv, Problem
from reasonenv.errors import DataError

class Odd(MathEnv):
    def load_problems(self, split, data):
        if os.environ.get("RANK") == "1":
            raise DataError("the data are not on this machine")
        return [Problem(f"{i}+1=", str(i + 1)) for i in range(20)]

reasonenv.register("acme/Odd-v0", Odd)
"""


def test_a_rank_that_fails_at_start_is_told_with_its_own_error(tmp_path: Path) -> None:
    file = tmp_path / "odd.py"
    file.write_text(FAILS_ON_RANK_1)
    fields = small(env=f"{file}:acme/Odd-v0", eval={"problems": 0, "every": None})
    with pytest.raises(
        LaunchError, match="rank 1 failed: the data are not on this machine"
    ) as told:
        GRPOLearner(out=tmp_path / "run", processes=2, **fields).train()
    assert "start anew" in str(told.value)
    assert not (tmp_path / "run").exists()


def test_two_machines_train_one_run(tmp_path: Path) -> None:
    out, recipe = tmp_path / "run", tmp_path / "small.yaml"
    fields = small(steps=1, processes=1, eval={"problems": 2, "every": None})
    recipe.write_text(reasonenv.Recipe.make(fields).to_yaml())
    with socket.socket() as probe:
        probe.bind(("", 0))
        port = probe.getsockname()[1]
    where = ("--nodes", "2", "--master", f"127.0.0.1:{port}", "--rank")
    machines = [start(out, recipe, *where, str(rank)) for rank in (1, 0)]
    for machine in machines:
        output, _ = machine.communicate(timeout=240)
        assert machine.returncode == 0, output
    assert sorted(row["rank"] for row in trained(out)) == [0] * 8 + [1] * 8
    assert Run.open(out).checkpoint() is not None
