"""What runs in a worker process: it reads jobs from one socket, does them and answers.

Started by its path and importing only the standard library, since importing the package would
cost each start many times what the interpreter itself takes. Nothing of the parent's `__main__`
is ever imported here.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module, invalidate_caches
from typing import Any, NamedTuple

__all__ = ["HEADER", "MAX_REPLY_BYTES", "Reply", "Setup", "frame", "main"]

HEADER = struct.Struct("!Q")
"""What precedes each message in both directions: its length in bytes."""

MAX_REPLY_BYTES = 256 * 2**20
"""A longer result is an error: it would have to be held by the parent, which has no limit."""

READ_BYTES = 2**16
WATCH_SECONDS = 1.0
TRACEBACK_FRAMES = 8
PR_SET_PDEATHSIG = 1
PREFERRED_BY_OOM_KILLER = "1000"


class Setup(NamedTuple):
    """The first message: what a worker must know before its first job."""

    parent: int
    path: list[str]
    memory_bytes: int | None
    initializer: str | None


class Reply(NamedTuple):
    """What a worker says after its start, after loading a function and after a job."""

    ok: bool
    value: Any
    trace: str = ""
    cpu_seconds: float = 0.0
    retire: bool = False


def frame(data: bytes) -> bytes:
    """Return `data` as one message."""
    return HEADER.pack(len(data)) + data


def main() -> None:
    """Set the worker up as the first message says, then serve until the parent is gone."""
    channel = os.dup(0)  # the copy is not inherited by processes that a job starts
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    messages = _messages(channel)
    setup = Setup(*pickle.loads(next(messages)))
    _die_with(setup.parent)
    sys.path[:] = setup.path
    _limit(setup.memory_bytes)
    _send(channel, _attempt(_initialize, setup.initializer))
    functions: dict[bytes, Callable[..., Any]] = {}
    for message in messages:
        path, function, args = pickle.loads(message)
        if args is None:
            _send(channel, _attempt(_load, functions, path, function))
        else:
            _send(channel, _attempt(_call, functions[function], args))


def _initialize(reference: str | None) -> None:
    """Call the pool's initializer, named as `module:function`."""
    if reference is not None:
        module, _, name = reference.partition(":")
        getattr(import_module(module), name)()


def _load(functions: dict[bytes, Callable[..., Any]], path: list[str], function: bytes) -> None:
    """Import a job's function, apart from the job so that no deadline pays for imports."""
    sys.path[:] = path
    invalidate_caches()  # the module may have been written after this worker was started
    functions[function] = pickle.loads(function)


def _call(function: Callable[..., Any], args: bytes) -> Any:
    """Do one job."""
    return function(*pickle.loads(args))


def _attempt(action: Callable[..., Any], *args: Any) -> bytes:
    """Return the reply that says what `action` returned or raised."""
    try:
        data = _encode(Reply(True, action(*args)))
        if len(data) > MAX_REPLY_BYTES:
            raise ValueError(
                f"the result takes {len(data):,} bytes, at most {MAX_REPLY_BYTES:,} are sent back"
            )
        return data
    except MemoryError as error:
        text = str(error)
    except BaseException as error:
        return _failure(error)
    # Only here have the frames that hold the memory been let go.
    return _encode(Reply(False, MemoryError(text), retire=True))


def _failure(error: BaseException) -> bytes:
    """Return the reply for an exception: itself if it survives pickling, else its text."""
    import traceback  # costs a start 5 ms, and most workers never need it

    trace = "".join(traceback.format_exception(error, limit=-TRACEBACK_FRAMES))
    error.__traceback__ = None
    try:
        # SystemExit and its kind would end the parent's thread.
        same = isinstance(error, Exception)
        same = same and type(pickle.loads(pickle.dumps(error))) is type(error)
        data = _encode(Reply(False, error, trace)) if same else b""
    except Exception:
        data = b""
    text = "".join(traceback.format_exception_only(error)).strip()
    if not data or len(data) > MAX_REPLY_BYTES:
        return _encode(Reply(False, RuntimeError(text[:READ_BYTES]), trace[:READ_BYTES]))
    return data


def _encode(reply: Reply) -> bytes:
    """Return a reply as bytes, with the CPU time that the worker has used so far."""
    return pickle.dumps(tuple(reply._replace(cpu_seconds=time.process_time())), -1)


def _send(channel: int, data: bytes) -> None:
    """Write one message; end the worker when nobody is left to read it."""
    view = memoryview(frame(data))
    try:
        while view:
            view = view[os.write(channel, view) :]
    except OSError:
        os._exit(0)


def _messages(channel: int) -> Iterator[bytes]:
    """Yield the parent's messages; end the worker when the parent hangs up."""
    buffer = bytearray()
    while True:
        size = HEADER.unpack_from(buffer)[0] if len(buffer) >= HEADER.size else None
        if size is not None and len(buffer) >= HEADER.size + size:
            yield bytes(buffer[HEADER.size : HEADER.size + size])
            del buffer[: HEADER.size + size]
            continue
        try:
            chunk = os.read(channel, READ_BYTES if size is None else max(size, READ_BYTES))
        except OSError:
            chunk = b""
        if not chunk:
            os._exit(0)
        buffer += chunk


def _limit(memory_bytes: int | None) -> None:
    """Bound the worker's memory, prefer it to its parent when memory runs out, dump no cores."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write(PREFERRED_BY_OOM_KILLER)
    except OSError:
        pass  # not Linux, or a locked-down container
    if memory_bytes is None:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    except (OSError, ValueError):
        if sys.platform != "darwin":  # which has the constant and does not enforce it
            raise


def _die_with(parent: int) -> None:
    """See to it that this process ends when its parent does, however busy it is then.

    The kernel sees to it on Linux. It counts the *thread* that started this process as its
    parent, which is why only threads that live as long as their pool start workers.
    """
    if not _kernel_kills_orphan():
        import threading

        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    if os.getppid() != parent:  # it ended before the request above
        os._exit(0)


def _kernel_kills_orphan() -> bool:
    """Ask Linux for SIGKILL at the parent's death; say whether that worked."""
    if sys.platform != "linux":
        return False
    try:
        import ctypes

        libc = ctypes.CDLL(None)
        return int(libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)) == 0
    except (ImportError, OSError, AttributeError):
        return False


def _watch(parent: int) -> None:
    """End this process soon after its parent."""
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os._exit(0)


if __name__ == "__main__":
    main()
