"""The attack suite's `after` conditions, each as a check around one judged program."""

from __future__ import annotations

import json
import math
import os
import shutil
import socket
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reasonenv.checkers.code.run import DEFAULT_TIME_LIMIT_S, MAX_RUNS_AT_LIMIT, judge_program
from reasonenv.sandbox import Job
from reasonenv.types import Verdict

DATA = Path(__file__).parents[1] / "data" / "code"
OK_A = {
    "program": "def double(n):\n    return n * 2\n",
    "tests": ["assert double(2) == 4", "assert double(-3) == -6"],
    "kind": "assert",
    "entry_point": "double",
}
PROBE = r"""
import builtins, os, resource, sys
def probe():
    names = sorted(n for n in vars(resource) if n.startswith("RLIMIT_"))
    return {
        "cwd": sorted(os.listdir(".")), "tmp": sorted(os.listdir("/tmp")),
        "shm": sorted(os.listdir("/dev/shm")), "mqueue": sorted(os.listdir("/dev/mqueue")),
        "path": list(sys.path), "env": sorted(os.environ.items()),
        "umask": os.umask(0o22), "nice": os.nice(0),
        "affinity": sorted(os.sched_getaffinity(0)),
        "rlimits": [(n, resource.getrlimit(getattr(resource, n))) for n in names],
        "modules": sorted(sys.modules), "builtins": sorted(vars(builtins)),
        "sysv": [open("/proc/sysvipc/" + k).read().count("\n") for k in ("shm", "msg", "sem")],
        "digits": sys.get_int_max_str_digits(), "cwd_name": os.getcwd(),
    }
def processes():
    found = []
    for pid in os.listdir("/proc"):
        if pid.isdigit():
            try: found.append((int(pid), open(f"/proc/{pid}/stat").read().split(")")[1].split()[0],
                open(f"/proc/{pid}/comm").read().strip()))
            except OSError: pass
    return found
def exists(path):
    return os.path.lexists(path)
"""


def cases(name: str) -> list[dict[str, Any]]:
    with open(DATA / name, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def probe(pool: Any) -> dict[str, Any]:
    """What a program sees, asked of the pool's one sandbox by a test that carries it out."""
    return ask(pool, "probe()")


def ask(pool: Any, call: str) -> Any:
    """Evaluate a call in a program's process and return its value."""
    program = f"{PROBE}\nimport json\nprint(json.dumps({call}, sort_keys=True))"
    (run,) = pool.run(Job(program, "stdio", ("",), outputs=(1 << 20,))).runs
    assert run.outcome == "finished", run
    return json.loads(run.stdout)


def host_memory_available() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable"):
            return int(line.split()[1]) * 1024
    return 0


def rss() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@dataclass
class Watch:
    """What is measured on the host while one program is judged."""

    low: int = field(default_factory=host_memory_available)
    start: int = field(default_factory=host_memory_available)
    rss0: int = field(default_factory=rss)
    rss_top: int = 0
    disk0: int = field(default_factory=lambda: shutil.disk_usage("/").used)
    seconds: float = 0.0

    def __enter__(self) -> Watch:
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()
        self.began = time.monotonic()
        return self

    def _look(self) -> None:
        while not self.stop.wait(0.02):
            self.low = min(self.low, host_memory_available())
            self.rss_top = max(self.rss_top, rss())

    def __exit__(self, *_: object) -> None:
        self.seconds = time.monotonic() - self.began
        self.stop.set()
        self.thread.join()


CLASSES = {"no_code", "syntax_error", "entry_point_missing", "runtime_error", "crash", "killed"}


def judged(case: dict[str, Any], problems: dict[str, Any], pool: Any) -> Verdict:
    problem = problems[case["problem"]]
    tests = [
        t if isinstance(t, str) else {**t, "input": t["input"].replace("@5MB", "7 " * 2500000)}
        for t in problem["tests"]
    ]
    return judge_program(
        case["program"],
        tests,
        problem["kind"],
        problem.get("entry_point"),
        checker=problem.get("checker"),
        tol=problem.get("tol"),
        sandbox=pool,
    )


def broken(case: dict[str, Any], verdict: Verdict, watch: Watch, env: Any) -> list[str]:
    """Return the conditions that do not hold after `case`, in words."""
    wrong: list[str] = []

    def want(name: str, holds: bool, seen: Any = "") -> None:
        if not holds:
            wrong.append(f"{name}: {str(seen)[:300]}")

    expect, text = case["expect"], json.dumps(_plain(verdict.detail))
    want("evidence", verdict.status.is_evidence, (verdict.status, verdict.detail))
    if expect["reward"] == "pass":
        want("reward_pass", verdict.correct is True, verdict)
    else:
        want("reward_fail", verdict.correct is False, verdict)
        want("max_fraction", verdict.score <= expect["max_fraction"], verdict.score)
        if expect["class_any"]:
            failure = verdict.detail.get("failure")
            want("class_any", failure in expect["class_any"], (failure, verdict.detail))
    n_runs = len(env.problems[case["problem"]]["tests"])
    stdio = env.problems[case["problem"]]["kind"] == "stdio"
    limit = DEFAULT_TIME_LIMIT_S * (min(n_runs, MAX_RUNS_AT_LIMIT) if stdio else 1)
    for condition in dict.fromkeys(case["after"]):
        name, _, rest = condition.partition(":")
        if name == "wall_le_limit_plus_3s" or name == "total_wall_le_job_limit":
            want(condition, watch.seconds <= limit + 3 + env.slack, watch.seconds)
        elif name in ("probe_ok", "host_alive"):
            good = judge_program(sandbox=env.pool, **OK_A)
            want(condition, good.correct is True, good)
        elif name == "clean_probe":
            seen = probe(env.pool)
            differs = {k: v for k, v in seen.items() if v != env.baseline[k]}
            want(condition, not differs, differs)
        elif name == "no_leftover":
            seen = ask(env.pool, "processes()")
            left = [p for p in seen if p[2].startswith("RE_ATK") or p[2] in ("sleep", "sh")]
            want(condition, len(seen) <= env.processes and not left, seen)
        elif name == "no_file":
            want(condition, ask(env.pool, f"exists({rest!r})") is False)
        elif name == "no_file_host":
            want(condition, not os.path.lexists(rest))
        elif name == "no_leak":
            want(condition, "zq-" not in text, text)
        elif name == "no_leak_env":
            want(condition, env.secret not in text and "canary-text" not in text, text)
        elif name == "no_conn":
            want(condition, not env.listener.seen, env.listener.seen)
        elif name == "output_capped":
            want(condition, len(text) <= 1 << 20, len(text))
            want(condition, watch.rss_top - watch.rss0 < 200e6, watch.rss_top - watch.rss0)
        elif name == "mem_capped":
            dip = watch.start - watch.low
            want(condition, dip <= env.memory + 200e6 + env.memory_slack, dip)
        elif name == "disk_capped":
            want(condition, shutil.disk_usage("/").used - watch.disk0 < 100e6 + env.memory_slack)
        elif name == "no_core":
            want(condition, not any("core" in n for n in probe(env.pool)["cwd"]))
        elif name == "stdout_lacks":
            want(condition, rest not in verdict.detail.get("stdout", ""), verdict.detail)
        elif name == "reward_finite_in_0_1":
            want(condition, math.isfinite(verdict.score) and 0 <= verdict.score <= 1)
        elif name == "no_sysv_ipc":
            want(condition, probe(env.pool)["sysv"] == env.baseline["sysv"])
        elif name == "caps_zero_nnp_1_seccomp_2":
            pass  # tests/sandbox/test_restrictions.py looks at this once for all
        elif name != "reward_fail":
            want(f"unknown condition {condition}", False)
    return wrong


def _plain(value: Any) -> Any:
    from reasonenv.types import thaw

    return thaw(value)


class Listener:
    """A port on the host that nobody may reach."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                self.seen.append(self.socket.accept()[1])
            except OSError:
                return
