"""Where the case tables lie: copies in the repository, larger ones beside it if they are there."""

import json
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"


def load_cases(path):
    """Return the cases of a table; one with "build" has its completion expanded."""
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    for case in cases:
        if isinstance(case, dict) and case.get("build"):
            case["completion"] = "".join(piece * times for piece, times in case["build"])
    return cases


@pytest.fixture(scope="session")
def cases():
    return lambda name: load_cases(DATA / name)


@pytest.fixture(scope="session")
def shared_cases():
    """Return a table of model outputs that is not part of the repository, or skip."""

    def load(name):
        shared = Path(os.environ.get("REASONENV_SHARED", ROOT.parent / "shared"))
        path = shared / "bench" / name
        if not path.is_file():
            pytest.skip(
                f"{path} is not there; set REASONENV_SHARED to the folder that holds bench/"
            )
        return load_cases(path)

    return load
