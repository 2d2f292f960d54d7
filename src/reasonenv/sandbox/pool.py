"""A pool of warm sandboxes: started as they are wanted, one job at a time each, replaced on doubt.

* `Slot`: one running supervisor and the connection to it.
* `Pool`: hands out slots in the order of asking, retries a job once on a fresh one.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import struct
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Protocol

from reasonenv.errors import SandboxUnavailableError
from reasonenv.sandbox.base import Job, JobResult, SandboxConfig, SandboxFailedError, default_size

__all__ = ["Connection", "Pool", "Slot", "SlotBrokenError"]

PROTOCOL = 2
"""The number that supervisors of this package say in their greeting."""

_END_S = 30.0
"""How long cleaning up after a job may take."""

_MAX_FRAME = 1 << 30
_CLOSED = "the sandbox pool is closed; make a new one"


class SlotBrokenError(Exception):
    """Raised when a supervisor is gone, late, or says what it should not."""


class Connection(Protocol):
    """A byte stream to a supervisor. Its methods raise OSError or EOFError when it breaks."""

    def send(self, data: bytes, deadline: float) -> None:
        """Send all of `data`."""
        ...

    def receive(self, size: int, deadline: float) -> bytes:
        """Return exactly `size` bytes."""
        ...

    def close(self) -> None:
        """End the supervisor and everything that runs under it."""
        ...


class Slot:
    """One supervisor."""

    def __init__(self, connection: Connection, config: SandboxConfig) -> None:
        self.connection, self.config = connection, config
        self.jobs = 0
        self._unfinished = False
        hello = json.loads(self._frame(time.monotonic() + config.start_s))
        self.python: tuple[int, ...] = tuple(hello["python"])
        if hello["protocol"] != PROTOCOL:
            self.close()
            raise SandboxUnavailableError(
                f"the supervisor in image {config.image} speaks protocol {hello['protocol']}, this "
                f"package {PROTOCOL}: build the image again with `reasonenv sandbox build`"
            )

    def _frame(self, deadline: float) -> bytes:
        try:
            (size,) = struct.unpack(">I", self.connection.receive(4, deadline))
            if size > _MAX_FRAME:
                raise SlotBrokenError(f"a frame of {size} bytes")
            return self.connection.receive(size, deadline)
        except (OSError, EOFError) as error:
            raise SlotBrokenError(f"{type(error).__name__}: {error}") from error

    def finish(self) -> None:
        """Wait until the place is clean after the last job.

        Raises:
            SlotBrokenError: it is not, or the supervisor is gone.
        """
        if self._unfinished:
            end = json.loads(self._frame(time.monotonic() + _END_S))
            if end.get("end") is not True or not (end["ok"] and end["clean"]):
                raise SlotBrokenError("the sandbox is not clean")
            self._unfinished = False

    def run(self, job: Job, data: bytes) -> JobResult:
        """Run one job, of which `data` are the frames.

        Raises:
            SlotBrokenError: the supervisor broke; the slot is of no more use.
        """
        self.jobs += 1
        deadline = time.monotonic() + job.hard_s(self.config) + 20
        self._unfinished = True
        try:
            self.connection.send(data, deadline)
        except OSError as error:
            raise SlotBrokenError(f"{type(error).__name__}: {error}") from error
        raw = self._frame(deadline)
        try:
            return JobResult.parse(raw, len(job.tests))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            # `{"end": ...}` in place of a result: the job's own process broke
            raise SlotBrokenError(f"no result ({type(error).__name__}: {error})") from error

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(Exception):
            self.connection.close()


class _Turn:
    """Somebody who waits: is handed a slot, or the right to start one, and nobody comes between."""

    def __init__(self) -> None:
        self.called = threading.Event()
        self.given = False
        self.slot: Slot | None = None


class Pool:
    """Slots, at most `config.size` of them.

    Args:
        name: the back end's name.
        start: opens a connection to a fresh supervisor; called from any thread.
        config: sizes and limits.
        lacks: what of the conformance suite the back end does not promise.
    """

    def __init__(
        self,
        name: str,
        start: Callable[[], Connection],
        config: SandboxConfig,
        lacks: frozenset[str] = frozenset(),
    ) -> None:
        self.name, self.config, self.lacks = name, config, lacks
        self.size = config.size or default_size()
        self._start = start
        self._lock = threading.Lock()
        self._idle: list[Slot] = []
        self._busy: set[Slot] = set()
        self._count = 0
        self._waiting: deque[_Turn] = deque()
        self._pid = os.getpid()
        self._closed = False
        self.python: tuple[int, ...] | None = None
        _POOLS.add(self)

    def warm(self) -> None:
        """Start every slot now, at once.

        Raises:
            SandboxUnavailableError: none can be started.
        """
        errors: list[Exception] = []

        def one() -> None:
            try:
                slot = self._open()
            except Exception as error:
                errors.append(error)
                self._left(None)
            else:
                self._left(slot)

        with self._lock:
            wanted = self.size - self._count
            self._count += wanted
        threads = [threading.Thread(target=one, daemon=True) for _ in range(wanted)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors and self._count == 0:
            raise errors[0]

    def run(self, job: Job) -> JobResult:
        """Run `job`; see `Sandbox.run`. Jobs start in the order in which they are given."""
        why: list[str] = []
        # Made before a slot is taken: a sandbox shall not wait for its job.
        frames = job.frames(self.config)
        data = b"".join(struct.pack(">I", len(frame)) + frame for frame in frames)
        slot = self._take()
        while True:
            try:
                result = slot.run(job, data)
            except SlotBrokenError as error:
                why.append(str(error))
                if len(why) == 2:
                    self._drop(slot)
                    break
                slot = self._renewed(slot)
            except BaseException:
                self._drop(slot)
                raise
            else:
                self._left(slot)
                return result
        raise SandboxFailedError(f"two sandboxes broke under this job: {'; '.join(why)}")

    def _open(self) -> Slot:
        try:
            slot = Slot(self._start(), self.config)
        except (SlotBrokenError, ValueError, KeyError) as error:
            raise SandboxUnavailableError(
                f"a {self.name} sandbox was started and did not answer ({error}); try `reasonenv "
                "sandbox selftest`, and build the image again with `reasonenv sandbox build`"
            ) from error
        self.python = slot.python
        return slot

    def _take(self) -> Slot:
        """Return a clean slot: an idle one, a new one, or the first that comes free."""
        if self._pid != os.getpid():  # a fork shares its parent's connections: leave them alone
            self._lock = threading.Lock()
            self._idle, self._busy, self._count = [], set(), 0
            self._waiting.clear()
            self._pid = os.getpid()
        turn: _Turn | None = None
        slot: Slot | None = None
        with self._lock:
            if self._closed:
                raise SandboxUnavailableError(_CLOSED)
            if self._idle:
                slot = self._idle.pop()
                self._busy.add(slot)
            elif self._count < self.size:
                self._count += 1
            else:
                turn = _Turn()
                self._waiting.append(turn)
        if turn is not None:
            slot = self._called(turn)
        if slot is None:
            return self._renewed(None)
        try:
            slot.finish()
            if slot.jobs < self.config.recycle_after:
                return slot
        except SlotBrokenError:
            pass
        except BaseException:
            self._drop(slot)
            raise
        return self._renewed(slot)

    def _called(self, turn: _Turn) -> Slot | None:
        """Wait for one's turn and return the slot that comes with it; None: start one."""
        try:
            turn.called.wait()
        except BaseException:
            with self._lock:
                given = turn.given
                if turn in self._waiting:
                    self._waiting.remove(turn)
            if given:
                self._left(turn.slot)
            raise
        if not turn.given:
            raise SandboxUnavailableError(_CLOSED)
        return turn.slot

    def _renewed(self, slot: Slot | None) -> Slot:
        """Return a fresh slot in the place of one that is no longer used."""
        if slot is not None:
            slot.close()
        try:
            if self._closed:
                raise SandboxUnavailableError(_CLOSED)
            fresh = self._open()
        except BaseException:
            self._left(None, slot)
            raise
        with self._lock:
            self._busy.discard(slot)
            self._busy.add(fresh)
            closed = self._closed
        if closed:
            self._drop(fresh)
            raise SandboxUnavailableError(_CLOSED)
        return fresh

    def _drop(self, slot: Slot) -> None:
        slot.close()
        self._left(None, slot)

    def _left(self, slot: Slot | None, gone: Slot | None = None) -> None:
        """Pass a slot on to who waits longest, or the right to start one; else put it back."""
        with self._lock:
            self._busy -= {slot, gone}
            if self._closed:
                self._count -= 1
            elif self._waiting:
                turn = self._waiting.popleft()
                turn.given, turn.slot = True, slot
                if slot is not None:
                    self._busy.add(slot)
                turn.called.set()
            elif slot is None:
                self._count -= 1
            else:
                self._idle.append(slot)
        if slot is not None and self._closed:
            slot.close()

    def close(self) -> None:
        """Stop every slot, running jobs included."""
        if self._pid != os.getpid():
            return
        with self._lock:
            self._closed = True
            slots = [*self._idle, *self._busy]
            self._idle = []
            waiting = list(self._waiting)
            self._waiting.clear()
        for turn in waiting:
            turn.called.set()
        threads = [threading.Thread(target=slot.close, daemon=True) for slot in slots]
        for thread in threads:
            with contextlib.suppress(RuntimeError):
                thread.start()
        for thread in threads:
            with contextlib.suppress(RuntimeError):
                thread.join(10)
        for slot in slots if any(t.ident is None for t in threads) else ():
            slot.close()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    @property
    def open_slots(self) -> int:
        """How many sandboxes run at the moment."""
        return self._count

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_POOLS: weakref.WeakSet[Pool] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for pool in list(_POOLS):
        with contextlib.suppress(Exception):
            pool.close()
