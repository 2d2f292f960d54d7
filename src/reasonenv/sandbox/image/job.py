"""What is common to all jobs: processes under limits, and the clocks that decide about time-outs.

CPU time decides about time-outs; a program that neither computes nor waits for a CPU is idle, and
idle time counts too. Time spent waiting for a CPU never counts: load does not change verdicts.
"""

from __future__ import annotations

import contextlib
import os
import random
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import candidate

__all__ = ["HEAD_BYTES", "TICK_S", "Box", "Job", "Stream", "gone", "named", "text_of"]

TICK_S = 0.02
HEAD_BYTES = 65536


@dataclass(frozen=True)
class Box:
    """Where jobs run: uids of both sides (None: stay who we are), work dir, cgroup files."""

    program_uid: int | None
    tester_uid: int | None
    workdir: str
    cpu_file: str | None = None
    oom_file: str | None = None


def _number_in(path: str | None, key: str) -> int | None:
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            words = file.read().split()
    except OSError:
        return None
    if len(words) == 1:
        return int(words[0])
    with contextlib.suppress(ValueError):
        return int(words[words.index(key.encode()) + 1])
    return None


def _proc_cpu(pid: int) -> float:
    """Return the CPU seconds of a process and of its children that were waited for."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0.0
    return sum(int(part) for part in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def _queued(pid: int) -> float:
    """Return the seconds that the threads of a process were runnable and had no CPU."""
    total = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for task in os.listdir(f"/proc/{pid}/task")[:64]:
            with open(f"/proc/{pid}/task/{task}/schedstat", "rb") as file:
                total += int(file.read().split()[1])
    return total / 1e9


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


class _Clock:
    """CPU and idle time since `restart`."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self.pids: tuple[int, ...] = ()
        self.spent = self.credit = 0.0
        self.restart()

    def cpu(self) -> float:
        path = self.box.cpu_file
        value = _number_in(path, "usage_usec")
        if value is None:
            return self.spent + sum(_proc_cpu(pid) for pid in self.pids if pid != os.getpid())
        return value / (1e6 if path and path.endswith("cpu.stat") else 1e9)

    def restart(self, pids: tuple[int, ...] = ()) -> None:
        self.pids = pids or self.pids
        self.wall0, self.cpu0 = time.monotonic(), self.cpu()
        self.queued0 = self.queued()

    def queued(self) -> float:
        return self.credit + sum(map(_queued, self.pids))

    def used(self) -> tuple[float, float]:
        """Return CPU seconds, and wall seconds less the wait for a CPU."""
        queued = self.queued() - self.queued0
        return self.cpu() - self.cpu0, time.monotonic() - self.wall0 - max(0.0, queued)


class Job:
    """A job on its way: its processes, its clocks, its limits."""

    def __init__(self, box: Box, header: dict[str, Any]) -> None:
        self.box, self.header = box, header
        self.fds: list[int] = []
        self.began = time.monotonic()
        self.job_clock, self.clock = _Clock(box), _Clock(box)
        self.oom0 = _number_in(box.oom_file, "oom_kill")
        self.pid = self.tester_pid = 0
        self.reason: str | None = None
        self.overload = False
        self.exhausted = False
        self.rss = 0
        self.out: list[Stream] = []

    # -- processes -----------------------------------------------------------------------------

    def pipe(self) -> tuple[int, int]:
        """Return a pipe that the program may also open by name (/dev/stdin and its like)."""
        if self.box.program_uid is None:
            return self.own(*os.pipe())
        os.seteuid(self.box.program_uid)
        try:
            return self.own(*os.pipe())
        finally:
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
        keep: int,
        uid: int | None,
        confined: bool = True,
    ) -> int:
        """Fork a process that runs `work` on what `prepare` returned.

        Args:
            prepare: run as who we are, with all our descriptors.
            work: run with these descriptors and no others.
            fds: what it gets as 0, 1 and 2.
            keep: what it gets as 3.
            uid: who runs `work`.
            confined: whether limits and uid are set before `work`.
        """
        for attempt in range(20):
            try:
                pid = os.fork()
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
            moved = [os.dup(fd) for fd in (*fds, keep)]
            for target, fd in enumerate(moved):
                os.dup2(fd, target)
            os.closerange(4, 4096)
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
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
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
            own = __name__.rpartition(".")[0]
            for name in [n for n in sys.modules if n == own or n.startswith(own + ".")]:
                del sys.modules[name]
            sys.argv[:] = ["program.py"]
            random.seed(0)
            if script:
                return candidate.run_script(program, 3)
            candidate.run_functions(program, 3, prefix)
            return 0

        self.pid = self.fork(prepare, work, fds, keep, self.box.program_uid)
        self.reason = None

    def kill(self, reason: str) -> None:
        """Kill the program, for the first reason that there was."""
        if self.reason is None:
            self.reason = reason
        self.kill_strays()

    def kill_strays(self) -> None:
        """Kill every process of the program, whatever session it moved to."""
        if self.pid:
            for kill in (os.kill, os.killpg):
                with contextlib.suppress(OSError):
                    kill(self.pid, signal.SIGKILL)
        uid = self.box.program_uid
        for _ in range(10 if uid is not None else 0):
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

    def bury(self) -> None:
        """Wait for the strays that have died: they count as processes until then."""
        with contextlib.suppress(ChildProcessError):
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
            for _ in range(1000):
                ended = os.waitid(os.P_ALL, 0, flags)
                if ended is None or ended.si_pid in (self.pid, self.tester_pid):
                    return
                os.waitpid(ended.si_pid, os.WNOHANG)

    def reap(self) -> str:
        """Wait for the program's process, which is ending, and return how it ended."""
        pid, self.pid = self.pid, 0
        if not pid:
            return self.reason or "exited"
        cpu, queued = _proc_cpu(pid), _queued(pid)
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
            oom = _number_in(self.box.oom_file, "oom_kill")
            if number == signal.SIGKILL and oom != self.oom0:
                return "memory"
            return "killed" if number == signal.SIGKILL else "crash"
        return "exited" if os.WEXITSTATUS(status) == 0 else f"exit:{os.WEXITSTATUS(status)}"

    def pids(self) -> tuple[int, ...]:
        """Return the processes whose time counts."""
        return tuple(pid for pid in (self.pid, self.tester_pid) if pid)

    # -- limits --------------------------------------------------------------------------------

    def check(self) -> None:
        """Kill the program if it is over a limit."""
        header = self.header
        if any(stream.seen > stream.limit for stream in self.out):
            self.kill("output_limit")
        cpu, idle = self.clock.used()
        job_cpu, job_idle = self.job_clock.used()
        grace = header["idle_s"]
        if cpu > header["test_s"] or idle > header["test_s"] + grace:
            self.kill("timeout")
        if job_cpu > header["job_s"] or job_idle > header["job_s"] + grace:
            self.exhausted = True
            self.kill("timeout")
        if time.monotonic() - self.began > header["hard_s"]:
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
    with open(f"/proc/{pid}/status", "rb") as file:
        for line in file:
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
