"""Where the runs of a study run: processes of this machine, or a Ray cluster."""

from __future__ import annotations

from typing import Protocol

from reasonenv.studies.executors.local import LocalProcesses
from reasonenv.studies.spec import StudySpec
from reasonenv.studies.store import StudyDir

__all__ = ["Executor", "executor_of"]


class Executor(Protocol):
    """Starts runs, each a process of its own, and says which have ended."""

    def start(self, name: str) -> None:
        """Start a run's job, or queue it."""

    def ended(self) -> list[tuple[str, int]]:
        """Return (run, exit status) of those that ended since the last call; never waits long."""

    def stop(self) -> None:
        """Ask all that run to stop at their next checkpoint, and wait for them."""

    def close(self) -> None:
        """Let go of what was started."""


def executor_of(spec: StudySpec, study: StudyDir) -> Executor:
    """Return the executor that a study asks for.

    Raises:
        MissingExtraError: it asks for Ray, which is not installed.
        StudyError: GPUs are asked for and there are too few.
    """
    if spec.executor == "ray":
        from reasonenv.studies.executors.ray_cluster import RayCluster

        return RayCluster(study, spec)
    return LocalProcesses(study, workers=spec.workers, gpus_per_run=spec.gpus_per_run)
