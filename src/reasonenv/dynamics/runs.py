"""Reading runs for analysis: what is whole is used, what is missing is said.

A run is a directory as the learner leaves it, finished or not. Nothing here needs torch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from reasonenv.errors import DataError, ReasonEnvError, RunDirectoryError
from reasonenv.extras import need

__all__ = ["RunFiles", "read_lines"]

Row = dict[str, Any]
_PART = re.compile(r"(train|eval)-(\d+)\.parquet\Z")


def read_lines(path: Path) -> tuple[list[Row], list[str]]:
    """Return the whole JSON objects of a JSONL file, and what is missing, in sentences.

    A broken line costs itself alone, wherever it is.

    Args:
        path: of the file; a missing one gives no rows.
    """
    if not path.is_file():
        return [], [f"there is no {path.name}"]
    rows: list[Row] = []
    broken: list[int] = []
    content = path.read_bytes()
    lines = content.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            rows.append(row)
        else:
            broken.append(number)
    said = []
    if broken and broken[-1] == len(lines):
        broken.pop()
        said.append(f"{path.name}: the last line was cut off and is left out")
    if broken:
        which = ", ".join(map(str, broken[:5])) + (" ..." if len(broken) > 5 else "")
        plural = "s" if len(broken) > 1 else ""
        said.append(f"{path.name}: line{plural} {which} cannot be read and are left out")
    return rows, said


@dataclass
class RunFiles:
    """A run's files.

    Attributes:
        path: the run directory.
        missing: what was asked for and is not there, in sentences; it grows as files are read.
    """

    path: Path
    missing: list[str] = field(default_factory=list)

    @classmethod
    def open(cls, path: str | Path) -> RunFiles:
        """Return a run.

        Raises:
            RunDirectoryError: neither metrics nor an adapter are there.
        """
        run = cls(Path(path))
        if not run.path.is_dir():
            raise RunDirectoryError(f"{path}: there is no such directory; give a run's")
        if not any((run.path / name).exists() for name in _SIGNS):
            raise RunDirectoryError(
                f"{path}: no run is there (it would hold one of {', '.join(_SIGNS)})"
            )
        return run

    @property
    def name(self) -> str:
        """The directory's name."""
        return self.path.resolve().name

    @property
    def recipe(self) -> Row:
        """The recipe's fields as they are written; empty where it cannot be read."""
        try:
            held = yaml.safe_load((self.path / "recipe.yaml").read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError):
            self._say("recipe.yaml cannot be read")
            return {}
        return held if isinstance(held, dict) else {}

    def metrics(self, kind: str) -> list[Row]:
        """Return the metrics lines of one kind by step, the last one where a step has several."""
        rows, said = read_lines(self.path / "metrics.jsonl")
        for line in said:
            self._say(line)
        chosen: dict[Any, Row] = {}
        for row in rows:
            if row.get("kind") == kind and isinstance(row.get("step"), int):
                chosen[row["step"]] = row
        return [chosen[step] for step in sorted(chosen)]

    def displacement(self) -> tuple[Row | None, list[Row], list[Row]]:
        """Return the tracker's head, steps and spectra; None and empty where it did not run."""
        path = self.path / "dynamics" / "displacement.jsonl"
        if not path.is_file():
            return None, [], []
        rows, said = read_lines(path)
        for line in said:
            self._say(line)
        by_kind: dict[str, list[Row]] = {}
        for row in rows:
            by_kind.setdefault(str(row.get("kind")), []).append(row)
        for note in by_kind.get("note", []):
            self._say(f"tracking, step {note.get('step')}: {note.get('text')}")
        heads = by_kind.get("tensors", [])
        if not heads:
            self._say("displacement.jsonl does not say which tensors it is about: left out")
            return None, [], []
        return heads[0], by_kind.get("step", []), by_kind.get("spectra", [])

    def rollouts(self, kind: str) -> Iterator[Row]:
        """Yield the stored rollouts of one kind, oldest first; parts that are broken are said."""
        pq = need("pyarrow.parquet", extra="data", by="reasonenv.dynamics")
        parts = [
            (int(match.group(2)), part)
            for part in (self.path / "rollouts.parquet").glob("*.parquet")
            if (match := _PART.match(part.name)) and match.group(1) == kind
        ]
        for _, part in sorted(parts):
            try:
                rows = pq.read_table(part).to_pylist()
            except (OSError, ValueError, KeyError):  # Arrow's own errors are of these kinds
                self._say(f"{part.name} cannot be read")
                continue
            yield from rows

    def weights(self) -> Path | None:
        """Return the folder of the trained adapter or model, else of the newest checkpoint."""
        for folder in (self.path / "adapter", *(f for _, f in reversed(self.checkpoints()))):
            if self.is_adapter(folder) or self.is_model(folder):
                return folder
        self._say("there is neither an adapter nor a checkpoint: nothing is known of the weights")
        return None

    def checkpoints(self) -> list[tuple[int, Path]]:
        """Return (step, folder) of the complete checkpoints, oldest first."""
        found = (self.path / "checkpoints").glob("checkpoint-*/reasonenv.json")
        return sorted((int(mark.parent.name.rpartition("-")[2]), mark.parent) for mark in found)

    @staticmethod
    def is_adapter(folder: Path) -> bool:
        """Return whether a folder holds a PEFT adapter."""
        return (folder / "adapter_config.json").is_file()

    @staticmethod
    def is_model(folder: Path) -> bool:
        """Return whether a folder holds a whole model."""
        return (folder / "config.json").is_file()

    def base(self, given: str | Path | None = None) -> Path | None:
        """Return the folder of the base model: the given one, else the one that the run names.

        Raises:
            DataError: the given one is not there.
        """
        if given is not None:
            if not Path(given).is_dir():
                raise DataError(f"{given}: there is no such folder; give the base model's")
            return Path(given)
        names = self._base_names()
        for name in names:
            found = Path(name) if Path(name).is_dir() else _cached(name)
            if found is not None:
                return found
        self._say(
            f"the base model ({names[0] if names else 'not named'}) is not on this machine; give "
            "its folder with --base"
        )
        return None

    def named_base(self) -> str:
        """Return the base model as the adapter, else the recipe names it; empty for neither."""
        return next(iter(self._base_names()), "")

    def _base_names(self) -> list[str]:
        folder = self.weights()
        names = [self.recipe.get("model")]
        if folder is not None and self.is_adapter(folder):
            try:
                config = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
                names.insert(0, config.get("base_model_name_or_path"))
            except (OSError, ValueError, AttributeError):
                self._say(f"{folder.name}: its adapter_config.json cannot be read")
        return [str(name) for name in names if name]

    def _say(self, text: str) -> None:
        if text not in self.missing:
            self.missing.append(text)


_SIGNS = ("metrics.jsonl", "recipe.yaml", "adapter", "checkpoints")


def _cached(name: str) -> Path | None:
    """Return where a hub's model lies in the local cache; no hub is asked."""
    try:
        hub = need("huggingface_hub", extra="train", by="reasonenv.dynamics")
        return Path(hub.snapshot_download(name, local_files_only=True))
    except (ReasonEnvError, OSError, ValueError):
        return None
