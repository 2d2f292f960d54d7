"""`run_study`: runs what is not there yet, so many at a time, and writes the report."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import yaml

from reasonenv.errors import StudyError
from reasonenv.files import write_atomic
from reasonenv.studies.executors import Executor, executor_of
from reasonenv.studies.job import STOPPED
from reasonenv.studies.plan import Plan, PlannedRun
from reasonenv.studies.progress import Progress
from reasonenv.studies.spec import StudySpec
from reasonenv.studies.store import StudyDir, lock

__all__ = ["Runner", "StudyResult", "run_study", "whole_study"]

_PAUSE = 0.2  # seconds between looks at the runs


@dataclass(frozen=True, slots=True)
class StudyResult:
    """What came of a study.

    Attributes:
        out: its directory.
        finished: names of the runs that are done, those of earlier calls among them.
        failed: names of the runs that failed, or could not start since one that they need failed.
        stopped: whether it was asked to stop before all runs were done.
        report: the Markdown report; None where the study was stopped before any run finished.
        finding: the one sentence that the report begins with.
    """

    out: Path
    finished: tuple[str, ...]
    failed: tuple[str, ...]
    stopped: bool
    report: Path | None
    finding: str


class Runner:
    """Runs planned runs through an executor, never more at a time than the study's workers.

    Args:
        study: its directory.
        executor: starts them.
        workers: how many at a time.
        tell: is called with a line for each start and end.
    """

    def __init__(
        self, study: StudyDir, executor: Executor, workers: int, tell: Callable[[str], None]
    ) -> None:
        self._study, self._executor, self._workers, self._tell = study, executor, workers, tell
        self.stopped = False

    def run(self, runs: Sequence[PlannedRun]) -> None:
        """Run those that are not finished; failed ones are tried again, their dependents wait.

        It returns once all have ended, or, after `stopped` was set, once those that ran have.
        """
        study = self._study
        waiting = []
        for run in runs:
            if study.state(run.name) == "finished":
                continue
            study.forget_failure(run.name)
            waiting.append(run)
        total, done = len(runs), len(runs) - len(waiting)
        if done:
            self._tell(f"{done} of {total} runs are there already")
        with Progress(study, runs) as progress:
            active: set[str] = set()
            while (waiting or active) and not self.stopped:
                for run in list(waiting):
                    states = {name: study.state(name) for name in run.needs}
                    lost = [name for name, state in states.items() if state == "failed"]
                    if lost:
                        waiting.remove(run)
                        self._give_up(run, lost)
                    elif len(active) < self._workers and set(states.values()) <= {"finished"}:
                        waiting.remove(run)
                        again = study.checkpoint(run.name)
                        progress.print(f"{'going on with' if again else 'starting'} {run.name}")
                        self._executor.start(run.name)
                        active.add(run.name)
                for name, code in self._executor.ended():
                    active.discard(name)
                    self._conclude(name, code, progress)
                progress.refresh()
                time.sleep(_PAUSE)
            if self.stopped:
                progress.print("stopping at the next checkpoints ...")
                self._executor.stop()

    def _conclude(self, name: str, code: int, progress: Progress) -> None:
        if code == 0:
            progress.print(f"finished {name}")
            return
        if code == STOPPED:
            self._study.fail(name, code)  # for this call: what needs it cannot start
            progress.print(f"{name} was stopped from outside; the same command goes on with it")
            return
        self._study.fail(name, code)
        tail = self._study.tail(name, 1)
        said = f": {tail[-1]}" if tail else ""
        progress.print(f"FAILED {name} (exit status {code}){said}; log: {self._study.log(name)}")

    def _give_up(self, run: PlannedRun, lost: Sequence[str]) -> None:
        with open(self._study.log(run.name), "a", encoding="utf-8") as log:
            log.write(f"not started: it needs {', '.join(lost)}, which failed\n")
        self._study.fail(run.name, None)


def run_study(
    study: str | Path | StudySpec,
    out: str | Path | None = None,
    *,
    overrides: Sequence[str] = (),
    workers: int | None = None,
    tell: Callable[[str], None] = print,
) -> StudyResult:
    """Run a study, or go on with it, and write its report.

    Args:
        study: a file, the name of a study of the package, or a `StudySpec`.
        out: its directory; `studies/NAME` unless given. Runs that are there are not run again.
        overrides: `key=value` for the recipe of all runs.
        workers: runs at a time, instead of the study's.
        tell: is called with lines of progress.

    Raises:
        StudyError: the study is not valid, the directory holds another one, or it is in use.
        RecipeError: a run's recipe is not valid.
    """
    spec, folder = _spec(study, overrides)
    if workers is not None:
        spec = StudySpec.make({**spec.model_dump(by_alias=True), "workers": workers})
    target = StudyDir(Path(out) if out is not None else Path("studies") / (spec.name or "study"))
    if spec.search is not None:
        from reasonenv.studies.search import run_search

        return run_search(spec, target, folder, tell)
    plan = Plan.make(spec, target.path, folder)
    for warning in plan.warnings:
        tell(f"warning: {warning}")
    with whole_study(target, spec, spec.base_fields(folder), tell, plan.runs) as runner:
        runner.run(plan.runs)
    return _report(plan, target, runner.stopped)


@contextmanager
def whole_study(
    target: StudyDir,
    spec: StudySpec,
    fields: Mapping[str, Any],
    tell: Callable[[str], None],
    runs: Sequence[PlannedRun] = (),
) -> Iterator[Runner]:
    """Hold a study's directory inside the block; SIGINT and SIGTERM set `stopped`.

    Raises:
        StudyError: another process works on it, or it holds another study.
        StorageError: it cannot be written.
    """
    with lock(target.path / ".lock", wait=False) as held:
        if held is None:
            raise StudyError(f"{target.path}: another `reasonenv study` works on it; wait for it")
        for run in runs:
            target.prepare(run)
        # With the recipe beside it the directory tells all by itself, wherever it is moved.
        base = yaml.safe_dump(dict(fields), sort_keys=False, allow_unicode=True)
        write_atomic(target.path / "base.yaml", base)
        own = spec.model_copy(update={"base": "base.yaml", "changes": {}})
        write_atomic(target.path / "study.yaml", own.to_yaml())
        executor = executor_of(spec, target)
        runner = Runner(target, executor, spec.workers, tell)
        try:
            with _signals(runner):
                yield runner
        finally:
            executor.close()


@contextmanager
def _signals(runner: Runner) -> Iterator[None]:
    def ask(number: int, frame: FrameType | None) -> None:
        if runner.stopped:
            raise KeyboardInterrupt
        runner.stopped = True

    try:
        previous = {n: signal.signal(n, ask) for n in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _spec(study: str | Path | StudySpec, overrides: Sequence[str]) -> tuple[StudySpec, Path | None]:
    if isinstance(study, StudySpec):
        if overrides:
            raise StudyError("overrides: set them in the StudySpec itself")
        return study, Path()
    return StudySpec.load(study, overrides)


def _report(plan: Plan, target: StudyDir, stopped: bool) -> StudyResult:
    states = {run.name: target.state(run.name) for run in plan.runs}
    finished = tuple(name for name, state in states.items() if state == "finished")
    failed = tuple(name for name, state in states.items() if state == "failed")
    report, finding = None, ""
    if finished or not stopped:
        from reasonenv.studies.report.write import write_report

        report, finding = write_report(plan)
    return StudyResult(target.path, finished, failed, stopped, report, finding)
