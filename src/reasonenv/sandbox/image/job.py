"""What is common to all jobs: processes under limits, and the clocks that decide about time-outs.

CPU time decides about time-outs; a program that neither computes nor waits for a CPU is idle, and
idle time counts too. Time spent waiting for a CPU never counts: load does not change verdicts.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import candidate
from .clocks import Box, Clock, counter, cpu_of, queued_of, read_at

__all__ = ["HEAD_BYTES", "TICK_S", "Box", "Job", "Stream", "fork", "gone", "named", "text_of"]

TICK_S = 0.02
HEAD_BYTES = 65536
_LIBC = ctypes.PyDLL(None)


def fork() -> int:
    """Fork without Python's hooks, which cost more than the fork itself.

    They make locks and generators of random numbers anew, for what threads may have left behind.
    Here a process has one thread whenever it forks, and holds no lock; all programs shall start
    with the same random numbers. The interpreter's own lock is kept over the call (PyDLL).

    Raises:
        OSError: no process can be started.
    """
    pid: int = _LIBC.fork()
    if pid < 0:
        raise OSError("no process can be forked")
    return pid


@dataclass
class Stream:
    """One output of the program: the head is kept, all of it is read, too much is noticed."""

    fd: int
    keep: int
    limit: int
    head: bytearray = field(default_factory=bytearray)
    seen: int = 0
    open: bool = True

    def drain(self, rounds: int = 1) -> None:
        """Read what is there, at most `rounds` pieces."""
        for _ in range(rounds):
            try:
                data = os.read(self.fd, 1 << 18)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self.open = False
                return
            self.seen += len(data)
            if len(self.head) < self.keep:
                self.head += data[: self.keep - len(self.head)]
            if self.seen > self.limit:
                return


class Job:
    """A job on its way: its processes, its clocks, its limits."""

    def __init__(self, box: Box, header: dict[str, Any]) -> None:
        self.box, self.header = box, header
        self.fds: list[int] = []
        self.began = time.monotonic()
        self.job_clock, self.clock = Clock(box), Clock(box)
        self.next_look = self.began + TICK_S
        self.oom0 = counter(box.oom_fd, b"oom_kill")
        self.pid = self.tester_pid = 0
        self.reason: str | None = None
        self.overload = False
        self.exhausted = False
        self.rss = 0
        self.out: list[Stream] = []

    # -- processes -----------------------------------------------------------------------------

    def pipes(self, count: int) -> list[tuple[int, int]]:
        """Return pipes that the program may also open by name (/dev/stdin and its like)."""
        uid = self.box.program_uid
        if uid is not None:
            os.seteuid(uid)
        try:
            return [self.own(*os.pipe()) for _ in range(count)]
        finally:
            if uid is not None:
                os.seteuid(0)

    def own(self, first: int, second: int) -> tuple[int, int]:
        """Note two descriptors, to be closed with the job at the latest."""
        self.fds += (first, second)
        return first, second

    def close(self, *fds: int) -> None:
        """Close these descriptors, or all that the job has."""
        for fd in fds or tuple(self.fds):
            self.fds.remove(fd)
            os.close(fd)

    def fork(
        self,
        prepare: Callable[[], bytes],
        work: Callable[[bytes], int],
        fds: tuple[int, int, int],
        keep: tuple[int, ...],
        uid: int | None,
        confined: bool = True,
    ) -> int:
        """Fork a process that runs `work` on what `prepare` returned.

        Args:
            prepare: run as who we are, with all our descriptors.
            work: run with these descriptors and no others.
            fds: what it gets as 0, 1 and 2.
            keep: what it gets as 3 and on.
            uid: who runs `work`.
            confined: whether limits and uid are set before `work`.
        """
        for attempt in range(20):
            try:
                pid = fork()
                break
            except OSError:  # the program before holds all the processes there may be
                self.kill_strays()
                time.sleep(0.01 * attempt)
        else:
            raise RuntimeError("no process can be started")
        if pid:
            return pid
        code = 70
        try:
            data = prepare()
            moved = [os.dup(fd) for fd in (*fds, *keep)]
            for target, fd in enumerate(moved):
                os.dup2(fd, target)
            os.closerange(len(moved), 4096)
            os.setsid()
            if confined:
                self.confine(uid)
            code = work(data)
        except BaseException:
            code = 71
        finally:
            os._exit(code)
        return 0

    def confine(self, uid: int | None) -> None:
        """Take every right and every excess from the calling process."""
        header = self.header
        seconds = int(header["job_s"]) + 3
        memory = header["memory"]
        limits = [
            (resource.RLIMIT_CORE, 0, 0),
            (resource.RLIMIT_CPU, seconds, seconds + 1),
            (resource.RLIMIT_FSIZE, header["file_bytes"], header["file_bytes"]),
            (resource.RLIMIT_NOFILE, 256, 256),
            (resource.RLIMIT_AS, memory, memory),
        ]
        if uid is not None:
            limits.append((resource.RLIMIT_NPROC, header["processes"], header["processes"]))
        for what, soft, hard in limits:
            resource.setrlimit(what, (soft, hard))
        os.umask(0o022)
        os.chdir(self.box.workdir)
        with contextlib.suppress(OSError):
            fd = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
            os.write(fd, b"1000")
            os.close(fd)
        if uid is not None:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)

    def launch(
        self, script: bool, prepare: Callable[[], bytes], fds: tuple[int, int, int], keep: int
    ) -> None:
        """Fork the program's process; `prepare` returns the program."""
        prefix = self.header.get("prefix", "").encode()

        def work(program: bytes) -> int:
            if script:
                return candidate.run_script(program, 3)
            candidate.run_functions(program, 3, prefix)
            return 0

        self.pid = self.fork(prepare, work, fds, (keep,), self.box.program_uid)
        self.reason = None

    def kill(self, reason: str) -> None:
        """Kill the program, for the first reason that there was."""
        if self.reason is None:
            self.reason = reason
        self.end()
        self.kill_strays()

    def end(self) -> None:
        """Kill the program's process and those of its group."""
        if self.pid:
            for kill in (os.kill, os.killpg):
                with contextlib.suppress(OSError):
                    kill(self.pid, signal.SIGKILL)

    def kill_strays(self) -> None:
        """Kill every process of the program, whatever session it moved to."""
        uid = self.box.program_uid
        for _ in range(10 if uid is not None else 0):
            if self.alone():
                return
            found = False
            for name in os.listdir("/proc"):
                if name.isdigit() and int(name) != self.pid:
                    with contextlib.suppress(OSError):
                        if _uid_of(name) == uid:
                            os.kill(int(name), signal.SIGKILL)
                            found = True
            self.bury()
            if not found:
                return

    def alone(self) -> bool:
        """Whether this process has no child at all, so that no stray can be anywhere.

        Where a process dies, those that it had started become ours (we are their subreaper, and so
        is none of the program's, once its own are dead): with no child there is no descendant.
        """
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return True
        return False

    def bury(self) -> None:
        """Wait for the strays that have died: they count as processes until then."""
        with contextlib.suppress(ChildProcessError):
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
            for _ in range(1000):
                ended = os.waitid(os.P_ALL, 0, flags)
                if ended is None or ended.si_pid in (self.pid, self.tester_pid):
                    return
                os.waitpid(ended.si_pid, os.WNOHANG)

    def leave(self) -> None:
        """Note what the program's process took; it ends with the place, nobody waits for it here.

        Waiting would delay the result by the time that the kernel takes to give its memory back.
        """
        top = 0
        if self.pid and self.box.cpu_fd is not None:
            with contextlib.suppress(OSError, ValueError, IndexError):
                status = read_at(f"/proc/{self.pid}/status")
                top = int(status.partition(b"VmHWM:")[2].split()[0]) * 1024
        if top:
            self.rss = max(self.rss, top)
            self.end()
        else:  # it has ended already, or its CPU time is known by its own count alone
            self.end()
            self.reap()

    def reap(self) -> str:
        """Wait for the program's process, which is ending, and return how it ended."""
        pid, self.pid = self.pid, 0
        if not pid:
            return self.reason or "exited"
        cpu = 0.0 if self.box.cpu_fd is not None else cpu_of(pid)
        # The wait for a CPU decides nothing any more where the job is over before its first look.
        queued = queued_of(pid) if self.job_clock.queued0 is not None else 0.0
        for clock in (self.clock, self.job_clock):
            clock.spent += cpu
            clock.credit += queued
            clock.pids = tuple(other for other in clock.pids if other != pid)
        try:
            _, status, usage = os.wait4(pid, 0)
        except OSError:
            return self.reason or "exited"
        self.rss = max(self.rss, usage.ru_maxrss * 1024)
        if self.reason is not None:
            return self.reason
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            if number == signal.SIGXCPU:
                return "timeout"
            oom = counter(self.box.oom_fd, b"oom_kill")
            if number == signal.SIGKILL and oom != self.oom0:
                return "memory"
            return "killed" if number == signal.SIGKILL else "crash"
        return "exited" if os.WEXITSTATUS(status) == 0 else f"exit:{os.WEXITSTATUS(status)}"

    def pids(self) -> tuple[int, ...]:
        """Return the processes whose time counts."""
        return tuple(pid for pid in (self.pid, self.tester_pid) if pid)

    # -- limits --------------------------------------------------------------------------------

    def wait_ms(self) -> float:
        """Return how long one may wait before the next look at the limits, in ms."""
        return max(1.0, (self.next_look - time.monotonic()) * 1000)

    def check(self) -> None:
        """Kill the program if it is over a limit; clocks are read once a tick."""
        header = self.header
        if any(stream.seen > stream.limit for stream in self.out):
            self.kill("output_limit")
        now = time.monotonic()
        if now < self.next_look:
            return
        self.next_look = now + TICK_S
        cpu, idle = self.clock.used()
        job_cpu, job_idle = self.job_clock.used()
        grace = header["idle_s"]
        if cpu > header["test_s"] or idle > header["test_s"] + grace:
            self.kill("timeout")
        if job_cpu > header["job_s"] or job_idle > header["job_s"] + grace:
            self.exhausted = True
            self.kill("timeout")
        if now - self.began > header["hard_s"]:
            self.overload = self.exhausted = True
            self.kill("timeout")

    def result(self, **more: Any) -> dict[str, Any]:
        """Return the result of the job, with what its kind adds."""
        return {
            "overload": self.overload,
            "cpu": max(0.0, self.job_clock.cpu() - self.job_clock.cpu0),
            "rss": self.rss,
            **more,
        }


def _uid_of(pid: str) -> int:
    for line in read_at(f"/proc/{pid}/status").split(b"\n"):
        if line.startswith(b"Uid:"):
            return int(line.split()[1])
    return -1


def text_of(data: bytes | bytearray) -> str:
    """Return bytes as a text of the same length, for JSON."""
    return bytes(data).decode("latin-1")


def gone(job: Job) -> str:
    """Return why the program's process is gone; one that is not, does not keep the protocol."""
    if job.pid and job.reason is None:
        with contextlib.suppress(OSError):
            descriptor = os.pidfd_open(job.pid)
            ended = bool(select.select([descriptor], [], [], 0.05)[0])
            os.close(descriptor)
            if not ended:
                job.kill("protocol")
    outcome = job.reap()
    job.kill_strays()
    return outcome


def named(outcome: str) -> str:
    """Return the name of an outcome in the verdicts' words."""
    return "memory" if outcome == "MemoryError" else outcome
