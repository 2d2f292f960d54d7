"""Each failure mode is found where it is, not where it is not, and says what to try."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reasonenv.dynamics.health import CHECKS, HealthLimits, check_health
from reasonenv.errors import DataError

STEPS = 100


def run(**curves: Any) -> list[dict[str, Any]]:
    """Return the metrics of a healthy run, with some curves replaced (functions of 0 to 1)."""
    healthy: dict[str, Any] = {
        "reward": lambda t: 0.3 + 0.5 * t,
        "reward_std": lambda t: 0.4,
        "accuracy": lambda t: 0.3 + 0.4 * t,
        "reward_cv": lambda t: 0.5,
        "entropy": lambda t: 1.0 - 0.5 * t,
        "kl": lambda t: 0.02 + 0.02 * t,
        "completions/clipped_ratio": lambda t: 0.05,
        "terms/correct": lambda t: 0.3 + 0.4 * t,
        "unscored": lambda t: 0.0,
    }
    named = {name.replace("__", "/"): curve for name, curve in curves.items()}
    return [
        {"step": step, "kind": "train", **{
            name: curve(step / STEPS) for name, curve in {**healthy, **named}.items()
            if curve is not None
        }}
        for step in range(1, STEPS + 1)
    ]  # fmt: skip


SICK: list[tuple[str, dict[str, Any]]] = [
    ("reward_without_accuracy", {"accuracy": lambda t: 0.3}),
    ("vanishing_cv", {"reward_cv": lambda t: 0.5 * (1 - t) ** 3}),
    ("entropy_collapse", {"entropy": lambda t: 1.0 if t < 0.5 else 0.05}),
    ("kl_growth", {"kl": lambda t: 2.0 * t}),
    ("kl_growth", {"kl": lambda t: 0.02 if t < 0.8 else 0.4}),
    ("clipped_completions", {"completions__clipped_ratio": lambda t: t}),
    ("dead_terms", {"terms__format": lambda t: 1.0}),
    ("masked_verdicts", {"unscored": lambda t: 0.2}),
]


def test_a_healthy_run_has_no_findings() -> None:
    assert check_health(run()) == []


@pytest.mark.parametrize(
    ("check", "curves"), SICK, ids=[f"{c}-{i}" for i, (c, _) in enumerate(SICK)]
)
def test_each_failure_mode_is_found_alone_with_advice(check: str, curves: dict[str, Any]) -> None:
    (found,) = check_health(run(**curves))
    assert found.check == check
    assert found.step == STEPS
    assert len(found.advice) > 30
    assert found.figures
    assert found.message in str(found)


def test_held_out_accuracy_is_the_better_witness() -> None:
    evaluations = [{"step": s, "kind": "eval", "eval_accuracy": 0.3} for s in (0, STEPS)]
    (found,) = check_health([*run(), *evaluations])
    assert found.check == "reward_without_accuracy"
    assert "held-out" in found.message


def test_masked_verdicts_on_one_problem_are_told_from_scattered_ones() -> None:
    def rows(names: list[str]) -> list[dict[str, Any]]:
        return [{"problem_id": name, "solved": None} for name in names]

    clustered = check_health(run(), rows(["q7"] * 6 + ["q1", "q2"]))
    assert [f.check for f in clustered] == ["masked_on_one_problem"]
    assert "q7" in clustered[0].message
    assert not check_health(run(), rows([f"q{i}" for i in range(20)]))
    assert not check_health(run(), rows(["q7"] * 4))
    solved = [{"problem_id": "q7", "solved": 1.0}] * 50
    assert not check_health(run(), solved)


def test_what_is_not_logged_or_broken_is_not_judged() -> None:
    assert check_health([]) == []
    assert check_health([{"step": 1, "kind": "train"}, {"kind": "train"}, {"step": "x"}]) == []
    holed = run(entropy=lambda t: None, kl=lambda t: float("nan"))
    assert check_health(holed) == []
    assert check_health(run()[:10]) == []


def test_thresholds_can_be_set_and_wrong_ones_are_named() -> None:
    limits = HealthLimits.of({"clipped": 0.01})
    assert [f.check for f in check_health(run(), limits=limits)] == ["clipped_completions"]
    with pytest.raises(DataError, match="did you mean `clipped`"):
        HealthLimits.of({"cliped": 0.1})
    with pytest.raises(DataError, match="at least 0"):
        HealthLimits.of({"kl": "high"})
    with pytest.raises(DataError, match="window=0: a whole number, at least 1"):
        HealthLimits.of({"window": 0})
    assert set(CHECKS) == {c for c, _ in SICK}


def test_the_watch_warns_once_while_training_and_again_after_a_quiet_time(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from reasonenv.dynamics.watch import HealthWatch

    watch = HealthWatch(HealthLimits(window=5), every=5, log=tmp_path / "d" / "health.jsonl")
    watch.on_train_begin(None, SimpleNamespace(global_step=0), None)
    warned = []

    def train() -> None:
        for step in range(1, 101):
            clipped = 0.9 if step <= 40 or step > 80 else 0.0
            logs = {"completions/clipped_ratio": clipped, "reward": 0.5, "note": "text"}
            state = SimpleNamespace(global_step=step, is_world_process_zero=True)
            watch.on_log(None, state, None, logs=logs)
            warned.append(len(watch.findings))

    with pytest.warns(UserWarning, match=r"unhealthy: .*Raise max_completion_length"):
        train()
    assert warned[3] == 0
    assert warned[4] == 1 == warned[79]
    assert warned[-1] == 2
    lines = [
        json.loads(line) for line in (tmp_path / "d" / "health.jsonl").read_text().splitlines()
    ]
    assert [line["step"] for line in lines] == [f.step for f in watch.findings]
    other = SimpleNamespace(global_step=5, is_world_process_zero=False)
    watch.on_log(None, other, None, logs={"completions/clipped_ratio": 1.0})
    assert len(watch.findings) == 2
    resumed = SimpleNamespace(global_step=50, is_world_process_zero=True)
    watch.on_train_begin(None, resumed, None)
    assert len((tmp_path / "d" / "health.jsonl").read_text().splitlines()) == 1
