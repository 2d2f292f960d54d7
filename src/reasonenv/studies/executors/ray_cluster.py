"""Runs as tasks of a Ray cluster, each in a process of its own below the task.

The study's directory must be the same path on every machine of the cluster (a shared file system).
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

from reasonenv.extras import need
from reasonenv.studies.executors.local import job_command, job_environment
from reasonenv.studies.spec import StudySpec
from reasonenv.studies.store import StudyDir

__all__ = ["RayCluster"]


def _run(study: str, name: str, log: str) -> int:
    """Run a job below this task; where the task is cancelled, the job is asked to stop."""
    with open(log, "ab") as file:
        child = subprocess.Popen(
            job_command(Path(study), name),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=job_environment(),
            start_new_session=True,
        )
        try:
            return child.wait()
        except BaseException:
            child.send_signal(signal.SIGTERM)
            return child.wait()


class RayCluster:
    """Queues runs at a cluster; Ray decides where and when.

    Args:
        study: its directory.
        spec: of it: `ray_address`, `cpus_per_run`, `gpus_per_run`, and `workers`, the CPUs of a
            cluster that is started here.

    Raises:
        MissingExtraError: Ray is not installed.
    """

    def __init__(self, study: StudyDir, spec: StudySpec) -> None:
        self._ray: Any = need("ray", extra="ray", by="executor: ray")
        self._study = StudyDir(study.path.resolve())
        self._refs: dict[Any, str] = {}
        environment = {"PYTHONPATH": job_environment()["PYTHONPATH"]}
        if not self._ray.is_initialized():
            own: dict[str, Any] = {"address": spec.ray_address}
            if spec.ray_address is None:
                cpus = max(1, round(spec.workers * spec.cpus_per_run))
                own = {"num_cpus": cpus, "include_dashboard": False}
            self._ray.init(
                runtime_env={"env_vars": environment},
                log_to_driver=False,
                logging_level="ERROR",
                **own,
            )
            self._ours = True
        else:
            self._ours = False
        self._task = self._ray.remote(
            num_cpus=spec.cpus_per_run, num_gpus=spec.gpus_per_run, max_retries=0
        )(_run)

    def start(self, name: str) -> None:
        """Queue a run's job."""
        ref = self._task.remote(
            str(self._study.path), name, os.fspath(self._study.log(name).resolve())
        )
        self._refs[ref] = name

    def ended(self) -> list[tuple[str, int]]:
        """Return (run, exit status); -1 for a task that Ray lost, with its reason in the log."""
        if not self._refs:
            return []
        done, _ = self._ray.wait(list(self._refs), num_returns=len(self._refs), timeout=0.05)
        over = []
        for ref in done:
            name = self._refs.pop(ref)
            try:
                over.append((name, int(self._ray.get(ref))))
            except self._ray.exceptions.RayError as error:
                with open(self._study.log(name), "a", encoding="utf-8") as log:
                    log.write(f"Ray lost this run: {error}\n")
                over.append((name, -1))
        return over

    def stop(self) -> None:
        """Cancel all tasks; each asks its run to stop at its next checkpoint."""
        for ref in self._refs:
            self._ray.cancel(ref, force=False)
        self._ray.wait(list(self._refs), num_returns=len(self._refs), timeout=120)

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        if self._ours:
            self._ray.shutdown()
