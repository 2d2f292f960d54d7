"""The judge of programs: a problem with tests and a completion in, a verdict out."""

from __future__ import annotations

from dataclasses import dataclass

from reasonenv.checkers.code.extract import extract_program
from reasonenv.checkers.code.run import _failed, judge_program
from reasonenv.sandbox import SandboxConfig, get_sandbox
from reasonenv.types import Problem, Verdict

__all__ = ["CodeJudge"]


@dataclass(frozen=True)
class CodeJudge:
    """Extracts the program in a completion and runs the problem's tests on it.

    `problem.answer` holds the tests; `problem.metadata` says how they are run: `kind` ("assert",
    "check", "call", "stdio"), `entry_point`, `setup`, `prompt`, `checker`, `tol`, `time_limit_s`,
    `in_process` (an untrusted mode, see `judge_program`).
    It pickles; each process has its own sandboxes, shared by all judges with the same settings.

    Args:
        backend: the sandbox's name: "docker", or "unsafe-local", which isolates nothing.
        stop_at_first: run no test after one that failed.
        config: the sandbox's limits; None takes the defaults.
    """

    backend: str = "docker"
    stop_at_first: bool = False
    config: SandboxConfig | None = None

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        """Return the verdict on `completion`.

        Raises:
            DataError: tests or limits that are none; `reasonenv check` finds such problems.
        """
        about = problem.metadata
        kind = str(about.get("kind") or "assert")
        entry_point = about.get("entry_point")
        prompt = about.get("prompt") or ""
        found = extract_program(completion, entry_point, prompt, kind)
        if found.program is None or not found.program.strip():
            failure = "too_long" if found.status == "too_long" else "no_code"
            return _failed(failure, None, len(problem.answer), extraction=found.status)
        return judge_program(
            found.program,
            problem.answer,
            kind,
            entry_point,
            setup=about.get("setup") or "",
            prompt=prompt,
            checker=about.get("checker"),
            tol=about.get("tol"),
            time_limit_s=about.get("time_limit_s"),
            stop_at_first=self.stop_at_first,
            in_process=about.get("in_process") is True,
            sandbox=get_sandbox(self.backend, self.config),
        )
