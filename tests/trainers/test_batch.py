"""Batch arithmetic: what fits, and what is said where it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonenv.errors import BatchArithmeticError
from reasonenv.trainers.batch import plan_batches

TABLE = Path(__file__).parents[1] / "data" / "batch_arithmetic.jsonl"
CASES = [json.loads(line) for line in TABLE.read_text().splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_sizes_fit_or_the_error_names_valid_ones(case: dict[str, Any]) -> None:
    if "error" in case:
        with pytest.raises(BatchArithmeticError) as caught:
            plan_batches(**case["given"])
        for fragment in case["error"]:
            assert fragment in str(caught.value)
        return
    plan = plan_batches(**case["given"])
    assert {name: getattr(plan, name) for name in case["plan"]} == case["plan"]


@given(
    processes=st.integers(1, 4),
    group_size=st.integers(2, 16),
    prompts=st.integers(1, 24),
    rows=st.integers(1, 300),
)
def test_a_plan_that_is_made_holds_whole_groups_and_the_prompts_asked_for(
    processes: int, group_size: int, prompts: int, rows: int
) -> None:
    arguments: dict[str, Any] = {
        "group_size": group_size,
        "prompts_per_step": prompts,
        "rows_per_forward": rows,
    }
    if prompts % processes:
        with pytest.raises(BatchArithmeticError):
            plan_batches(processes=processes, **arguments)
        return
    plan = plan_batches(processes=processes, **arguments)
    assert plan.prompts_per_generation == prompts
    assert plan.per_device * plan.steps_per_generation % group_size == 0
    assert plan.per_device <= rows
    assert plan.eval_per_device >= 1
