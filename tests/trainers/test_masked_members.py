"""A rollout whose checker failed leaves the group's statistics and the loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from reasonenv import MathEnv, Problem, Status, Verdict
from reasonenv.models.loading import load_model, load_tokenizer
from reasonenv.models.prompts import PromptFormat
from reasonenv.trainers.batch import plan_batches
from reasonenv.trainers.bridge import Bridge
from reasonenv.trainers.draws import Draws
from reasonenv.trainers.guard import UnscoredGuard
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.session import slots
from reasonenv.trainers.trainer import EnvGRPOTrainer
from reasonenv.trainers.trl_config import grpo_config, lora_config

pytestmark = pytest.mark.training

G = 4
COMPLETIONS = ["5", "57", "132", "boom", "9", "101", "7", "9"]  # two groups, of unequal lengths
ANSWERS = ("132", "9")


@dataclass(frozen=True)
class FailsOnBoom:
    """A judge that breaks on one completion, as a dead worker or a lost sandbox would."""

    concurrency: int = 1

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        if "boom" in completion:
            raise RuntimeError("the worker died")
        right = problem.answer in completion
        return Verdict(Status.CORRECT if right else Status.INCORRECT, float(right), completion)


def make_trainer(tmp_path: Path, **grpo: Any) -> EnvGRPOTrainer:
    problems = [Problem(f"{a}+0=", a) for a in ANSWERS]
    env = MathEnv(
        problems,
        judge=FailsOnBoom(),
        reward="Correct() + 0.1 * TagCount('answer')",
        layout={"reasoning": None, "instruction": ""},
    )
    recipe = Recipe.make(
        {
            "steps": 1,
            "prompts_per_step": 2,
            "rows_per_forward": 8,
            "grpo": {"num_generations": G, "max_completion_length": 8, **grpo},
            "lora": {"r": 4, "target_modules": "all-linear", "lora_dropout": 0.0},
        }
    )
    plan = plan_batches(processes=1, group_size=G, prompts_per_step=2, rows_per_forward=8)
    config = grpo_config(recipe, plan, run=tmp_path, steps=1, evaluate=False, resumed=False)
    tokenizer = load_tokenizer("tiny")
    bridge = Bridge(
        env=env,
        tokenizer=tokenizer,
        prompt=PromptFormat(env, tokenizer),
        train=Draws(env.problems, shuffle=False),
        held_out=None,
        group_size=G,
        eval_samples=1,
        end_ids=frozenset(),
    )
    trainer = EnvGRPOTrainer(
        bridge=bridge,
        guard=UnscoredGuard(limit=1.0),
        rollouts=tmp_path / "rollouts.parquet",
        model=load_model("tiny"),
        args=config,
        train_dataset=slots(2),
        processing_class=tokenizer,
        peft_config=lora_config(recipe.lora),
    )
    bridge.end_ids = frozenset(trainer.eos_token_ids)
    ids = [[*tokenizer(c)["input_ids"], tokenizer.eos_token_id] for c in COMPLETIONS]
    trainer._generate_single_turn = lambda *args, **kwargs: (ids, None)
    torch.manual_seed(1)
    with torch.no_grad():  # at B = 0 the policy is its own reference, and the KL term has no slope
        for name, parameter in trainer.model.named_parameters():
            if "lora_B" in name:
                parameter.copy_(0.05 * torch.randn_like(parameter))
    trainer.current_gradient_accumulation_steps = 1
    trainer.model.train()
    return trainer


def batch() -> list[dict[str, int]]:
    return [{"slot": i // G} for i in range(2 * G)]


def gradients(trainer: EnvGRPOTrainer, inputs: dict[str, Any]) -> torch.Tensor:
    trainer.model.zero_grad()
    trainer._compute_loss(trainer.model, inputs).backward()
    return torch.cat(
        [p.grad.flatten() for p in trainer.model.parameters() if p.grad is not None]
    ).clone()


def without_member(trainer: EnvGRPOTrainer, inputs: dict[str, Any], gone: int) -> dict[str, Any]:
    """Return the batch as it would have been had member `gone` never been sampled."""
    kept = [i for i in range(2 * G) if i != gone]
    rewards = [row["reward"] for row in trainer.bridge.rows]
    advantages = []
    for i in kept:
        group = [r for j, r in enumerate(rewards) if j // G == i // G and j != gone]
        mean = sum(group) / len(group)
        std = math.sqrt(sum((r - mean) ** 2 for r in group) / (len(group) - 1))
        advantages.append((rewards[i] - mean) / (std + 1e-4))
    batch = {
        key: value[kept] if torch.is_tensor(value) and value.ndim else value
        for key, value in inputs.items()
        if key not in ("tool_mask", "live_share")
    }
    batch["advantages"] = torch.tensor(advantages)
    batch["num_items_in_batch"] = batch["completion_mask"].sum()
    return batch


@pytest.mark.parametrize(
    "loss_type", ["dapo", "grpo", "bnpo", "dr_grpo", "cispo", "sapo", "luspo", "vespo"]
)
@pytest.mark.parametrize("beta", [0.0, 0.1])
def test_the_gradient_equals_that_of_the_batch_without_the_member(
    tmp_path: Path, loss_type: str, beta: float
) -> None:
    level = "sequence" if loss_type == "luspo" else "token"
    trainer = make_trainer(
        tmp_path, loss_type=loss_type, beta=beta, importance_sampling_level=level
    )
    inputs = trainer._generate_and_score_completions(batch())
    gone = next(i for i, row in enumerate(trainer.bridge.rows) if row["solved"] is None)
    assert COMPLETIONS[gone] == "boom"
    reference = without_member(trainer, inputs, gone)
    others = [i for i in range(2 * G) if i != gone]
    torch.testing.assert_close(inputs["advantages"][others], reference["advantages"])
    got, expected = gradients(trainer, inputs), gradients(trainer, reference)
    assert expected.norm() > 1e-4
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-6)


def test_leaving_the_mask_out_would_give_another_gradient(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, loss_type="dapo", beta=0.1)
    inputs = trainer._generate_and_score_completions(batch())
    masked = gradients(trainer, inputs)
    plain = {key: value for key, value in inputs.items() if key != "tool_mask"}
    plain["num_items_in_batch"] = plain["completion_mask"].sum()
    assert (gradients(trainer, plain) - masked).norm() > 1e-3 * masked.norm()


def test_a_batch_that_was_judged_whole_has_no_mask(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path)
    trainer.bridge.env.judge_one = FailsOnNothing()
    inputs = trainer._generate_and_score_completions(batch())
    assert "tool_mask" not in inputs
    assert "live_share" not in inputs


def test_unscored_members_are_counted_and_stored(tmp_path: Path) -> None:
    from reasonenv.trainers.storage import read_rollouts

    trainer = make_trainer(tmp_path)
    trainer._generate_and_score_completions(batch())
    assert trainer._metrics["train"]["unscored"] == [1 / 8]
    lengths = [len(trainer.bridge.tokenizer(c)["input_ids"]) + 1 for c in COMPLETIONS]
    share = lengths[COMPLETIONS.index("boom")] / sum(lengths)
    assert trainer._metrics["train"]["masked"] == [pytest.approx(share)]
    assert trainer._metrics["train"]["status/checker_error"] == [1 / 8]
    assert trainer._metrics["train"]["accuracy"] == [pytest.approx(3 / 7)]
    stored = list(read_rollouts(tmp_path))
    assert [row["completion"] for row in stored] == COMPLETIONS
    unscored = [row for row in stored if row["solved"] is None]
    assert [row["status"] for row in unscored] == ["checker_error"]
    assert unscored[0]["advantage"] == 0.0
    assert "the worker died" in unscored[0]["detail"]


def test_a_batch_without_any_scored_member_moves_nothing(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, beta=0.1)
    trainer.bridge.env.judge_one = FailsAlways()
    inputs = trainer._generate_and_score_completions(batch())
    assert gradients(trainer, inputs).abs().max() == 0.0


@dataclass(frozen=True)
class FailsOnNothing:
    concurrency: int = 1

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        return Verdict(Status.INCORRECT, 0.0, completion)


@dataclass(frozen=True)
class FailsAlways:
    concurrency: int = 1

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        raise RuntimeError("no sandbox")
