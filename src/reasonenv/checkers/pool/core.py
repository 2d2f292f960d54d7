"""`WorkerPool`: jobs in, results out, and no job that can hang or harm its caller."""

from __future__ import annotations

import math
import os
import pickle
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self, TypeVar

from reasonenv.checkers.pool.child import frame
from reasonenv.checkers.pool.engine import Engine, Job
from reasonenv.checkers.pool.worker import START_LOCK, WorkerSettings

__all__ = ["WorkerPool", "default_pool"]

T = TypeVar("T")

DEFAULT_SECONDS = 5.0
DEFAULT_MEMORY_BYTES = 2 * 2**30
DEFAULT_RECYCLE_AFTER = 1000
MIN_MEMORY_BYTES = 64 * 2**20
MAX_DEFAULT_WORKERS = 32
CLOSE_SECONDS = 10.0


class WorkerPool:
    """Worker processes for jobs that could hang, eat memory or crash.

    A job is a module-level function and plain arguments. Each worker does one at a time, in a
    fresh interpreter that imports nothing of the caller's `__main__`. The caller's side holds the
    clock: no signals, so a pool works in any thread, under asyncio, in a forked process (which
    gets workers of its own), in a daemonic process and in a Ray worker. Workers are started when
    they are first needed, and end with this process, whatever ends it.

    Args:
        workers: how many at most; None for one per CPU this process may use (shared among the
            ranks of a node where LOCAL_WORLD_SIZE says how many), at most 32.
        timeout: seconds a job may take unless its call says otherwise, counted from the start of
            the work: neither waiting for a worker nor importing the function counts.
        memory_bytes: address space of each worker, its libraries included; None for no limit. A
            job that wants more gets a MemoryError. Not enforced on macOS.
        recycle_after: jobs after which a worker is replaced, against leaks.
        initializer: `"module:function"`, called in each worker before its first job.

    Raises:
        ValueError: an argument out of its range.

    >>> import math
    >>> with WorkerPool(workers=1) as pool:
    ...     pool.run(math.gcd, 12, 18)
    6
    """

    def __init__(
        self,
        workers: int | None = None,
        timeout: float = DEFAULT_SECONDS,
        memory_bytes: int | None = DEFAULT_MEMORY_BYTES,
        recycle_after: int = DEFAULT_RECYCLE_AFTER,
        initializer: str | None = None,
    ) -> None:
        workers = _default_workers() if workers is None else _at_least(1, "workers", workers)
        if memory_bytes is not None:
            _at_least(MIN_MEMORY_BYTES, "memory_bytes", memory_bytes)
        if initializer is not None and not all(initializer.partition(":")):
            raise ValueError(f"initializer is 'module:function', got {initializer!r}")
        self._timeout = _seconds(timeout)
        _at_least(1, "recycle_after", recycle_after)
        settings = WorkerSettings(memory_bytes, initializer)
        self._engine = Engine(workers, recycle_after, settings)
        weakref.finalize(self, self._engine.retire).atexit = False

    @property
    def workers(self) -> int:
        """How many worker processes there are at most."""
        return self._engine.workers

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._engine.closed

    def run(self, function: Callable[..., T], *args: Any, timeout: float | None = None) -> T:
        """Return `function(*args)`, done by a worker. Safe to call from many threads.

        Raises:
            WorkerTimeout: it took more than `timeout` seconds; the worker was killed.
            WorkerDied: the worker crashed or was killed, twice.
            PoolUnavailableError: no worker can be started, or the pool is closed.
            TypeError: the function or an argument cannot be sent to another process.
            RuntimeError: the job raised what cannot be sent back (here is its text), or returned
                such a thing.
            Exception: whatever else the job raised, with the worker's traceback as a note.
        """
        future = self.submit(function, *args, timeout=timeout)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Ctrl-C while the job is still in the queue
            raise

    def submit(
        self, function: Callable[..., T], *args: Any, timeout: float | None = None
    ) -> Future[T]:
        """Queue a job; its future raises what `run` raises. For asyncio: `asyncio.wrap_future`.

        Raises:
            PoolUnavailableError: the pool is closed.
            TypeError: the function or an argument cannot be sent to another process.
        """
        seconds = self._timeout if timeout is None else _seconds(timeout)
        name = _name(function)
        function_bytes = _dumps(function, f"the function {name}")
        args_bytes = _dumps(args, f"an argument of {name}")
        message = frame(pickle.dumps(("", function_bytes, args_bytes), -1))
        future: Future[T] = Future()
        self._engine.add(Job(self, name, function_bytes, message, seconds, future))
        return future

    def map(
        self, function: Callable[..., T], *iterables: Iterable[Any], timeout: float | None = None
    ) -> Iterator[T]:
        """Queue `function` for all tuples of arguments at once; yield the results in order.

        The first failure is raised where its result would have come, and what is still queued is
        cancelled. `timeout` is each job's own.
        """
        jobs = zip(*iterables, strict=False)
        futures = [self.submit(function, *args, timeout=timeout) for args in jobs]

        def results() -> Iterator[T]:
            try:
                for future in futures:
                    yield future.result()
            finally:
                for future in futures:
                    future.cancel()

        return results()

    def close(self) -> None:
        """Kill the workers, fail what is queued or running, and wait for the pool's threads."""
        self._engine.shutdown()
        for thread in self._engine.all_threads():
            if thread is not threading.current_thread():
                thread.join(CLOSE_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def default_pool() -> WorkerPool:
    """Return this process's own pool with the default settings, made when first asked for."""
    global _default
    with START_LOCK:
        if _default is None or _default.closed:
            _default = WorkerPool()
        return _default


_default: WorkerPool | None = None


def _name(function: Callable[..., Any]) -> str:
    """Return `module.function`.

    Raises:
        TypeError: it is defined where a worker cannot import it from.
    """
    module = getattr(function, "__module__", None) or type(function).__module__
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    if module == "__main__":
        raise TypeError(
            f"{name} is defined in __main__ (a script or a notebook), which workers do not run; "
            "move it to a module that can be imported"
        )
    return f"{module}.{name}"


def _dumps(value: Any, what: str) -> bytes:
    """Return `value` pickled.

    Raises:
        TypeError: it cannot be.
    """
    try:
        return pickle.dumps(value, -1)
    except Exception as error:
        raise TypeError(
            f"{what} cannot be sent to a worker process ({type(error).__name__}: {error}); a job "
            "is a function at the top level of a module, with plain picklable arguments"
        ) from error


def _at_least(least: int, name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} is a whole number of at least {least:,}, got {value!r}")
    return value


def _seconds(value: float) -> float:
    if not (isinstance(value, int | float) and math.isfinite(value) and value > 0):
        raise ValueError(f"timeout is a number of seconds above 0, got {value!r}")
    return float(value)


def _default_workers() -> int:
    """Return how many CPUs there are for this process, within bounds."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux: respects taskset and SLURM
    cpus = len(affinity(0)) if affinity else os.cpu_count() or 1
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "")
    cpus //= max(1, int(ranks)) if ranks.isdecimal() else 1
    return max(1, min(cpus, MAX_DEFAULT_WORKERS))
