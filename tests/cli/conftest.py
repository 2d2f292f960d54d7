"""Runs the command line: in this process, or as a person would."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from reasonenv.cli import main

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture
def reasonenv_cli(capsys):
    """Run `reasonenv ARGS` in this process; return status, out and err."""

    def run(*args):
        with pytest.raises(SystemExit) as caught:
            main([str(arg) for arg in args])
        printed = capsys.readouterr()
        code = caught.value.code
        return SimpleNamespace(code=0 if code is None else code, out=printed.out, err=printed.err)

    return run


@pytest.fixture
def shell():
    """Run `python -m reasonenv ARGS` in a process of its own."""

    def run(*args, **env):
        done = subprocess.run(
            [sys.executable, "-m", "reasonenv", *map(str, args)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **env},
            capture_output=True,
            check=False,
        )
        return SimpleNamespace(
            code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode()
        )

    return run


@pytest.fixture
def sums_file(tmp_path):
    """Return a file that registers acme/Good-v0, acme/Bad-v0 and acme/NoJudge-v0."""
    file = tmp_path / "cli_sums.py"
    file.write_text(
        """
import reasonenv
from reasonenv import Problem, ReasoningEnv, Status, Verdict
from reasonenv.checkers import MathJudge


class Anything:
    def __call__(self, problem, completion):
        return Verdict(Status.CORRECT, 1.0)


SUMS = [Problem(f"{i}+{i}=", str(2 * i)) for i in range(1, 13)]
reasonenv.register("acme/Good-v0", problems=SUMS, description="[b]Sums[/] :100:")
reasonenv.register("acme/Bad-v0", problems=SUMS, judge=Anything())
reasonenv.register("acme/NoJudge-v0", ReasoningEnv, problems=SUMS)
reasonenv.register(
    "acme/Odd-v0", problems=[Problem("is [/b] 1:100: \\ud800 漢 [red]?", "1", id="[/x]")]
)
reasonenv.register("acme/Greedy-v0", problems=SUMS, reward="Correct() + 2.0 * Format('answer')",
                   layout={"reasoning": None})
"""
    )
    return file
