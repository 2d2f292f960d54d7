"""Scored rollouts as columns: from judged ones, or from the stored rows of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Floats, Reward, RewardContext
from reasonenv.rewards.grouping import score_groups
from reasonenv.types import Judged

__all__ = ["Columns", "columns"]


@dataclass(frozen=True)
class Columns:
    """N scored rollouts, column by column; those that are not scored are left out.

    Attributes:
        solved: the task outcome, shape (N,).
        total: what the loss reads, shape (N,).
        terms: raw values by name, each of shape (N,).
        parts: addends of `total` by name.
        group: which group each belongs to, as whole numbers from 0, shape (N,).
        steps: the trainer's step of each.
        texts: completions.
        problems: ids of problems.
        unscored: how many were left out.
    """

    solved: Floats
    total: Floats
    terms: dict[str, Floats]
    parts: dict[str, Floats]
    group: Any
    steps: list[int]
    texts: list[str]
    problems: list[str]
    unscored: int

    def __len__(self) -> int:
        return len(self.total)


def columns(
    rollouts: Iterable[Judged | Mapping[str, Any]],
    reward: Reward | None,
    context: RewardContext | None = None,
) -> Columns:
    """Return rollouts as columns.

    Args:
        rollouts: judged ones, which `reward` scores now, or stored rows, which hold their scores.
        reward: of the audit; stored rows need none.
        context: where in training judged ones are taken to be.

    Raises:
        RewardError: something else stands among them, or none was scored.
    """
    listed = list(rollouts)
    rows: list[Mapping[str, Any]]
    if reward is not None and all(isinstance(one, Judged) for one in listed):
        rows = _score([one for one in listed if isinstance(one, Judged)], reward, context)
    else:
        rows = [one for one in listed if isinstance(one, Mapping)]
        if len(rows) < len(listed) or not all("parts" in row for row in rows):
            raise RewardError(
                "an audit takes Judged rollouts, or the stored rows of a run (read_rollouts)"
            )
    scored = [row for row in rows if row["solved"] is not None]
    if not scored:
        raise RewardError(f"none of the {len(rows)} rollouts was scored: there is nothing to audit")
    # A run with `advantage: gdpo` stores beside the parts those that its loss saw.
    parts = _named(scored, "learned" if scored[0].get("learned") else "parts")
    ids: dict[Any, int] = {}
    return Columns(
        solved=np.array([row["solved"] for row in scored], dtype=float),
        total=sum(parts.values(), np.zeros(len(scored))),
        terms=_named(scored, "terms"),
        parts=parts,
        group=np.array(
            [ids.setdefault((r.get("step"), r["group_id"]), len(ids)) for r in scored], dtype=int
        ),
        steps=[int(row.get("step") or 0) for row in scored],
        texts=[str(row.get("prefill") or "") + str(row["completion"]) for row in scored],
        problems=[str(row["problem_id"]) for row in scored],
        unscored=len(rows) - len(scored),
    )


def _named(rows: Sequence[Mapping[str, Any]], kind: str) -> dict[str, Floats]:
    """Return the columns of a kind by name; a row that lacks one, of another reward, has NaN."""
    names = dict.fromkeys(name for row in rows for name in row[kind])
    return {
        name: np.array([_number(row[kind].get(name)) for row in rows], dtype=float)
        for name in names
    }


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _score(
    judged: Sequence[Judged], reward: Reward, context: RewardContext | None
) -> list[Mapping[str, Any]]:
    scores = score_groups(reward, judged, context)
    return [
        {
            "solved": None if np.isnan(scores.solved[i]) else scores.solved[i],
            "terms": {name: values[i] for name, values in scores.terms.items()},
            "parts": {name: values[i] for name, values in scores.parts.items()},
            "group_id": one.rollout.group_id,
            "step": one.rollout.step,
            "prefill": one.rollout.prefill,
            "completion": one.rollout.completion,
            "problem_id": one.rollout.problem.id,
        }
        for i, one in enumerate(judged)
    ]
