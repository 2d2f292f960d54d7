"""Makes `env_parts` importable, here and in subprocesses."""

import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import pytest

from reasonenv.envs import registration

IMPORTABLE = str(Path(__file__).parent / "importable")
if IMPORTABLE not in sys.path:
    sys.path.insert(0, IMPORTABLE)


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """Forget what a test registers."""
    before, infos = dict(gymnasium.registry), dict(registration._INFO)
    yield gymnasium.registry
    gymnasium.registry.clear()
    gymnasium.registry.update(before)
    registration._INFO.clear()
    registration._INFO.update(infos)


@pytest.fixture
def fresh():
    """Run Python code in a fresh process; return what it prints."""

    def run(code, *paths, fails=False):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, paths), *sys.path])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode != 0) == fails, done.stderr
        return done.stderr if fails else done.stdout.strip()

    return run
