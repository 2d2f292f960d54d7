"""`reasonenv dynamics`: from a run of the learner to a page, and from broken runs to words."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("trl")
image = pytest.importorskip("matplotlib.image")

from typer.testing import CliRunner  # noqa: E402

from reasonenv import GRPOLearner  # noqa: E402
from reasonenv.cli.app import app  # noqa: E402
from reasonenv.dynamics import write_dynamics  # noqa: E402
from reasonenv.dynamics.report import signal, style  # noqa: E402
from reasonenv.errors import DataError, RecipeError  # noqa: E402
from reasonenv.trainers.recipe import Recipe  # noqa: E402

RECIPE: dict[str, Any] = {
    "env": "reasonenv/Arithmetic-v0",
    "env_args": {"layout": {"reasoning": None, "instruction": ""}},
    "reward": "Correct() + 0.1 * Format('answer')",
    "steps": 10,
    "prompts_per_step": 2,
    "rows_per_forward": 8,
    "cpu_threads": 1,
    "grpo": {"num_generations": 4, "max_completion_length": 8, "learning_rate": 1e-3, "beta": 0.01},
    "lora": {"r": 4, "target_modules": "all-linear"},
    "eval": {"problems": 4, "every": 5},
    "checkpoint": {"every": 5},
    "report": False,
    "track": {"every": 1, "spectra_every": 5, "health": {"window": 2, "cv": 1000}},
}

pytestmark = pytest.mark.training


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run that was followed; tests that change it copy it first."""
    out = tmp_path_factory.mktemp("runs") / "followed"
    GRPOLearner(out=out, **RECIPE).train()
    return out


@pytest.fixture
def copied(run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(run, tmp_path / "copy"))


@pytest.fixture(autouse=True)
def _own_cache_and_small_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REASONENV_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(style, "DPI", 40)
    monkeypatch.setattr(signal, "_DRAWS", 4)


def test_the_learner_writes_displacement_metrics_and_health_beside_the_run(run: Path) -> None:
    lines = [json.loads(x) for x in (run / "metrics.jsonl").read_text().splitlines()]
    moved = [x["weights/displacement"] for x in lines if x["kind"] == "train"]
    assert len(moved) == 10
    assert 0 < moved[1] < moved[-1]
    log = [json.loads(x) for x in (run / "dynamics" / "displacement.jsonl").read_text().split("\n")
           if x]  # fmt: skip
    assert [x["step"] for x in log if x["kind"] == "step"] == list(range(1, 11))
    assert [x["step"] for x in log if x["kind"] == "spectra"] == [5, 10]


def test_a_run_becomes_one_page_with_a_table_behind_every_picture(copied: Path) -> None:
    written = write_dynamics([copied], prompts=4, k=2)
    page = written.page.read_text()
    assert written.page == copied / "dynamics" / "dynamics.html"
    keys = re.findall(r"<section id='([^']+)'>", page)
    assert {p.stem for p in written.pictures} == set(keys)
    for key in ("training", "displacement", "unchanged", "mass-by-module", "mass-by-layer", "path",
                "spectra-copy", "locking-copy", "activation-shift", "oscillator"):  # fmt: skip
        assert key in keys, key
    assert page.count("<table>") == page.count("data:image/png;base64,") == len(keys)
    assert "http" not in re.sub(r"<meta[^>]*>", "", page)
    for picture in written.pictures:
        assert image.imread(picture).std() > 0.01, picture.name
    held = json.loads((copied / "dynamics" / "weights.json").read_text())
    final = [
        json.loads(x) for x in (copied / "dynamics" / "displacement.jsonl").read_text().splitlines()
    ]
    pooled = [x["pooled"] for x in final if x["kind"] == "step"][-1]
    assert held["pooled"] == pytest.approx(pooled, rel=1e-4)
    assert any("group signal" in line for line in written.missing)
    assert "vanishing_cv" in [f.check for f in written.findings["copy"]]
    assert "What looks unhealthy" in page


def test_spectra_over_time_come_from_checkpoints_where_nothing_was_tracked(copied: Path) -> None:
    log = (copied / "dynamics" / "displacement.jsonl").read_text().splitlines()
    last = [row for row in map(json.loads, log) if row["kind"] == "spectra"][-1]
    largest = [sigma[0] for sigma in last["sigma"]]
    shutil.rmtree(copied / "dynamics")
    written = write_dynamics([copied], prompts=0, k=0, sparsity=False)
    names = {p.stem for p in written.pictures}
    assert {"spectra-copy", "locking-copy"} <= names
    assert "path" not in names
    rows = re.findall(r"<td>largest singular value</td><td>\w+</td><td>10</td><td>(.*?)</td>",
                      written.page.read_text())  # fmt: skip
    mean = sum(map(float, rows)) / len(rows)
    assert mean == pytest.approx(sum(largest) / len(largest), rel=1e-3)


def test_two_runs_are_shown_beside_each_other_by_the_command(copied: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(copied, tmp_path / "other"))
    recipe = (other / "recipe.yaml").read_text()
    (other / "recipe.yaml").write_text(recipe.replace("num_generations: 4", "num_generations: 8"))
    config = other / "adapter" / "adapter_config.json"
    fields = json.loads(config.read_text())
    moved = shutil.copytree(fields["base_model_name_or_path"], tmp_path / "other_base")
    config.write_text(json.dumps({**fields, "base_model_name_or_path": str(moved)}))
    result = CliRunner().invoke(
        app, ["dynamics", str(copied), str(other), "--prompts", "0", "--k", "0", "--no-sparsity"]
    )
    assert result.exit_code == 0, result.output
    page = tmp_path / "dynamics-of-copy-and-1-more" / "dynamics.html"
    assert str(page) in result.output.replace("\n", "")
    content = page.read_text()
    assert "too few for an interval" in content
    assert "displacement-other" in content
    assert "exponent of G in the noise" in content
    assert content.count("different base models") == 2
    with pytest.raises(DataError, match="both called copy"):
        write_dynamics([copied, copied])


def test_a_run_without_an_adapter_shows_its_curves_and_says_so(copied: Path) -> None:
    shutil.rmtree(copied / "adapter")
    shutil.rmtree(copied / "checkpoints")
    written = write_dynamics([copied])
    names = {p.stem for p in written.pictures}
    assert {"training", "path"} <= names
    assert "displacement" not in names
    assert any("neither an adapter nor a checkpoint" in line for line in written.missing)
    assert "neither an adapter" in written.page.read_text()


def test_cut_files_and_a_missing_base_are_said_on_the_page(copied: Path) -> None:
    metrics = copied / "metrics.jsonl"
    metrics.write_bytes(metrics.read_bytes()[:-40])
    (copied / "dynamics" / "subspaces-000005.npz").write_bytes(b"PK")
    config = copied / "adapter" / "adapter_config.json"
    fields = {**json.loads(config.read_text()), "base_model_name_or_path": "acme/gone"}
    config.write_text(json.dumps(fields))
    (copied / "recipe.yaml").write_text("model: [")
    written = write_dynamics([copied], prompts=2)
    said = "\n".join(written.missing)
    assert "last line was cut off" in said
    assert "acme/gone" in said
    assert "subspaces of step 5" in said
    assert "activation shift is not shown" in said
    assert {"training", "spectrum-copy"} <= {p.stem for p in written.pictures}


def test_an_adapter_of_another_base_is_said_and_the_rest_is_shown(
    copied: Path, base_folder: Path
) -> None:
    written = write_dynamics([copied], base=base_folder, prompts=0)
    assert any("another base" in line for line in written.missing)
    assert any("only if both hold the same weights" in line for line in written.missing)
    assert "training" in {p.stem for p in written.pictures}


def test_full_fine_tuning_is_followed_and_shown_and_can_be_resumed(tmp_path: Path) -> None:
    out = tmp_path / "full"
    GRPOLearner(out=out, **{**RECIPE, "lora": None, "steps": 3}).train()
    GRPOLearner.resume(out, steps=4)
    log = [
        json.loads(x) for x in (out / "dynamics" / "displacement.jsonl").read_text().splitlines()
    ]
    steps = [x for x in log if x["kind"] == "step"]
    assert [x["step"] for x in steps] == [1, 2, 3, 4]
    assert steps[-1]["pooled"] > 0.5 * steps[-2]["pooled"]  # still measured from the base
    written = write_dynamics([out], prompts=2, k=2)
    assert {"displacement", "path", "activation-shift"} <= {p.stem for p in written.pictures}
    held = json.loads((out / "dynamics" / "weights.json").read_text())
    assert held["pooled"] == pytest.approx(steps[-1]["pooled"], rel=1e-3)


def test_a_wrong_limit_in_a_recipe_is_named() -> None:
    with pytest.raises(RecipeError, match=r"track.health: .*did you mean `clipped`"):
        Recipe.make({"steps": 1, "track": {"health": {"cliped": 0.1}}})
    with pytest.raises(RecipeError, match=r"track.every"):
        Recipe.make({"steps": 1, "track": {"every": 0}})
    with pytest.raises(RecipeError, match="did you mean `every`"):
        Recipe.make({"steps": 1, "track": {"evry": 1}})


def test_groups_that_are_too_few_for_strata_still_become_a_picture() -> None:
    # Two groups a problem: enough to take p from the other, too few to choose a stratum besides.
    rows = [
        {"problem_id": f"p{i}", "group_id": f"train-{step}-{i}", "step": step,
         "solved": float(member < 2), "status": "correct", "advantage": 0.5}
        for step in (0, 1) for i in range(6) for member in range(4)
    ]  # fmt: skip

    class Run:
        missing: ClassVar[list[str]] = []

        def rollouts(self, split: str) -> list[dict[str, Any]]:
            return rows if split == "train" else []

    panel = signal.group_panel({"run": Run()})  # type: ignore[dict-item]
    assert panel is not None
    assert {row[1] for row in panel.rows} == {"all"}
    figure = style.figure(panel.size)
    panel.draw(figure)
    assert style.png(figure)[:4] == b"\x89PNG"
