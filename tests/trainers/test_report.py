"""Reports are made from a run's files alone, whatever state the run is in."""

from __future__ import annotations

import io
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyarrow")
image = pytest.importorskip("matplotlib.image")

from reasonenv.dynamics.report import style  # noqa: E402
from reasonenv.errors import DataError, RunDirectoryError  # noqa: E402
from reasonenv.trainers.recipe import Recipe  # noqa: E402
from reasonenv.trainers.report import (  # noqa: E402
    markdown,
    page,
    plots,
    summary,
    write_report,
)
from reasonenv.trainers.run import Run  # noqa: E402
from reasonenv.trainers.storage import log_metrics, write_rollouts  # noqa: E402

PICTURES = {"reward.png", "accuracy.png", "length.png", "groups.png", "overview.png"}
FACTS = {
    "batches": "2 prompts x 4 completions = 8 a generation",
    "env": "acme/Sums-v0",
    "reward": "Correct() + 0.1 * Format('answer')",
    "reward_range": {"right": [1.0, 1.1], "wrong": [0.0, 0.1]},
    "train_problems": 1000,
    "held_out_problems": 200,
}


def new_run(path: Path, steps: int = 40, **facts: Any) -> Run:
    run = Run.create(path, Recipe.make({"steps": steps}))
    run.write_facts({**FACTS, **facts})
    return run


def step(run: Run, number: int, accuracy: float | None = 0.5, **more: Any) -> None:
    values = {
        "reward": None if accuracy is None else accuracy + 0.1,
        "accuracy": accuracy,
        "parts/correct": accuracy,
        "parts/format": 0.1,
        "mixed_groups": 0.5,
        "frac_reward_zero_std": 0.4,
        "unscored": 0.0,
        "completions/mean_length": 20.0 + number,
        "completions/min_length": 5.0,
        "completions/max_length": 40.0,
        "completions/clipped_ratio": 0.1,
        "entropy": 0.7,
        "step_time": 2.0,
        "time/generate": 1.0,
        "time/judge": 0.5,
        "time/update": 0.5,
    }
    logged = {key: math.nan if value is None else value for key, value in (values | more).items()}
    log_metrics(run.metrics, number, "train", logged)


def evaluation(run: Run, number: int, accuracy: float, half: float = 0.05) -> None:
    ends = {"eval_accuracy_low": accuracy - half, "eval_accuracy_high": accuracy + half}
    values = {"eval_accuracy": accuracy, "eval_reward": accuracy, "eval_problems": 200.0, **ends}
    log_metrics(run.metrics, number, "eval", {**values, "eval_runtime": 3.0})


def row(status: str = "correct", completion: str = "<answer>4</answer>", **more: Any) -> Any:
    scored = status in ("correct", "incorrect", "no_answer", "malformed")
    solved = float(status == "correct") if scored else None
    return {
        "step": 0,
        "group_id": "g0",
        "problem_id": "p0",
        "prompt": "2+2=",
        "prefill": "",
        "completion": completion,
        "n_tokens": len(completion),
        "truncated": False,
        "status": status,
        "score": float(status == "correct"),
        "answer": "4" if status == "correct" else None,
        "detail": "{}" if scored else '{"error":"the sandbox is gone"}',
        "seconds": 0.1,
        "solved": solved,
        "reward": solved,
        "terms": {"correct": solved, "format": solved},
        "parts": {"correct": solved, "format": solved},
        "advantage": 0.5,
        **more,
    }


def trained_run(path: Path, steps: int = 40) -> Run:
    run = new_run(path, steps)
    evaluation(run, 0, 0.25)
    for number in range(1, steps + 1):
        step(run, number, accuracy=0.25 + 0.5 * number / steps)
        rows = [row(), row("incorrect", "<answer>5</answer>"), row("no_answer", "four?")]
        write_rollouts(run.rollouts, "train", number - 1, [r | {"step": number - 1} for r in rows])
    evaluation(run, steps, 0.75)
    run.adapter.mkdir()
    return run


@pytest.fixture
def words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the pictures out of tests that are about words: drawing them takes seconds."""
    monkeypatch.setattr(page, "draw", lambda curves: {"overview.png": (b"", bool(curves.train))})


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw small pictures, where a test asks only whether they can be drawn."""
    monkeypatch.setattr(style, "DPI", 40)


def pixels(png: bytes) -> Any:
    return image.imread(io.BytesIO(png), format="png")


def test_the_report_tells_the_outcome_with_its_intervals(tmp_path: Path, words_only: None) -> None:
    text = write_report(trained_run(tmp_path / "run").path).read_text()
    assert "rose from 25.0 % [20.0 to 30.0 %] to 75.0 % [70.0 to 80.0 %]" in text
    assert "+50.0 points" in text
    assert "after 40 steps of 2.00 s" in text
    assert "200 problems" in text
    assert "NOTE" not in text, "nothing is missing from a finished run"


def test_the_summary_holds_the_figures_as_plain_numbers(tmp_path: Path) -> None:
    figures = summary(trained_run(tmp_path / "run").path)
    assert figures["before"]["accuracy"] == 0.25
    assert figures["after"]["accuracy"] == 0.75
    assert figures["points"] == pytest.approx(50.0)
    # Newcombe's interval from two symmetric ones: half widths add as the legs of a triangle.
    assert figures["points_high"] == pytest.approx(50 + 100 * math.hypot(0.05, 0.05))
    assert figures["seconds_per_step"] == 2.0
    assert figures["time"]["generate"]["share"] == 0.5
    assert sum(one["share"] for one in figures["time"].values()) == pytest.approx(1.0)
    assert figures["statuses"] == {"correct": 40, "incorrect": 40, "no_answer": 40}
    assert figures["masked_share"] == 0.0
    assert figures["finished"]
    assert not figures["halted"]


def test_a_later_step_is_not_credited_with_an_earlier_evaluation(
    tmp_path: Path, words_only: None
) -> None:
    run = new_run(tmp_path / "run")
    evaluation(run, 0, 0.2)
    evaluation(run, 1, 0.6)
    for number in (1, 2, 3):
        step(run, number)
    text = write_report(run.path).read_text()
    assert "after 1 step of 2.00 s" in text
    assert "held out, after step 1 |" in text
    assert "3 of 40 steps" in text


def test_a_change_within_the_noise_is_not_called_one(tmp_path: Path, words_only: None) -> None:
    run = new_run(tmp_path / "run", steps=1)
    evaluation(run, 0, 0.50)
    step(run, 1)
    evaluation(run, 1, 0.52)
    assert "The interval holds 0" in write_report(run.path).read_text()


def test_every_picture_is_a_png_that_shows_something(tmp_path: Path) -> None:
    run = trained_run(tmp_path / "run")
    write_report(run.path)
    assert {path.name for path in (run.path / "plots").iterdir()} == PICTURES | {"reward_parts.png"}
    for path in (run.path / "plots").iterdir():
        shown = pixels(path.read_bytes())
        assert shown.shape[1] >= 1000, "wide enough for a README"
        assert shown[..., :3].std() > 0.05
        grey = np.abs(shown[..., 0] - shown[..., 2]) < 0.1
        assert 0.002 < 1 - grey.mean() < 0.5, "coloured lines on white"
        assert f"plots/{path.name}" in (run.path / "report.md").read_text()


def test_the_same_files_give_the_same_report(tmp_path: Path, coarse: None) -> None:
    run = trained_run(tmp_path / "run", steps=3)

    def contents() -> dict[str, bytes]:
        write_report(run.path)
        return {p.name: p.read_bytes() for p in (run.path / "plots").iterdir()} | {
            "report.md": (run.path / "report.md").read_bytes()
        }

    assert contents() == contents()
    assert not list(run.path.rglob(".*")), "no temporary file is left"


def test_pictures_without_data_say_so_and_are_not_counted_as_shown(coarse: None) -> None:
    assert not any(shows_data for _, shows_data in plots.draw(plots.Curves([], [])).values())


def test_drawing_leaves_the_settings_of_matplotlib_as_they_were(coarse: None) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    plots.draw(plots.Curves([{"step": 1, "reward": 1.0}], []))
    assert dict(matplotlib.rcParams) == before


def test_a_run_that_has_just_begun_gets_a_report_that_says_so(
    tmp_path: Path, words_only: None
) -> None:
    run = new_run(tmp_path / "run")
    text = write_report(run.path).read_text()
    assert "No training step is recorded" in text
    assert "No training rollouts are stored" in text
    assert "0 of 40 steps" in text
    assert "![" not in text, "empty pictures are not shown"
    assert "no complete checkpoint" in text


def test_a_run_without_evaluation_reports_training_accuracy(
    tmp_path: Path, words_only: None
) -> None:
    run = new_run(tmp_path / "run", steps=30)
    for number in range(1, 31):
        step(run, number, accuracy=number / 100)
    text = write_report(run.path).read_text()
    assert "5.5 % in the first 10 steps, 25.5 % in the last 10 steps" in text
    assert "Nothing was evaluated" in text


def test_a_run_of_one_step_gets_pictures_and_one_training_column(
    tmp_path: Path, coarse: None
) -> None:
    run = new_run(tmp_path / "run", steps=1)
    step(run, 1)
    text = write_report(run.path).read_text()
    assert "training, last step" in text
    assert "training, first" not in text
    shown = pixels((run.path / "plots" / "reward.png").read_bytes())
    assert shown[..., :3].std() > 0.03


def test_a_stopped_run_says_how_to_go_on(tmp_path: Path, words_only: None) -> None:
    run = new_run(tmp_path / "my run", steps=40)
    step(run, 1)
    (run.path / "checkpoints" / "checkpoint-1").mkdir(parents=True)
    (run.path / "checkpoints" / "checkpoint-1" / "reasonenv.json").write_text("{}")
    (run.path / "checkpoints" / "checkpoint-2").mkdir()  # cut off: it holds no mark
    text = write_report(run.path).read_text()
    assert "1 of 40 steps" in text
    assert "checkpoint at step 1;" in text
    assert f"reasonenv train --resume '{run.path}'" in text, "a path with a space is quoted"
    assert f"reasonenv report '{run.path}'" in text


def test_a_run_whose_rollouts_could_not_be_judged_says_why(
    tmp_path: Path, words_only: None
) -> None:
    run = new_run(tmp_path / "run")
    for number in range(1, 4):
        log_metrics(run.metrics, number, "train", {"unscored": 1.0, "reward": math.nan})
        rows = [row("sandbox_unavailable"), row("checker_error")]
        write_rollouts(run.rollouts, "train", number - 1, rows)
    figures, text = summary(run.path), write_report(run.path).read_text()
    assert figures["masked_share"] == 1.0
    assert figures["halted"]
    assert "The run halted" in text
    assert "None of the training rollouts could be judged" in text
    assert "the sandbox is gone" in text
    assert "One that could not be judged" in text


def test_a_metrics_line_that_was_cut_off_is_left_out_and_said(
    tmp_path: Path, words_only: None
) -> None:
    run = new_run(tmp_path / "run")
    step(run, 1)
    with open(run.metrics, "a") as file:
        file.write('{"step": 2, "kind": "train", "rew')
    assert summary(run.path)["steps"] == 1
    assert "was cut off" in write_report(run.path).read_text()


def test_a_broken_metrics_line_in_the_middle_is_an_error_that_names_it(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    run.metrics.write_text("{broken\n")
    step(run, 2)
    with pytest.raises(DataError, match=r"metrics\.jsonl:1"):
        write_report(run.path)


@pytest.mark.parametrize(
    "completion",
    [
        "```\n# Not a heading\n```",
        "````` five",
        "``",
        "a|b\n| c |",
        "<details>",
        "\x1b[31m \u202e",
        "",
    ],
)
def test_no_completion_can_break_out_of_its_block(
    tmp_path: Path, words_only: None, completion: str
) -> None:
    run = new_run(tmp_path / "run")
    step(run, 1)
    rows = [row(completion=completion, prompt=completion, answer=completion, detail=completion)]
    write_rollouts(run.rollouts, "train", 0, rows)
    text = write_report(run.path).read_text()
    outside, fence = [], None
    for line in text.splitlines():
        ticks = re.match("`{3,}", line)
        if fence is None and ticks:
            fence = ticks[0]
        elif fence is not None and line == fence:
            fence = None
        elif fence is None:
            outside.append(line)
    assert fence is None, "every block is closed"
    headings = [line for line in outside if line.startswith("#")]
    assert "# Not a heading" not in headings
    assert headings[-1] == "## Rebuild this report"
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_long_completion_is_cut_in_the_middle_and_says_by_how_much() -> None:
    shown = markdown.fence("a" * 5000 + "b" * 5000)
    left_out = int(re.search(r"([\d,]+) characters left out", shown)[1].replace(",", ""))  # type: ignore[index]
    assert shown.count("a") + shown.count("b") >= 1400
    assert len(re.findall("a{9,}|b{9,}", shown)) == 2, "its beginning and its end are there"
    assert sum(map(len, re.findall("a{9,}|b{9,}", shown))) + left_out == 10_000
    assert "left out" not in markdown.fence("a" * 1400)


def test_a_right_and_a_wrong_answer_come_from_one_group(tmp_path: Path, words_only: None) -> None:
    run = new_run(tmp_path / "run")
    step(run, 1)
    rows = [
        row(completion="on its own", group_id="a"),
        row(completion="together", group_id="b"),
        row("incorrect", "wrong together", group_id="b"),
    ]
    write_rollouts(run.rollouts, "train", 0, rows)
    text = write_report(run.path).read_text()
    assert "together" in text
    assert "on its own" not in text


def test_terms_of_any_name_are_shown(tmp_path: Path, coarse: None) -> None:
    names = ["$x_1$ and $", "_hidden", "a|b`c`", "语言 🦉", "n" * 300, "%s{}\\", *"abcdefg"]
    run = new_run(tmp_path / "run")
    for number in (1, 2):
        step(run, number, **{f"parts/{name}": 0.3 for name in names})
    text = write_report(run.path).read_text()
    lines = [line for line in text.splitlines() if line.startswith("| part") and "0.300" in line]
    assert len(lines) == len(names)
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line)) == 4, "a cell for the name and for each column"


def test_metrics_of_which_most_are_missing_are_no_reason_to_fail(
    tmp_path: Path, coarse: None
) -> None:
    run = new_run(tmp_path / "run", reward=None, reward_range=None, batches=None)
    log_metrics(run.metrics, 0, "eval", {"eval_loss": 0.0})
    log_metrics(run.metrics, 1, "train", {"loss": 0.1})
    log_metrics(run.metrics, 2, "train", {"reward": 0.5, "accuracy": math.nan})
    (run.path / "run.json").unlink()
    (run.rollouts).mkdir()
    (run.rollouts / "train-000001.parquet").write_bytes(b"PAR1 cut off")
    text = write_report(run.path).read_text()
    assert "no accuracy is known" in text
    assert "There is no `run.json`" in text
    assert "1 file of rollouts cannot be read" in text


def test_a_recipe_of_another_version_is_no_reason_to_fail(tmp_path: Path, words_only: None) -> None:
    run = trained_run(tmp_path / "run", steps=2)
    with open(run.path / "recipe.yaml", "a") as file:
        file.write("a_key_of_the_future: 1\n")
    text = write_report(run.path).read_text()
    assert "a_key_of_the_future" in text
    assert "+50.0 points" in text


def test_a_reward_under_which_wrong_answers_pay_is_pointed_out(
    tmp_path: Path, words_only: None
) -> None:
    run = new_run(tmp_path / "run", reward_range={"right": [0.5, 1.0], "wrong": [0.0, 0.9]})
    assert "correctness does not dominate" in write_report(run.path).read_text()


def test_where_there_is_no_run_there_is_no_report(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="no run is there"):
        write_report(tmp_path)
