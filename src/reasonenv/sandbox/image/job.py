"""One job: a program, its tests, and the processes that run them, under limits and timers.

* `run_job`: what the supervisor's child does with a job; its last act is to write the result.

The process reads the program but never the tests: the tester does, after it is forked. CPU time
decides about time-outs; a program that neither computes nor waits for a CPU is idle, and idle
time counts too. Time spent waiting for a CPU never counts, so load does not change verdicts.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import candidate
import tester
from codec import read_frame, write_frame

__all__ = ["Box", "run_job"]

_TICK_S = 0.02
_HEAD_BYTES = 65536
_OURS = ("candidate", "codec", "job", "supervisor", "tester")


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
class _Stream:
    """One output of the program: the head is kept, all of it is read, too much is noticed."""

    fd: int
    keep: int
    limit: int
    head: bytearray = field(default_factory=bytearray)
    seen: int = 0
    open: bool = True

    def drain(self, rounds: int = 1) -> None:
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
            return self.spent + sum(map(_proc_cpu, self.pids))
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


class _Job:
    def __init__(self, box: Box, header: dict[str, Any], program: bytes) -> None:
        self.box, self.header, self.program = box, header, program
        self.began = time.monotonic()
        self.job_clock, self.clock = _Clock(box), _Clock(box)
        self.oom0 = _number_in(box.oom_file, "oom_kill")
        self.pid = self.tester_pid = 0
        self.reason: str | None = None
        self.overload = False
        self.exhausted = False
        self.rss = 0
        self.out: list[_Stream] = []

    # -- processes -----------------------------------------------------------------------------

    def pipe(self) -> tuple[int, int]:
        """Return a pipe that the program may also open by name (/dev/stdin and its like)."""
        if self.box.program_uid is None:
            return os.pipe()
        os.seteuid(self.box.program_uid)
        try:
            return os.pipe()
        finally:
            os.seteuid(0)

    def fork(
        self,
        work: Callable[[], int],
        fds: tuple[int, int, int],
        keep: int,
        uid: int | None,
        confined: bool = True,
    ) -> int:
        """Fork a process that runs `work` with `fds` as 0, 1, 2 and `keep` as 3."""
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
            moved = [os.dup(fd) for fd in (*fds, keep)]
            for target, fd in enumerate(moved):
                os.dup2(fd, target)
            os.closerange(4, 4096)
            os.setsid()
            if confined:
                self.confine(uid)
            code = work()
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

    def launch(self, script: bool, fds: tuple[int, int, int], keep: int) -> None:
        """Fork the program's process."""
        prefix = self.header.get("prefix", "").encode()

        def work() -> int:
            for name in _OURS:
                sys.modules.pop(name, None)
            sys.path[:] = [path for path in sys.path if path != os.path.dirname(__file__)]
            sys.argv[:] = ["program.py"]
            random.seed(0)
            if script:
                return candidate.run_script(self.program, 3)
            candidate.run_functions(self.program, 3, prefix)
            return 0

        self.pid = self.fork(work, fds, keep, self.box.program_uid)
        self.reason = None

    def kill(self, reason: str) -> None:
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


def _text(data: bytes | bytearray) -> str:
    return bytes(data).decode("latin-1")


# -- tests that call functions -------------------------------------------------------------------


def _functions(job: _Job) -> dict[str, Any]:
    count = job.header["n_tests"]
    outcomes = ["not_run"] * count
    bad: list[Any] | None = None
    null = os.open(os.devnull, os.O_RDWR)
    readers, writers = zip(job.pipe(), job.pipe(), strict=True)
    job.out = [_Stream(fd, _HEAD_BYTES, job.header["output"]) for fd in readers]
    for fd in readers:
        os.set_blocking(fd, False)
    control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def drop() -> None:
        os.dup2(1, 0)
        job.confine(job.box.tester_uid)
        os.chdir("/")

    def test() -> int:
        # Its own copy of the host's stream is descriptor 0; it reads before it gives up its uid.
        link = socket.socket(fileno=3)
        with contextlib.suppress(BrokenPipeError, EOFError):
            tester.run_tests(0, link, drop)
        return 0

    job.tester_pid = job.fork(test, (0, null, null), theirs.fileno(), None, confined=False)
    theirs.close()
    current, done, restarts = -1, False, 0
    was_read = False

    def end(index: int, outcome: str) -> None:
        if 0 <= index < count:
            outcomes[index] = outcome

    while not done:
        poll = select.poll()
        poll.register(control, select.POLLIN)
        for stream in job.out:
            if stream.open:
                poll.register(stream.fd, select.POLLIN)
        ready = {fd for fd, _ in poll.poll(_TICK_S * 1000)}
        for stream in job.out:
            if stream.fd in ready:
                stream.drain(4)
        job.clock.pids = job.pids()
        job.job_clock.pids = (*job.pids(), os.getpid())
        was = job.reason
        job.check()
        if job.reason is not None and was is None:
            with contextlib.suppress(OSError):
                control.send(b"dead")
        if job.exhausted and control.fileno() not in ready:
            # The tester may be what takes the time: the test that runs has used it up.
            if not was_read:
                raise RuntimeError("the tests were not read in time")
            if not restarts:
                bad = [-1, "the setup of the tests takes too long"]
            elif current < 0:
                outcomes[:] = [job.reason or "timeout"] * count
            else:
                end(current, job.reason or "timeout")
            break
        if control.fileno() not in ready:
            continue
        data = control.recv(4096)
        if not data:
            if not was_read:
                raise RuntimeError("the tests could not be read")
            bad = [current, "the tests' own process ended early"]
            break
        match json.loads(data):
            case ["read"]:
                was_read = True
            case ["need"]:
                if job.pid:
                    job.kill("exited")
                    job.reap()
                restarts += 1
                ours, its = socket.socketpair()
                try:
                    job.launch(False, (null, *writers), its.fileno())
                except RuntimeError:  # it holds every process there may be, and makes more
                    end(current, "processes")
                    break
                its.close()
                job.clock.restart(job.pids())
                socket.send_fds(control, [b"link"], [ours.fileno()])
                ours.close()
            case ["load", outcome]:
                if outcome != "passed":
                    outcome = _gone(job) if outcome == "gone" else _named(outcome)
                    outcomes[:] = [outcome] * count
                    done = True
            case ["loading", index]:
                current = index
            case ["start", index]:
                current = index
                job.clock.restart()
            case ["end", index, outcome]:
                if outcome == "gone":
                    outcome = _gone(job)
                    done = restarts > 16 or job.exhausted
                end(index, _named(outcome))
            case ["bad", index, why]:
                bad, done = [index, why], True
            case ["done"]:
                done = True
    job.kill("exited")
    for stream in job.out:
        stream.drain(4)
    if job.pid:
        job.reap()
    heads = [_text(stream.head) for stream in job.out]
    return job.result(outcomes=outcomes, bad=bad, stdout=heads[0], stderr=heads[1])


def _gone(job: _Job) -> str:
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


def _named(outcome: str) -> str:
    return "memory" if outcome == "MemoryError" else outcome


# -- tests that read and write -------------------------------------------------------------------


def _script(job: _Job, data: bytes, limit: int) -> dict[str, Any]:
    """Run the program once with `data` on its standard input."""
    (in_r, in_w), (out_r, out_w), (err_r, err_w), (rep_r, rep_w) = (job.pipe() for _ in range(4))
    job.launch(True, (in_r, out_w, err_w), rep_w)
    for fd in (in_r, out_w, err_w, rep_w):
        os.close(fd)
    for fd in (in_w, out_r, err_r, rep_r):
        os.set_blocking(fd, False)
    out = _Stream(out_r, limit, limit)
    err = _Stream(err_r, _HEAD_BYTES, 64 << 20)
    job.out = [out, err]
    job.clock.restart((job.pid,))
    job.job_clock.pids = (job.pid,)
    ended = os.pidfd_open(job.pid)
    view, writing = memoryview(data), bool(data)
    if not writing:
        os.close(in_w)
    while True:
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        for stream in job.out:
            if stream.open:
                poll.register(stream.fd, select.POLLIN)
        if writing:
            poll.register(in_w, select.POLLOUT)
        ready = {fd for fd, _ in poll.poll(_TICK_S * 1000)}
        for stream in job.out:
            if stream.fd in ready:
                stream.drain()
        if writing and in_w in ready:
            try:
                view = view[os.write(in_w, view[: 1 << 16]) :]
            except BlockingIOError:
                pass
            except OSError:
                view = view[:0]
            if not view:
                os.close(in_w)
                writing = False
        if ended in ready:
            break
        job.check()
    os.close(ended)
    cpu = job.clock.used()[0]
    job.kill_strays()
    outcome = job.reap()
    for stream in job.out:
        if stream.open:
            stream.drain(1 << 16)
    if outcome == "exited" and out.seen > limit:
        outcome = "output_limit"
    name = ""
    with contextlib.suppress(OSError):
        name = os.read(rep_r, 200).decode("utf-8", "replace")
    if outcome == "exit:1" and name.isidentifier():
        outcome = _named(name)
    if writing:
        os.close(in_w)
    for fd in (out_r, err_r, rep_r):
        os.close(fd)
    return {
        "outcome": "finished" if outcome == "exited" else outcome,
        "stdout": _text(out.head),
        "stderr": _text(err.head),
        "cpu": cpu,
    }


def _scripts(job: _Job, inputs: list[str]) -> dict[str, Any]:
    runs: list[dict[str, Any]] = []
    for text, limit in zip(inputs, job.header["outputs"], strict=True):
        run = _script(job, text.encode("utf-8", "surrogateescape"), limit)
        if run["outcome"] == "output_limit":
            run["stdout"] = run["stdout"][:_HEAD_BYTES]
        runs.append(run)
        if job.exhausted or (job.header.get("stop_at_first") and run["outcome"] != "finished"):
            break
    return job.result(runs=runs)


def run_job(box: Box, header: dict[str, Any], stream: int, answers: int) -> None:
    """Run the job whose program and tests follow on `stream`; write its result to `answers`."""
    program = read_frame(stream)
    job = _Job(box, header, program)
    if header["kind"] == "stdio":
        result = _scripts(job, json.loads(read_frame(stream)))
    else:
        result = _functions(job)
    write_frame(answers, json.dumps(result).encode("ascii"))
