"""Judging while others are still generated: the same run, told of completions as they finish."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import torch

import reasonenv
from reasonenv import GRPOLearner, Problem, Verdict
from reasonenv.checkers import Judge
from reasonenv.models.loading import load_model, load_tokenizer
from reasonenv.trainers import read_metrics, read_rollouts
from reasonenv.trainers.finishing import finished_rows

from .conftest import SMALL, small

pytestmark = pytest.mark.training

LONG = {"num_generations": 4, "max_completion_length": 64, "temperature": 2.0}
"""Hot enough for completions of the tiny model to go on for long, some of them to the limit."""


def test_rows_that_end_early_are_told_before_the_others_are_done() -> None:
    model, tokenizer = load_model("tiny"), load_tokenizer("tiny")
    prompts = [tokenizer(text)["input_ids"] for text in ["1+1=", "47+85=", "9+9="] * 8]
    width = max(map(len, prompts))
    padded = [[tokenizer.pad_token_id] * (width - len(ids)) + ids for ids in prompts]
    mask = [[0] * (width - len(ids)) + [1] * len(ids) for ids in prompts]
    ends = [tokenizer.eos_token_id]
    told: list[tuple[list[int], list[int]]] = []
    torch.manual_seed(0)
    with finished_rows(model, prompts, ends, lambda *one: told.append(tuple(map(list, one)))):  # type: ignore[arg-type]
        output = model.generate(
            torch.tensor(padded),
            attention_mask=torch.tensor(mask),
            do_sample=True,
            temperature=2.0,
            max_new_tokens=64,
        )
        in_time = len(told)
    assert "generate" not in vars(model)
    finals = output[:, width:].tolist()
    early = [
        (prompt, ids[: ids.index(ends[0]) + 1])
        for prompt, ids in zip(prompts, finals, strict=True)
        if ends[0] in ids[:48]
    ]
    assert 0 < len(early) < len(prompts)
    assert in_time == len(told) >= len(early)
    assert all(one in told for one in early)


class Watched:
    """The judge of mathematics, noting when it was asked for what."""

    concurrency = 1

    def __init__(self, inner: Judge) -> None:
        self.inner = inner
        self.asked: list[tuple[float, str]] = []

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        self.asked.append((time.perf_counter(), completion))
        return self.inner(problem, completion)


def train(out: Path, **fields: Any) -> Path:
    return (
        GRPOLearner(out=out, **small(grpo=LONG, steps=2, eval={"problems": 0}, **fields))
        .train()
        .run
    )


def test_a_run_is_the_same_with_and_without_overlap(tmp_path: Path) -> None:
    runs = [train(tmp_path / str(on), judging={"overlap": on}) for on in (True, False)]
    losses = [[row["loss"] for row in read_metrics(run, "train")] for run in runs]
    assert losses[0] == losses[1]
    keys = ("completion", "status", "reward", "advantage")
    rows = [[{k: row[k] for k in keys} for row in read_rollouts(run)] for run in runs]
    assert rows[0] == rows[1]


def test_completions_are_judged_while_others_are_generated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = reasonenv.make(SMALL["env"], **SMALL["env_args"])
    watched = env.judge_one = Watched(env.judge_one)
    ended = []
    from reasonenv.trainers.trainer import EnvGRPOTrainer

    generate = EnvGRPOTrainer._generate

    def timed(self: Any, prompts: Any) -> Any:
        output = generate(self, prompts)
        ended.append(time.perf_counter())
        return output

    monkeypatch.setattr(EnvGRPOTrainer, "_generate", timed)
    fields = small(grpo=LONG, steps=1, eval={"problems": 0})
    del fields["env"], fields["env_args"]
    run = GRPOLearner(env=env, out=tmp_path / "run", **fields).train().run
    before = [text for at, text in watched.asked if at < ended[0]]
    completions = [row["completion"] for row in read_rollouts(run)]
    assert before
    assert {row["status"] for row in read_rollouts(run)} <= {"correct", "incorrect", "no_answer"}
    assert set(before) <= set(completions)
    assert len(watched.asked) == len(set(completions))  # nothing twice
