"""What a judge is: a problem and a completion in, a `Verdict` out, never an exception."""

from __future__ import annotations

import time
from typing import Protocol, runtime_checkable

from reasonenv.types import Cost, Problem, Status, Verdict

__all__ = ["Judge", "concurrency_of", "judge_safely"]

_CONCURRENCY = 32  # for judges that wait (a server, a pool); pure Python ones ask for one


@runtime_checkable
class Judge(Protocol):
    """Decides whether a completion answers a problem.

    An implementation is a picklable object that is safe to call from several threads. The same
    arguments give the same verdict (its cost apart). `completion` is prefill + completion.
    """

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        """Return the verdict on `completion`."""
        ...


def concurrency_of(judge: Judge) -> int:
    """Return how many answers a judge is worth asking for at a time: its `concurrency`, or 32."""
    return max(1, int(getattr(judge, "concurrency", _CONCURRENCY)))


def judge_safely(judge: Judge, problem: Problem, completion: str) -> Verdict:
    """Return `judge`'s verdict with its measured cost; a judge that raises is a CHECKER_ERROR.

    What a judge measured itself is kept.

    This is the boundary at which a broken checker turns into a status instead of a wrong answer
    or a dead run.
    """
    wall, cpu = time.perf_counter(), time.thread_time()
    try:
        verdict = judge(problem, completion)
        if not isinstance(verdict, Verdict):
            raise TypeError(f"a judge returns a Verdict, got {type(verdict).__name__}")
    except Exception as error:
        detail = {"error": f"{type(error).__name__}: {error}"}
        verdict = Verdict(Status.CHECKER_ERROR, 0.0, None, detail)
    memory = verdict.cost.peak_memory_bytes
    cpu_seconds = verdict.cost.cpu_seconds
    cost = Cost(
        seconds=verdict.cost.seconds or time.perf_counter() - wall,
        cpu_seconds=time.thread_time() - cpu if cpu_seconds is None else cpu_seconds,
        peak_memory_bytes=memory,
    )
    return Verdict(verdict.status, verdict.score, verdict.answer, verdict.detail, cost)
