"""Problems drawn by expected signal: estimates, draws, replacements, and exact resume."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reasonenv
from reasonenv import GRPOLearner, Problem
from reasonenv.errors import RecipeError
from reasonenv.problems import ProblemList, ProceduralProblems
from reasonenv.trainers import Recipe, Run, read_metrics, read_rollouts
from reasonenv.trainers.draws import Draws, slot_of_attempt, split_attempt
from reasonenv.trainers.sampling import Estimates, ExpectedSignal, Outcome
from reasonenv.trainers.sampling.estimates import mixed_probability
from reasonenv.trainers.trl_config import check_sections

from .conftest import small

G = 8


def pool(size: int = 40) -> ProblemList:
    return ProblemList([Problem(f"{i}+1=", str(i + 1), id=f"p{i}") for i in range(size)])


@given(st.floats(0.05, 50), st.floats(0.05, 50), st.integers(2, 12))
def test_the_mixed_probability_is_that_of_simulated_groups(a: float, b: float, size: int) -> None:
    rng = np.random.default_rng(0)
    right = rng.binomial(size, rng.beta(a, b, size=20_000))
    simulated = ((right > 0) & (right < size)).mean()
    got = mixed_probability(np.array([a]), np.array([b]), size)[0]
    assert got == pytest.approx(simulated, abs=0.015)


def test_an_unseen_problem_is_expected_to_be_like_its_level() -> None:
    rng = np.random.default_rng(1)
    estimates = Estimates(G, half_life=1e9)
    rates = {"easy": (8.0, 1.0), "split": (0.2, 0.2)}
    for _ in range(40):
        found = []
        for level, (a, b) in rates.items():
            for i in range(16):
                right = int(rng.binomial(G, rng.beta(a, b)))
                found.append(Outcome(f"{level}{rng.integers(10**9)}-{i}", level, right, G))
        estimates.observe(found)
    for level, (a, b) in rates.items():
        expected = mixed_probability(np.array([a]), np.array([b]), G)[0]
        assert estimates.mixed(["never seen"], [level])[0] == pytest.approx(expected, abs=0.06)
        fitted = estimates.prior(level)
        assert fitted[0] / sum(fitted) == pytest.approx(a / (a + b), abs=0.03)


def test_what_a_problem_showed_counts_and_fades() -> None:
    estimates = Estimates(G, half_life=4.0)
    fresh = float(estimates.mixed(["a"], [""])[0])
    estimates.observe([Outcome("a", "", 0, G), Outcome("b", "", G // 2, G)])
    soon = estimates.mixed(["a", "b"], ["", ""])
    assert soon[0] < fresh < soon[1]
    for _ in range(40):
        estimates.observe([])
    late = estimates.mixed(["a"], [""])[0]
    assert soon[0] < late
    assert late == pytest.approx(float(estimates.mixed(["c"], [""])[0]), abs=0.01)


def test_unscored_members_are_no_evidence() -> None:
    one, other = Estimates(G), Estimates(G)
    one.observe([Outcome("a", "", 1, 4)])
    other.observe([Outcome("a", "", 1, 4), Outcome("b", "", 0, 0)])
    assert one.to_json() == other.to_json()


def test_estimates_go_on_exactly_from_their_saved_state() -> None:
    rng = np.random.default_rng(2)
    one, two = Estimates(G), Estimates(G)
    for _ in range(5):
        found = [
            Outcome(f"p{rng.integers(9)}", f"l{rng.integers(2)}", int(rng.integers(9)), G)
            for _ in range(4)
        ]
        one.observe(found)
    two.load(json.loads(json.dumps(one.to_json())))
    for estimates in (one, two):
        estimates.observe([Outcome("p1", "l0", 3, G)])
    assert one.to_json() == two.to_json()


def test_problems_with_expected_signal_are_drawn_and_none_is_forgotten() -> None:
    problems = pool(40)
    estimates = Estimates(G, half_life=30.0)
    draws = ExpectedSignal(problems=problems, estimates=estimates, prompts=4, floor=0.05)
    teaches = {f"p{i}" for i in range(8)}
    seen: Counter[str] = Counter()
    for generation in range(200):
        drawn = [draws[generation * 4 + i] for i in range(4)]
        assert len({problem.id for problem in drawn}) == 4
        if generation >= 60:
            seen.update(problem.id for problem in drawn)
        estimates.observe([Outcome(p.id, "", G // 2 if p.id in teaches else 0, G) for p in drawn])
    assert set(seen) == {problem.id for problem in problems}
    share = sum(seen[one] for one in teaches) / seen.total()
    assert share > 0.4  # uniform draws would give 0.2


def test_draws_are_a_function_of_seed_generation_and_estimates() -> None:
    def draw(seed: int, *generations: int) -> list[str]:
        draws = ExpectedSignal(
            problems=pool(), estimates=Estimates(G), prompts=4, seed=seed, floor=0.1
        )
        return [draws[4 * g + i].id for g in generations for i in range(4)]

    assert draw(3, 0, 1, 2)[8:] == draw(3, 2)  # a resumed run has not drawn what came before
    assert draw(3, 0) != draw(4, 0)
    assert draw(3, 0) != draw(3, 1)


def test_a_small_pool_is_drawn_more_than_once() -> None:
    draws = ExpectedSignal(problems=pool(3), estimates=Estimates(G), prompts=4)
    assert {draws[i].id for i in range(4)} == {"p0", "p1", "p2"}


def two_levels(rng: np.random.Generator) -> Problem:
    level, a = int(rng.integers(2)), int(rng.integers(10**6))
    return Problem(f"{a}?", str(a), {"level": level}, id=f"{level}-{a}")


def test_an_endless_source_is_drawn_by_level() -> None:
    estimates = Estimates(G, by_problem=False)
    source = ProceduralProblems(two_levels)
    draws = ExpectedSignal(problems=source, estimates=estimates, prompts=8, floor=0.05)
    levels: Counter[str] = Counter()
    for generation in range(60):
        drawn = [draws[generation * 8 + i] for i in range(8)]
        if generation >= 20:
            levels.update(str(problem.metadata["level"]) for problem in drawn)
        outcomes = [(p.id, str(p.metadata["level"])) for p in drawn]
        estimates.observe([Outcome(i, x, G // 2 if x == "1" else 0, G) for i, x in outcomes])
    assert levels["1"] > 3 * levels["0"] > 0
    assert not estimates.to_json()["problems"]


@pytest.mark.parametrize("by", ["uniform", "expected"])
def test_a_replacement_is_another_draw(by: str) -> None:
    draws: Draws = Draws(pool(), 5)
    if by == "expected":
        draws = ExpectedSignal(problems=pool(), estimates=Estimates(G), prompts=4, seed=5)
    slots = [slot_of_attempt(slot, attempt) for attempt in range(3) for slot in range(4)]
    assert [split_attempt(slot)[1] for slot in slots] == [0, 1, 2, 3] * 3
    drawn = [draws[slot].id for slot in slots]
    assert drawn == [draws[slot].id for slot in slots]
    assert drawn[:4] != drawn[4:8] != drawn[8:]


@pytest.mark.parametrize(
    ("fields", "fragment"),
    [
        ({"sampling": "expected"}, "'uniform' or 'expected_signal'"),
        ({"sampling": {"flor": 0.1}}, "did you mean `floor`"),
        ({"sampling": {"floor": 0}}, "greater than 0"),
        ({"sampling": {"resample": 99}}, "less than or equal to 7"),
        ({"sampling": {"resample": 1}, "grpo": {"scale_rewards": "batch"}}, "own deviation"),
        ({"skip_silent": "sometimes"}, "'auto' or 'off'"),
    ],
)
def test_bad_sampling_is_refused(fields: dict[str, Any], fragment: str) -> None:
    with pytest.raises(RecipeError) as caught:
        check_sections(Recipe.make({"steps": 1, **fields}))
    assert fragment in str(caught.value)


def test_off_may_stand_without_quotes(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text("steps: 1\nskip_silent: off\nsampling: expected_signal\n")
    recipe = Recipe.load(file)
    assert recipe.skip_silent == "off"
    assert recipe.sampling.by == "expected_signal"
    file.write_text(recipe.to_yaml())
    assert Recipe.load(file) == recipe


TIMES = ("time/", "eval_runtime", "eval_samples", "eval_steps", "step_time", "train_", "tokens_per")


def untimed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if not k.startswith(TIMES)} for row in rows]


def pool_file(folder: Path) -> str:
    rows = [{"question": f"{a}+{b}=", "answer": str(a + b)} for a in range(3, 9) for b in (4, 51)]
    rows += [{"question": f"{a}*{a + 7}=", "answer": str(a * (a + 7))} for a in range(31, 43)]
    file = folder / "pool.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


@pytest.mark.training
def test_replaced_groups_train_on_mixed_ones_and_every_rollout_counts(tmp_path: Path) -> None:
    out = tmp_path / "run"
    fields = small(
        data=pool_file(tmp_path),
        sampling={"by": "expected_signal", "resample": 3},
        eval={"problems": 0, "every": None},
        grpo={"steps_per_generation": 2, "gradient_accumulation_steps": 1},
        prompts_per_step=None,
        rows_per_forward=8,
    )
    fields["grpo"]["per_device_train_batch_size"] = 8
    GRPOLearner(out=out, **fields).train()
    rows = [row for row in read_rollouts(out) if row["kind"] == "train"]
    for metrics in read_metrics(out, "train"):
        if metrics.get("rollouts") is None:  # the second step of a generation
            continue
        own = [row for row in rows if row["step"] == metrics["step"] - 1]
        assert metrics["rollouts"] == len(own)
        used = [row for row in own if row["advantage"] is not None]
        assert len(used) == 16
        assert metrics["replaced"] == pytest.approx(1 - len(used) / len(own))
        groups: dict[str, set[float]] = {}
        for row in own:
            groups.setdefault(row["group_id"], set()).add(row["solved"])
        for group_id in {row["group_id"] for row in own if row["advantage"] is None}:
            # what was left out is silent, or was sampled to keep ranks and calls alike
            assert len(groups[group_id]) == 1 or group_id not in {r["group_id"] for r in used}
    assert len(rows) > 2 * 16, "nothing was replaced, so the case says nothing"


@pytest.mark.training
def test_a_killed_run_goes_on_exactly_as_an_unbroken_one(tmp_path: Path) -> None:
    fields = small(
        steps=8,
        data=pool_file(tmp_path),
        sampling={"by": "expected_signal", "resample": 1},
        eval={"problems": 2, "every": 3},
        checkpoint={"every": 2},
        grpo={"lr_scheduler_type": "cosine", "loss_type": "grpo"},
    )
    whole = tmp_path / "whole"
    GRPOLearner(out=whole, **fields).train()
    broken, recipe = tmp_path / "broken", tmp_path / "small.yaml"
    recipe.write_text(reasonenv.Recipe.make(fields).to_yaml())
    process = subprocess.Popen(
        [sys.executable, "-m", "reasonenv", "train", str(recipe), "--out", str(broken)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=dict(os.environ),
    )
    deadline = time.monotonic() + 180
    while not (broken / "rollouts.parquet" / "train-000003.parquet").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline, "the run did not start"
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    checkpoint = Run.open(broken).checkpoint()
    assert checkpoint is not None
    GRPOLearner.resume(broken)
    for kind in ("train", "eval"):
        expected, got = (untimed(read_metrics(run, kind)) for run in (whole, broken))
        assert got == expected
    rollouts = []
    for run in (whole, broken):
        rows = list(read_rollouts(run))
        rollouts.append([{k: v for k, v in row.items() if k != "seconds"} for row in rows])
    assert rollouts[0] == rollouts[1]
    states = [
        (run / "checkpoints" / "checkpoint-8" / "estimates.json").read_text()
        for run in (whole, broken)
    ]
    assert states[0] == states[1]
    adapters = [
        (run / "adapter" / "adapter_model.safetensors").read_bytes() for run in (whole, broken)
    ]
    assert adapters[0] == adapters[1]
