"""A run directory: plain files that are enough to report, re-score and resume a run.

recipe.yaml        the resolved recipe
run.json           versions, batch arithmetic, environment, reward and its range
metrics.jsonl      one line for each step and each evaluation
rollouts.parquet/  every completion with verdict and reward terms, one file a generation
checkpoints/       TRL's checkpoints; one that holds reasonenv.json is complete
adapter/           the trained adapter (or the whole model, without LoRA)
report.md, plots/  what to look at
"""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from reasonenv.errors import LaunchError, RunDirectoryError
from reasonenv.files import write_atomic
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.storage import cut_back

__all__ = ["MARK", "Run", "default_out", "joined_run"]

MARK = "reasonenv.json"
"""Written into a checkpoint last: a checkpoint without it was cut off, and is not resumed."""

_PACKAGES = ("reasonenv", "torch", "transformers", "trl", "peft", "accelerate", "gymnasium")


def default_out(name: str) -> Path:
    """Return a new directory name for a run of the recipe `name`, below `runs/`."""
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    return Path("runs") / f"{Path(name).stem}-{stamp}"


@dataclass(frozen=True, slots=True)
class Run:
    """A run directory by path; nothing is read before it is asked for."""

    path: Path

    @classmethod
    def create(cls, path: str | Path, recipe: Recipe) -> Run:
        """Make a new run directory.

        Args:
            path: must not exist, or be empty.
            recipe: stored as it was resolved.

        Raises:
            RunDirectoryError: there is something already, or it cannot be made.
            StorageError: the files cannot be written.
        """
        path = Path(path)
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise RunDirectoryError(
                f"{path}: exists already; go on with it by --resume {path}, or give another --out"
            )
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunDirectoryError(f"{path}: cannot be made ({error.strerror})") from error
        run = cls(path)
        run.write_facts({"started": datetime.now().astimezone().isoformat("T", "seconds")})
        write_atomic(path / "recipe.yaml", recipe.to_yaml())
        write_atomic(run.metrics, "")
        return run

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """Return an existing run.

        Raises:
            RunDirectoryError: there is none at `path`.
        """
        run = cls(Path(path))
        if not (run.path / "recipe.yaml").is_file():
            raise RunDirectoryError(f"{path}: no run is there (it would hold a recipe.yaml)")
        return run

    @property
    def recipe(self) -> Recipe:
        """The resolved recipe."""
        return Recipe.load(self.path / "recipe.yaml")

    @property
    def metrics(self) -> Path:
        """The metrics file."""
        return self.path / "metrics.jsonl"

    @property
    def rollouts(self) -> Path:
        """The folder of stored rollouts."""
        return self.path / "rollouts.parquet"

    @property
    def adapter(self) -> Path:
        """The folder of the trained adapter."""
        return self.path / "adapter"

    @property
    def facts(self) -> dict[str, Any]:
        """What `run.json` holds."""
        file = self.path / "run.json"
        facts: dict[str, Any] = json.loads(file.read_text()) if file.is_file() else {}
        return facts

    def write_facts(self, facts: dict[str, Any]) -> None:
        """Write `run.json` anew, with the versions in use."""
        content = {**facts, "versions": _versions()}
        write_atomic(self.path / "run.json", json.dumps(content, indent=2, default=str) + "\n")

    def checkpoint(self) -> Path | None:
        """Return the newest complete checkpoint, None where there is none."""
        complete = (self.path / "checkpoints").glob(f"checkpoint-*/{MARK}")
        found = sorted((mark.parent for mark in complete), key=checkpoint_step)
        return found[-1] if found else None

    def rewind(self) -> Path:
        """Cut metrics and rollouts back to the newest complete checkpoint, and return it.

        Checkpoints that were cut off while being written are removed.

        Raises:
            RunDirectoryError: there is no complete checkpoint.
            StorageError: a file cannot be rewritten.
        """
        checkpoint = self.checkpoint()
        if checkpoint is None:
            raise RunDirectoryError(
                f"{self.path}: no complete checkpoint is there to resume from; start anew with "
                "another --out, and set checkpoint.every to have one sooner"
            )
        for other in (self.path / "checkpoints").glob("checkpoint-*"):
            if not (other / MARK).is_file():
                shutil.rmtree(other)
        cut_back(self.path, checkpoint_step(checkpoint))
        return checkpoint


_JOIN_SECONDS = 300.0
"""How long a machine waits for the first one to make the run directory."""


def joined_run(path: Path, recipe: Recipe, seconds: float = _JOIN_SECONDS) -> Run:
    """Return the run that another machine makes, once it is there.

    Args:
        path: of the run directory, which all machines share.
        recipe: of this machine.
        seconds: how long to wait.

    Raises:
        LaunchError: it is not there in time, or the first machine trains by another recipe.
    """
    deadline = time.monotonic() + seconds
    while not (path / "metrics.jsonl").is_file():  # written last of all (`Run.create`)
        if time.monotonic() > deadline:
            raise LaunchError(
                f"{path}: not there after {seconds:.0f} seconds. The first machine (--rank 0) "
                "makes it; start that one too, and give all machines one --out that they share"
            )
        time.sleep(0.5)
    run = Run.open(path)
    ours, theirs = recipe.model_dump(mode="json"), run.recipe.model_dump(mode="json")
    other = [key for key in ours if ours[key] != theirs[key]]
    if other:
        key = other[0]
        raise LaunchError(
            f"{path}: the first machine trains by another recipe ({', '.join(other)} differ; "
            f"{key}: {theirs[key]!r} there, {ours[key]!r} here): give all machines the same"
        )
    return run


def checkpoint_step(checkpoint: Path) -> int:
    """Return the step at which a checkpoint was written."""
    return int(checkpoint.name.rpartition("-")[2])


def _versions() -> dict[str, str]:
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
