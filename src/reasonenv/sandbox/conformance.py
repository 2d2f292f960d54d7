"""The cases that every sandbox passes, or declares what it lacks. For any back end, yours too.

    from reasonenv.sandbox.conformance import run_suite
    for finding in run_suite(my_sandbox): print(finding)

* `CASES`: name, group, and what to run; a back end whose `lacks` names a group is excused from it.
* `run_suite`: runs them; a case of group "hostile" or of a limit can hurt a machine without it.

Each case tries to do what the sandbox forbids and says so in its output or its outcome.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from reasonenv.sandbox.base import Job, JobResult, Sandbox

__all__ = ["CASES", "Case", "Finding", "run_suite"]

Check = Callable[[JobResult], str | None]
"""Return what is wrong with a result, None where nothing is."""


@dataclass(frozen=True)
class Case:
    """One thing that a sandbox promises."""

    name: str
    group: str
    job: Job
    check: Check
    seconds: float = 20.0


@dataclass(frozen=True)
class Finding:
    """How one case went: "lacks" where the back end declares that it does not promise it."""

    case: str
    level: Literal["passed", "failed", "lacks"]
    says: str = ""


def _script(program: str, data: str = "", test_s: float = 2.0) -> Job:
    return Job(program, "stdio", (data,), test_s=test_s, job_s=test_s + 0.5, outputs=(1 << 20,))


def _functions(program: str, *tests: str, test_s: float = 2.0, stop: bool = False) -> Job:
    return Job(program, "assert", tests, "f", test_s=test_s, job_s=test_s + 0.5, stop_at_first=stop)


def _prints(expected: str) -> Check:
    def check(result: JobResult) -> str | None:
        (run,) = result.runs
        seen = run.stdout.decode("utf-8", "replace").strip()
        fine = run.outcome == "finished" and seen == expected
        return None if fine else f"{run.outcome}, {seen[:200]!r}, {run.stderr[-200:]!r}"

    return check


def _ends(*outcomes: str) -> Check:
    def check(result: JobResult) -> str | None:
        seen = [run.outcome for run in result.runs] or list(result.outcomes)
        return None if seen and seen[0] in outcomes else f"{seen}"

    return check


def _all(*outcomes: str) -> Check:
    def check(result: JobResult) -> str | None:
        return None if result.outcomes == outcomes else f"{result.outcomes} {result.bad_test or ''}"

    return check


_TRY = """
def tried(work):
    try: work()
    except (OSError, ValueError): return False
    return True
"""

_STATUS = """
s = dict(l.split(':', 1) for l in open('/proc/self/status') if ':' in l)
print(int(s['CapEff'], 16), int(s['CapPrm'], 16), s['NoNewPrivs'].strip(), s['Seccomp'].strip())
"""

_MANY_FILES = """
n = 0
try:
    for n in range(200000): open(f'f{n}', 'w').close()
except OSError: pass
print(n < 100000)
"""

_NETWORK = """
import socket
seen = []
for a in (('1.1.1.1', 53), ('127.0.0.1', 22), ('169.254.169.254', 80)):
    try: socket.create_connection(a, 0.3); seen.append(a)
    except OSError: pass
print(seen)
"""

_WRITES = """
seen = []
for p in ('/usr/x', '/etc/x', '/x', '/opt/x', '/usr/bin/python3', '/dev/mqueue/x', '/var/tmp/x',
          '/proc/sys/kernel/core_pattern', '/opt/reasonenv/box/job.py'):
    try: open(p, 'ab').close(); seen.append(p)
    except OSError: pass
print(seen)
"""

_OTHERS = """
import os, signal
seen = []
for p in os.listdir('/proc'):
    if p.isdigit() and int(p) != os.getpid():
        for s in (0, signal.SIGSTOP, signal.SIGKILL):
            try: os.kill(int(p), s); seen.append(p)
            except OSError: pass
        for f in ('mem', 'environ', 'fd/0', 'fd/1'):
            try: open(f'/proc/{p}/{f}', 'rb').close(); seen.append(p + f)
            except OSError: pass
print(seen)
"""

_FORKS = """
import os, time
n = 0
try:
    while n < 500:
        if os.fork() == 0: time.sleep(9); os._exit(0)
        n += 1
except OSError: pass
print(n < 100)
"""

_OWN_MEMORY = """
def f(x):
    for l in open('/proc/self/maps'):
        a, p = l.split()[:2]
        if 'r' not in p or '[v' in l: continue
        b, e = [int(v, 16) for v in a.split('-')]
        try:
            m = open('/proc/self/mem', 'rb', 0); m.seek(b); s = m.read(min(e - b, 1 << 26))
        except OSError: continue
        i = s.find(b'hidden-' + b'value-')
        if i >= 0: return s[i:i+15].decode()
"""

_SYSCALLS = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def errno(number, *args):
    ctypes.set_errno(0)
    return libc.syscall(number, *args), ctypes.get_errno()
import platform
x86 = platform.machine() == "x86_64"
numbers = {"ptrace": (101, 117), "io_uring_setup": (425, 425), "keyctl": (250, 219),
    "unshare": (272, 97), "bpf": (321, 280), "shmget": (29, 194), "mount": (165, 40),
    "process_vm_readv": (310, 270), "userfaultfd": (323, 282), "setns": (308, 268)}
allowed = [n for n, (a, b) in numbers.items() if errno(a if x86 else b, 0, 0, 0, 0, 0)[1] != 1]
print(allowed)
"""

CASES: tuple[Case, ...] = (
    Case("prints", "runs", _script("print(int(input()) * 2)", "21\n"), _prints("42")),
    Case(
        "real stdin", "runs", _script("print(open(0, 'rb').read())", "a\r\n"), _prints("b'a\\r\\n'")
    ),
    Case(
        "calls",
        "runs",
        _functions("def f(x): return [x, (x,)]", "assert f(1) == [1, (1,)]"),
        _all("passed"),
    ),
    Case(
        "in-place changes come back",
        "runs",
        _functions("def f(x): x.sort()", "a = [2, 1]\nf(a)\nassert a == [1, 2]"),
        _all("passed"),
    ),
    Case(
        "exceptions by class name",
        "runs",
        _functions("def f(x): raise KeyError(x)", "f(1)", "try:\n f(2)\nexcept KeyError: pass"),
        _all("KeyError", "passed"),
    ),
    Case(
        "a wrong answer",
        "runs",
        _functions("def f(x): return x", "assert f(1) == 1", "assert f(1) == 2"),
        _all("passed", "wrong_answer"),
    ),
    Case(
        "a program that ends early",
        "verdicts",
        _functions("import os\ndef f(x): os._exit(0)", "f(1)"),
        _all("exited"),
    ),
    Case(
        "an exit at import",
        "verdicts",
        _functions("import sys\nsys.exit(0)", "f(1)"),
        _all("SystemExit"),
    ),
    Case(
        "an object that equals all",
        "verdicts",
        _functions(
            "class T:\n __eq__ = lambda s, o: True\ndef f(x): return T()", "assert f(1) == 2"
        ),
        _all("wrong_answer"),
    ),
    Case(
        "a subclass of str",
        "verdicts",
        _functions(
            "class T(str):\n __eq__ = lambda s, o: True\ndef f(x): return T('x')",
            "assert f(1) == 'y'",
        ),
        _all("wrong_answer"),
    ),
    Case(
        "tests' own handlers hide nothing",
        "verdicts",
        _functions("import os\ndef f(x): os._exit(0)", "try: f(1)\nexcept BaseException: pass"),
        _all("exited"),
    ),
    Case(
        "expected values stay away",
        "verdicts",
        _functions(_OWN_MEMORY, "assert f(1) == 'hidden-value-42'", test_s=10),
        _ends("wrong_answer", "MemoryError", "memory", "timeout"),
    ),
    Case(
        "a loop",
        "limits",
        _functions("def f(x):\n while True: pass", "f(1)", test_s=1.0),
        _all("timeout"),
    ),
    Case(
        "a loop that catches all",
        "limits",
        _functions(
            "def f(x):\n while True:\n  try:\n   while True: pass\n  except BaseException: pass",
            "f(1)",
            test_s=1.0,
        ),
        _all("timeout"),
    ),
    Case(
        "a sleep",
        "limits",
        _functions("import time\ndef f(x): time.sleep(60)", "f(1)", test_s=0.5),
        _all("timeout"),
    ),
    Case(
        "a stop",
        "limits",
        _functions(
            "import os, signal\ndef f(x): os.kill(os.getpid(), signal.SIGSTOP)", "f(1)", test_s=0.5
        ),
        _all("timeout"),
    ),
    Case(
        "a time-out of one run only",
        "limits",
        Job(
            "if input() == 'a':\n while True: pass\nprint(1)",
            "stdio",
            ("a", "b"),
            test_s=0.5,
            job_s=3,
            outputs=(99, 99),
        ),
        lambda r: None if [x.outcome for x in r.runs] == ["timeout", "finished"] else f"{r.runs}",
    ),
    Case(
        "too much output",
        "limits",
        _script("while True: print('x' * 10000)", test_s=10),
        _ends("output_limit"),
    ),
    Case(
        "memory",
        "memory",
        _functions(
            "def f(x):\n l = []\n while True: l.append(bytearray(1 << 24))", "f(1)", test_s=10
        ),
        _all("memory"),
    ),
    Case(
        "a large file",
        "scratch",
        _script(_TRY + "print(tried(lambda: open('big', 'wb').write(bytes(1 << 28))))", test_s=5),
        _prints("False"),
    ),
    Case("many files", "scratch", _script(_MANY_FILES, test_s=20), _prints("True"), 60),
    Case(
        "the place is clean",
        "files",
        _script("import os\nprint(os.listdir('.') + os.listdir('/tmp') + os.listdir('/dev/shm'))"),
        _prints("[]"),
    ),
    Case("no network", "network", _script(_NETWORK, test_s=4), _prints("[]")),
    Case("a read-only root", "files", _script(_WRITES), _prints("[]")),
    Case(
        "no root",
        "users",
        _script(
            _TRY + "import os\nprint(os.getuid() > 0, tried(lambda: os.setuid(0)), os.getgroups())"
        ),
        _prints("True False []"),
    ),
    Case("the supervisor cannot be touched", "users", _script(_OTHERS), _prints("[]")),
    Case(
        "no capabilities, no new privileges, seccomp",
        "capabilities",
        _script(_STATUS),
        _prints("0 0 1 2"),
    ),
    Case("no dangerous system calls", "capabilities", _script(_SYSCALLS), _prints("[]")),
    Case("few processes", "processes", _script(_FORKS, test_s=5), _prints("True")),
    Case(
        "a fork bomb",
        "hostile",
        _functions(
            "import os\ndef f(x):\n while True:\n  try: os.fork()\n  except OSError: pass",
            "f(1)",
            test_s=1.0,
        ),
        _ends("timeout", "processes", "memory"),
        30,
    ),
    Case(
        "a bomb's leftovers",
        "processes",
        _script("import os\nprint(len([p for p in os.listdir('/proc') if p.isdigit()]) < 6)"),
        _prints("True"),
    ),
    Case(
        "kill all",
        "hostile",
        _functions("import ctypes\ndef f(x): ctypes.CDLL(None).kill(-1, 9)", "assert f(1) == 1"),
        _ends("killed", "exited", "wrong_answer"),
    ),
    Case(
        "and it still works",
        "runs",
        _functions("def f(x): return x + 1", "assert f(1) == 2"),
        _all("passed"),
    ),
)
"""In order: the last ones see what the ones before might have left."""


def run_suite(sandbox: Sandbox) -> Iterator[Finding]:
    """Run every case on `sandbox` that it does not declare to lack.

    Raises:
        SandboxUnavailableError: there is no sandbox to run them in.
    """
    for case in CASES:
        if case.group in sandbox.lacks:
            yield Finding(case.name, "lacks", f"{sandbox.name} does not promise: {case.group}")
            continue
        began = time.monotonic()
        wrong = case.check(sandbox.run(case.job))
        seconds = time.monotonic() - began
        yield Finding(case.name, "failed" if wrong else "passed", wrong or f"{seconds:.2f} s")
