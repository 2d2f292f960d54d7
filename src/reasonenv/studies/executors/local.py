"""Runs as processes of this machine, so many at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from reasonenv.errors import StudyError
from reasonenv.extras import need
from reasonenv.studies.store import StudyDir

__all__ = ["LocalProcesses", "job_command", "job_environment"]


def job_command(study: Path, run: str) -> list[str]:
    """Return the command of a run's job; it ends with this process."""
    return [sys.executable, "-m", "reasonenv.studies.job", str(study), run,
            "--parent", str(os.getpid())]  # fmt: skip


def job_environment() -> dict[str, str]:
    """Return this process' environment, from which the job imports what this process would."""
    paths = [path or os.getcwd() for path in sys.path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}


class LocalProcesses:
    """Starts each run at once; the caller keeps to the number of workers.

    Args:
        study: its directory.
        workers: runs at a time.
        gpus_per_run: GPUs that each run sees and no other does; 0 leaves the choice to the run.

    Raises:
        StudyError: fewer GPUs than the workers ask for.
    """

    def __init__(self, study: StudyDir, *, workers: int, gpus_per_run: int = 0) -> None:
        self._study = study
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._gpus: dict[str, list[str]] = {}
        self._free = _visible_gpus() if gpus_per_run else []
        self._each = gpus_per_run
        if len(self._free) < workers * gpus_per_run:
            raise StudyError(
                f"workers={workers} x gpus_per_run={gpus_per_run} asks for "
                f"{workers * gpus_per_run} GPUs and {len(self._free)} are there: valid workers: at "
                f"most {len(self._free) // gpus_per_run}, or gpus_per_run: 0 on a CPU"
            )

    def start(self, name: str) -> None:
        """Start a run's job."""
        environment = job_environment()
        if self._each:
            own, self._free = self._free[: self._each], self._free[self._each :]
            self._gpus[name] = own
            environment["CUDA_VISIBLE_DEVICES"] = ",".join(own)
        with open(self._study.log(name), "ab") as log:
            # A session of its own: Ctrl-C reaches this process alone, which asks in its own way.
            self._children[name] = subprocess.Popen(
                job_command(self._study.path, name),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )

    def ended(self) -> list[tuple[str, int]]:
        """Return (run, exit status) of those that ended since the last call."""
        done = [(name, child.poll()) for name, child in self._children.items()]
        over = [(name, code) for name, code in done if code is not None]
        for name, _ in over:
            del self._children[name]
            self._free += self._gpus.pop(name, [])
        return over

    def stop(self) -> None:
        """Ask all that run to stop at their next checkpoint, and wait for them."""
        for child in self._children.values():
            child.send_signal(signal.SIGTERM)
        for child in self._children.values():
            child.wait()

    def close(self) -> None:
        """Kill what still runs, after an error of the study itself."""
        for child in self._children.values():
            child.terminate()


def _visible_gpus() -> list[str]:
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is not None:
        return [gpu for gpu in given.split(",") if gpu]
    torch = need("torch", extra="train", by="reasonenv.studies")
    return [str(n) for n in range(torch.cuda.device_count())]
