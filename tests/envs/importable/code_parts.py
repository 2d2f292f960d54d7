"""A judge of benign programs in a bare subprocess, for tests of what stands around a judge."""

import json
import subprocess
import sys
from dataclasses import dataclass

from reasonenv.checkers.code.extract import extract_program
from reasonenv.types import Status, Verdict, thaw

RUN = """
import contextlib, io, json, sys
job = json.loads(sys.stdin.read())
out = []
for test in job["tests"]:
    space = {"__name__": "__main__" if job["kind"] == "stdio" else "program"}
    try:
        if job["kind"] == "stdio":
            data, said = io.BytesIO(test["input"].encode()), io.TextIOWrapper(io.BytesIO())
            sys.stdin = io.TextIOWrapper(data)
            with contextlib.redirect_stdout(said):
                exec(job["program"], space)
            said.flush()
            printed = said.buffer.getvalue().decode()
            right = printed.split() == test["output"].split()
            out.append(["passed" if right else "wrong_answer", printed])
            continue
        exec(job["program"], space)
        exec(job["setup"], space)
        if job["kind"] == "call":
            name, _, method = job["entry_point"].partition(".")
            function = getattr(space[name](), method) if method else space[name]
            assert function(*test["input"]) == test["output"]
        elif job["kind"] == "check":
            exec(test, space)
            space["check"](space[job["entry_point"]])
        else:
            exec(test, space)
        out.append(["passed", None])
    except AssertionError:
        out.append(["wrong_answer", None])
    except BaseException as error:
        out.append([type(error).__name__, None])
print(json.dumps(out))
"""


@dataclass(frozen=True)
class SubprocessJudge:
    """Runs what it is given: for the benign programs of these tests, and for nothing else."""

    concurrency: int = 2

    def __call__(self, problem, completion):
        meta = problem.metadata
        kind, name = meta["kind"], meta.get("entry_point")
        found = extract_program(completion, name, meta.get("prompt", ""), kind)
        if found.program is None:
            return Verdict(Status.NO_ANSWER, 0.0, None, {"reason": found.status})
        if found.status == "unparsable":
            return Verdict(Status.INCORRECT, 0.0, found.program, {"syntax_ok": False})
        job = {
            "program": found.program,
            "kind": kind,
            "tests": thaw(problem.answer),
            "entry_point": name,
            "setup": meta.get("setup", ""),
        }
        done = subprocess.run(
            [sys.executable, "-IS", "-c", RUN],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
        runs = json.loads(done.stdout)
        tests = [outcome for outcome, _ in runs]
        share = tests.count("passed") / len(tests)
        detail = {"tests": tests}
        if kind == "stdio":
            shown = next((run for run in runs if run[0] != "passed"), runs[0])
            detail["stdout"] = shown[1] or ""
        status = Status.CORRECT if share == 1 else Status.INCORRECT
        return Verdict(status, share, found.program, detail)


@dataclass(frozen=True)
class NoEngine:
    """What a judge says where there is no sandbox."""

    def __call__(self, problem, completion):
        return Verdict(Status.SANDBOX_UNAVAILABLE, 0.0, None, {"error": "no engine answers"})
