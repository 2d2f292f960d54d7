"""The wheel, in an empty venv outside the checkout: what the package needs travels with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    parts = [str(part) for part in command]
    return subprocess.run(parts, cwd=cwd, env=clean, capture_output=True, text=True, timeout=400)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a venv that holds the wheel and the core's dependencies, nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, "-m", "build", "--wheel", "-o", folder, ROOT, cwd=folder)
    assert built.returncode == 0, built.stderr
    [wheel] = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=True)
    pip = (folder / "venv" / "bin" / "python", "-m", "pip", "install", "--quiet")
    done = run(*pip, "-c", ROOT / "constraints.txt", wheel, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_core_alone_lists_checks_and_judges(installed: Path) -> None:
    command = installed / "venv" / "bin" / "reasonenv"
    listed = run(command, "list", "--json", cwd=installed)
    assert "reasonenv/GSM8K-v0" in listed.stdout, listed.stderr
    for env in ("reasonenv/Arithmetic-v0", "reasonenv/Countdown-v0"):
        checked = run(command, "check", env, "--problems", "20", cwd=installed)
        assert checked.returncode == 0, checked.stdout + checked.stderr
    answers = installed / "answers.jsonl"
    answers.write_text('{"id": "a", "gold": "1/2", "answer": "0.5"}\n')
    judged = run(command, "judge", "math", answers, cwd=installed)
    assert judged.returncode == 0, judged.stderr
    assert json.loads(judged.stdout)["correct"] is True


def test_without_the_train_extra_training_names_it(installed: Path) -> None:
    done = run(installed / "venv" / "bin" / "reasonenv", "train", "quickstart", cwd=installed)
    assert done.returncode == 1
    assert 'pip install "reasonenv[train]"' in done.stderr


@pytest.mark.training
def test_with_the_train_extra_the_quickstart_trains(installed: Path) -> None:
    # The libraries of the extra come from this environment, which holds them in the tested
    # versions: a path file adds them, and reasonenv itself still comes from the wheel.
    site = next((installed / "venv" / "lib").glob("python*/site-packages"))
    (site / "extra.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    python = installed / "venv" / "bin" / "python"
    where = run(python, "-c", "import reasonenv; print(reasonenv.__file__)", cwd=installed)
    assert str(site) in where.stdout, where.stderr
    command = (python, "-m", "reasonenv", "train", "quickstart", "--out", "run", "--steps", "3")
    done = run(*command, "--set", "eval.problems=50", cwd=installed)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "held-out accuracy" in done.stdout
    assert (installed / "run" / "report.md").is_file()
    assert (installed / "run" / "plots" / "overview.png").is_file()
