"""What scoring a group takes and returns: `RewardContext` and `Scores`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from reasonenv.types import FrozenDict

__all__ = ["Floats", "RewardContext", "Scores"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RewardContext:
    """Where in training a group was sampled; all zero outside training.

    Args:
        step: the trainer's step, from 0.
        total_steps: how many the run has.
        state: what stateful nodes remember, from `Reward.init_state` and `Reward.update`; a node
            that finds nothing of its own there is in its first state.
    """

    step: int = 0
    total_steps: int = 0
    state: Mapping[str, Any] = field(default_factory=FrozenDict)


@dataclass(frozen=True, slots=True)
class Scores:
    """What each of G rollouts earned. All arrays have shape (G,).

    Args:
        solved: the task outcome, 1.0 or 0.0, from the verdicts alone; NaN = not scored.
        terms: the raw value of each leaf, by name.
        parts: each top-level addend, by name; they sum to `total`.
        total: the composed reward. NaN for members whose checker failed, or that a term could not
            value: all four are NaN there.
        turns: the per-turn rewards of potential-based parts: one tuple a member, one number a
            completion of its episode; empty tuples where not scored, and () where the reward has
            no such part.
        group_ids: which group each member belongs to.
    """

    solved: Floats
    terms: Mapping[str, Floats]
    parts: Mapping[str, Floats]
    total: Floats
    turns: tuple[tuple[float, ...], ...] = ()
    group_ids: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.total)

    def table(self) -> str:
        """Return the breakdown as text: a row a member, a column a part."""
        heads = ["solved", *self.parts, "total"]
        columns = [self.solved, *self.parts.values(), self.total]
        widths = [max(len(head), 7) for head in heads]
        lines = ["  ".join(head.rjust(w) for head, w in zip(heads, widths, strict=True))]
        for row in zip(*columns, strict=True):
            cells = ["-" if np.isnan(value) else f"{value:.3f}" for value in row]
            lines.append("  ".join(c.rjust(w) for c, w in zip(cells, widths, strict=True)))
        return "\n".join(lines)
