"""Reward state and schedules in a run: kept, stored with each rollout, and resumed exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from reasonenv import GRPOLearner, MathEnv, Problem
from reasonenv.errors import RewardError
from reasonenv.trainers import read_rollouts

from .conftest import small
from .test_runs import untimed

pytestmark = [
    pytest.mark.training,
    pytest.mark.filterwarnings("ignore:reward Curriculum.*does not dominate"),
]

# The deviation of a share is below 1 always, so the stage is over after three generations.
REWARD = (
    "Curriculum(Stage(Format('answer'), until='format', below=1.0, patience=3), 2.0 * Correct()) "
    "+ Scheduled(0.5 * Format('answer'), Linear(1.0, 0.0, steps=4))"
)


def train(out: Path, **fields: Any) -> Path:
    eval_ = {"problems": 4, "every": None}
    GRPOLearner(out=out, **small(**{"reward": REWARD, "eval": eval_, **fields})).train()
    return out


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(tmp_path_factory.mktemp("runs") / "whole")


def trained(run: Path) -> list[dict[str, Any]]:
    return [row for row in read_rollouts(run) if row["kind"] == "train"]


def test_each_rollout_is_scored_in_the_stage_and_at_the_step_of_its_generation(whole: Path) -> None:
    rows = trained(whole)
    assert {(row["step"], row["state_version"]) for row in rows} == {(s, s) for s in range(4)}
    for row in rows:
        stage = row["terms"]["format"] if row["step"] < 3 else 2 * row["terms"]["correct"]
        assert row["parts"]["curriculum"] == pytest.approx(stage)
        fading = 0.5 * (1 - row["step"] / 4)
        assert row["parts"]["format"] == pytest.approx(fading * row["terms"]["format"])
        assert row["solved"] == row["terms"]["correct"]


def test_a_checkpoint_holds_the_state_and_a_resumed_run_goes_on_from_it(
    whole: Path, tmp_path: Path
) -> None:
    out = train(tmp_path / "run", steps=2)
    [mark] = out.glob("checkpoints/checkpoint-2/reasonenv.json")
    kept = json.loads(mark.read_text())["reward_state"]
    assert kept == {"version": 2, "values": {"curriculum": {"stage": 0, "calm": 2}}}
    GRPOLearner.resume(out, steps=4)
    names = ("step", "completion", "reward", "advantage", "state_version")
    ours, unbroken = (
        [{name: row[name] for name in names} for row in trained(run)] for run in (out, whole)
    )
    assert ours == unbroken
    assert untimed(ours) == untimed(unbroken)


def test_the_state_of_another_reward_is_not_resumed(tmp_path: Path) -> None:
    out = train(tmp_path / "run", steps=2)
    recipe = out / "recipe.yaml"
    fields = yaml.safe_load(recipe.read_text())
    fields["reward"]["sum"][0]["name"] = "another"
    recipe.write_text(yaml.safe_dump(fields))
    with pytest.raises(RewardError, match="resume with the reward that the run began with"):
        GRPOLearner.resume(out, steps=4)


def test_per_turn_rewards_are_refused_where_one_advantage_is_shared(tmp_path: Path) -> None:
    reward = "Correct() + 0.5 * PotentialBased(TagCount('answer'))"
    with pytest.raises(RewardError, match="each episode has one turn"):
        GRPOLearner(out=tmp_path / "run", **small(reward=reward)).train()
    env = MathEnv([Problem("1+1=", "2"), Problem("1+2=", "3")], max_turns=3)
    fields = small(reward=reward, turns={"advantages": "episode"})
    del fields["env"], fields["env_args"]
    with pytest.raises(RewardError, match="sum to -phi"):
        GRPOLearner(env=env, out=tmp_path / "run", **fields).train()
    assert not (tmp_path / "run").exists()
