"""A run that runs out of memory says which knob frees most."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from reasonenv import GRPOLearner
from reasonenv.errors import MemoryExhaustedError
from reasonenv.trainers.memory import Sizes, advice, is_exhausted
from reasonenv.trainers.trainer import EnvGRPOTrainer

from .conftest import small

SIZES = Sizes(
    rows=8,
    generated=64,
    prompt=200,
    completion=1000,
    width=1536,
    layers=28,
    cached=512,
    number_bytes=2,
    parameters=1_500_000_000,
    trained=18_000_000,
    checkpointing=False,
)


def first(phase: str, processes: int = 1, **other: Any) -> str:
    return advice(phase, replace(SIZES, **other), processes)[0][1]


def test_the_knob_that_frees_most_comes_first() -> None:
    assert "gradient_checkpointing" in first("update")
    assert "lora" in first("update", checkpointing=True, trained=SIZES.parameters)
    assert "rows_per_forward 8 -> 4" in first("update", checkpointing=True, rows=8, prompt=4000)
    assert "max_completion_length" in first("update", checkpointing=True, rows=1)
    assert "prompts_per_step" in first("generate", prompt=1000)
    assert "shard: fsdp" in first("generate", processes=8, generated=1)


def test_no_knob_is_named_that_is_turned_already() -> None:
    knobs = " ".join(what for _, what in advice("update", replace(SIZES, checkpointing=True)))
    assert "gradient_checkpointing" not in knobs
    assert "shard" not in knobs
    assert "lora" not in knobs
    freed = [count for count, _ in advice("update", SIZES)]
    assert freed == sorted(freed, reverse=True)
    assert all(count >= 0 for count in freed)


def test_errors_of_memory_are_told_from_others() -> None:
    assert is_exhausted(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"))
    assert is_exhausted(MemoryError())
    assert not is_exhausted(RuntimeError("the worker died"))
    assert not is_exhausted(ValueError("out of memory"))
    with pytest.raises(RuntimeError) as real:
        torch.empty(2**60)
    assert is_exhausted(real.value)


@pytest.mark.training
@pytest.mark.parametrize(
    ("method", "where"),
    [("_generate_single_turn", "while completions were generated"), ("_compute_loss", "update")],
)
def test_a_run_without_memory_says_what_to_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, where: str
) -> None:
    monkeypatch.setattr(EnvGRPOTrainer, method, lambda *_, **__: torch.empty(2**60))
    with pytest.raises(MemoryExhaustedError, match=where) as told:
        GRPOLearner(
            out=tmp_path / "run", **small(eval={"problems": 0, "every": None}, steps=1)
        ).train()
    assert "1. " in str(told.value)
    assert "max_completion_length 8 -> 4" in str(told.value)
