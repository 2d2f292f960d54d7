"""The examples run: the experiments on rewards with a model that is hardly taught, in one step."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from reasonenv.trainers import tiny

EXAMPLES = Path(__file__).parents[1] / "examples" / "rewards"

pytestmark = pytest.mark.training


def test_an_experiment_trains_its_arms_tells_figures_and_draws_a_picture(tmp_path):
    tiny.save(*tiny.make("tagged", steps=1), tmp_path / "model")
    command = [sys.executable, str(EXAMPLES / "fail_fast.py"), "--model", str(tmp_path / "model")]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "out"), "--seeds=1", "--steps=1", "--held-out=4"],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "gated by success" in done.stdout
    assert (tmp_path / "out" / "fail_fast.png").stat().st_size > 10_000
