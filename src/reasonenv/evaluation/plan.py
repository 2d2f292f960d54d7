"""`EvaluationPlan`: everything that decides an evaluation, as one checked object and one file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reasonenv.errors import EvaluationError, RunDirectoryError
from reasonenv.evaluation.sampling import Sampling
from reasonenv.evaluation.suites import Benchmark, explain
from reasonenv.files import write_atomic
from reasonenv.types import content_hash

__all__ = ["PLAN", "EvaluationPlan", "default_out", "open_plan", "store_plan"]

PLAN = "eval.yaml"
"""The file that makes a directory an evaluation's."""


class EvaluationPlan(BaseModel):
    """Everything that decides an evaluation; two runs of one plan draw the same completions."""

    model_config = ConfigDict(extra="forbid")

    model: str
    """A local folder, a hub id, `tiny`, or the name under which a server serves it."""
    adapter: str | None = None
    """A run, a checkpoint, or an adapter's folder."""
    adapter_digest: str | None = None
    """Of its weights: a run that went on is another model."""
    other_base: bool = False
    """Whether an adapter may go onto a model of another name."""
    backend: Literal["transformers", "vllm", "server"] = "transformers"
    server: str | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    engine: dict[str, Any] = Field(default_factory=dict)
    """Further arguments of vLLM's engine."""
    template: Literal["chat", "plain", "raw"] = "chat"
    """`chat`: the model's own chat template. `plain`: the text as it is, a newline after it. `raw`:
    the text alone, which the completion goes on with at once (`Question: ... Answer:`)."""
    chat_args: dict[str, Any] = Field(default_factory=dict)
    system: str | None = None
    """A system message before every question."""
    n: int = 1
    temperature: float = 0.8
    top_p: float = 1.0
    top_k: int = 0
    max_tokens: int = 512
    seed: int = 0
    batch_size: int = Field(32, ge=1)
    """Completions that are drawn, judged and stored together."""
    benchmarks: list[Benchmark] = Field(min_length=1)
    problem_sets: dict[str, str] = Field(default_factory=dict)
    """Digest of each benchmark's problem ids: filled in when the evaluation begins."""

    @classmethod
    def make(cls, **fields: Any) -> EvaluationPlan:
        """Return the plan with these fields; None leaves a field's default.

        Raises:
            EvaluationError: a field or a value that is not valid.
        """
        given = {key: value for key, value in fields.items() if value is not None}
        try:
            plan = cls(**given)
        except ValidationError as error:
            raise EvaluationError(f"evaluation: {explain(error, cls)}") from error
        for benchmark in plan.benchmarks:
            plan.sampling(benchmark)
        folders = [benchmark.folder for benchmark in plan.benchmarks]
        twice = sorted({name for name in folders if folders.count(name) > 1})
        if twice:
            raise EvaluationError(
                f"two benchmarks would both be kept as {', '.join(twice)}: give them names that "
                "differ in letters and digits"
            )
        if (plan.server is not None) != (plan.backend == "server"):
            raise EvaluationError("a server's address goes with the back end `server`, and only it")
        if plan.server is not None and plan.adapter is not None:
            raise EvaluationError(
                "a server loads its adapters itself (vLLM: --enable-lora --lora-modules "
                "NAME=PATH): give the adapter's served name as --model, without --adapter"
            )
        return plan

    def sampling(self, benchmark: Benchmark) -> Sampling:
        """Return how a benchmark's completions are drawn.

        Raises:
            EvaluationError: a value out of range.
        """
        return Sampling(
            n=self.n,
            temperature=self.temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            max_tokens=benchmark.max_tokens or self.max_tokens,
            seed=self.seed,
        )

    def title(self) -> str:
        """Return what is evaluated, in a few words."""
        return f"{self.model} + {self.adapter}" if self.adapter else self.model


def default_out(plan: EvaluationPlan) -> Path:
    """Return the directory of a plan below `runs/`: the same plan has the same one."""
    fields = plan.model_dump(mode="json", exclude={"problem_sets", "adapter_digest"})
    what = Path(plan.adapter).name if plan.adapter else plan.model.rstrip("/").rpartition("/")[2]
    where = plan.benchmarks[0].name if len(plan.benchmarks) == 1 else "suite"
    name = re.sub(r"[^\w.+-]+", "-", f"{what}-{where}")[:60]
    return Path("runs") / f"eval-{name}-{content_hash(fields)[:8]}"


def store_plan(path: Path, plan: EvaluationPlan) -> None:
    """Write a new evaluation's plan, or check that the one that is there is the same.

    Raises:
        RunDirectoryError: something else is there, or a plan that differs; the message says in
            what.
        StorageError: the plan cannot be written.
    """
    if path.exists() and (not path.is_dir() or (any(path.iterdir()) and not _is_plan(path))):
        raise RunDirectoryError(f"{path}: something else is there; give another --out")
    if _is_plan(path):
        old = open_plan(path)
        differences = [
            f"{name} {getattr(old, name)!r} there, {getattr(plan, name)!r} asked"
            for name in EvaluationPlan.model_fields
            if getattr(old, name) != getattr(plan, name)
        ]
        if differences:
            raise RunDirectoryError(
                f"{path}: holds an evaluation by another plan ({'; '.join(differences)[:600]}); "
                "give another --out"
            )
        return
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunDirectoryError(f"{path}: cannot be made ({error.strerror})") from error
    text = yaml.safe_dump(plan.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    write_atomic(path / PLAN, text)


def open_plan(path: str | Path) -> EvaluationPlan:
    """Return the plan of an evaluation's directory.

    Raises:
        RunDirectoryError: there is none.
        EvaluationError: it is not valid.
    """
    path = Path(path)
    if not _is_plan(path):
        raise RunDirectoryError(f"{path}: no evaluation is there (it would hold an {PLAN})")
    try:
        return EvaluationPlan.make(**yaml.safe_load((path / PLAN).read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, TypeError) as error:
        raise EvaluationError(f"{path / PLAN}: cannot be read ({error})") from error


def _is_plan(path: Path) -> bool:
    return (path / PLAN).is_file()
