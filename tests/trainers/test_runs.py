"""Whole runs of the learner: what they leave behind, how they stop, and how they go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import reasonenv
from reasonenv import GRPOLearner, MathEnv, Problem, Status, Verdict
from reasonenv.errors import (
    DataError,
    HubUnavailableError,
    RunDirectoryError,
    StorageError,
    TooManyUnscoredError,
)
from reasonenv.trainers import Run, read_metrics, read_rollouts

from .conftest import SMALL, score_again, small

pytestmark = pytest.mark.training

TIMES = ("time/", "eval_runtime", "eval_samples", "eval_steps", "step_time", "train_")


def untimed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if not k.startswith(TIMES)} for row in rows]


def test_a_run_leaves_everything_that_a_report_needs(finished_run: Path) -> None:
    names = {path.name for path in finished_run.iterdir()}
    assert {
        "recipe.yaml",
        "run.json",
        "metrics.jsonl",
        "rollouts.parquet",
        "adapter",
        "report.md",
        "plots",
    } <= names
    assert (finished_run / "adapter" / "adapter_model.safetensors").is_file()
    assert Run.open(finished_run).recipe.steps == 4


@pytest.mark.parametrize(("steps", "evaluated"), [(2, [0, 2]), (3, [0, 2, 3])])
def test_the_last_step_is_evaluated_once_whether_or_not_its_turn_has_come(
    steps: int, evaluated: list[int], tmp_path: Path
) -> None:
    run = GRPOLearner(out=tmp_path / "run", **small(steps=steps)).train().run
    assert [row["step"] for row in read_metrics(run, "eval")] == evaluated


def test_metrics_hold_reward_terms_parts_and_the_task_metric_by_name(finished_run: Path) -> None:
    trained = read_metrics(finished_run, "train")
    assert [row["step"] for row in trained] == [1, 2, 3, 4]
    wanted = ("reward", "reward_cv", "terms/correct", "terms/format", "parts/correct")
    more = ("parts/format", "accuracy", "mixed_groups", "unscored", "time/generate", "time/judge")
    for row in trained:
        study = ("entropy", "completions/clipped_ratio", "completions/mean_length")
        ours = ("masked", "within/correct", "mixed_groups_expected", "rollouts", "skipped_rows")
        times = ("time/update", "time/tokens_per_second", "step_time")
        for name in (*wanted, *more, *study, *ours, *times):
            assert name in row, name
        parts = row["parts/correct"] + row["parts/format"]
        assert row["reward"] == pytest.approx(parts)
    evaluations = read_metrics(finished_run, "eval")
    assert [row["step"] for row in evaluations] == [0, 2, 4]
    assert all(row["eval_problems"] == 8 for row in evaluations)
    for row in evaluations:
        assert row["eval_accuracy_low"] <= row["eval_accuracy"] <= row["eval_accuracy_high"]
        for name in ("reward", "entropy", "completions/mean_length"):
            assert f"eval_{name}" in row, name


def test_trackers_see_the_same_names(finished_run: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    [folder] = {path.parent for path in finished_run.rglob("events.out.tfevents*")}
    tags = set(EventAccumulator(str(folder)).Reload().Tags()["scalars"])
    assert {"train/terms/correct", "train/parts/format", "train/accuracy", "eval/accuracy"} <= tags


def test_every_completion_is_stored_with_verdict_terms_and_advantage(finished_run: Path) -> None:
    rows = list(read_rollouts(finished_run))
    trained = [row for row in rows if row["kind"] == "train"]
    assert len(trained) == 4 * 16
    assert len([row for row in rows if row["kind"] == "eval"]) == 3 * 8
    assert {row["step"] for row in trained} == {0, 1, 2, 3}
    for row in trained:
        assert row["status"] in set(Status)
        assert row["reward"] == pytest.approx(sum(row["parts"].values()))
        assert row["advantage"] is not None
    groups: dict[str, set[str]] = {}
    for row in trained:
        groups.setdefault(row["group_id"], set()).add(row["problem_id"])
    assert len(groups) == 16
    assert all(len(problems) == 1 for problems in groups.values())


def test_stored_rollouts_can_be_judged_and_scored_again(finished_run: Path) -> None:
    rows = [row for row in read_rollouts(finished_run) if row["kind"] == "train"]
    again = score_again(rows, SMALL["reward"])
    assert again == pytest.approx([row["reward"] for row in rows])


def test_no_gold_reaches_the_rows_that_trl_sees() -> None:
    from reasonenv.trainers.session import slots

    assert slots(3).column_names == ["slot"]


def test_the_same_seed_gives_the_same_run(finished_run: Path, tmp_path: Path) -> None:
    GRPOLearner(out=tmp_path / "twin", **SMALL).train()
    ours, twins = (untimed(read_metrics(run)) for run in (finished_run, tmp_path / "twin"))
    assert ours == twins


def test_a_resumed_run_equals_an_unbroken_one(finished_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    GRPOLearner(out=out, **small(steps=2)).train()
    # What came after the checkpoint (here: garbage of a run killed later) is cut back.
    with (out / "metrics.jsonl").open("a") as file:
        file.write('{"step": 3, "kind": "train", "reward": 9}\n{"step": 4, "ki')
    (out / "rollouts.parquet" / "train-000002.parquet").write_bytes(b"stale")
    GRPOLearner.resume(out, steps=4)
    whole, resumed = (untimed(read_metrics(run, "train")) for run in (finished_run, out))
    # A schedule knows its length, so only what does not depend on it is the same for both.
    assert [row["step"] for row in resumed] == [1, 2, 3, 4]
    assert [row["num_tokens"] for row in resumed[:2]] == [row["num_tokens"] for row in whole[:2]]
    assert {row["step"] for row in read_rollouts(out) if row["kind"] == "train"} == {0, 1, 2, 3}
    ids = [[row["problem_id"] for row in read_rollouts(run)] for run in (finished_run, out)]
    assert ids[0] == ids[1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_a_checkpoint_and_resume_goes_on_exactly(
    number: int, finished_run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    recipe = tmp_path / "small.yaml"
    recipe.write_text(reasonenv.Recipe.make(small(checkpoint={"every": None})).to_yaml())
    process = subprocess.Popen(
        [sys.executable, "-m", "reasonenv", "train", str(recipe), "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    deadline = time.monotonic() + 120
    while not (out / "rollouts.parquet" / "train-000000.parquet").exists():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, "the run did not start"
        time.sleep(0.01)
    process.send_signal(number)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    checkpoint = Run.open(out).checkpoint()
    assert checkpoint is not None, output
    if "stopped at step" in output:  # a fast machine may have finished the four steps
        assert f"--resume {out}" in output
        assert not (out / "adapter").exists()
        GRPOLearner.resume(out)
    whole, resumed = (untimed(read_metrics(run)) for run in (finished_run, out))
    assert [r for r in resumed if r["kind"] == "train"] == [
        r for r in whole if r["kind"] == "train"
    ]


def test_a_checkpoint_that_was_cut_off_is_not_resumed(tmp_path: Path) -> None:
    out = tmp_path / "run"
    GRPOLearner(out=out, **small(steps=2)).train()
    torn = out / "checkpoints" / "checkpoint-3"
    torn.mkdir()
    (torn / "adapter_model.safetensors").write_bytes(b"half")
    assert GRPOLearner.resume(out, steps=3).step == 3
    assert (torn / "reasonenv.json").is_file()


def test_an_existing_run_directory_is_refused_and_left_alone(finished_run: Path) -> None:
    before = (finished_run / "metrics.jsonl").read_bytes()
    with pytest.raises(RunDirectoryError, match="--resume"):
        GRPOLearner(out=finished_run, **SMALL).train()
    assert (finished_run / "metrics.jsonl").read_bytes() == before


def test_resuming_what_is_no_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match=r"recipe\.yaml"):
        GRPOLearner.resume(tmp_path)


def test_a_full_disk_ends_the_run_with_what_was_written_intact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reasonenv.trainers import callbacks

    real = callbacks.log_metrics

    def full_after_two(path: Path, step: int, kind: str, values: Any) -> None:
        if kind == "train" and step == 3:
            with open("/dev/full", "wb", buffering=0) as full:
                try:
                    full.write(b"x")
                except OSError as error:
                    raise StorageError(f"{path}: cannot be written ({error.strerror})") from error
        real(path, step, kind, values)

    monkeypatch.setattr(callbacks, "log_metrics", full_after_two)
    out = tmp_path / "run"
    with pytest.raises(StorageError, match="No space left"):
        GRPOLearner(out=out, **SMALL).train()
    monkeypatch.undo()
    assert [row["step"] for row in read_metrics(out, "train")] == [1, 2]
    assert GRPOLearner.resume(out).step == 4
    assert [row["step"] for row in read_metrics(out, "train")] == [1, 2, 3, 4]


class NoSandbox:
    """A judge whose sandbox is away."""

    concurrency = 1

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        return Verdict(Status.SANDBOX_UNAVAILABLE, detail={"error": "no engine"})


def test_a_run_whose_checker_keeps_failing_halts_and_says_why(tmp_path: Path) -> None:
    problems = [Problem(f"{i}+1=", str(i + 1)) for i in range(40)]
    env = MathEnv(problems, judge=NoSandbox(), **SMALL["env_args"])
    fields = small(eval={"problems": 0, "every": None}, unscored={"limit": 0.5, "patience": 2})
    del fields["env"], fields["env_args"]
    with pytest.raises(TooManyUnscoredError) as caught:
        GRPOLearner(env=env, out=tmp_path / "run", **fields).train()
    for fragment in ("2 generations in a row", "100%", "sandbox_unavailable", "no engine"):
        assert fragment in str(caught.value)
    assert len(list(read_rollouts(tmp_path / "run"))) == 2 * 16


def test_a_model_that_no_hub_gives_says_what_to_give_instead(tmp_path: Path) -> None:
    with pytest.raises(HubUnavailableError, match="--model PATH"):
        GRPOLearner("acme/no-such-model", out=tmp_path / "run", **SMALL).train()


def test_a_bad_data_line_is_named_before_a_model_is_loaded(tmp_path: Path) -> None:
    file = tmp_path / "data.jsonl"
    file.write_text('{"question": "1+1=", "answer": "2"}\n{"question": "1+2="}\n')
    with pytest.raises(DataError, match=r"data\.jsonl:2"):
        GRPOLearner(out=tmp_path / "run", **small(data=str(file))).train()
    assert not (tmp_path / "run").exists()


def test_problems_of_a_training_file_are_held_out_of_training(tmp_path: Path) -> None:
    data = Path(__file__).parents[1] / "data" / "gsm8k_own.jsonl"
    out = tmp_path / "run"
    fields = small(
        env="reasonenv/GSM8K-v0", env_args={}, data=str(data), steps=2, eval={"every": None}
    )
    result = GRPOLearner(out=out, **fields).train()
    rows = list(read_rollouts(out))
    trained = {row["problem_id"] for row in rows if row["kind"] == "train"}
    held_out = {row["problem_id"] for row in rows if row["kind"] == "eval"}
    assert trained
    assert held_out
    assert not trained & held_out
    assert result.before is not None
    assert result.after is not None
    assert result.after["step"] == 2


def test_group_relative_terms_see_whole_groups(tmp_path: Path) -> None:
    reward = "Correct() + gate(0.3 * ShortestCorrect(), when=solved)"
    out = tmp_path / "run"
    GRPOLearner(out=out, **small(reward=reward, eval={"problems": 0, "every": None})).train()
    rows = list(read_rollouts(out))
    assert score_again(rows, reward) == pytest.approx([row["reward"] for row in rows])


def test_full_fine_tuning_trains_without_an_adapter(tmp_path: Path) -> None:
    fields = small(steps=1, eval={"problems": 0, "every": None})
    fields["lora"] = None
    recipe = reasonenv.Recipe.make(fields)
    GRPOLearner(recipe=recipe, out=tmp_path / "run").train()
    assert (tmp_path / "run" / "adapter" / "model.safetensors").is_file()


def test_the_plain_template_trains_on_text_prompts(tmp_path: Path) -> None:
    out = tmp_path / "run"
    fields = small(steps=1, prompt={"template": "plain"}, eval={"problems": 0, "every": None})
    GRPOLearner(out=out, **fields).train()
    assert all(row["prompt"].endswith("=\n") for row in read_rollouts(out))


def test_run_facts_tell_reward_range_and_versions(finished_run: Path) -> None:
    facts = json.loads((finished_run / "run.json").read_text())
    assert facts["reward"] == "Correct() + 0.1 * Format('answer')"
    assert facts["reward_range"]["wrong"] == [0.0, 0.1]
    assert "trl" in facts["versions"]


def test_resuming_a_finished_run_changes_none_of_its_metrics(tmp_path: Path) -> None:
    out = tmp_path / "run"
    GRPOLearner(out=out, **small(steps=3)).train()  # its last step is no multiple of eval.every
    before = [(row["step"], row["kind"]) for row in read_metrics(out) if row["kind"] != "summary"]
    assert before[-1] == (3, "eval")
    GRPOLearner.resume(out)
    after = [(row["step"], row["kind"]) for row in read_metrics(out) if row["kind"] != "summary"]
    assert after == before
