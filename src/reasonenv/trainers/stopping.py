"""Stopping a run so that nothing is lost: Ctrl-C and SIGTERM ask for a checkpoint first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

__all__ = ["StopRequest", "stop_on_signals"]


class StopRequest:
    """Whether the run was asked to stop, by a signal or by a file.

    Args:
        file: the run stops, too, once this file is there. The launcher of several processes
            writes it: a signal to each of them could arrive in the middle of a collective call.
    """

    def __init__(self, file: Path | None = None) -> None:
        self.file = file
        self.by: str | None = None

    def __bool__(self) -> bool:
        if self.by is None and self.file is not None and self.file.exists():
            self.by = "the launcher"
        return self.by is not None


@contextmanager
def stop_on_signals(request: StopRequest) -> Iterator[None]:
    """Turn the first SIGINT or SIGTERM into a request; a second one interrupts at once.

    Only the main thread of a process can have signal handlers; elsewhere this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(number: int, frame: FrameType | None) -> None:
        if request.by is not None:
            raise KeyboardInterrupt
        request.by = signal.Signals(number).name

    previous = {n: signal.signal(n, ask) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
