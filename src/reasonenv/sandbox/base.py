"""What a sandbox is: a job in, a result out; programs are never trusted and never raise here.

* `Job`: a program, its tests, and its limits; `JobResult`: what became of them.
* `SandboxConfig`: the limits and sizes of a back end, one named value for each.
* `Sandbox`: the interface that back ends share.
"""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

from reasonenv.sandbox.image.words import words_of

__all__ = [
    "IMAGE_VARIABLE",
    "Job",
    "JobResult",
    "Sandbox",
    "SandboxConfig",
    "ScriptRun",
    "default_size",
]

MIB = 1 << 20

IMAGE_VARIABLE = "REASONENV_SANDBOX_IMAGE"
"""Names the image that configurations take which name none."""


def default_image() -> str:
    """Return the image's name: `IMAGE_VARIABLE`'s, or the usual one."""
    return os.environ.get(IMAGE_VARIABLE) or "reasonenv-sandbox:python"


MAX_SHOWN_CHARS = 300
"""How much is kept of what a program returned."""


def default_size() -> int:
    """Return how many sandboxes this process keeps: its share of the cores, 1 to 32."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "1")
    return max(1, min(32, (cores or 1) // max(1, int(ranks) if ranks.isdigit() else 1)))


_READ_HERE = 20_000
"""Longer tests are left to the sandbox: reading one would hold up all other threads."""


@lru_cache(maxsize=16384)
def _words(test: str) -> tuple[list[str], list[str]] | None:
    """Return what a test uses; None where only the sandbox's interpreter may be able to say."""
    if len(test) > _READ_HERE:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return words_of(test)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@dataclass(frozen=True)
class SandboxConfig:
    """How a back end is set up. Every limit is on by default.

    Args:
        image: the image's name, for back ends that have images; `REASONENV_SANDBOX_IMAGE` names
            another default.
        size: how many jobs run at a time; 0 takes this process' share of the cores.
        memory_bytes: address space of the program's process; the container gets a quarter GiB more.
        scratch_bytes: room for files, in memory, for each of the places a program may write to.
        file_bytes: the largest single file.
        processes: processes and threads of the program.
        cpus: cores that one program may use at a time; its sandbox gets a quarter core more.
        recycle_after: jobs after which a sandbox is replaced by a fresh one.
        idle_s: seconds that a program may be idle beyond its CPU limit.
        overload_s: wall seconds, at least, after which a job is given up as no evidence.
        runtime: the engine's runtime, such as `runsc` (gVisor); None takes the engine's default.
        cpu_shares: weight among the machine's processes, of which each has 1024. It counts where
            the engine manages cgroups itself; elsewhere all containers together weigh as one.
        start_s: seconds that a sandbox may take to start.
    """

    image: str = field(default_factory=default_image)
    size: int = 0
    memory_bytes: int = 512 * MIB
    scratch_bytes: int = 64 * MIB
    file_bytes: int = 64 * MIB
    processes: int = 64
    cpus: float = 1.0
    recycle_after: int = 1000
    idle_s: float = 1.0
    overload_s: float = 60.0
    runtime: str | None = None
    cpu_shares: int = 8192
    start_s: float = 60.0


@dataclass(frozen=True)
class Job:
    """One program and its tests.

    Args:
        program: the source.
        kind: "assert", "check" or "call" (functions), or "stdio".
        tests: statements; sources that define `check`; `{"input", "output"}`; for stdio the
            inputs alone: expected outputs never leave the host.
        entry_point: the function that the tests call.
        setup: a source run in the tests' process, before them.
        helpers: another one, run before that: what the problem's prompt defines.
        prefix: imports run in the program's process, before it.
        test_s: CPU seconds for one test (and for loading the program).
        job_s: CPU seconds for all.
        output_bytes: standard output that is read before the program is stopped.
        outputs: the same, for each input of a stdio job.
        stop_at_first: leave the tests after the first failure.
        tol: relative tolerance of "call" tests; None compares exactly.
    """

    program: str
    kind: str
    tests: tuple[Any, ...]
    entry_point: str | None = None
    setup: str = ""
    helpers: str = ""
    prefix: str = ""
    test_s: float = 4.0
    job_s: float = 8.0
    output_bytes: int = 16 * MIB
    outputs: tuple[int, ...] = ()
    stop_at_first: bool = False
    tol: float | None = None

    def hard_s(self, config: SandboxConfig) -> float:
        """Wall seconds after which the machine, not the program, is to blame."""
        return max(config.overload_s, 8 * self.job_s)

    def frames(self, config: SandboxConfig) -> tuple[bytes, bytes, bytes]:
        """Return what goes to a supervisor: header, program, tests."""
        header = {
            "kind": self.kind,
            "n_tests": len(self.tests),
            "test_s": self.test_s,
            "job_s": self.job_s,
            "idle_s": config.idle_s,
            "hard_s": self.hard_s(config),
            "memory": config.memory_bytes,
            "file_bytes": config.file_bytes,
            "processes": config.processes,
            "output": self.output_bytes,
            "outputs": self.outputs,
            "prefix": self.prefix,
            "stop_at_first": self.stop_at_first,
        }
        spec: Any = self.tests
        if self.kind != "stdio":
            spec = {
                "kind": self.kind,
                "tests": self.tests,
                "words": [_words(test) if isinstance(test, str) else None for test in self.tests],
                "entry_point": self.entry_point,
                "setup": self.setup,
                "helpers": self.helpers,
                "stop_at_first": self.stop_at_first,
                "tol": self.tol,
            }
        program = self.program.encode("utf-8", "surrogatepass")
        return json.dumps(header).encode(), program, json.dumps(spec).encode()


@dataclass(frozen=True)
class ScriptRun:
    """One run of a program on one input: `outcome` is "finished", or what went wrong."""

    outcome: str
    stdout: bytes
    stderr: bytes
    cpu_seconds: float


@dataclass(frozen=True)
class JobResult:
    """What became of a job.

    Args:
        outcomes: one for each test that calls functions: "passed", "wrong_answer", "timeout",
            "memory", "output_limit", "killed", "crash", "exited", "not_run", or the class of an
            exception.
        returned: for each such test a short text of what the program returned last, where that
            was a wrong answer and one of the first; for people, never believed.
        runs: one for each input of a stdio job that was run.
        bad_test: what is wrong with the tests themselves, None where nothing is.
        stdout, stderr: heads of what the program wrote.
        overload: the machine was too busy to decide: no evidence about the program.
        cpu_seconds, peak_memory_bytes: what the job took.
    """

    outcomes: tuple[str, ...] = ()
    returned: tuple[str | None, ...] = ()
    runs: tuple[ScriptRun, ...] = ()
    bad_test: str | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    overload: bool = False
    cpu_seconds: float = 0.0
    peak_memory_bytes: int | None = None

    @classmethod
    def parse(cls, data: bytes, n_tests: int) -> JobResult:
        """Return the result that a supervisor wrote.

        Raises:
            ValueError: it is not one, or reports on another number of tests.
        """
        raw = json.loads(data)
        runs = tuple(
            ScriptRun(
                run["outcome"],
                run["stdout"].encode("latin-1"),
                run["stderr"].encode("latin-1"),
                float(run["cpu"]),
            )
            for run in raw.get("runs", ())
        )
        outcomes = tuple(map(str, raw.get("outcomes", ())))
        if (outcomes and len(outcomes) != n_tests) or len(runs) > n_tests:
            raise ValueError(f"a result on {len(outcomes) or len(runs)} tests of {n_tests}")
        bad = raw.get("bad")
        return cls(
            outcomes=outcomes,
            returned=tuple(
                None if text is None else str(text)[:MAX_SHOWN_CHARS]
                for text in raw.get("returned", ())[:n_tests]
            ),
            runs=runs,
            bad_test=None if bad is None else f"test {bad[0]}: {bad[1]}",
            stdout=raw.get("stdout", "").encode("latin-1"),
            stderr=raw.get("stderr", "").encode("latin-1"),
            overload=bool(raw["overload"]),
            cpu_seconds=float(raw["cpu"]),
            peak_memory_bytes=int(raw["rss"]) or None,
        )


@runtime_checkable
class Sandbox(Protocol):
    """Runs jobs, several at a time, from any thread."""

    name: str
    lacks: frozenset[str]
    """What of the conformance suite this back end does not promise."""

    def run(self, job: Job) -> JobResult:
        """Run `job` and return what became of it.

        A program that fails, loops, floods, forks or kills itself is a result, never an error.

        Raises:
            SandboxUnavailableError: no sandbox can be had (no engine, no image).
            SandboxFailedError: two sandboxes in a row broke under this job: no evidence.
        """
        ...

    def close(self) -> None:
        """Stop every sandbox; nothing is left."""
        ...


class SandboxFailedError(RuntimeError):
    """Raised when sandboxes broke while they ran a job, which says nothing about the program."""


@dataclass
class Tail:
    """The last bytes of a stream, for messages."""

    data: bytearray = field(default_factory=bytearray)
    keep: int = 2000

    def add(self, part: bytes) -> None:
        """Append `part` and forget what is too old."""
        self.data += part
        del self.data[: -self.keep]

    def __str__(self) -> str:
        return self.data.decode("utf-8", "replace").strip()
