"""A run on disk, of training or of an evaluation, read for looking at and judging again.

Training runs are read as plain files (`recipe.yaml`, `rollouts.parquet/`), so that a run of another
version of the learner can still be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from reasonenv.envs.core import ReasoningEnv
from reasonenv.envs.registration import make
from reasonenv.errors import DataError, EvaluationError, RunDirectoryError
from reasonenv.evaluation.parts import Row
from reasonenv.evaluation.plan import PLAN, open_plan
from reasonenv.evaluation.runner import PROMPTS, completions
from reasonenv.extras import need
from reasonenv.files import read_jsonl
from reasonenv.types import Problem

__all__ = ["Collection", "StoredRun", "open_run", "read_recipe_fields"]

RECIPE = "recipe.yaml"


@dataclass
class Collection:
    """Rollouts that one environment judges: a benchmark's, or a training run's of one kind.

    Args:
        name: "train", "eval", or the benchmark's name.
        read: yields the parts: (its file, its rows), damaged ones left out.
        environment: makes what judged them.
        find: returns, for that environment, what looks a problem up by its id.
        prompts: reads what is kept beside an evaluation's completions, by problem id.
        damage: what could not be read, in sentences; filled while reading.
    """

    name: str
    read: Callable[[], Iterator[tuple[Path, list[Row]]]]
    environment: Callable[[], ReasoningEnv]
    find: Callable[[ReasoningEnv], Callable[[str], Problem]]
    prompts: Callable[[], Mapping[str, Row]]
    damage: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class StoredRun:
    """A run directory, of training ("train") or of an evaluation ("eval")."""

    path: Path
    kind: str
    collections: tuple[Collection, ...]

    def rows(self) -> Iterator[Row]:
        """Yield every stored rollout; `collection` in it names where it stands.

        Raises:
            DataError: none is stored.
        """
        empty = True
        for one in self.collections:
            beside = one.prompts()
            for _, rows in one.read():
                for row in rows:
                    empty = False
                    yield {"collection": one.name, **beside.get(row["problem_id"], {}), **row}
        if empty:
            raise DataError(f"{self.path}: no rollouts are stored there")

    @property
    def damage(self) -> list[str]:
        """What could not be read so far."""
        return [said for one in self.collections for said in one.damage]


def open_run(path: str | Path) -> StoredRun:
    """Return a stored run.

    Raises:
        RunDirectoryError: neither a training run nor an evaluation is there.
    """
    path = Path(path)
    if (path / PLAN).is_file():
        return _evaluation(path)
    if (path / RECIPE).is_file():
        return _training(path)
    raise RunDirectoryError(
        f"{path}: no run is there (a training run holds a {RECIPE}, an evaluation an {PLAN})"
    )


def read_recipe_fields(path: Path) -> Mapping[str, Any]:
    """Return a training run's recipe as plain data.

    Raises:
        EvaluationError: it cannot be read.
    """
    try:
        fields = yaml.safe_load((path / RECIPE).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise EvaluationError(f"{path / RECIPE}: cannot be read ({error})") from error
    if not isinstance(fields, Mapping) or not isinstance(fields.get("env"), str):
        raise EvaluationError(f"{path / RECIPE}: a recipe is a mapping with an `env`")
    return fields


def _evaluation(path: Path) -> StoredRun:
    plan = open_plan(path)

    def collection(benchmark: Any) -> Collection:
        folder = completions(path, benchmark)
        damage: list[str] = []

        def read() -> Iterator[tuple[Path, list[Row]]]:
            stored = folder.read()
            damage[:] = stored.damage
            for number, rows in sorted(stored.rows.items()):
                yield folder.path / f"part-{number:05d}.jsonl", rows

        def prompts() -> dict[str, Row]:
            file = folder.path / PROMPTS
            if not file.is_file():
                return {}
            try:
                return {row["problem_id"]: row for _, row in read_jsonl(file)}
            except (DataError, KeyError):  # only for looking at: completions stand without them
                return {}

        def environment() -> ReasoningEnv:
            env: ReasoningEnv = benchmark.make_env()
            env.system = plan.system or env.system
            return env

        def find(env: ReasoningEnv) -> Callable[[str], Problem]:
            return benchmark.select(env).find  # type: ignore[no-any-return]

        return Collection(benchmark.name, read, environment, find, prompts, damage)

    return StoredRun(path, "eval", tuple(collection(b) for b in plan.benchmarks))


def _training(path: Path) -> StoredRun:
    fields = read_recipe_fields(path)
    held_out = fields.get("eval") or {}
    sources = {
        "train": ("train", fields.get("data")),
        "eval": (
            "train" if fields.get("data") is not None else held_out.get("split", "test"),
            held_out.get("data") if held_out.get("data") is not None else fields.get("data"),
        ),
    }

    def collection(kind: str) -> Collection:
        damage: list[str] = []

        def environment() -> ReasoningEnv:
            split, data = sources[kind]
            given = {"split": split, "data": data, **(fields.get("env_args") or {})}
            if fields.get("reward") is not None:
                given["reward"] = fields["reward"]
            return make(fields["env"], **given)

        def find(env: ReasoningEnv) -> Callable[[str], Problem]:
            return env.problems.find

        return Collection(
            kind, lambda: _parquet(path, kind, damage), environment, find, dict, damage
        )

    kinds = [k for k in sources if any((path / "rollouts.parquet").glob(f"{k}-*.parquet"))]
    return StoredRun(path, "train", tuple(collection(kind) for kind in kinds))


def _parquet(path: Path, kind: str, damage: list[str]) -> Iterator[tuple[Path, list[Row]]]:
    pq = need("pyarrow.parquet", extra="data", by="reading a run's rollouts")
    damage.clear()
    files = (path / "rollouts.parquet").glob(f"{kind}-*.parquet")
    numbered = [file for file in files if file.stem[len(kind) + 1 :].isdigit()]
    for file in sorted(numbered, key=lambda file: int(file.stem[len(kind) + 1 :])):
        try:
            rows: list[Row] = pq.read_table(file).to_pylist()
        except (OSError, ValueError, KeyError) as error:  # Arrow's own errors are of these kinds
            damage.append(f"{file}: cannot be read ({' '.join(str(error).split())[:120]})")
            continue
        yield file, rows
