"""A study's directory: what stands where, and how far each run has come.

study.yaml        the study as it was asked for last; base.yaml: the recipe that it starts from
recipes/RUN.yaml  each run's whole recipe
runs/RUN/         the run directories
logs/RUN.log      what each run printed, all attempts
report.md, study.html, plots/, results.json
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from reasonenv.errors import StudyError
from reasonenv.files import write_atomic
from reasonenv.studies.overrides import differences
from reasonenv.studies.plan import PlannedRun
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.run import Run

__all__ = ["FINISHED", "State", "StudyDir", "lock"]

FINISHED = "finished.json"
"""Written into a run's directory last."""

State = Literal["finished", "failed", "unfinished", "not started"]
_TAIL = 12  # lines of a log that a failure shows
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class StudyDir:
    """A study's directory by path."""

    path: Path

    def run(self, name: str) -> Path:
        """Return a run's directory."""
        return self.path / "runs" / name

    def log(self, name: str) -> Path:
        """Return a run's log."""
        return self.path / "logs" / f"{name}.log"

    def recipe(self, name: str) -> Path:
        """Return a run's planned recipe."""
        return self.path / "recipes" / f"{name}.yaml"

    def prepare(self, run: PlannedRun) -> None:
        """Write a run's recipe; one that is there must be the same.

        Raises:
            StudyError: the directory holds another study's run of this name.
            StorageError: it cannot be written.
        """
        for folder in ("runs", "logs", "recipes"):
            (self.path / folder).mkdir(parents=True, exist_ok=True)
        file = self.recipe(run.name)
        if file.is_file():
            held = Recipe.load(file).model_dump(mode="json")
            wanted = run.recipe.model_dump(mode="json")
            changed = differences(held, wanted)
            if changed and self.run(run.name).exists():
                raise StudyError(
                    f"{self.path} holds runs of another study: {run.name} was started with another "
                    f"{', '.join(changed)}; give another --out, or remove {self.run(run.name)}"
                )
        write_atomic(file, run.recipe.to_yaml())

    def state(self, name: str) -> State:
        """Return how far a run has come, by its files."""
        folder = self.run(name)
        if (folder / FINISHED).is_file():
            return "finished"
        if self.failure(name) is not None:
            return "failed"
        return "unfinished" if folder.is_dir() else "not started"

    def step(self, name: str) -> int:
        """Return the last step that a run has recorded, cheaply."""
        try:
            with open(self.run(name) / "metrics.jsonl", "rb") as file:
                file.seek(0, os.SEEK_END)
                file.seek(max(0, file.tell() - 20_000))
                lines = file.read().splitlines()
        except OSError:
            return 0
        for line in reversed(lines):
            try:
                return int(json.loads(line)["step"])
            except (ValueError, KeyError, TypeError):
                continue
        return 0

    def failure(self, name: str) -> dict[str, Any] | None:
        """Return the last failure of a run: `code` and `tail`; None where there is none."""
        file = self.path / "logs" / f"{name}.failed.json"
        if not file.is_file():
            return None
        held: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return held

    def fail(self, name: str, code: int | None) -> None:
        """Record that a run failed, with the last lines of its log."""
        content = {"code": code, "tail": self.tail(name)}
        write_atomic(self.path / "logs" / f"{name}.failed.json", json.dumps(content, indent=1))

    def forget_failure(self, name: str) -> None:
        """Take a failure back: the run is tried again."""
        (self.path / "logs" / f"{name}.failed.json").unlink(missing_ok=True)

    def tail(self, name: str, lines: int = _TAIL) -> list[str]:
        """Return the last lines of a run's log, without a terminal's control sequences."""
        try:
            text = self.log(name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []
        plain = _ESCAPES.sub("", text[-40_000:]).replace("\r", "\n")
        return [line for line in plain.splitlines() if line.strip()][-lines:]

    def checkpoint(self, name: str) -> bool:
        """Return whether a run can be gone on with."""
        folder = self.run(name)
        return (folder / "recipe.yaml").is_file() and Run(folder).checkpoint() is not None


@contextmanager
def lock(path: Path, *, wait: bool) -> Iterator[IO[str] | None]:
    """Hold a file's lock inside the block; it ends with the process, however that ends.

    Args:
        path: of the lock; made where it is missing.
        wait: until another process lets go; else None is yielded where one holds it.
    """
    import fcntl  # POSIX alone, as the processes of a run are

    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        yield file
