"""What the threads of a pool share: the queue of jobs, and the workers that do them.

Each worker belongs to one thread, which starts it, gives it jobs and keeps their deadlines. One
more thread, the janitor, reaps what was killed and keeps a spare worker ready.
"""

from __future__ import annotations

import atexit
import os
import queue
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from reasonenv.checkers.pool.child import Reply
from reasonenv.checkers.pool.worker import START_LOCK, Late, Lost, Worker, WorkerSettings
from reasonenv.errors import PoolUnavailableError, WorkerDied, WorkerTimeout

__all__ = ["Engine", "Job"]

ATTEMPTS = 2
"""A worker may die of what is not the job's fault (the kernel is out of memory): one more try."""


@dataclass(slots=True)
class Job:
    """One call, ready to send. It holds its pool, so that none is collected with work to do."""

    pool: object
    name: str
    function: bytes
    message: bytes
    seconds: float
    future: Future[Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a job's future will say."""

    value: Any = None
    error: BaseException | None = None


class Engine:
    """A pool without its face. It does not know the pool, whose collection is its end."""

    def __init__(self, workers: int, recycle_after: int, settings: WorkerSettings) -> None:
        self.workers = workers
        self.recycle_after = recycle_after
        self.settings = settings
        self.closed = False
        self.reset()
        with START_LOCK:
            _ENGINES.add(self)

    def reset(self) -> None:
        """Have no threads and no workers, as at first."""
        self.lock = threading.RLock()  # a signal handler may submit a job while one is submitted
        self.jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self.chores: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.spares: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self.alive: set[Worker] = set()
        self.threads: list[threading.Thread] = []
        self.janitor: threading.Thread | None = None
        self.unfinished = 0

    def forget_parent(self) -> None:
        """Start anew in a forked process: threads are not copied, and workers are not its own."""
        for worker in self.alive:
            worker.forget()
        self.reset()

    def all_threads(self) -> list[threading.Thread]:
        """Return the threads there are."""
        return self.threads + ([self.janitor] if self.janitor else [])

    # What callers' threads do.

    def add(self, job: Job) -> None:
        """Queue a job, with one more thread (and so worker) where all have something to do.

        Raises:
            PoolUnavailableError: the pool is closed, or cannot have even one thread.
        """
        with self.lock:
            if self.closed:
                raise _closed(job.name)
            if self.unfinished >= len(self.threads) < self.workers:
                try:
                    name = f"reasonenv-pool-{len(self.threads)}"
                    self.threads.append(_start_thread(self.serve, name))
                except RuntimeError as error:
                    if not self.threads:
                        message = f"no thread for a worker can be started: {error}"
                        raise PoolUnavailableError(message) from error
            self.unfinished += 1
            self.jobs.put(job)

    def retire(self) -> None:
        """End an unused pool from inside a garbage collection: without any lock."""
        self.closed = True
        for _ in self.threads:
            self.jobs.put(None)
        self.chores.put(None)

    def shutdown(self) -> None:
        """Kill every worker, fail every job and tell every thread to end; wait for processes."""
        with self.lock:
            if self.closed:
                return
            self.closed = True
        with suppress(queue.Empty):
            while True:
                job = self.jobs.get_nowait()
                if job is not None and job.future.set_running_or_notify_cancel():
                    job.future.set_exception(_closed(job.name))
        self.retire()
        with START_LOCK:  # a start now under way ends before; a later one sees `closed`
            alive = list(self.alive)
        for worker in alive:
            worker.kill()
        for worker in alive:
            worker.reap()

    # What the pool's threads do.

    def serve(self) -> None:
        """Do jobs with a worker of one's own until told to stop: a thread's life."""
        worker: Worker | None = None
        while (job := self.jobs.get()) is not None:
            wanted = job.future.set_running_or_notify_cancel()
            if wanted:
                worker, outcome = self.work(worker, job)
            with self.lock:  # before the caller can ask for the next job
                self.unfinished -= 1
            if wanted and outcome.error is None:
                job.future.set_result(outcome.value)
            elif wanted:
                job.future.set_exception(outcome.error)
            lost = wanted and worker is None
            lost = lost and not isinstance(outcome.error, PoolUnavailableError)
            # While this waits for the next job, it must hold neither this one nor its pool.
            job = outcome = None  # type: ignore[assignment]
            if lost and not self.closed:
                with suppress(Exception):  # the next job tries again, and its caller hears why
                    worker = self.usable(None)
        if worker is not None:
            self.discard(worker)

    def work(self, worker: Worker | None, job: Job) -> tuple[Worker | None, Outcome]:
        """Do a job; return the worker to go on with, if any, and what came out."""
        obituary = ""
        for _ in range(ATTEMPTS):
            try:
                worker = self.usable(worker)
            except Exception as error:
                return None, Outcome(error=error)
            try:
                reply = worker.load(job.function, job.name) or worker.call(job.message, job.seconds)
            except Lost:
                obituary = worker.obituary()
                self.discard(worker)
                if self.closed:
                    return None, Outcome(error=_closed(job.name))
            except Exception as error:
                failure = _timeout(job, worker) if isinstance(error, Late) else error
                self.discard(worker)
                return None, Outcome(error=failure)
            else:
                if reply.retire or worker.jobs >= self.recycle_after:
                    self.discard(worker)
                    return None, _outcome(reply)
                return worker, _outcome(reply)
        message = f"the worker process died while it ran {job.name}, {ATTEMPTS} times: {obituary}"
        return None, Outcome(error=WorkerDied(message))

    def usable(self, worker: Worker | None) -> Worker:
        """Return `worker` if it lives, else the spare one, else a new one."""
        if worker is not None and worker.is_alive():
            return worker
        if worker is not None:
            self.discard(worker)
        worker = self.take_spare()
        if worker is not None and not worker.is_alive():
            self.discard(worker)
            worker = None
        worker = worker or self.start()
        if self.janitor is not None:  # only now, so that two starts do not slow each other down
            self.chores.put(self.restock)
        return worker

    def take_spare(self) -> Worker | None:
        """Return the worker that stands ready, if there is one."""
        with suppress(queue.Empty):
            return self.spares.get_nowait()
        return None

    def start(self) -> Worker:
        """Start a worker and wait until it is ready.

        Raises:
            PoolUnavailableError: it cannot be started, or the pool is closed.
        """
        with START_LOCK:
            if self.closed:
                raise PoolUnavailableError("this pool of workers is closed")
            worker = Worker(self.settings)
            self.alive.add(worker)
        try:
            worker.prepare()
        except BaseException:
            self.bury(worker)
            raise
        return worker

    def discard(self, worker: Worker) -> None:
        """Kill a worker; the janitor waits for its end, and has a spare one ready from now on."""
        worker.kill()
        with self.lock:
            if self.janitor is None and not self.closed:
                with suppress(RuntimeError):  # no more threads: then this one does it
                    self.janitor = _start_thread(self.clean_up, "reasonenv-pool-janitor")
            if self.janitor is not None and not self.closed:
                self.chores.put(partial(self.bury, worker))
                return
        self.bury(worker)

    def bury(self, worker: Worker) -> None:
        """Kill and reap a worker and close our ends."""
        worker.kill()
        worker.reap()
        with START_LOCK:
            self.alive.discard(worker)
            worker.close()

    def restock(self) -> None:
        """Have a spare worker ready. A pool that never loses a worker never needs one."""
        if self.spares.empty() and not self.closed:
            self.spares.put(self.start())

    def clean_up(self) -> None:
        """Reap the dead and keep the spare: the janitor's life."""
        told_to_end = False
        while not (told_to_end and self.chores.empty()):
            chore = self.chores.get()
            told_to_end = told_to_end or chore is None
            if chore is not None:
                with suppress(Exception):  # no spare: the next job tries, its caller hears why
                    chore()
        while (spare := self.take_spare()) is not None:
            self.bury(spare)


_ENGINES: weakref.WeakSet[Engine] = weakref.WeakSet()


def _at_exit() -> None:
    """End all pools with the interpreter, also those in the middle of a job."""
    with START_LOCK:
        engines = list(_ENGINES)
    for engine in engines:
        engine.shutdown()


def _after_fork_in_child() -> None:
    """Give every pool of a forked process threads and workers of its own."""
    for engine in list(_ENGINES):
        engine.forget_parent()
    START_LOCK.release()


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=START_LOCK.acquire,
        after_in_parent=START_LOCK.release,
        after_in_child=_after_fork_in_child,
    )


def _start_thread(target: Callable[[], None], name: str) -> threading.Thread:
    """Start a daemon thread; RuntimeError where the system or a dying interpreter allows none."""
    thread = threading.Thread(target=target, name=name, daemon=True)
    thread.start()
    return thread


def _outcome(reply: Reply) -> Outcome:
    """Return what the future of an answered job will say."""
    if reply.ok:
        return Outcome(reply.value)
    if reply.trace:
        reply.value.add_note(f"raised in a worker process:\n{reply.trace.rstrip()}")
    return Outcome(error=reply.value)


def _timeout(job: Job, worker: Worker) -> WorkerTimeout:
    """Return the error for a job that is still running."""
    cpu = worker.cpu_seconds_of_job()
    used = "" if cpu is None else f" (it had used {cpu:.2f} s of a CPU)"
    error = WorkerTimeout(f"{job.name} ran for more than {job.seconds:g} s{used} and was killed")
    error.seconds, error.cpu_seconds = job.seconds, cpu
    return error


def _closed(name: str) -> PoolUnavailableError:
    return PoolUnavailableError(f"the pool of workers was closed before {name} was done")
