"""What a batch of judged and scored rollouts says about training, as named numbers.

The names are the same in `metrics.jsonl`, in TRL's trackers and in the report; in evaluation they
carry the prefix `eval_`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reasonenv.trainers.storage import earlier_turns
from reasonenv.types import Status

__all__ = ["batch_signals", "mixed_groups"]


def batch_signals(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the signals of a batch.

    Args:
        rows: stored rollouts (see `trainers.storage`), of complete groups.

    Returns:
        `accuracy` (share solved of those scored), `mixed_groups`, `unscored` (share of all),
        `reward`, `reward_std` (over the batch), `reward_cv` (their ratio), `terms/NAME` and
        `parts/NAME` (means), `within/NAME` (mean deviation of a part inside its group: what can
        move the advantage), `status/NAME` (shares), `turns` (completions of an episode, mean, where
        episodes may have several). What nothing was scored for is left out.
    """
    if not rows:
        return {}
    counts = Counter(row["status"] for row in rows)
    signals = {f"status/{status}": count / len(rows) for status, count in sorted(counts.items())}
    if "episode_tokens" in rows[0]:
        signals["turns"] = float(np.mean([len(earlier_turns(row)) + 1 for row in rows]))
    scored = [row for row in rows if row["solved"] is not None]
    signals["unscored"] = 1.0 - len(scored) / len(rows)
    if not scored:
        return signals
    signals["accuracy"] = float(np.mean([row["solved"] for row in scored]))
    signals["mixed_groups"] = mixed_groups(rows)
    totals = np.array([row["reward"] for row in scored])
    mean, std = float(totals.mean()), float(totals.std())
    signals |= {"reward": mean, "reward_std": std}
    if mean:
        signals["reward_cv"] = std / abs(mean)
    for kind in ("terms", "parts"):
        for name in scored[0][kind]:
            signals[f"{kind}/{name}"] = float(np.mean([row[kind][name] for row in scored]))
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in scored:
        groups.setdefault(row["group_id"], []).append(row)
    for name in scored[0]["parts"]:
        inside = [np.std([row["parts"][name] for row in group]) for group in groups.values()]
        signals[f"within/{name}"] = float(np.mean(inside))
    return signals


def mixed_groups(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the share of groups that hold both a right and a wrong answer.

    Only such groups carry a signal about the task, whatever shaping adds; the outcome is the
    verdict's, never the reward's.
    """
    outcomes: dict[str, set[float]] = {}
    for row in rows:
        seen = outcomes.setdefault(row["group_id"], set())
        if row["solved"] is not None:
            seen.add(row["solved"])
    return sum(len(seen) == 2 for seen in outcomes.values()) / len(outcomes)


UNVALUED = "no value from the reward"
"""Why a rollout is not scored whose verdict is evidence: a term could not value it."""


def why_unscored(row: Mapping[str, Any]) -> str | None:
    """Return why a rollout is not scored: its status, or `UNVALUED`; None where it is scored."""
    if not Status(row["status"]).is_evidence:
        return str(row["status"])
    return UNVALUED if row["solved"] is None else None
