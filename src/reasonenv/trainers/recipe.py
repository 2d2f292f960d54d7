"""`Recipe`: everything that decides a run, as one checked object and one YAML file.

A recipe is looked up by path or by the name of one that ships with the package. Every field can
be overridden from the command line, `--set grpo.learning_rate=1e-5`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from reasonenv.dynamics.health import HealthLimits
from reasonenv.errors import DataError, RecipeError, did_you_mean

__all__ = [
    "CheckpointPlan",
    "EnginePlan",
    "EvalPlan",
    "JudgingPlan",
    "PromptPlan",
    "Recipe",
    "SamplingPlan",
    "TrackPlan",
    "TurnsPlan",
    "UnscoredPlan",
    "YamlLoader",
    "recipe_names",
]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_default=True)


class PromptPlan(_Section):
    """How a problem becomes the model's prompt."""

    template: Literal["chat", "plain", "raw"] = "chat"
    """`chat`: the model's own chat template. `plain`: the text as it is, a newline after it. `raw`:
    the text alone, which the completion goes on with at once (`Question: ... Answer:`)."""
    system: str | None = None
    """A system message before the question."""


class EvalPlan(_Section):
    """Evaluation of the task metric on held-out problems, before, during and after training."""

    every: int | None = Field(None, ge=1)
    """Optimizer steps between evaluations; None: before and after training only."""
    problems: int = Field(200, ge=0)
    """How many held-out problems; 0 evaluates nothing."""
    samples: int = Field(1, ge=1)
    """Completions of each, sampled as in training."""
    split: str = "test"
    data: Any = None
    """Problems to evaluate on; None: the environment's `split`, or, where training takes a file,
    problems held out of that file."""


class CheckpointPlan(_Section):
    """When to write a checkpoint, and how many to keep."""

    every: int | None = Field(None, ge=1)
    """Optimizer steps between checkpoints; None: at the end only, and when the run is stopped."""
    keep: int = Field(2, ge=1)


class SamplingPlan(_Section):
    """Which problems are asked; `sampling: expected_signal` is short for its `by`."""

    by: Literal["uniform", "expected_signal"] = "uniform"
    """`uniform`: every problem once an epoch. `expected_signal`: by the probability that a group
    holds right and wrong answers, as expected from what was seen so far."""
    floor: float = Field(0.1, gt=0, le=1)
    """Weight of a problem without any expected signal, where one that is sure to have it has 1."""
    half_life: float = Field(20.0, gt=0)
    """Generations after which what was seen counts half."""
    level: str | None = None
    """The metadata key of a problem's level; None: `level`, where problems have it."""
    resample: int = Field(0, ge=0, le=7)
    """How often at most groups of one outcome are replaced before a step (DAPO's dynamic sampling);
    what was generated for it counts in `rollouts`."""


class TurnsPlan(_Section):
    """Episodes of several turns, where `env_args.max_turns` is above 1.

    `grpo.max_completion_length` is the limit of one completion.
    """

    max_tokens: int | None = Field(None, ge=2)
    """Most tokens of an episode after its prompt, feedback included; None: `max_turns` times
    `max_completion_length`. An episode whose feedback finds no room ends."""
    advantages: Literal["auto", "episode"] = "auto"
    """`auto`: each turn has its own where the reward pays turn by turn (`PotentialBased`), one for
    the episode elsewhere. `episode`: one for the episode."""


class JudgingPlan(_Section):
    """Where and when answers are judged; `judging: ray` is short for its `by`."""

    by: Literal["local", "ray"] = "local"
    """`ray`: on the machines of a Ray cluster (see `reasonenv.checkers.on_ray`)."""
    address: str = "auto"
    """Of the cluster: `auto`, `local` (started on this machine) or `ray://HOST:PORT`."""
    queue: int = Field(64, ge=1)
    """Most answers of a rank under way."""
    cpus: float = Field(1.0, gt=0)
    """CPUs that an answer takes."""
    overlap: bool = True
    """Judge a completion as soon as it is finished, while others are still generated."""


class EnginePlan(_Section):
    """How vLLM samples, where `grpo.use_vllm` is set."""

    arguments: dict[str, Any] = Field(default_factory=dict)
    """Of `vllm.LLM`, where it runs in the trainer's process, over those that TRL gives."""
    probe: bool = True
    """Before the first step, perturb the adapter and see that the engine's samples follow."""
    checksum: bool = True
    """Hash the base weights before and after training, and say so where they differ."""


class UnscoredPlan(_Section):
    """When a run halts because its checkers fail."""

    limit: float = Field(0.5, ge=0, le=1)
    """Largest share of a generation's rollouts that may be unscored ..."""
    patience: int = Field(3, ge=1)
    """... for this many generations in a row."""


class TrackPlan(_Section):
    """What is measured of the run's dynamics while it trains; see `docs/dynamics.md`."""

    every: int | None = Field(None, ge=1)
    """Optimizer steps between measurements of how far the weights moved; None: none."""
    spectra_every: int | None = Field(None, ge=1)
    """Optimizer steps between spectra of the updates; None: none."""
    health: dict[str, float] | None = Field(default_factory=dict)
    """Limits of the health checks that differ from the defaults; null: no checks."""

    @field_validator("health")
    @classmethod
    def _known_limits(cls, given: dict[str, float] | None) -> dict[str, float] | None:
        try:
            HealthLimits.of(given or {})
        except DataError as error:
            raise ValueError(str(error)) from error
        return given


class Recipe(_Section):
    """Everything that decides a run.

    Raises:
        RecipeError: from the constructors below, for a key or a value that is not valid.
    """

    description: str = ""
    env: str = "reasonenv/Arithmetic-v0"
    """`id`, `module:id` or `path/to/file.py:id`."""
    env_args: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the environment: layout, options, max_turns ..."""
    data: Any = None
    """A file of problems to train on instead of the environment's own."""
    model: str = "tiny"
    """A local path, a hub id, or `tiny`: the model that ships with the package."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Of the base weights; auto: bfloat16 on a GPU that has it, float32 on a CPU."""
    reward: str | dict[str, Any] | None = None
    """A formula or a config; None: the environment's own."""
    advantage: Literal["grpo", "gdpo"] = "grpo"
    """`grpo`: the composed reward is normalised in its group. `gdpo`: each top-level addend is, and
    their weighted sum over the batch (arXiv 2601.05242); needs `grpo.scale_rewards: batch`, which
    it sets."""
    prompt: PromptPlan = PromptPlan()
    max_prompt_tokens: int | None = Field(None, ge=1)
    """Problems whose prompts are longer are not trained on, and counted; None trains on all."""
    steps: int | None = Field(None, ge=1)
    """Optimizer steps; alternatively `epochs`."""
    epochs: float | None = Field(None, gt=0)
    prompts_per_step: int | None = Field(None, ge=1)
    """Problems behind one optimizer step over all ranks; None: as TRL's per-device sizes say."""
    rows_per_forward: int = Field(8, ge=1)
    """Most completions in one forward pass of a rank, where TRL's per-device size is not given."""
    seed: int = Field(0, ge=0)
    processes: int | Literal["auto"] = "auto"
    """Ranks on a machine; auto: one for each GPU, one on a CPU."""
    shard: Literal["none", "fsdp", "zero2", "zero3"] = "none"
    """How the model is parted over the GPUs (`trainers.sharding`); none: each holds all of it."""
    cpu_threads: int | None = Field(None, ge=1)
    """Torch threads of a rank on a CPU; None: torch's own choice, shared among the ranks."""
    grpo: dict[str, Any] = Field(default_factory=dict)
    """Any key of `trl.GRPOConfig` that the learner does not set itself."""
    lora: dict[str, Any] | None = Field(default_factory=lambda: {"target_modules": "all-linear"})
    """Any key of `peft.LoraConfig`, and `layers`, `match_parameters`, `loraplus_lr_ratio` (see
    `trainers.placement`); null trains all weights."""
    turns: TurnsPlan = TurnsPlan()
    sampling: SamplingPlan = SamplingPlan()
    judging: JudgingPlan = JudgingPlan()
    skip_silent: Literal["auto", "off"] = "auto"
    """auto: rows without a share in the loss cost no forward and no backward pass, wherever loss
    and gradients stay the same numbers."""
    vllm: EnginePlan = EnginePlan()
    eval: EvalPlan = EvalPlan()
    checkpoint: CheckpointPlan = CheckpointPlan()
    unscored: UnscoredPlan = UnscoredPlan()
    track: TrackPlan = TrackPlan()
    report: bool = True
    """Write report.md and its pictures at the end; `reasonenv report RUN` does it at any time."""

    @field_validator("sampling", "judging", mode="before")
    @classmethod
    def _plan_by_name(cls, value: Any) -> Any:
        return {"by": value} if isinstance(value, str) else value

    @field_validator("skip_silent", mode="before")
    @classmethod
    def _off_is_no_boolean(cls, value: Any) -> Any:
        return "off" if value is False else value  # YAML 1.1 reads a bare `off` as false

    @model_validator(mode="after")
    def _length_given_once(self) -> Recipe:
        if (self.steps is None) == (self.epochs is None):
            raise ValueError("give either `steps` or `epochs`")
        if self.processes != "auto" and self.processes < 1:
            raise ValueError(f"processes={self.processes}: at least 1, or auto")
        return self

    @classmethod
    def make(cls, fields: Mapping[str, Any], where: str = "recipe") -> Recipe:
        """Return the recipe with these fields.

        Raises:
            RecipeError: an unknown key (the nearest valid one is named), or an invalid value.
        """
        try:
            return cls(**fields)
        except ValidationError as error:
            raise RecipeError(f"{where}: {_explain(error)}") from error

    @classmethod
    def load(cls, name: str | Path, overrides: Iterable[str] = (), **fields: Any) -> Recipe:
        """Return a recipe by file or by name, with overrides.

        Args:
            name: a path to a YAML file, or the name of a recipe of the package.
            overrides: `key=value` or `section.key=value`, the value in YAML.
            fields: whole top-level fields to replace; None leaves the recipe's own.

        Raises:
            RecipeError: no such recipe, or a key or a value that is not valid.
        """
        text, where = _find(name)
        try:
            raw = yaml.load(text, Loader=YamlLoader)
        except yaml.YAMLError as error:
            raise RecipeError(f"{where}: not valid YAML ({error})") from error
        if not isinstance(raw, dict):
            raise RecipeError(f"{where}: a recipe is a mapping of keys, got {type(raw).__name__}")
        if "base" in raw and "env" not in raw:
            raise RecipeError(f"{where}: this is a study; run it with `reasonenv study {name}`")
        raw |= {key: value for key, value in fields.items() if value is not None}
        if fields.get("steps") is not None:
            raw.pop("epochs", None)
        for override in overrides:
            _set(raw, override)
        return cls.make(raw, where)

    def to_yaml(self) -> str:
        """Return the recipe as YAML that `load` reads back equal."""
        fields = self.model_dump(mode="json")
        text: str = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True)
        return text


def recipe_names() -> list[str]:
    """Return the names of the recipes that ship with the package."""
    top = resources.files("reasonenv") / "recipes"
    found = [
        (prefix, file)
        for prefix, folder in (("", top), ("study/", top / "study"))
        for file in folder.iterdir()
        if file.name.endswith(".yaml")
    ]
    # Study files lie beside the study's recipes; they have a `base:`.
    return sorted(
        prefix + file.name.removesuffix(".yaml")
        for prefix, file in found
        if not prefix or "\nbase:" not in file.read_text(encoding="utf-8")
    )


class YamlLoader(yaml.SafeLoader):
    """YAML as people write it: 1e-5 is a number (YAML 1.1 would read a text)."""


YamlLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)[eE][-+]?\d+\Z"),
    list("-+.0123456789"),
)


def _find(name: str | Path) -> tuple[str, str]:
    """Return a recipe's text and what to call it in messages."""
    path = Path(name)
    if path.suffix in (".yaml", ".yml") or path.is_file():
        try:
            return path.read_text(encoding="utf-8"), str(path)
        except (OSError, UnicodeDecodeError) as error:
            raise RecipeError(f"{path}: cannot be read ({error})") from error
    names = recipe_names()
    if str(name) not in names:
        nearest = did_you_mean(str(name), names, otherwise="recipes")
        raise RecipeError(
            f"no recipe is called {str(name)!r}; {nearest}, or a path to a .yaml file"
        )
    file = resources.files("reasonenv") / "recipes" / f"{name}.yaml"
    return file.read_text(encoding="utf-8"), f"recipe {name}"


def _set(fields: dict[str, Any], override: str) -> None:
    key, sign, text = override.partition("=")
    if not sign or not key.strip():
        raise RecipeError(f"--set {override!r}: write key=value, such as grpo.learning_rate=1e-5")
    try:
        value = yaml.load(text, Loader=YamlLoader)
    except yaml.YAMLError as error:
        raise RecipeError(f"--set {override!r}: the value is not valid YAML ({error})") from error
    *sections, last = key.strip().split(".")
    for section in sections:
        if fields.get(section) is None:
            fields[section] = {}
        fields = fields[section]
        if not isinstance(fields, dict):
            raise RecipeError(f"--set {override!r}: {section!r} has no keys below it")
    fields[last] = value


def _explain(error: ValidationError) -> str:
    """Return pydantic's findings in words, the nearest valid key with an unknown one."""
    lines = []
    for finding in error.errors():
        place = ".".join(str(part) for part in finding["loc"])
        if finding["type"] == "extra_forbidden":
            model: Any = Recipe
            for part in finding["loc"][:-1]:
                model = model.model_fields[str(part)].annotation
            nearest = did_you_mean(str(finding["loc"][-1]), model.model_fields)
            lines.append(f"unknown key `{place}`; {nearest}")
        else:
            message = finding["msg"].removeprefix("Value error, ")
            got = "" if isinstance(finding["input"], dict) else f" (got {finding['input']!r})"
            lines.append(f"{place}: {message}{got}" if place else message)
    return "; ".join(lines)
