"""One run of a study in a process of its own: `python -m reasonenv.studies.job STUDY RUN`.

It starts the run, or goes on with it from its newest checkpoint. It ends with its parent, after a
checkpoint; two of them never write into one run directory.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from reasonenv.errors import ReasonEnvError
from reasonenv.files import write_atomic
from reasonenv.studies.store import FINISHED, StudyDir, lock

__all__ = ["STOPPED", "main"]

STOPPED = 75
"""Exit status of a run that was asked to stop, and left a checkpoint (EX_TEMPFAIL)."""

_PR_SET_PDEATHSIG = 1


def main(argv: Sequence[str] | None = None) -> int:
    """Train or go on with a run; return 0 once it has finished."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study")
    parser.add_argument("run")
    parser.add_argument("--parent", type=int, help="end with this process")
    arguments = parser.parse_args(argv)
    if arguments.parent is not None and not _end_with(arguments.parent):
        return STOPPED
    study = StudyDir(Path(arguments.study))
    with lock(study.path / "logs" / f"{arguments.run}.lock", wait=True):
        return _work(study, arguments.run)


def _work(study: StudyDir, name: str) -> int:
    from reasonenv.trainers import GRPOLearner, Recipe

    folder = study.run(name)
    if (folder / FINISHED).is_file():
        return 0
    try:
        if study.checkpoint(name):
            print(f"going on with {folder} from its newest checkpoint", flush=True)
            result = GRPOLearner.resume(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)  # cut off before its first checkpoint
            result = GRPOLearner(recipe=Recipe.load(study.recipe(name)), out=folder).train()
    except ReasonEnvError as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        return 1
    if result.stopped:
        return STOPPED
    write_atomic(folder / FINISHED, json.dumps({"step": result.step}) + "\n")
    return 0


def _end_with(parent: int) -> bool:
    """Ask for SIGTERM when the parent ends; return whether it is still there.

    Linux alone has this; elsewhere a killed study leaves its runs to end by themselves, and the
    lock keeps the next attempt waiting until then.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    return os.getppid() == parent


if __name__ == "__main__":
    sys.exit(main())
