"""Runs in any state: what is whole is read, what is missing is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reasonenv.dynamics.runs import RunFiles, read_lines
from reasonenv.errors import DataError, RunDirectoryError

LINES = [{"step": s, "kind": "train", "reward": 0.1 * s} for s in range(1, 6)]


def write(path: Path, text: str) -> RunFiles:
    (path / "metrics.jsonl").write_text(text)
    return RunFiles.open(path)


def text(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_a_metrics_file_cut_off_in_the_last_line_gives_the_whole_ones(tmp_path: Path) -> None:
    run = write(tmp_path, text(LINES) + '{"step": 6, "kind": "tra')
    assert [row["step"] for row in run.metrics("train")] == [1, 2, 3, 4, 5]
    assert run.missing == ["metrics.jsonl: the last line was cut off and is left out"]


def test_broken_lines_in_the_middle_cost_themselves_alone(tmp_path: Path) -> None:
    lines = text(LINES).splitlines()
    lines[1], lines[3] = '{"step": 2, "ki', "\x00\x00"
    run = write(tmp_path, "\n".join([*lines, "[1]"]) + "\n")
    assert [row["step"] for row in run.metrics("train")] == [1, 3, 5]
    assert run.missing == ["metrics.jsonl: lines 2, 4, 6 cannot be read and are left out"]
    run.metrics("eval")
    assert len(run.missing) == 1


def test_bytes_that_are_no_text_are_a_broken_line(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_bytes(text(LINES[:1]).encode() + b"\xff\xfe\n")
    rows, said = read_lines(tmp_path / "metrics.jsonl")
    assert len(rows) == 1
    assert "line 2 cannot be read" in said[0]


def test_a_step_that_was_trained_again_counts_as_it_was_last(tmp_path: Path) -> None:
    run = write(tmp_path, text([*LINES, {"step": 2, "kind": "train", "reward": 9.0}]))
    assert run.metrics("train")[1]["reward"] == 9.0


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="no such directory"):
        RunFiles.open(tmp_path / "nowhere")
    with pytest.raises(RunDirectoryError, match="no run is there"):
        RunFiles.open(tmp_path)


def test_the_newest_complete_checkpoint_stands_in_for_a_missing_adapter(tmp_path: Path) -> None:
    run = write(tmp_path, text(LINES))
    assert run.weights() is None
    assert any("neither an adapter nor a checkpoint" in line for line in run.missing)
    for step, complete in ((5, True), (10, True), (15, False)):
        folder = tmp_path / "checkpoints" / f"checkpoint-{step}"
        folder.mkdir(parents=True)
        (folder / "adapter_config.json").write_text("{}")
        if complete:
            (folder / "reasonenv.json").write_text("{}")
    assert run.weights() == tmp_path / "checkpoints" / "checkpoint-10"
    (tmp_path / "adapter").mkdir()
    (tmp_path / "adapter" / "config.json").write_text("{}")
    assert run.weights() == tmp_path / "adapter"


def test_a_base_is_taken_from_the_adapter_or_the_recipe_or_asked_for(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    run = write(tmp_path, text(LINES))
    assert run.base() is None
    assert any("--base" in line for line in run.missing)
    other = tmp_path / "model"
    other.mkdir()
    (tmp_path / "recipe.yaml").write_text(f"model: {other}\n")
    assert run.base() == other
    assert run.base(tmp_path) == tmp_path
    with pytest.raises(DataError, match="no such folder"):
        run.base(tmp_path / "nowhere")


def test_a_log_of_displacement_without_its_head_is_left_out(tmp_path: Path) -> None:
    run = write(tmp_path, text(LINES))
    assert run.displacement() == (None, [], [])
    assert not run.missing
    (tmp_path / "dynamics").mkdir()
    log = tmp_path / "dynamics" / "displacement.jsonl"
    log.write_text(text([{"kind": "step", "step": 1}]))
    assert run.displacement() == (None, [], [])
    assert any("which tensors" in line for line in run.missing)
    head = {"kind": "tensors", "step": 0, "names": []}
    note = {"kind": "note", "step": 1, "text": "a NaN"}
    log.write_text(text([head, {"kind": "step", "step": 1}, note]) + '{"ki')
    found, steps, spectra = run.displacement()
    assert found == head
    assert len(steps) == 1
    assert spectra == []
    assert any("a NaN" in line for line in run.missing)
