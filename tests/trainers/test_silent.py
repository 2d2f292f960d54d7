"""Rows without a share in the loss cost nothing, and loss and gradients stay the same numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reasonenv import MathEnv, Problem, Status, Verdict
from reasonenv.models.loading import load_model, load_tokenizer
from reasonenv.models.prompts import PromptFormat
from reasonenv.trainers.batch import plan_batches
from reasonenv.trainers.bridge import Bridge
from reasonenv.trainers.draws import Draws
from reasonenv.trainers.guard import UnscoredGuard
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.session import slots
from reasonenv.trainers.silent import silent_rows, why_all_rows
from reasonenv.trainers.trainer import EnvGRPOTrainer
from reasonenv.trainers.trl_config import grpo_config, lora_config

pytestmark = pytest.mark.training

G = 4
ANSWERS = ("132", "9", "5", "7")
COMPLETIONS = [
    *("132", "57", "13", "132"),
    *("9", "9", "9", "9"),  # all right
    *("1234", "12", "1", "boom"),  # all wrong; one that cannot be judged
    *("7", "boom", "71", "81234"),
]
LOSSES = ["dapo", "grpo", "bnpo", "dr_grpo", "cispo", "sapo", "luspo", "vespo"]


@dataclass(frozen=True)
class Judge:
    """Exact answers; breaks on "boom" where `breaks`."""

    breaks: bool
    concurrency: int = 1

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        if self.breaks and completion == "boom":
            raise RuntimeError("the worker died")
        right = problem.answer == completion
        return Verdict(Status.CORRECT if right else Status.INCORRECT, float(right), completion)


def make_trainer(
    out: Path, *, skip: str, breaks: bool = False, passes: int = 1, per_step: int = 1, **grpo: Any
) -> EnvGRPOTrainer:
    """A trainer on four replayed groups: `passes` forward passes, `per_step` of them a step."""
    problems = [Problem(f"{answer}+0=", answer) for answer in ANSWERS]
    layout = {"reasoning": None, "instruction": ""}
    env = MathEnv(problems, judge=Judge(breaks), reward="0.7 * Correct()", layout=layout)
    recipe = Recipe.make(
        {
            "steps": 1,
            "grpo": {"num_generations": G, "max_completion_length": 8, **grpo},
            "lora": {"r": 4, "target_modules": "all-linear"},
        }
    )
    plan = plan_batches(
        processes=1,
        group_size=G,
        per_device=16 // passes,
        accumulation=per_step,
        steps_per_generation=passes,
    )
    config = grpo_config(recipe, plan, run=out, steps=1, evaluate=False, resumed=False)
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
        rollouts=out / "rollouts.parquet",
        skip_silent=skip,
        model=load_model("tiny"),
        args=config,
        train_dataset=slots(4),
        processing_class=tokenizer,
        peft_config=lora_config(recipe.lora),
    )
    bridge.end_ids = frozenset(trainer.eos_token_ids)
    ids = [[*tokenizer(c)["input_ids"], tokenizer.eos_token_id] for c in COMPLETIONS]
    trainer._generate_single_turn = lambda *args, **kwargs: (ids, None)
    trainer.current_gradient_accumulation_steps = per_step
    trainer.model.train()
    perturb(trainer, 1)
    return trainer


def perturb(trainer: EnvGRPOTrainer, seed: int) -> None:
    """Move the adapter, as an optimizer step would."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, parameter in trainer.model.named_parameters():
            if "lora_B" in name:
                parameter.add_(0.05 * torch.randn_like(parameter))


def step(trainer: EnvGRPOTrainer, passes: int) -> tuple[float, torch.Tensor, int]:
    """Loss, gradient and rows run of one generation; the adapter moves after the first pass."""
    ran = 0

    def count(module: Any, args: Any, kwargs: Any) -> None:
        nonlocal ran
        ran += len(kwargs["input_ids"])

    hook = trainer.model.register_forward_pre_hook(count, with_kwargs=True)
    trainer.model.zero_grad()
    total = 0.0
    for one in range(passes):
        trainer._step = one
        torch.manual_seed(7)  # of the shuffle
        inputs = trainer._prepare_inputs([{"slot": i // G} for i in range(16)])
        if one == 0 and "old_per_token_logps" in inputs:
            perturb(trainer, 2)
        loss = trainer._compute_loss(trainer.model, inputs)
        loss.backward()
        total += loss.item()
    hook.remove()
    grads = [p.grad.flatten() for p in trainer.model.parameters() if p.grad is not None]
    return total, torch.cat(grads), ran


@pytest.fixture(scope="module")
def trainers(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., EnvGRPOTrainer]:
    """A trainer by its passes, made once; loss and skipping are set by the tests."""
    made: dict[Any, EnvGRPOTrainer] = {}

    def get(passes: int, per_step: int, breaks: bool) -> EnvGRPOTrainer:
        key = passes, per_step, breaks
        if key not in made:
            out = tmp_path_factory.mktemp("trainer")
            made[key] = make_trainer(
                out, skip="auto", breaks=breaks, passes=passes, per_step=per_step
            )
        return made[key]

    return get


@pytest.mark.parametrize("breaks", [False, True])
@pytest.mark.parametrize(("passes", "per_step"), [(1, 1), (2, 2), (4, 2)])
@pytest.mark.parametrize("loss_type", LOSSES)
def test_loss_and_gradient_are_those_of_all_rows(
    trainers: Callable[..., EnvGRPOTrainer],
    loss_type: str,
    passes: int,
    per_step: int,
    breaks: bool,
) -> None:
    trainer = trainers(passes, per_step, breaks)
    trainer.loss_type = loss_type
    trainer.importance_sampling_level = "sequence" if loss_type == "luspo" else "token"
    weights = {k: v.clone() for k, v in trainer.model.state_dict().items()}
    results = []
    for reason in (None, "the test says so"):
        trainer.all_rows_because = reason
        trainer.model.load_state_dict(weights)
        results.append(step(trainer, passes))
    trainer.model.load_state_dict(weights)
    (loss, gradient, ran), (whole_loss, whole_gradient, all_rows) = results
    assert loss == pytest.approx(whole_loss, rel=1e-5, abs=1e-7)
    torch.testing.assert_close(gradient, whole_gradient, rtol=1e-4, atol=1e-7)
    assert whole_gradient.norm() > 1e-3
    old = passes > per_step  # then the policy that sampled is run on every row, too
    live = 7 if breaks else 8
    assert all_rows == 16 * (1 + old)
    # a pass with no live row keeps one
    assert live * (1 + old) <= ran <= live * (1 + old) + passes


def test_skipping_can_be_turned_off(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, skip="off")
    assert trainer.all_rows_because == "skip_silent: off"
    assert step(trainer, 1)[2] == 16


def test_what_was_skipped_is_logged_and_stored_as_zero(tmp_path: Path) -> None:
    from reasonenv.trainers.storage import read_rollouts

    trainer = make_trainer(tmp_path, skip="auto")
    step(trainer, 1)
    assert trainer._metrics["train"]["skipped_rows"] == [0.5]
    advantages = [row["advantage"] for row in read_rollouts(tmp_path)]
    assert advantages[4:12] == [0.0] * 8  # 0.7 four times has a deviation by rounding alone
    assert all(advantages[:4])


def test_a_generation_without_any_live_row_moves_nothing(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, skip="auto", loss_type="grpo")
    right = [[*trainer.bridge.tokenizer(a)["input_ids"], 1] for a in ANSWERS for _ in range(G)]
    trainer._generate_single_turn = lambda *args, **kwargs: (right, None)
    loss, gradient, ran = step(trainer, 1)
    assert loss == 0.0
    assert gradient.abs().max() == 0.0
    assert ran == 1


@pytest.mark.parametrize(
    ("grpo", "lora", "fragment"),
    [
        ({"beta": 0.01}, None, "KL term"),
        ({"entropy_coef": 0.1}, None, "entropy bonus"),
        ({"use_adaptive_entropy": True}, None, "entropy bonus"),
        ({"top_entropy_quantile": 0.2}, None, "quantile"),
        ({}, {"lora_dropout": 0.05}, "dropout"),
    ],
)
def test_settings_that_need_every_row_are_named(
    grpo: dict[str, Any], lora: dict[str, Any] | None, fragment: str
) -> None:
    reason = why_all_rows(grpo, lora)
    assert reason is not None
    assert fragment in reason


def test_a_loaded_model_with_dropout_keeps_every_row(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, skip="auto", beta=0.1)
    assert trainer.all_rows_because is not None
    assert "KL" in trainer.all_rows_because
    from reasonenv.trainers.silent import why_model_needs_all_rows

    assert why_model_needs_all_rows(trainer.model, aux_loss=False) is None
    assert "experts" in str(why_model_needs_all_rows(trainer.model, aux_loss=True))
    trainer.model.config.attention_dropout = 0.1
    assert "attention_dropout" in str(why_model_needs_all_rows(trainer.model, aux_loss=False))
    modules = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.1))
    assert "dropout 0.1" in str(why_model_needs_all_rows(modules, aux_loss=False))


rewards = st.sampled_from([0.0, 0.1, 0.3, 1.0, math.nan])


@given(st.lists(st.lists(rewards, min_size=3, max_size=3), min_size=1, max_size=5))
def test_a_group_is_silent_when_its_scored_members_earned_the_same(
    groups: list[list[float]],
) -> None:
    got = silent_rows(torch.tensor(groups).flatten(), 3).view(-1, 3)
    for row, group in zip(got.tolist(), groups, strict=True):
        scored = {r for r in group if not math.isnan(r)}
        assert row == [len(scored) < 2] * 3


def test_several_rewards_are_silent_only_together() -> None:
    two = torch.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 2.0]])
    assert silent_rows(two, 2).tolist() == [False, False, True, True]


def test_rounding_of_parts_that_were_normalised_is_no_signal() -> None:
    assert (
        silent_rows(torch.tensor([1e-13, -1e-13, 0.0, 0.01]), 2).tolist()
        == [True] * 2 + [False] * 2
    )
