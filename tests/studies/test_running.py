"""Real runs, each in a process of its own, as few and as short as will do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from reasonenv.errors import StudyError
from reasonenv.studies import StudySpec, run_study
from reasonenv.studies.store import StudyDir, lock

pytestmark = pytest.mark.training

TINY = {
    "base": "quickstart",
    "set": {
        "steps": 3,
        "prompts_per_step": 4,
        "rows_per_forward": 32,
        "eval": {"problems": 8},
        "checkpoint": {"every": 1},
        "report": False,
    },
}


def write(folder: Path, **fields: object) -> Path:
    file = folder / "study.yaml"
    file.write_text(yaml.safe_dump({"name": "t", **TINY, **fields}))
    return file


def start(file: Path, out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "reasonenv", "study", str(file), "--out", str(out)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)


def wait_for(there: Path, seconds: float = 240) -> None:
    end = time.monotonic() + seconds
    while not there.exists():
        assert time.monotonic() < end, f"{there} never came"
        time.sleep(0.05)


def test_a_killed_study_goes_on_and_a_failing_arm_costs_itself_alone(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        runs=[
            {"label": "G4", "set": {"grpo.num_generations": 4}},
            {"label": "G8", "set": {"grpo.num_generations": 8}},
            {"label": "broken", "set": {"model": "/no/such-folder"}},
            {"label": "after", "set": {"lora.match_parameters": "{run:broken}"}},
        ],
        set={**TINY["set"], "steps": 9, "checkpoint": {"every": 3}},
        factor=["grpo.num_generations", "model", "lora.match_parameters"],
        seeds=[0, 1],
        workers=2,
        report={"oscillator": False},
    )
    out = tmp_path / "out"
    study = StudyDir(out)
    child = start(file, out)
    wait_for(study.run("G4-seed0") / "finished.json")
    wait_for(study.run("G8-seed0") / "checkpoints/checkpoint-3/reasonenv.json")
    child.send_signal(signal.SIGKILL)
    child.wait()
    written = (study.run("G4-seed0") / "adapter/adapter_model.safetensors").stat().st_mtime_ns

    again = start(file, out)
    _, said = again.communicate()
    assert again.returncode == 1  # some runs failed
    assert b"runs are there already" in said
    assert (
        study.run("G4-seed0") / "adapter/adapter_model.safetensors"
    ).stat().st_mtime_ns == written
    for name in ("G4-seed0", "G4-seed1", "G8-seed0", "G8-seed1"):
        assert study.state(name) == "finished"
        assert study.step(name) == 9
    assert "going on with" in study.log("G8-seed0").read_text()
    own, folder = StudySpec.load(out / "study.yaml")  # it tells all by itself
    assert own.base_fields(folder)["steps"] == 9
    text = (out / "report.md").read_text().replace("\\", "")
    assert "too few seeds" in text
    assert "no/such-folder" in text  # the last lines of the failed run's log
    assert "not started: it needs broken-seed0, which failed" in text
    assert "4 of 8 runs failed and are left out" in text
    assert "at equal rollouts (144)" in text


def test_two_studies_never_work_in_one_directory(tmp_path: Path) -> None:
    spec = StudySpec.make({**TINY, "runs": [{"label": "a"}], "seeds": [0]})
    with lock(tmp_path / "out/.lock", wait=False) as held:
        assert held is not None
        with pytest.raises(StudyError, match="another `reasonenv study` works on it"):
            run_study(spec, tmp_path / "out")


def test_a_search_leaves_out_what_does_not_fit_and_leaves_a_confirmation(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    spec = StudySpec.make(
        {
            "name": "s",
            **TINY,
            "search": {
                # Group sizes of 3 do not fit 32 completions a step: such a trial fails at once.
                "space": {
                    "grpo.num_generations": [4, 3],
                    "grpo.learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
                },
                "trials": 3,
                "sampler": "random",
                "seed": 1,
            },
            "hold": {"completions_per_step": 16},
            "seeds": [0],
        }
    )
    said: list[str] = []
    result = run_study(spec, tmp_path / "out", tell=said.append)
    assert "is the best of" in result.finding
    assert result.finished
    confirm, folder = StudySpec.load(tmp_path / "out/confirm.yaml")
    assert set(confirm.seeds).isdisjoint(spec.seeds)
    assert confirm.base_fields(folder)["steps"] == 3
    assert (tmp_path / "out/plots/trials.png").is_file()
    # The same call again has nothing left to run.
    before = len(said)
    again = run_study(spec, tmp_path / "out", tell=said.append)
    assert again.finding == result.finding
    assert not [line for line in said[before:] if "starting" in line]


def test_runs_go_through_a_local_ray_cluster(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    spec = StudySpec.make({"name": "r", **TINY, "runs": [{"label": "a"}], "seeds": [0],
                           "executor": "ray", "report": {"oscillator": False}})  # fmt: skip
    result = run_study(spec, tmp_path / "out", tell=lambda line: None)
    assert result.finished == ("a-seed0",)
    assert StudyDir(tmp_path / "out").step("a-seed0") == 3
