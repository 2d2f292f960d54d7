"""`RayJudge`: any judge, run on the machines of a Ray cluster.

The judge is sent to the cluster once; each answer is a task of its own. At most `queue` of them are
under way. A task whose worker or machine was lost is sent once more; lost again, it is a
CHECKER_ERROR, and without an answer in time a CHECKER_TIMEOUT: no evidence about the answer. All
machines need reasonenv, and for programs a Docker engine each.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
from typing import Any

from reasonenv.checkers.base import Judge, judge_safely
from reasonenv.errors import PoolUnavailableError
from reasonenv.extras import need
from reasonenv.types import Problem, Status, Verdict

__all__ = ["RayJudge"]

_ATTEMPTS = 2
QUEUE = 64
"""Answers under way where no number is given."""
WAIT_SECONDS = 600.0
"""How long an answer may wait for a free worker and be judged."""


class RayJudge:
    """Judges on a Ray cluster, with the verdicts of the judge that it wraps.

    Args:
        judge: picklable, as every judge is.
        address: of the cluster: "auto" for the one that this machine belongs to, "local" starts
            one on this machine, or `ray://HOST:PORT`.
        queue: most answers under way; further calls wait.
        cpus: CPUs that an answer takes from its machine.
        wait_seconds: how long an answer may take, waiting included.

    Raises:
        MissingExtraError: Ray is not installed.
    """

    _ask: Any
    _lock: threading.Lock
    _slots: threading.BoundedSemaphore

    def __init__(
        self,
        judge: Judge,
        *,
        address: str = "auto",
        queue: int = QUEUE,
        cpus: float = 1.0,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        if queue < 1 or cpus <= 0 or wait_seconds <= 0:
            raise ValueError(
                f"queue={queue}, cpus={cpus}, wait_seconds={wait_seconds}: all are above 0"
            )
        need("ray", extra="ray", by="judging on Ray")
        self.judge, self.address = judge, address
        self.queue, self.cpus, self.wait_seconds = queue, cpus, wait_seconds
        self._open()

    @property
    def concurrency(self) -> int:
        """How many answers are worth asking for at a time."""
        return self.queue

    def connect(self) -> None:
        """Connect to the cluster and send the judge there; done by the first answer otherwise.

        Raises:
            PoolUnavailableError: no cluster is reached.
        """
        with self._lock:
            if self._ask is not None:
                return
            ray: Any = need("ray", extra="ray", by="judging on Ray")
            if not ray.is_initialized():
                where = None if self.address == "local" else self.address
                try:
                    ray.init(address=where, log_to_driver=False, logging_level="error")
                except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
                    raise PoolUnavailableError(
                        f"no Ray cluster is reached at {self.address!r} ({error}): start one with "
                        "`ray start --head` and add machines with `ray start --address=HEAD:6379`, "
                        'give address="local", or judge without Ray'
                    ) from error
            _send_by_value(ray, self.judge)
            judge = ray.put(self.judge)
            task = ray.remote(num_cpus=self.cpus, max_retries=0)(judge_safely)
            self._ask = lambda problem, completion: task.remote(judge, problem, completion)

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        """Return the verdict of the wrapped judge.

        Raises:
            PoolUnavailableError: no cluster is reached.
        """
        self.connect()
        ray: Any = need("ray", extra="ray", by="judging on Ray")
        with self._slots:
            for _ in range(_ATTEMPTS):
                task = self._ask(problem, completion)
                try:
                    verdict: Verdict = ray.get(task, timeout=self.wait_seconds)
                    return verdict
                except ray.exceptions.GetTimeoutError:
                    ray.cancel(task, force=True)
                    said = f"no verdict from the Ray cluster in {self.wait_seconds:g} seconds"
                    return Verdict(Status.CHECKER_TIMEOUT, detail={"error": said})
                except ray.exceptions.RayTaskError as error:  # unpickling, say: no machine's fault
                    return Verdict(Status.CHECKER_ERROR, detail={"error": str(error.cause)})
                except ray.exceptions.RayError as error:
                    lost = type(error).__name__
        said = f"{_ATTEMPTS} Ray workers or machines were lost under it (the last: {lost})"
        return Verdict(Status.CHECKER_ERROR, detail={"error": said})

    def _open(self) -> None:
        self._ask = None
        self._lock, self._slots = threading.Lock(), threading.BoundedSemaphore(self.queue)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._open()


def _send_by_value(ray: Any, judge: Any) -> None:
    """Have a judge's class travel with it where the other machines could not import it."""
    name = getattr(judge, "__module__", None) or type(judge).__module__
    module = sys.modules.get(name)
    if module is None or name == "__main__":
        return
    try:
        found = importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        found = False
    if not found or getattr(module, "__spec__", None) is None:
        ray.cloudpickle.register_pickle_by_value(module)
