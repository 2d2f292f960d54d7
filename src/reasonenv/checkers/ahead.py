"""`JudgeAhead`: a judge that can be given completions before it is asked about them.

The learner starts judging a completion the moment it is finished, while others are still generated.
Verdicts are those of the judge that it wraps: when they are reached changes nothing about them.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor

from reasonenv.checkers.base import Judge, concurrency_of, judge_safely
from reasonenv.types import Problem, Verdict

__all__ = ["JudgeAhead"]


class JudgeAhead:
    """Judges in the background what `start` is told of, and anything else when it is asked.

    Args:
        judge: decides; called from as many threads as it is worth asking at a time.
    """

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self._lock = threading.Lock()
        self._started: dict[tuple[Problem, str], Future[Verdict]] = {}
        self._pool: ThreadPoolExecutor | None = None

    @property
    def concurrency(self) -> int:
        """How many answers are worth asking for at a time."""
        return concurrency_of(self.judge)

    def start(self, problem: Problem, completion: str) -> None:
        """Begin to judge a completion; one that is under way already is not judged twice."""
        with self._lock:
            if (problem, completion) in self._started:
                return
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.concurrency, thread_name_prefix="ahead")
            task = self._pool.submit(judge_safely, self.judge, problem, completion)
            self._started[problem, completion] = task

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        """Return the verdict, waiting for it where it was started."""
        with self._lock:
            task = self._started.get((problem, completion))
        if task is None or task.cancel():  # still in the queue: no use in waiting for its turn
            return self.judge(problem, completion)
        return task.result()

    def forget(self) -> None:
        """Drop what was started and never asked for; what runs already ends by itself."""
        with self._lock:
            for task in self._started.values():
                task.cancel()
            self._started.clear()
