"""`advantage: gdpo` against TRL's own GDPO, on the same completions and the same rewards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from trl import GRPOTrainer

from reasonenv import GRPOLearner, MathEnv, Problem
from reasonenv.errors import RecipeError
from reasonenv.models.loading import load_model, load_tokenizer
from reasonenv.models.prompts import PromptFormat
from reasonenv.rewards import from_config, gdpo
from reasonenv.trainers import read_metrics, read_rollouts
from reasonenv.trainers.batch import plan_batches
from reasonenv.trainers.bridge import Bridge
from reasonenv.trainers.draws import Draws
from reasonenv.trainers.guard import UnscoredGuard
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.session import slots
from reasonenv.trainers.trainer import EnvGRPOTrainer
from reasonenv.trainers.trl_config import grpo_config, lora_config

from .conftest import small
from .test_masked_members import FailsOnBoom

pytestmark = pytest.mark.training

G = 4
REWARD = "Correct(2.0) + 0.5 * NumericPresent() - 0.25 * Overlong(9, cache=8)"
WEIGHTS = (1.0, 0.5, -0.25)
ANSWERS = ("132", "9", "4")
COMPLETIONS = ["5", "57x", "132", "x", "9", "9", "9", "19"]  # a mixed group, one all right
FAILED = ["4", "boom", "5", "5x"]  # a third group, of which one member cannot be judged


def recipe_of(**grpo: Any) -> Recipe:
    return Recipe.make(
        {
            "steps": 1,
            "advantage": "gdpo",
            "prompts_per_step": 3,
            "rows_per_forward": 12,
            "grpo": {"num_generations": G, "max_completion_length": 8, **grpo},
            "lora": {"r": 4, "target_modules": "all-linear"},
        }
    )


def make_env() -> MathEnv:
    return MathEnv(
        [Problem(f"{a}+0=", a) for a in ANSWERS],
        judge=FailsOnBoom(),
        reward=REWARD,
        layout={"reasoning": None, "instruction": ""},
    )


def make_bridge(env: MathEnv, tokenizer: Any) -> Bridge:
    return Bridge(
        env=env,
        tokenizer=tokenizer,
        prompt=PromptFormat(env, tokenizer),
        train=Draws(env.problems, shuffle=False),
        held_out=None,
        group_size=G,
        eval_samples=1,
        end_ids=frozenset(),
        learned=gdpo(env.reward, G),
    )


def test_its_advantages_are_those_of_trls_normalize_then_sum(tmp_path: Path) -> None:
    env, tokenizer, recipe = make_env(), load_tokenizer("tiny"), recipe_of()
    texts = COMPLETIONS + FAILED
    ids = [[*tokenizer(c)["input_ids"], tokenizer.eos_token_id] for c in texts]
    plan = plan_batches(processes=1, group_size=G, prompts_per_step=3, rows_per_forward=12)
    config = grpo_config(recipe, plan, run=tmp_path, steps=1, evaluate=False, resumed=False)
    ours = EnvGRPOTrainer(
        bridge=make_bridge(env, tokenizer),
        guard=UnscoredGuard(limit=1.0),
        rollouts=tmp_path / "rollouts.parquet",
        model=load_model("tiny"),
        args=config,
        train_dataset=slots(3),
        processing_class=tokenizer,
        peft_config=lora_config(recipe.lora),
    )
    ours.bridge.end_ids = frozenset(ours.eos_token_ids)
    ours._generate_single_turn = lambda *args, **kwargs: (ids, None)
    ours.model.train()
    output = ours._generate_and_score_completions([{"slot": i // G} for i in range(3 * G)])

    raw = {  # each leaf alone, unweighted; None where the checker failed
        name: [None if row["terms"][name] is None else row["terms"][name] for row in rows_of(ours)]
        for name in ("correct", "numeric_present", "overlong")
    }

    def function(name: str) -> Any:
        def reward(completions: Any, **_: Any) -> list[float | None]:
            return raw[name]

        reward.__name__ = name
        return reward

    theirs_config = grpo_config(
        recipe_of(), plan, run=tmp_path / "b", steps=1, evaluate=False, resumed=False
    )
    theirs_config.multi_objective_aggregation = "normalize_then_sum"
    theirs_config.reward_weights = list(WEIGHTS)
    prompt = ours.bridge.prompt(env.problems[0])
    theirs = GRPOTrainer(
        model=load_model("tiny"),
        reward_funcs=[function(name) for name in raw],
        args=theirs_config,
        train_dataset=slots(3),
        processing_class=tokenizer,
        peft_config=lora_config(recipe.lora),
    )
    theirs._generate_single_turn = lambda *args, **kwargs: (ids, None)
    theirs.model.train()
    expected = theirs._generate_and_score_completions([{"prompt": prompt}] * (3 * G))
    assert output["advantages"].tolist() == pytest.approx(expected["advantages"].tolist(), abs=2e-6)
    assert output["advantages"].abs().max() > 0.5
    assert output["advantages"][9] == 0.0  # the member that could not be judged


def rows_of(trainer: EnvGRPOTrainer) -> list[dict[str, Any]]:
    return list(trainer.bridge.rows)


def test_the_rows_keep_the_raw_reward_beside_what_the_loss_read(tmp_path: Path) -> None:
    fields = small(advantage="gdpo", steps=1, eval={"problems": 4, "every": None})
    out = tmp_path / "run"
    GRPOLearner(out=out, **fields).train()
    rows = [row for row in read_rollouts(out) if row["kind"] == "train"]
    reward = from_config(fields["reward"])
    assert set(rows[0]["learned"]) == {part.label for part in reward.addends()}
    for row in rows:
        assert row["reward"] == pytest.approx(sum(row["parts"].values()))
    totals = torch.tensor([sum(row["learned"].values()) for row in rows], dtype=torch.float64)
    assert totals.view(-1, 4).sum(dim=1).tolist() == pytest.approx([0.0] * 4, abs=1e-9)
    scaled = (totals - totals.mean()) / (totals.std() + 1e-4)
    assert [row["advantage"] for row in rows] == pytest.approx(scaled.tolist(), abs=1e-5)
    [logged] = read_metrics(out, "train")
    assert logged["reward"] == pytest.approx(sum(row["reward"] for row in rows) / len(rows))


def test_another_scaling_beside_it_is_refused() -> None:
    with pytest.raises(RecipeError, match="does not go with `advantage: gdpo`"):
        GRPOLearner(**small(advantage="gdpo", grpo={"scale_rewards": "group"})).describe()
    GRPOLearner(**small(advantage="gdpo", grpo={"scale_rewards": "batch"})).describe()
