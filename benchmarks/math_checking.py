r"""How right and how fast the maths checker is, beside other checkers from PyPI, in one run.

    python benchmarks/math_checking.py [--bench ../shared/bench/math] [--peers PYTHON] [--repeats 5]

Peers are no requirement of the project: install those wanted in a virtual environment of their own
and give its interpreter; what is missing is said and left out.

    python -m venv peers
    peers/bin/pip install "math-verify[antlr4_13_2]==0.9.0" lark
    peers/bin/pip install --no-deps mathruler==0.1.0 pylatexenc tqdm verl==0.9.1

Every checker runs in a process of its own (`math_peers.py`), which is killed where a pair takes
longer than 6 s. Time is taken inside that process around the judging alone, so the pipe, the guard
and the start cost nothing; CPU seconds include those of a checker's own worker processes.

* Right: agreement with the labels of dev.jsonl and real_dev.jsonl. A pair that raised or was killed
  counts as "not accepted", as in a reward function with a fallback of 0, and in its own column.
* Fast: pairs of dev.jsonl that are not adversarial, garbage or about safety, less those on which
  any checker raised no verdict in 5 s. Each block is a fresh process, warmed up on other pairs,
  that judges every pair once, so that no cache of verdicts helps. Checkers take turns; the ratio is
  the median over blocks of ours / theirs.
* Ours alone: speed.jsonl through `reasonenv.checkers.pool` on 2 workers; the time of one verdict;
  ordinary pairs with an adversarial one after every 19; whether sympy is imported for numbers.

Printed is Markdown for benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import math
import os
import random
import select
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SERVER = Path(__file__).with_name("math_peers.py")
OURS = "reasonenv"
PEERS = ("math-verify", "mathruler (PRM800K)", "sympy parse_latex", "verl math_reward")
UNTIMED = ("sympy parse_latex",)  # a parser and no checker, at 10 pairs a second
SLOW_SECONDS = 5.0
KILL_SECONDS = 6.0
START_SECONDS = 120.0
WARM_PAIRS = 100
NOT_ORDINARY = ("adversarial", "safety", "garbage")
ONE_IN = 20
POOL_WORKERS = 2

Pair = dict[str, Any]


class Killed(Exception):
    """A checker took too long and was killed, or died."""


class Checker:
    """A checker in a killable process."""

    def __init__(self, name: str, python: str) -> None:
        self.name, self.python = name, python
        self.version = ""
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> str:
        """Start the process; return why that cannot be, or ""."""
        self.stop()
        environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
        if self.name == OURS:
            environment["PYTHONPATH"] = os.pathsep.join(
                p for p in (str(ROOT / "src"), os.environ.get("PYTHONPATH")) if p
            )
        else:
            environment.pop("PYTHONPATH", None)
        self.process = subprocess.Popen(
            [self.python, str(SERVER), self.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,  # so that its own workers can be killed with it
        )
        try:
            hello = self._read(START_SECONDS)
        except Killed:
            return "it does not start"
        self.version = hello.get("version", "")
        return hello.get("missing", "")

    def stop(self) -> None:
        """Kill the process and all that it started."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                assert pipe is not None
                pipe.close()
            self.process = None

    def ask(self, request: Pair, seconds: float) -> Pair:
        """Return the answer to a request; `Killed` where it does not come in time."""
        if self.process is None and (why := self.start()):
            raise SystemExit(f"{self.name}: {why}")
        assert self.process is not None
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
            return self._read(seconds)
        except (Killed, BrokenPipeError) as error:
            self.stop()
            raise Killed(str(error)) from error

    def _read(self, seconds: float) -> Pair:
        assert self.process is not None
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        line = self.process.stdout.readline() if ready else b""
        if not line:
            raise Killed("timeout" if not ready else "it died")
        return dict(json.loads(line))


@dataclass
class Rightness:
    """How one checker did on labelled pairs."""

    pairs: int = 0
    agree: int = 0
    accepted: int = 0  # wrong answers called right
    rejected: int = 0  # right answers called wrong
    crashes: int = 0
    slow: list[str] = field(default_factory=list)  # ids
    wrong: list[str] = field(default_factory=list)
    walls: list[float] = field(default_factory=list)


def judge_all(checker: Checker, pairs: Sequence[Pair]) -> Rightness:
    """Judge every pair once and compare with the labels."""
    result = Rightness(len(pairs))
    for pair in pairs:
        try:
            said = checker.ask(request(pair), KILL_SECONDS)
        except Killed as error:
            said = {"label": False, "error": str(error), "wall": KILL_SECONDS}
        result.walls.append(said["wall"])
        if said["error"] == "timeout" or said["wall"] > SLOW_SECONDS:
            result.slow.append(pair["id"])
        elif said["error"]:
            result.crashes += 1
        if said["label"] == pair["label"]:
            result.agree += 1
            continue
        result.wrong.append(pair["id"])
        if said["label"]:
            result.accepted += 1
        else:
            result.rejected += 1
    return result


def request(pair: Pair) -> Pair:
    """Return what a checker sees of a pair: not its label."""
    return {key: pair[key] for key in ("gold", "answer", "form")}


def message(warm: Iterable[Pair], pairs: Iterable[Pair]) -> Pair:
    """Return the request to judge a block."""
    return {"warm": [request(p) for p in warm], "block": [request(p) for p in pairs]}


def rows(folder: Path, name: str) -> list[Pair]:
    """Return the rows of a file of the benchmark."""
    try:
        text = (folder / name).read_text(encoding="utf-8")
    except OSError as error:
        raise SystemExit(
            f"{folder / name}: {error.strerror}; --bench is the folder that holds dev.jsonl, "
            "real_dev.jsonl and speed.jsonl"
        ) from error
    return [json.loads(line) for line in text.splitlines()]


def speed_pairs(folder: Path) -> list[Pair]:
    """Return the pairs of speed.jsonl: each gold with a right and with a wrong completion."""
    return [
        {"id": row["id"], "gold": row["gold"], "answer": row[key], "form": "completion"}
        for row in rows(folder, "speed.jsonl")
        for key in ("right", "wrong")
    ]


def rates(
    checkers: Sequence[Checker], warm: Sequence[Pair], pairs: Sequence[Pair], repeats: int
) -> dict[str, list[float]]:
    """Return pairs per CPU second of each checker, block by block, taking turns."""
    found: dict[str, list[float]] = {checker.name: [] for checker in checkers}
    for repeat in range(repeats):
        for checker in checkers if repeat % 2 else reversed(checkers):
            checker.start()
            try:
                said = checker.ask(message(warm, pairs), KILL_SECONDS * (len(pairs) + len(warm)))
            except Killed:
                note(f"{checker.name}: a block was lost")
                continue
            finally:
                checker.stop()
            found[checker.name].append(len(pairs) / said["cpu"])
        note(f"speed: block {repeat + 1} of {repeats}")
    return found


def ratio(ours: Iterable[float], theirs: Iterable[float]) -> str:
    """Return the median over blocks of ours / theirs."""
    each = [a / b for a, b in zip(ours, theirs, strict=False)]
    if not each:
        return "?"
    middle = statistics.median(each)
    return f"{middle:,.1f}" if middle >= 1 else f"{middle:.2g}"


def through_pool(pairs: Sequence[Pair]) -> tuple[float, list[float]]:
    """Judge pairs on a pool; return wall seconds, and the seconds of each from start to result.

    Two jobs are kept going per worker, as a trainer's threads do, so a job waits for one other.
    """
    from collections import deque

    from reasonenv.checkers import MathJudge, judge_safely
    from reasonenv.checkers.pool import WorkerPool
    from reasonenv.types import Problem

    judge, seconds = MathJudge(), []
    with WorkerPool(workers=POOL_WORKERS) as pool:
        for _ in pool.map(judge_safely, [judge] * 8, [Problem("?", "1")] * 8, ["1"] * 8):
            pass  # the workers are started
        going: deque[tuple[float, Any]] = deque()
        began = time.perf_counter()
        for pair in pairs:
            if len(going) >= 2 * POOL_WORKERS:
                sent, future = going.popleft()
                future.result()
                seconds.append(time.perf_counter() - sent)
            problem = Problem("?", pair["gold"])
            going.append(
                (
                    time.perf_counter(),
                    pool.submit(judge_safely, judge, problem, pair["answer"]),
                )
            )
        for sent, future in going:
            future.result()
            seconds.append(time.perf_counter() - sent)
        return time.perf_counter() - began, seconds


def interleaved(ordinary: Sequence[Pair], others: Sequence[Pair]) -> list[Pair]:
    """Return ordinary pairs with one of the others after every 19."""
    mixed: list[Pair] = []
    for number, other in enumerate(others):
        mixed += ordinary[number * (ONE_IN - 1) : (number + 1) * (ONE_IN - 1)]
        mixed.append(other)
    return mixed


def slow_down(
    checker: Checker, warm: Sequence[Pair], ordinary: Sequence[Pair], others: Sequence[Pair], n: int
) -> tuple[float, float]:
    """Return by how much ordinary verdicts are slower among adversarial ones, and whole runs.

    Both are ratios of wall time in fresh processes: of the ordinary pairs alone, each at the best
    of `n` runs (what else the machine does only ever adds), and of everything, the best run's.
    """
    mixed = interleaved(ordinary, others)
    strangers = {id(pair) for pair in others}
    plain = [pair for pair in mixed if id(pair) not in strangers]
    best: dict[bool, list[float]] = {False: [], True: []}  # of each ordinary verdict
    whole: dict[bool, float] = {False: math.inf, True: math.inf}
    for repeat in range(n):
        for among in (False, True) if repeat % 2 else (True, False):
            pairs = mixed if among else plain
            checker.start()
            said = checker.ask(message(warm, pairs), KILL_SECONDS * len(pairs))
            each = [
                seconds
                for seconds, pair in zip(said["each"], pairs, strict=True)
                if id(pair) not in strangers
            ]
            best[among] = [min(pair) for pair in zip(each, best[among] or each, strict=True)]
            whole[among] = min(whole[among], said["wall"])
    checker.stop()
    return sum(best[True]) / sum(best[False]), whole[True] / whole[False]


def imports_sympy(golds: Sequence[str]) -> str:
    """Say which heavy modules a fresh process has after judging plain numbers."""
    code = (
        "import json, sys; from reasonenv.checkers import MathJudge; from reasonenv.types import "
        "Problem; judge = MathJudge()\n"
        "for gold in json.load(sys.stdin): judge(Problem('?', gold), f'So \\\\boxed{{{gold}}}.')\n"
        "print(*[m for m in ('sympy', 'mpmath') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(golds).encode(),
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    return done.stdout.decode().strip() or "none"


def quantile(values: Sequence[float], share: float) -> float:
    """Return a quantile of values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def note(text: str) -> None:
    """Tell a person who waits."""
    print(text, file=sys.stderr, flush=True)


def table(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    body = [
        "| " + " | ".join(map(str, line)) + " |" for line in (head, ["---"] * len(head), *lines)
    ]
    return "\n".join(body)


def percent(part: int, whole: int) -> str:
    """Return a share in per cent."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


def right_row(checker: Checker, name: str, result: Rightness) -> list[object]:
    """Return the row of the first table."""
    return [
        f"{checker.name} {checker.version}",
        f"{name} ({result.pairs})",
        percent(result.agree, result.pairs),
        result.accepted,
        result.rejected,
        result.crashes,
        len(result.slow),
        f"{max(result.walls):.2f}",
    ]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bench", type=Path, default=ROOT.parent / "shared" / "bench" / "math")
    parser.add_argument("--peers", default=sys.executable, help="the interpreter that has them")
    parser.add_argument("--repeats", type=int, default=5, help="blocks of each speed figure")
    parser.add_argument("--limit", type=int, default=None, help="only so many pairs, for a try")
    parser.add_argument("--only", nargs="*", choices=PEERS, help="these peers; all unless given")
    parser.add_argument("--show", action="store_true", help="name the pairs that ours gets wrong")
    arguments = parser.parse_args()
    folder = arguments.bench
    dev = rows(folder, "dev.jsonl")[: arguments.limit]
    real = [
        {**r, "answer": r["completion"], "label": r["expected"], "form": "completion"}
        for r in rows(folder, "real_dev.jsonl")
    ][: arguments.limit]
    speed = speed_pairs(folder)
    sys.path.insert(0, str(ROOT / "src"))
    load = os.getloadavg()

    checkers, missing = [], []
    for name in (OURS, *(PEERS if arguments.only is None else arguments.only)):
        checker = Checker(name, sys.executable if name == OURS else arguments.peers)
        why = checker.start()
        if why and name == OURS:
            raise SystemExit(f"{OURS}: {why}")
        if why:
            missing.append(f"{name} ({why})")
        else:
            checkers.append(checker)

    right, slow, wrong = [], set(), []
    for checker in checkers:
        for name, pairs in (("dev", dev), ("real_dev", real)):
            result = judge_all(checker, pairs)
            right.append(right_row(checker, name, result))
            slow |= set(result.slow)
            if checker.name == OURS:
                wrong += result.wrong
        checker.stop()
        note(f"{checker.name}: judged")

    ordinary = [p for p in dev if p["category"] not in NOT_ORDINARY and p["id"] not in slow]
    sampled = random.Random(0).sample(speed, min(400, len(speed)))
    warm = [p for p in speed if p not in sampled][:WARM_PAIRS]
    timed = [checker for checker in checkers if checker.name not in UNTIMED]
    columns = [rates(timed, warm, pairs, arguments.repeats) for pairs in (ordinary, sampled)]
    fast = []
    for checker in timed:
        line: list[object] = [f"{checker.name} {checker.version}"]
        for found in columns:
            own, base = found[checker.name], found[OURS]
            line += [f"{statistics.median(own):,.0f}" if own else "-", ratio(base, own)]
        fast.append(line)

    ours = checkers[0]
    facts: list[list[object]] = []
    walls = []
    for repeat in range(arguments.repeats):
        ours.start()
        said = ours.ask(message(warm, speed), KILL_SECONDS * len(speed))
        walls.append((len(speed) / said["wall"], said["each"]))
        note(f"speed.jsonl in one process: {repeat + 1} of {arguments.repeats}")
    ours.stop()
    each = [t for _, times in walls for t in times]
    facts.append(
        ["speed.jsonl, pairs per second in one process", f"{median(w[0] for w in walls):,.0f}"]
    )
    facts.append(
        [
            "one verdict: p50 / p99 / longest",
            " / ".join(
                f"{1e3 * t:.2f} ms" for t in (*(quantile(each, q) for q in (0.5, 0.99)), max(each))
            ),
        ]
    )
    try:
        pooled = [through_pool(speed) for _ in range(arguments.repeats)]
    except ImportError as error:
        facts.append(["speed.jsonl through the pool", f"not measured: {error}"])
    else:
        times = [t for _, of in pooled for t in of]
        rate = median(len(speed) / wall for wall, _ in pooled)
        facts.append(
            [
                f"speed.jsonl through the pool on {POOL_WORKERS} workers, pairs per second",
                f"{rate:,.0f}",
            ]
        )
        facts.append(
            [
                "one verdict through the pool: p50 / p99",
                " / ".join(f"{1e3 * quantile(times, q):.2f} ms" for q in (0.5, 0.99)),
            ]
        )
    others = [p for p in dev if p["category"] in ("adversarial", "safety")]
    if others:
        alone, whole = slow_down(ours, warm, speed, others, arguments.repeats)
        facts.append(
            [
                f"slow-down of ordinary verdicts with 1 in {ONE_IN} adversarial",
                f"{alone:.2f} times",
            ]
        )
        facts.append(["the whole run, the adversarial verdicts included", f"{whole:.2f} times"])
    numbers = [p["gold"] for p in speed if p["gold"].lstrip("-").isdigit()]
    facts.append(
        [f"of sympy, mpmath imported by {len(numbers)} integer answers", imports_sympy(numbers)]
    )

    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    now = os.getloadavg()
    print(
        f"`benchmarks/math_checking.py`, {today}, {os.cpu_count()} CPUs, load {load[0]:.1f} at the "
        f"start and {now[0]:.1f} at the end, Python {sys.version.split()[0]}, "
        f"{arguments.repeats} blocks a figure.\n"
    )
    if missing:
        print(f"Not installed, so not measured: {'; '.join(missing)}.\n")
    head = ["checker", "pairs", "agrees", "wrong accepted", "right rejected", "raised"]
    print(table([*head, "over 5 s", "longest (s)"], right) + "\n")
    head = ["checker", f"dev, {len(ordinary)} ordinary pairs: per CPU second", "ours / its"]
    print(table([*head, f"speed, {len(sampled)} pairs: per CPU second", "ours / its"], fast))
    print("\n" + table(["ours", ""], facts))
    if arguments.show:
        print(f"\nwrong: {' '.join(wrong)}")
    return 0


def median(values: Iterable[float]) -> float:
    """Return the median."""
    return statistics.median(values)


if __name__ == "__main__":
    sys.exit(main())
