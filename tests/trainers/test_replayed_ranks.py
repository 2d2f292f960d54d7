"""Two ranks and one process take the same step on the same completions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from .replay import CASES, step

pytestmark = pytest.mark.training


@pytest.fixture(scope="module")
def two_ranks(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What each case came to on two ranks, in the order of `CASES`."""
    out = tmp_path_factory.mktemp("replay") / "two.json"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    done = subprocess.run(
        [*command, "--nproc-per-node", "2", str(Path(__file__).with_name("replay.py")), str(out)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    results: list[dict[str, Any]] = json.loads(out.read_text())
    return results


NAMES = ["-".join(map(str, case.values())) for case in CASES]


@pytest.mark.parametrize("number", range(len(CASES)), ids=NAMES)
def test_loss_and_gradients_are_those_of_one_process(
    two_ranks: list[dict[str, Any]], tmp_path: Path, number: int
) -> None:
    ours = two_ranks[number]
    alone = step(tmp_path, **CASES[number])
    assert (ours.pop("ranks"), alone.pop("ranks")) == (2, 1)
    got, expected = (torch.tensor(one.pop("gradients")) for one in (ours, alone))
    assert len(expected) > 1000
    assert expected.norm() > 1e-3
    # Sums in another order: noise is measured against the whole, small elements cancel.
    assert (got - expected).norm() < 1e-4 * expected.norm()
    assert ours == pytest.approx(alone, rel=1e-4, abs=1e-5)
    assert alone["unscored"] == pytest.approx(1 / 16)
