"""A study's arms: the points of a grid, or the entries of a list."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from reasonenv.errors import StudyError, did_you_mean
from reasonenv.studies.overrides import flatten
from reasonenv.studies.spec import StudySpec

__all__ = ["Arm", "arms_of", "baselines", "slug", "split_variables"]


@dataclass(frozen=True, slots=True)
class Arm:
    """One treatment, run with every seed.

    Attributes:
        label: as the report calls it.
        changes: fields of the recipe by dotted path; `{seed}`, `{run:LABEL}` and variables stand
            in the texts.
        factor: fields in which it is meant to differ from its baseline.
        point: its values in the grid, by name; empty outside one.
        variables: values of the `$names`.
        reason, figure: why it is tried, where the study says so.
    """

    label: str
    changes: Mapping[str, Any]
    factor: tuple[str, ...] = ()
    point: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    figure: str = ""


def arms_of(spec: StudySpec) -> list[Arm]:
    """Return the arms of a grid or a list, in the order of the file.

    Raises:
        StudyError: two arms cannot be told apart.
    """
    if spec.runs:
        arms = [
            Arm(
                label=one.label,
                changes=flatten(one.changes),
                factor=tuple(one.factor if one.factor is not None else spec.factor),
                reason=one.reason,
                figure=one.figure,
            )
            for one in spec.runs
        ]
    else:
        arms = []
        names = _short(list(spec.vary))
        cases = {name: given for name, given in spec.vary.items() if isinstance(given, Mapping)}
        for values in itertools.product(*spec.vary.values()):
            point = dict(zip(spec.vary, values, strict=True))
            changes, variables = split_variables(
                {name: value for name, value in point.items() if name not in cases}
            )
            for name, given in cases.items():
                changes |= given[point[name]]
            label = ", ".join(
                str(value) if path in cases else f"{names[path]}={_said(value)}"
                for path, value in point.items()
            )
            factor = (*spec.factor, *flatten(changes), *(("reward",) if variables else ()))
            arms.append(Arm(label, flatten(changes), factor, point, variables))
    seen: dict[str, str] = {}
    for arm in arms:
        other = seen.setdefault(slug(arm.label), arm.label)
        if other != arm.label or sum(a.label == arm.label for a in arms) > 1:
            raise StudyError(
                f"the arms {other!r} and {arm.label!r} would share a directory: give values or "
                "labels that differ in letters or digits"
            )
    return arms


def split_variables(point: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part fields of the recipe from `$names`, which fill `{name}` in texts."""
    changes = {path: value for path, value in point.items() if not path.startswith("$")}
    variables = {path[1:]: value for path, value in point.items() if path.startswith("$")}
    return changes, variables


def baselines(spec: StudySpec, arms: Sequence[Arm]) -> dict[str, str]:
    """Return the baseline's label of each arm that is compared with one.

    Raises:
        StudyError: `compare:` names no arm.
    """
    labels = [arm.label for arm in arms]
    if isinstance(spec.compare, Mapping):
        if not spec.vary:
            raise StudyError("compare: a mapping needs a grid (`vary:`); name an arm's label")
        for name, value in spec.compare.items():
            if name not in spec.vary:
                raise StudyError(f"compare: {did_you_mean(str(name), spec.vary)}")
            if value not in spec.vary[name]:
                raise StudyError(f"compare: {name}={value!r} is none of {spec.vary[name]}")
        pairs = {}
        for arm in arms:
            wanted = {**arm.point, **spec.compare}
            base = next(other for other in arms if other.point == wanted)
            if base is not arm:
                pairs[arm.label] = base.label
        return pairs
    base_label = labels[0] if spec.compare is None else spec.compare
    if base_label not in labels:
        raise StudyError(f"compare: no arm is called {base_label!r}; "
                         f"{did_you_mean(base_label, labels)}")  # fmt: skip
    return {label: base_label for label in labels if label != base_label}


def slug(label: str) -> str:
    """Return a label as part of a directory's name.

    >>> slug("first:2+last:2, beta=0.01")
    'first-2+last-2-beta=0.01'
    """
    return re.sub(r"[^\w.+=]+", "-", label).strip("-") or "arm"


def _short(paths: Sequence[str]) -> dict[str, str]:
    """Return the last part of each path, the whole where two share it."""
    last = [path.rpartition(".")[2].removeprefix("$") for path in paths]
    return {
        path: one if last.count(one) == 1 else path for path, one in zip(paths, last, strict=True)
    }


def _said(value: Any) -> str:
    if isinstance(value, str) and "/" in value:
        return PurePath(value).name
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)
