"""Changing a recipe's fields by dotted path, and telling in which fields two recipes differ."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from reasonenv.errors import StudyError

__all__ = ["apply", "differences", "fill", "flatten", "mentioned_runs"]

_WHOLE = {"reward", "data", "eval.data", "runs"}  # values, whatever they look like: never merged
_NAMED = re.compile(r"\{(run:)?([^{}]+)\}")


def flatten(fields: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return nested fields as dotted paths; an empty mapping is a value.

    >>> flatten({"grpo": {"beta": 0.1}, "lora.r": 8})
    {'grpo.beta': 0.1, 'lora.r': 8}
    """
    flat: dict[str, Any] = {}
    for key, value in fields.items():
        path = f"{above}{key}"
        if isinstance(value, Mapping) and value and path not in _WHOLE:
            flat |= flatten(value, f"{path}.")
        else:
            flat[path] = value
    return flat


def apply(fields: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recipe's fields with changes by dotted path; `steps` replaces `epochs`.

    Raises:
        StudyError: a path leads through a field that has no fields below it.
    """
    changed = copy.deepcopy(dict(fields))
    for path, value in changes.items():
        *sections, last = path.split(".")
        inner = changed
        for section in sections:
            if inner.get(section) is None:
                inner[section] = {}
            inner = inner[section]
            if not isinstance(inner, dict):
                raise StudyError(f"{path}: {section!r} has no fields below it")
        inner[last] = copy.deepcopy(value)
        other = {"steps": "epochs", "epochs": "steps"}.get(path)
        if other and value is not None and other not in changes:
            changed[other] = None
    return changed


def fill(value: Any, names: Mapping[str, Any], runs: Mapping[str, str]) -> Any:
    """Return a value with `{name}` and `{run:LABEL}` filled in, inside lists and mappings, too.

    Braces around anything else stay: a reward's pattern may hold some.

    Args:
        value: of a recipe's field.
        names: what may be named.
        runs: a run's directory by its arm's label.

    Raises:
        StudyError: `{run:LABEL}` with a label that there is not.
    """
    if isinstance(value, Mapping):
        return {key: fill(inner, names, runs) for key, inner in value.items()}
    if isinstance(value, list):
        return [fill(inner, names, runs) for inner in value]
    if not isinstance(value, str):
        return value

    def put(match: re.Match[str]) -> str:
        kind, name = match.groups()
        if kind:
            if name not in runs:
                raise StudyError(
                    f"{value!r}: no arm is called {name!r}; valid: {', '.join(runs) or 'none'}"
                )
            return runs[name]
        return str(names[name]) if name in names else match[0]

    return _NAMED.sub(put, value)


def mentioned_runs(value: Any) -> set[str]:
    """Return the labels in `{run:LABEL}` anywhere in a value."""
    if isinstance(value, Mapping):
        return {label for inner in value.values() for label in mentioned_runs(inner)}
    if isinstance(value, list):
        return {label for inner in value for label in mentioned_runs(inner)}
    if not isinstance(value, str):
        return set()
    return {name for kind, name in _NAMED.findall(value) if kind}


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return the dotted paths of the fields in which two recipes differ, seed and text apart."""
    a, b = flatten(one), flatten(other)
    paths = [path for path in {**a, **b} if path not in ("seed", "description")]
    return [path for path in paths if a.get(path, ...) != b.get(path, ...)]
