"""What a batch says: the deviation inside groups, beside the one over the batch."""

from __future__ import annotations

from typing import Any

import pytest

from reasonenv.trainers.signals import batch_signals


def row(group: str, solved: float | None, **parts: float) -> dict[str, Any]:
    return {
        "group_id": group,
        "solved": solved,
        "status": "checker_error" if solved is None else "correct" if solved else "incorrect",
        "reward": sum(parts.values()),
        "terms": parts,
        "parts": parts,
    }


def test_a_part_that_differs_between_groups_only_has_no_deviation_inside_them() -> None:
    rows = [
        row("a", 1.0, correct=1.0, level=5.0),
        row("a", 0.0, correct=0.0, level=5.0),
        row("b", 0.0, correct=0.0, level=1.0),
        row("b", 0.0, correct=0.0, level=1.0),
        row("b", None, correct=9.0, level=9.0),
    ]
    signals = batch_signals(rows)
    assert signals["within/level"] == 0.0
    assert signals["within/correct"] == pytest.approx(0.25)  # 0.5 in one group, 0 in the other
    assert signals["reward_std"] > 1.0
