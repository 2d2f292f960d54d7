"""How names and arguments are spelled: in logs, in formulas and in YAML."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

__all__ = ["plain", "shown", "snake"]

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # XMLCount: xml_count
_NAMES: dict[str, str] = {}


def snake(name: str) -> str:
    """Return a class's name as terms are logged under: XMLCount as xml_count."""
    if name not in _NAMES:
        _NAMES[name] = _WORD.sub("_", name).lower()
    return _NAMES[name]


def plain(value: Any) -> Any:
    """Return an argument as YAML writes it: tuples as lists, numpy's numbers as Python's."""
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def shown(value: Any) -> str:
    """Return an argument as a formula spells it."""
    if isinstance(value, tuple):
        inner = ", ".join(shown(item) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(value.item() if isinstance(value, np.generic) else value)
