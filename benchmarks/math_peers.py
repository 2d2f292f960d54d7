r"""One maths checker in a process of its own, for `math_checking.py`, which may kill it.

    python math_peers.py NAME

Runs in any interpreter that has the checker; imports nothing else. Reads one request a line, a JSON
object, from stdin and answers each by one line on stdout:

* {"gold", "answer", "form"}: the verdict {"label", "error", "wall"};
* {"warm": pairs, "block": pairs}: {"cpu", "wall", "each"} of the block, judged once after the
  warm-up; "each" is the wall seconds of each pair.

CPU seconds are those of this process and of its own worker processes, read before and after the
block: what the pipe, the guard and the start cost is not in them.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Check = Callable[[str, str, str], bool]  # gold, answer, form ("bare" or "completion")


def ours() -> Check:
    """reasonenv: a bare answer by `judge_answer`, a completion by `MathJudge`."""
    from reasonenv.checkers import MathJudge, judge_answer
    from reasonenv.types import Problem

    judge = MathJudge()

    def check(gold: str, answer: str, form: str) -> bool:
        if form == "bare":
            verdict = judge_answer(gold, answer)
        else:
            verdict = judge(Problem("?", gold), answer)
        return verdict.correct is True

    return check


def math_verify() -> Check:
    """math-verify with its defaults; a bare text becomes mathematics by dollar signs."""
    import logging

    from math_verify import parse, verify

    logging.disable(logging.CRITICAL)

    def maths(text: str) -> str:
        return text if "$" in text or "\\boxed" in text else f"${text}$"

    def check(gold: str, answer: str, form: str) -> bool:
        target = parse(maths(gold))
        return bool(verify(target, parse(maths(answer) if form == "bare" else answer)))

    return check


def mathruler() -> Check:
    """mathruler: OpenAI's grader of PRM800K, with the last box of a completion."""
    from mathruler.grader import extract_boxed_content, grade_answer

    def check(gold: str, answer: str, form: str) -> bool:
        given = answer if form == "bare" else extract_boxed_content(answer)
        return bool(grade_answer(given, gold))

    return check


def verl() -> Check:
    """Take math_reward of verl: equal normalised strings, with the last box of a completion."""
    spec = importlib.util.find_spec("verl")  # importing all of verl needs torch and ray
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("no verl")
    path = Path(spec.submodule_search_locations[0]) / "utils/reward_score/math_reward.py"
    found = importlib.util.spec_from_file_location("math_reward", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)

    def check(gold: str, answer: str, form: str) -> bool:
        if form != "bare":
            box = module.last_boxed_only_string(answer)
            if box is None:
                return False
            answer = module.remove_boxed(box)
        return bool(module.is_equiv(answer, gold))

    return check


def sympy_latex() -> Check:
    """sympy.parse_latex on both sides and `simplify` of the difference; the last box."""
    import lark  # noqa: F401 - the back end: say at the start that it is missing
    import sympy
    from sympy.parsing.latex import parse_latex

    def check(gold: str, answer: str, form: str) -> bool:
        if form != "bare":
            answer = answer.rpartition("\\boxed{")[2].rpartition("}")[0]
        sides = [parse_latex(text, backend="lark") for text in (gold, answer)]
        return sides[0] == sides[1] or sympy.simplify(sides[0] - sides[1]) == 0

    return check


CHECKERS: dict[str, tuple[str, Callable[[], Check]]] = {
    "reasonenv": ("reasonenv", ours),
    "math-verify": ("math-verify", math_verify),
    "mathruler (PRM800K)": ("mathruler", mathruler),
    "sympy parse_latex": ("sympy", sympy_latex),
    "verl math_reward": ("verl", verl),
}
"""Name -> distribution on PyPI, and what makes the checker."""


def children(pid: int) -> list[int]:
    """Return the ids of the processes below `pid` (Linux)."""
    parents: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                stat = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended
            parents.setdefault(int(stat[1]), []).append(int(entry.name))
    below, todo = [], [pid]
    while todo:
        todo += (found := parents.get(todo.pop(), []))
        below += found
    return below


def worker_cpu() -> float:
    """Return the CPU seconds of worker processes, ended or not, in the clock's ticks of 10 ms."""
    ended = os.times()
    total = ended.children_user + ended.children_system
    for pid in children(os.getpid()):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, stat[11:15])) / os.sysconf("SC_CLK_TCK")
    return total


def one(check: Check, pair: dict[str, str]) -> dict[str, Any]:
    """Judge one pair; an exception is part of the answer."""
    began = time.perf_counter()
    try:
        label, error = check(pair["gold"], pair["answer"], pair["form"]), ""
    except Exception as raised:
        label, error = False, f"{type(raised).__name__}: {raised}"[:200]
    return {"label": label, "error": error, "wall": time.perf_counter() - began}


def block(check: Check, request: dict[str, Any]) -> dict[str, Any]:
    """Judge a block of pairs once, after others that warm the checker up."""
    for pair in request["warm"]:
        one(check, pair)
    began = time.perf_counter(), time.process_time(), worker_cpu()
    each = [one(check, pair)["wall"] for pair in request["block"]]
    cpu = time.process_time() - began[1]
    wall = time.perf_counter() - began[0]
    return {"cpu": cpu + worker_cpu() - began[2], "wall": wall, "each": each}


def main() -> None:
    """Serve requests until stdin ends."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a checker prints must not pass for an answer
    name, make = CHECKERS[sys.argv[1]]
    try:
        check = make()
    except ImportError as error:
        print(json.dumps({"missing": str(error)}), file=out, flush=True)
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        of = version(name)
    except PackageNotFoundError:
        of = "this tree"
    print(json.dumps({"version": of}), file=out, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        answer = block(check, request) if "block" in request else one(check, request)
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main()
