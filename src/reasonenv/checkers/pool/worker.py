"""The parent's end of one worker process: start it, give it work, kill it."""

from __future__ import annotations

import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from reasonenv.checkers.pool.child import HEADER, MAX_REPLY_BYTES, Reply, Setup, frame
from reasonenv.errors import PoolUnavailableError

__all__ = ["START_LOCK", "Late", "Lost", "Worker", "WorkerSettings"]

START_LOCK = threading.RLock()
"""Held while a worker is started, and by `os.fork`: a process forked in between would hold the
worker's end of the socket, and its death would go unnoticed."""

START_SECONDS = 120.0
"""How long a worker may take to be ready, and to import the function of a job: a cold network
disk can take a minute for sympy. It bounds a hang; it is no part of any deadline."""

REAP_SECONDS = 5.0
OBITUARY_SECONDS = 1.0
POLL_SECONDS = 3600.0
READ_BYTES = 2**16
STDERR_BYTES = 4096
CHILD = str(Path(__file__).with_name("child.py"))

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Numerical libraries reserve memory for each thread, which the memory limit would count."""

SAME_EVERYWHERE = {"PYTHONHASHSEED": "0"}
"""Set order can decide how sympy writes a result: the same job gives the same in any worker."""


class Late(Exception):
    """Raised when the deadline passes before the worker has answered."""


class Lost(Exception):
    """Raised when the worker has hung up."""


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What every worker of a pool is started with."""

    memory_bytes: int | None
    initializer: str | None


class Worker:
    """One worker process. Used by one thread at a time; any thread may kill it.

    Raises:
        PoolUnavailableError: the process cannot be started, or does not become ready.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        if os.name != "posix":
            raise PoolUnavailableError("worker processes need Linux or macOS; on Windows, use WSL")
        self.jobs = 0
        self._settings = settings
        self._known: set[bytes] = set()
        self._cpu_seconds = 0.0
        self._printed = b""
        self._poller = select.poll()
        try:
            with START_LOCK:
                self._start()
        except (OSError, ValueError, TypeError) as error:
            raise PoolUnavailableError(
                f"no worker process can be started with the interpreter {sys.executable!r} "
                f"({type(error).__name__}: {error}); check sys.executable and the limits on "
                "processes and open files"
            ) from error

    def _start(self) -> None:
        """Start the process, with its own session so that no Ctrl-C of a terminal reaches it."""
        self._socket, theirs = socket.socketpair()
        stderr, their_stderr = os.pipe()
        self._stderr = FileIO(stderr)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-u", "-P", "-X", "faulthandler", CHILD],
                stdin=theirs.fileno(),  # the one number that no pipe of subprocess can take
                stdout=their_stderr,
                stderr=their_stderr,
                start_new_session=True,
                env=os.environ | ONE_THREAD | SAME_EVERYWHERE,
            )
        except BaseException:
            self.close()
            raise
        finally:
            theirs.close()
            os.close(their_stderr)
        self._socket.setblocking(False)
        os.set_blocking(stderr, False)
        self._poller.register(self._socket, select.POLLIN)
        self._poller.register(stderr, select.POLLIN)

    def prepare(self) -> None:
        """Wait until the worker has set itself up and run the pool's initializer.

        Raises:
            PoolUnavailableError: it does not come up; the message says why.
        """
        settings = self._settings
        setup = Setup(os.getpid(), _search_path(), settings.memory_bytes, settings.initializer)
        try:
            reply = self._exchange(frame(pickle.dumps(tuple(setup), -1)), START_SECONDS)
        except Lost:
            reason = f"it ended with {self.obituary()}"
        except Late:
            reason = f"it was not ready after {START_SECONDS:g} s{self._last_words()}"
        else:
            if reply.ok:
                return
            reason = (
                f"its initializer {settings.initializer!r} failed: {reply.trace or reply.value}"
            )
        self.kill()
        raise PoolUnavailableError(
            f"a worker process was started with {sys.executable!r} and cannot be used: {reason}"
        )

    def load(self, function: bytes, name: str) -> Reply | None:
        """Have the worker import a job's function; None once it has, else its reply that says why.

        Raises:
            PoolUnavailableError: the import takes too long.
            Lost: the worker died of it.
        """
        if function in self._known:
            return None
        message = frame(pickle.dumps((_search_path(), function, None), -1))
        try:
            reply = self._exchange(message, START_SECONDS)
        except Late:
            raise PoolUnavailableError(
                f"a worker has not imported {name} after {START_SECONDS:g} s{self._last_words()}"
            ) from None
        if not reply.ok:
            reply.value.add_note(f"a worker process could not import {name}")
            return reply
        self._known.add(function)
        return None

    def call(self, message: bytes, seconds: float) -> Reply:
        """Return the worker's answer to a job.

        Raises:
            Late: it took more than `seconds`; the worker is still busy with it.
            Lost: the worker died.
        """
        self.jobs += 1
        self._printed = b""
        return self._exchange(message, seconds)

    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End the process and what it has started, at once. The second time does nothing."""
        if self._process.poll() is None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                self._process.kill()

    def reap(self) -> None:
        """Wait for the killed process, so that no zombie stays."""
        # One that is stuck in the kernel is left to subprocess, which tries again later.
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(REAP_SECONDS)

    def close(self) -> None:
        """Close our ends. Only for the thread that uses the worker, or a number is reused."""
        self._socket.close()
        self._stderr.close()

    def forget(self) -> None:
        """Close our copies of the ends, in a forked process: the worker is not its child."""
        self._process.returncode = 0  # or subprocess would try to wait for it, and warn
        self.close()

    def cpu_seconds_of_job(self) -> float | None:
        """Return the CPU time that the job in work has used, None where it cannot be known."""
        try:
            stat = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="utf-8")
        except OSError:
            return None
        user, system = stat.rpartition(")")[2].split()[11:13]
        used = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK") - self._cpu_seconds
        return max(0.0, used)

    def obituary(self) -> str:
        """Return how the process ended and its last lines on stderr."""
        try:
            code = self._process.wait(OBITUARY_SECONDS)
        except subprocess.TimeoutExpired:
            return f"a closed channel{self._last_words()}"
        if code >= 0:
            return f"exit status {code}{self._last_words()}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = " (out of memory?)" if name == "SIGKILL" else ""
        return f"{name}{hint}{self._last_words()}"

    def _last_words(self) -> str:
        """Return the end of what the worker wrote to stdout and stderr, or nothing."""
        self._drain_stderr()
        text = self._printed.decode("utf-8", "replace").strip()
        return f"; its last lines:\n{text}" if text else ""

    def _exchange(self, message: bytes, seconds: float) -> Reply:
        """Send a message and return its answer, both within `seconds`."""
        deadline = time.monotonic() + seconds
        self._send(message, deadline)
        data = self._receive(deadline)
        try:
            reply = Reply(*pickle.loads(data))
        except Exception as error:
            text = f"a job's result cannot be read back: {type(error).__name__}: {error}"
            return Reply(False, RuntimeError(text), retire=True)
        self._cpu_seconds = reply.cpu_seconds
        return reply

    def _send(self, message: bytes, deadline: float) -> None:
        view = memoryview(message)
        while view:
            try:
                view = view[self._socket.send(view) :]
            except BlockingIOError:  # more than the socket holds, and the worker is not reading
                self._poller.modify(self._socket, select.POLLOUT)
                try:
                    self._wait(deadline, select.POLLOUT)
                finally:
                    self._poller.modify(self._socket, select.POLLIN)
            except OSError as error:
                raise Lost from error

    def _receive(self, deadline: float) -> bytes:
        buffer = bytearray()
        size = None
        while size is None or len(buffer) < size:
            self._wait(deadline, select.POLLIN)
            try:
                chunk = self._socket.recv(READ_BYTES if size is None else max(size, READ_BYTES))
            except BlockingIOError:
                continue
            except OSError as error:
                raise Lost from error
            if not chunk:
                raise Lost
            buffer += chunk
            if size is None and len(buffer) >= HEADER.size:
                size = HEADER.size + HEADER.unpack_from(buffer)[0]
                if size > HEADER.size + MAX_REPLY_BYTES:
                    raise Lost  # a job wrote to the socket itself
        return bytes(buffer[HEADER.size :])

    def _wait(self, deadline: float, event: int) -> None:
        """Wait until the socket is ready, reading what the worker prints meanwhile.

        What is there when a late thread at last looks counts as in time.
        """
        while True:
            now = time.monotonic()
            seconds = min(max(deadline - now, 0.0), POLL_SECONDS)
            for fd, events in self._poller.poll(seconds * 1000):
                if fd == self._socket.fileno():
                    if events & (event | select.POLLHUP | select.POLLERR):
                        return
                elif not self._drain_stderr():
                    self._poller.unregister(fd)  # closed by the job: it would be ready for ever
            if now >= deadline:
                raise Late

    def _drain_stderr(self) -> bool:
        """Keep the end of what a pipe can hold of the worker's prints; False if it is closed."""
        chunk = self._stderr.read(READ_BYTES)
        self._printed = (self._printed + (chunk or b""))[-STDERR_BYTES:]
        return chunk != b""


def _search_path() -> list[str]:
    """Return the parent's `sys.path` with names that mean the same in any directory."""
    try:
        here = os.getcwd()
    except FileNotFoundError:
        here = "/"
    return [os.path.join(here, entry) for entry in sys.path if isinstance(entry, str)]
