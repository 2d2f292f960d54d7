"""`Benchmark` and `Suite`: what is evaluated, by name; a suite is a YAML file of benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from reasonenv.envs.core import ReasoningEnv
from reasonenv.envs.registration import make, refusal
from reasonenv.errors import DataError, EvaluationError, did_you_mean
from reasonenv.problems import ProblemList, ProceduralProblems, first_distinct, sample
from reasonenv.types import content_hash

__all__ = ["Benchmark", "Suite", "load_suite", "suite_names"]

_PROCEDURAL = 200  # problems of a generator where no number is given


class Benchmark(BaseModel):
    """One problem set to evaluate on, and how many of its problems."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = ""
    """What tables call it; the environment's own name unless given."""
    env: str
    """`id`, `module:id` or `path/to/file.py:id`."""
    split: str | None = "test"
    """Which part of its problems; null leaves the environment's own."""
    data: str | None = None
    """A JSONL file to take the problems from."""
    env_args: dict[str, Any] = Field(default_factory=dict)
    """Further arguments of the environment: layout, options ..."""
    problems: int | None = Field(None, ge=1)
    """How many, drawn by a hash of their ids; null takes all (200 of a generator)."""
    max_tokens: int | None = Field(None, ge=1)
    """A length limit of its own."""
    note: str = ""
    """What a reader of the table should know."""

    @model_validator(mode="after")
    def _named(self) -> Benchmark:
        if not self.name:
            short = self.env.rpartition(":")[2].rpartition("/")[2]
            object.__setattr__(self, "name", short.removesuffix("-v0"))
        return self

    @property
    def folder(self) -> str:
        """The name of the folder that its completions are kept in."""
        return "".join(c if c.isalnum() or c in "-_.+" else "_" for c in self.name)

    def make_env(self) -> ReasoningEnv:
        """Return the environment.

        Raises:
            ReasonEnvError: it cannot be made.
            EvaluationError: its arguments are refused.
        """
        given = {} if self.split is None else {"split": self.split}
        try:
            return make(self.env, data=self.data, **{**given, **self.env_args})
        except (TypeError, ValueError) as error:
            why = refusal(self.env, error)
            raise EvaluationError(f"{self.env} refuses its arguments: {why}") from error

    def select(self, env: ReasoningEnv) -> ProblemList:
        """Return the problems that are asked: the same ones in the same order, always.

        Raises:
            DataError: there is none.
        """
        if len(env.problems) == 0:
            raise DataError(f"{self.name}: no problem in it; at least one is needed")
        if isinstance(env.problems, ProceduralProblems):
            return first_distinct(env.problems, self.problems or _PROCEDURAL)
        return sample(env.problems, self.problems or len(env.problems))


class Suite(BaseModel):
    """Several benchmarks, and how completions are drawn where the command line does not say."""

    model_config = ConfigDict(extra="forbid")

    description: str = ""
    n: int | None = Field(None, ge=1)
    temperature: float | None = Field(None, ge=0)
    max_tokens: int | None = Field(None, ge=1)
    benchmarks: list[Benchmark] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_differ(self) -> Suite:
        names = [benchmark.name for benchmark in self.benchmarks]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two benchmarks are called {', '.join(twice)}: give each a `name`")
        return self


def suite_names() -> list[str]:
    """Return the names of the suites that ship with the package."""
    folder = resources.files("reasonenv") / "recipes" / "suites"
    return sorted(p.name.removesuffix(".yaml") for p in folder.iterdir() if p.name[-5:] == ".yaml")


def load_suite(name: str | Path) -> Suite:
    """Return a suite by file or by name.

    Raises:
        EvaluationError: there is no such suite, or it is not valid.
    """
    path = Path(name)
    if path.suffix in (".yaml", ".yml") or path.is_file():
        try:
            text, where = path.read_text(encoding="utf-8"), str(path)
        except (OSError, UnicodeDecodeError) as error:
            raise EvaluationError(f"{path}: cannot be read ({error})") from error
    else:
        names = suite_names()
        if str(name) not in names:
            nearest = did_you_mean(str(name), names, otherwise="suites")
            raise EvaluationError(f"no suite is called {str(name)!r}; {nearest}, or a .yaml file")
        file = resources.files("reasonenv") / "recipes" / "suites" / f"{name}.yaml"
        text, where = file.read_text(encoding="utf-8"), f"suite {name}"
    try:
        raw = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise EvaluationError(f"{where}: not valid YAML ({error})") from error
    if not isinstance(raw, Mapping):
        raise EvaluationError(f"{where}: a suite is a mapping of keys, got {type(raw).__name__}")
    try:
        return Suite.model_validate(dict(raw))
    except ValidationError as error:
        raise EvaluationError(f"{where}: {explain(error, Suite)}") from error


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """Return pydantic's findings in words, the nearest valid key with an unknown one."""
    lines = []
    for finding in error.errors():
        place = ".".join(str(part) for part in finding["loc"])
        if finding["type"] == "extra_forbidden":
            inside = Benchmark if "benchmarks" in finding["loc"][:-1] else model
            nearest = did_you_mean(str(finding["loc"][-1]), inside.model_fields)
            lines.append(f"unknown key `{place}`; {nearest}")
        else:
            message = finding["msg"].removeprefix("Value error, ")
            lines.append(f"{place}: {message}" if place else message)
    return "; ".join(lines)


def ids_digest(problems: ProblemList) -> str:
    """Return 16 hex digits of the problems' ids: whether two evaluations asked the same ones."""
    return content_hash([problem.id for problem in problems])
