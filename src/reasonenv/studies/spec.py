"""`StudySpec`: a study file, checked. See `docs/studies.md` for what each key means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from reasonenv.errors import StudyError, did_you_mean
from reasonenv.studies.overrides import apply, flatten
from reasonenv.trainers.recipe import Recipe, YamlLoader

__all__ = ["ArmSpec", "HoldPlan", "ReportPlan", "SearchPlan", "StudySpec", "study_names"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_default=True, populate_by_name=True)


class ArmSpec(_Section):
    """One entry of `runs:`."""

    label: str = Field(min_length=1)
    changes: dict[str, Any] = Field(default_factory=dict, alias="set")
    """Fields of the recipe by dotted path or nested."""
    factor: list[str] | None = None
    """Fields in which this arm is meant to differ from its baseline; the study's unless given."""
    reason: str = ""
    """Why it is tried; the report repeats it."""
    figure: str = ""
    """The figure that speaks for it."""


class HoldPlan(_Section):
    """What all arms have in common although a factor moves it."""

    completions_per_step: int | None = Field(None, ge=2)
    """Each arm asks so many completions over its group size problems a step."""


class ReportPlan(_Section):
    """What the report shows beside the outcome."""

    metrics: list[str] = Field(
        default=["eval_reward", "reward", "reward_cv", "kl", "entropy",
                 "completions/mean_length", "completions/clipped_ratio", "mixed_groups"]
    )  # fmt: skip
    """Metrics of the summary: the last evaluation's, or the mean of the last tenth of the steps."""
    oscillator: bool = True
    """Whether the reduced-order model is fitted to each run's reward."""


class SearchPlan(_Section):
    """A search over the design vector instead of a grid."""

    space: dict[str, Any] = Field(min_length=1)
    """By dotted path (or `$name`): a list of choices, or `{low, high}` with `log` and `step`."""
    trials: int = Field(20, ge=1)
    sampler: Literal["tpe", "random"] = "tpe"
    direction: Literal["maximize", "minimize"] = "maximize"
    seed: int = Field(0, ge=0)
    """Of the sampler."""

    @field_validator("space")
    @classmethod
    def _ranges(cls, space: dict[str, Any]) -> dict[str, Any]:
        for path, given in space.items():
            if isinstance(given, list) and given:
                continue
            if not isinstance(given, dict) or not {"low", "high"} <= set(given):
                raise ValueError(f"{path}: a list of choices or {{low, high}}, got {given!r}")
            for key in set(given) - {"low", "high", "log", "step"}:
                raise ValueError(f"{path}: {did_you_mean(key, ['low', 'high', 'log', 'step'])}")
            low, high = given["low"], given["high"]
            numbers = all(type(x) in (int, float) for x in (low, high))
            if not numbers or low >= high or (given.get("log") and low <= 0):
                raise ValueError(f"{path}: low={low!r} must be a number below high={high!r}")
        return space


class StudySpec(_Section):
    """A study file.

    Raises:
        StudyError: from `load` and `make`, for a key or a value that is not valid.
    """

    name: str = ""
    """What its directory is called; the file's name unless given."""
    description: str = ""
    base: str
    """A recipe's name or file; a file is looked up beside the study first."""
    changes: dict[str, Any] = Field(default_factory=dict, alias="set")
    """Fields of the recipe that all runs have."""
    factor: list[str] = Field(default_factory=list)
    """Fields in which arms are meant to differ; of a grid, its own."""
    vary: dict[str, list[Any] | dict[str, dict[str, Any]]] = Field(default_factory=dict)
    """A grid: each field (or `$name`) with its values, or a name with cases that set several."""
    runs: list[ArmSpec] = Field(default_factory=list)
    """Arms one by one."""
    search: SearchPlan | None = None
    hold: HoldPlan = HoldPlan()
    seeds: list[int] = Field(default=[0, 1, 2], min_length=1)
    compare: str | dict[str, Any] | None = None
    """The baseline: an arm's label, or, in a grid, values that the baseline of each arm has."""
    measure: str = "eval_accuracy"
    """The outcome: a metric of evaluation (`eval_...`) or of training."""
    report: ReportPlan = ReportPlan()
    executor: Literal["local", "ray"] = "local"
    workers: int = Field(1, ge=1)
    """Runs at a time."""
    gpus_per_run: int = Field(0, ge=0)
    cpus_per_run: float = Field(1, gt=0)
    """What a run asks of a Ray cluster."""
    ray_address: str | None = None
    """Of a Ray cluster; None starts one on this machine."""

    @field_validator("factor", mode="before")
    @classmethod
    def _one_factor(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("seeds", mode="before")
    @classmethod
    def _so_many_seeds(cls, value: Any) -> Any:
        return list(range(value)) if type(value) is int and value > 0 else value

    @model_validator(mode="after")
    def _consistent(self) -> StudySpec:
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"seeds: {self.seeds} holds one twice")
        if any(seed < 0 for seed in self.seeds):
            raise ValueError(f"seeds: {self.seeds}: none is below 0")
        ways = [name for name in ("vary", "runs", "search") if getattr(self, name)]
        if len(ways) != 1:
            raise ValueError(
                "give one of `vary:` (a grid), `runs:` (a list) and `search:`, got "
                + (" and ".join(ways) or "none of them")
            )
        if "seed" in {*self.vary, *(self.search.space if self.search else ()), *self.changes}:
            raise ValueError("seed: a study runs every arm with each of `seeds:`; give it there")
        empty = [path for path, values in self.vary.items() if not values]
        if empty:
            raise ValueError(f"vary.{empty[0]}: has no values")
        labels = [arm.label for arm in self.runs]
        if len(set(labels)) < len(labels):
            twice = next(label for label in labels if labels.count(label) > 1)
            raise ValueError(f"runs: two are called {twice!r}")
        return self

    @classmethod
    def make(cls, fields: Mapping[str, Any], where: str = "study") -> StudySpec:
        """Return the study with these fields.

        Raises:
            StudyError: an unknown key (the nearest valid one is named), or an invalid value.
        """
        try:
            return cls(**fields)
        except ValidationError as error:
            raise StudyError(f"{where}: {_explain(error)}") from error

    @classmethod
    def load(cls, name: str | Path, overrides: Iterable[str] = ()) -> tuple[StudySpec, Path | None]:
        """Return a study by file or by name, and the folder that its paths are relative to.

        Args:
            name: a path to a YAML file, or the name of a study of the package.
            overrides: `key=value` for the recipe of all runs, the value in YAML.

        Raises:
            StudyError: no such study, or a key or a value that is not valid.
        """
        text, where, folder = _find(name)
        try:
            raw = yaml.load(text, Loader=YamlLoader)
        except yaml.YAMLError as error:
            raise StudyError(f"{where}: not valid YAML ({error})") from error
        if not isinstance(raw, dict):
            raise StudyError(f"{where}: a study is a mapping of keys, got {type(raw).__name__}")
        raw.setdefault("name", Path(name).stem)
        spec = cls.make(raw, where)
        given = dict(map(_read_override, overrides))
        return spec.model_copy(update={"changes": {**flatten(spec.changes), **given}}), folder

    def base_fields(self, folder: Path | None) -> dict[str, Any]:
        """Return the fields of the recipe that all runs start from.

        Raises:
            RecipeError: there is no such recipe, or it is not valid.
            StudyError: `set:` does not fit it.
        """
        beside = folder / self.base if folder is not None else None
        found = beside if beside is not None and beside.is_file() else self.base
        return apply(Recipe.load(found).model_dump(mode="json"), flatten(self.changes))

    def to_yaml(self) -> str:
        """Return the study as YAML that `load` reads back equal."""
        fields = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        text: str = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=100)
        return text


def study_names() -> list[str]:
    """Return the names of the studies that ship with the package."""
    folder = resources.files("reasonenv") / "recipes" / "study"
    return sorted(
        f"study/{p.name.removesuffix('.yaml')}"
        for p in folder.iterdir()
        if p.name.endswith(".yaml") and "\nbase:" in p.read_text(encoding="utf-8")
    )


def _find(name: str | Path) -> tuple[str, str, Path | None]:
    path = Path(name)
    if path.suffix in (".yaml", ".yml") or path.is_file():
        try:
            return path.read_text(encoding="utf-8"), str(path), path.parent
        except (OSError, UnicodeDecodeError) as error:
            raise StudyError(f"{path}: cannot be read ({error})") from error
    names = study_names()
    if str(name) not in names:
        nearest = did_you_mean(str(name), names, otherwise="studies")
        raise StudyError(f"no study is called {str(name)!r}; {nearest}, or a path to a .yaml file")
    file = resources.files("reasonenv") / "recipes" / f"{name}.yaml"
    return file.read_text(encoding="utf-8"), f"study {name}", None


def _read_override(text: str) -> tuple[str, Any]:
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise StudyError(f"--set {text!r}: write key=value, such as model=DIR or grpo.beta=0.01")
    try:
        return key.strip(), yaml.load(value, Loader=YamlLoader)
    except yaml.YAMLError as error:
        raise StudyError(f"--set {text!r}: the value is not valid YAML ({error})") from error


_SECTIONS: dict[str, type[BaseModel]] = {
    "runs": ArmSpec, "hold": HoldPlan, "report": ReportPlan, "search": SearchPlan
}  # fmt: skip


def _explain(error: ValidationError) -> str:
    """Return pydantic's findings in words, the nearest valid key with an unknown one."""
    lines = []
    for finding in error.errors():
        place = ".".join(str(part) for part in finding["loc"])
        if finding["type"] == "extra_forbidden":
            model = _SECTIONS.get(str(finding["loc"][0]), StudySpec)
            if len(finding["loc"]) == 1:
                model = StudySpec
            known = [field.alias or name for name, field in model.model_fields.items()]
            key = str(finding["loc"][-1])
            hint = did_you_mean(key, known)
            if model is StudySpec and key.split(".")[0] in Recipe.model_fields:
                hint = f"it belongs to the recipe: put it under `set:` ({hint})"
            lines.append(f"unknown key `{place}`; {hint}")
        elif finding["type"] == "missing":
            lines.append(f"`{place}` is missing")
        else:
            message = finding["msg"].removeprefix("Value error, ")
            got = "" if isinstance(finding["input"], dict) else f" (got {finding['input']!r})"
            lines.append(f"{place}: {message}{got}" if place else message)
    return "; ".join(lines)
