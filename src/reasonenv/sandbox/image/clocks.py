"""What a job has used: CPU seconds, and wall seconds less the wait for a CPU.

Reading costs system calls, so nothing is read while a job is younger than a tick: jobs look at
their clocks once a tick, not at every message.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass

__all__ = ["Box", "Clock", "counter", "cpu_of", "open_counter", "queued_of", "read_at"]

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Box:
    """Where jobs run.

    Args:
        program_uid: the program's user; None: stay who we are.
        tester_uid: the tests' user; None: stay who we are.
        workdir: the program's.
        cpu_fd: the cgroup's CPU counter, open for reading; None where there is none.
        cpu_hz: what it counts in a second: cgroup v2 microseconds, v1 nanoseconds.
        oom_fd: the cgroup's counter of processes killed for memory, likewise.
    """

    program_uid: int | None
    tester_uid: int | None
    workdir: str
    cpu_fd: int | None = None
    cpu_hz: float = 1e9
    oom_fd: int | None = None


def read_at(path: str) -> bytes:
    """Return the beginning of a file of /proc or /sys; two system calls less than `open`."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.read(fd, 4096)
    finally:
        os.close(fd)


def counter(fd: int | None, key: bytes) -> int | None:
    """Return a counter of an open cgroup file: its only number, or that after `key`."""
    if fd is None:
        return None
    try:
        words = os.pread(fd, 4096, 0).split()
    except OSError:
        return None
    if len(words) == 1:
        return int(words[0])
    with contextlib.suppress(ValueError):
        return int(words[words.index(key) + 1])
    return None


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process and of its children that were waited for."""
    try:
        fields = read_at(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except OSError:
        return 0.0
    return sum(int(part) for part in fields[11:15]) / _TICKS_PER_S


def queued_of(pid: int) -> float:
    """Return the seconds that the threads of a process were runnable and had no CPU."""
    total = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for task in os.listdir(f"/proc/{pid}/task")[:64]:
            total += int(read_at(f"/proc/{pid}/task/{task}/schedstat").split()[1])
    return total / 1e9


class Clock:
    """CPU and idle time since `restart`."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self.pids: tuple[int, ...] = ()
        self.spent = self.credit = 0.0
        self.restart()

    def cpu(self) -> float:
        """Return the CPU seconds of all of the job, since some time before it."""
        value = counter(self.box.cpu_fd, b"usage_usec")
        if value is None:
            return self.spent + sum(cpu_of(pid) for pid in self.pids if pid != os.getpid())
        return value / self.box.cpu_hz

    def restart(self) -> None:
        """Begin anew."""
        self.wall0, self.cpu0 = time.monotonic(), self.cpu()
        self.queued0: float | None = None

    def queued(self) -> float:
        """Return the seconds of waiting for a CPU, of all processes that the job had."""
        return self.credit + sum(map(queued_of, self.pids))

    def used(self) -> tuple[float, float]:
        """Return CPU seconds, and wall seconds less the wait for a CPU.

        The wait is counted from the first look on, a tick after `restart` at the latest: a test
        is given that tick of idle time too many, never too few.
        """
        queued = self.queued()
        if self.queued0 is None:
            self.queued0 = queued
            self.wall0 = time.monotonic()
        idle = time.monotonic() - self.wall0 - max(0.0, queued - self.queued0)
        return self.cpu() - self.cpu0, idle


def open_counter(paths: tuple[str, ...]) -> tuple[int | None, str]:
    """Open the first of these cgroup files that can be read, and say which."""
    for path in paths:
        with contextlib.suppress(OSError):
            return os.open(path, os.O_RDONLY), path
    return None, ""
