"""Whether two registrations under one id mean the same, though a file was imported twice.

The second import of a file (as `module:id` and as `path/to/file.py:id`, or by `importlib.reload`)
makes new classes, functions and objects; what they are called, which file they stand in and what
they are made of tells that they are the old ones over again.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["same"]


def same(old: Any, new: Any) -> bool:
    """Return whether `new` is equal to `old`, or the same class, function or object made anew."""
    try:
        return _same(old, new)
    except Exception:  # arrays compare item by item, cycles never end, locks cannot be reduced
        return False


def _same(old: Any, new: Any) -> bool:
    if old is new:
        return True
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return old.keys() == new.keys() and all(_same(old[key], new[key]) for key in old)
    if isinstance(old, list | tuple) and isinstance(new, list | tuple):
        return len(old) == len(new) and all(map(_same, old, new))
    if hasattr(old, "__qualname__") and hasattr(new, "__qualname__"):
        return _place(old) == _place(new)
    if old == new:
        return True
    parts = [one.__reduce_ex__(2) for one in (old, new)]  # class and state, wherever it is kept
    return all(isinstance(part, tuple) for part in parts) and _same(*parts)


def _place(item: Any) -> tuple[Any, ...]:
    """Return the name of a class or function, its file, and the line of a lambda."""
    file = getattr(sys.modules.get(item.__module__ or ""), "__file__", None)
    where = str(Path(file).resolve()) if file else item.__module__
    line = item.__code__.co_firstlineno if item.__qualname__.endswith("<lambda>") else None
    return item.__qualname__, where, line
