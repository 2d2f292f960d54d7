"""The root process of a sandbox: one job at a time, and after each nothing is left.

It reads a job's header and nothing else: program and tests are read by processes that it forks
and that die with the job, so that no later program descends from one that saw them.

Frames in: header, program, tests. Frames out: `hello` once, then for each job the result and
`end`, which says whether the place is clean again.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import random
import select
import signal
import sys

from . import candidate, tester
from .clocks import Box, open_counter
from .codec import read_frame, write_frame
from .functions import run_functions
from .job import fork
from .scripts import run_scripts

__all__ = ["main"]

PROTOCOL = 2
"""Changes with the frames; an image with another number has to be built again."""

_WARM = """
abc array base64 bisect cmath collections.abc copy dataclasses datetime decimal enum fractions
functools hashlib heapq inspect io itertools json math numbers operator queue random re statistics
string struct textwrap threading time traceback typing unicodedata
"""
"""Modules that programs find loaded already; each process has its own copy."""

_CPU_FILES = (
    "/sys/fs/cgroup/cpuacct/cpuacct.usage",
    "/sys/fs/cgroup/cpu,cpuacct/cpuacct.usage",
    "/sys/fs/cgroup/cpu.stat",
)
_OOM_FILES = ("/sys/fs/cgroup/memory/memory.oom_control", "/sys/fs/cgroup/memory.events")
_PR_SET_CHILD_SUBREAPER = 36


def _kill_all(local: bool) -> bool:
    """Kill every process but this one and init, and wait until all are gone.

    Who was killed ends in a moment, so waiting needs no clock; should a process be undead, the
    alarm ends the supervisor, and with it the container.
    """
    signal.alarm(5)
    try:
        while True:
            with contextlib.suppress(OSError):
                if local:
                    for child in _children():
                        os.kill(child, signal.SIGKILL)
                else:
                    os.kill(-1, signal.SIGKILL)
            os.waitpid(-1, 0)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    except ChildProcessError:
        return True
    finally:
        signal.alarm(0)


def _children() -> list[int]:
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return [int(word) for word in file.read().split()]


def _empty(root: str) -> None:
    """Remove all that the caller owns below `root`: any depth, any mode, few descriptors."""
    root_fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    serial = 0
    again = True
    while again:
        again = False
        for name in os.listdir(root_fd):
            try:
                os.unlink(name, dir_fd=root_fd)
                continue
            except IsADirectoryError:
                pass
            except OSError:
                pass
            with contextlib.suppress(OSError):
                os.chmod(name, 0o700, dir_fd=root_fd)
                sub = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=root_fd)
                try:
                    for inner in os.listdir(sub):
                        try:
                            os.unlink(inner, dir_fd=sub)
                        except OSError:  # a directory: lift it to the top, where it is next
                            with contextlib.suppress(OSError):
                                os.chmod(inner, 0o700, dir_fd=sub)
                            serial += 1
                            os.rename(inner, f".up{serial}", src_dir_fd=sub, dst_dir_fd=root_fd)
                            again = True
                finally:
                    os.close(sub)
                os.rmdir(name, dir_fd=root_fd)
    os.close(root_fd)


def _clean(places: tuple[str, ...], uids: tuple[int | None, ...]) -> bool:
    """Empty the places where programs can write; root without capabilities cannot, owners can."""
    for uid in uids:
        if not any(os.listdir(place) for place in places):
            return True
        pid = fork()
        if pid == 0:
            code = 1
            try:
                if uid is not None:
                    os.setgroups([])
                    os.setresgid(uid, uid, uid)
                    os.setresuid(uid, uid, uid)
                for place in places:
                    _empty(place)
                code = 0
            finally:
                os._exit(code)
        _wait(pid, 20.0)
    return not any(os.listdir(place) for place in places)


def _wait(pid: int, seconds: float) -> bool:
    """Wait for a child; kill it and return False if it takes too long or fails."""
    descriptor = os.pidfd_open(pid)
    in_time = bool(select.select([descriptor], [], [], seconds)[0])
    os.close(descriptor)
    if not in_time:
        os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1] == 0 and in_time


def _prepare(local: bool) -> tuple[Box, tuple[str, ...]]:
    if local:
        place = os.environ["REASONENV_WORKDIR"]
        return Box(None, None, place), (place,)
    first = int(os.environ.get("REASONENV_UID", "10001"))
    places = tuple(p for p in ("/work", "/tmp", "/dev/shm", "/dev/mqueue") if os.path.isdir(p))
    cpu, path = open_counter(_CPU_FILES)
    oom, _ = open_counter(_OOM_FILES)
    hz = 1e6 if path.endswith("cpu.stat") else 1e9
    return Box(first, first + 1, "/work", cpu, hz, oom), places


def main(argv: list[str]) -> int:
    """Serve jobs from descriptor 0 on descriptor 1 until the host hangs up."""
    local = "--local" in argv
    box, places = _prepare(local)
    prctl = ctypes.CDLL(None).prctl

    def subreaper() -> None:
        prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    subreaper()
    for name in _WARM.split():
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    os.environ.clear()
    os.environ.update(
        PATH="/usr/local/bin:/usr/bin:/bin", HOME=box.workdir, LANG="C.UTF-8", TMPDIR="/tmp"
    )
    if local:
        os.environ["TMPDIR"] = box.workdir
    sys.argv[:] = ["program.py"]
    own = __name__.rpartition(".")[0]
    for name in [n for n in sys.modules if n == own or n.startswith(own + ".")]:
        del sys.modules[name]  # programs find nothing of ours by name
    random.seed(0)
    candidate.prepare()
    tester.rehearse()
    candidate.rehearse()
    stream, answers = 0, 1
    hello = {"protocol": PROTOCOL, "python": list(sys.version_info[:3]), "pid": os.getpid()}
    write_frame(answers, json.dumps(hello).encode())
    gc.collect()
    gc.freeze()
    while True:
        try:
            header = json.loads(read_frame(stream, 1 << 20))
        except EOFError:
            return 0
        ok = True
        if header["kind"] == "stdio":
            # What programs print is what is expected: it must not stay in this process.
            pid = fork()
            if pid == 0:
                code = 1
                try:
                    subreaper()
                    result = run_scripts(box, header, stream)
                    write_frame(answers, json.dumps(result).encode("ascii"))
                    code = 0
                except BaseException as error:
                    os.write(2, f"{type(error).__name__}: {error}\n".encode()[:2000])
                finally:
                    os._exit(code)
            ok = _wait(pid, header["hard_s"] + 5)
        else:
            result = run_functions(box, header, stream)
            write_frame(answers, json.dumps(result).encode("ascii"))
        clean = _kill_all(local)
        uids = (None,) if local else (box.program_uid, box.tester_uid)
        clean = clean and _clean(places, uids)
        write_frame(answers, json.dumps({"end": True, "ok": ok, "clean": clean}).encode())
        if not (ok and clean):
            return 1
