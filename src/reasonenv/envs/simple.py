"""The environment behind `reasonenv.register(id, problems=..., judge=...)`."""

from __future__ import annotations

from typing import Any

from reasonenv.envs.core import ReasoningEnv
from reasonenv.envs.kinds import CatalogueEnv, MathEnv

__all__ = ["make_simple"]


def make_simple(
    problems: Any, judge: Any = None, *, split: str = "train", data: Any = None, **kwargs: Any
) -> ReasoningEnv:
    """Return an environment of `problems`, judged by `judge`, or as mathematics without one.

    Args:
        problems: a list of `Problem`, a name of the catalogue, or a function of the split.
        judge: a `Judge`, or None.
        split: passed to `problems` where that is a function.
        data: takes the place of `problems` where given.
        kwargs: as for `ReasoningEnv`.
    """
    kind = MathEnv if judge is None else CatalogueEnv
    if data is not None and not isinstance(problems, str):
        problems = None
    elif callable(problems):
        problems = problems(split)
    return kind(problems, judge=judge, split=split, data=data, **kwargs)
