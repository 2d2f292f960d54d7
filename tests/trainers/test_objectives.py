"""TRL's advantages, losses and gradients against the reference in `trainers.objectives`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from reasonenv.models.loading import load_model, load_tokenizer
from reasonenv.trainers import objectives
from reasonenv.trainers.objectives import Batch

pytestmark = pytest.mark.training

B, T, G = 12, 9, 4
LOW, HIGH, LENGTH = 0.2, 0.28, 16


@pytest.fixture(scope="module")
def trl_trainer(tmp_path_factory: pytest.TempPathFactory) -> GRPOTrainer:
    """TRL's own trainer; tests set what its configuration would have set."""
    config = GRPOConfig(
        output_dir=str(tmp_path_factory.mktemp("trl")),
        per_device_train_batch_size=B,
        num_generations=G,
        max_completion_length=LENGTH,
        use_cpu=True,
        bf16=False,
        report_to="none",
    )
    trainer = GRPOTrainer(
        model=load_model("tiny"),
        reward_funcs=[lambda completions, **_: [0.0] * len(completions)],
        args=config,
        train_dataset=Dataset.from_dict({"prompt": ["1+1="] * B}),
        processing_class=load_tokenizer("tiny"),
    )
    trainer.model.train()
    return trainer


def random_batch(seed: int, spread: float = 0.5) -> Batch:
    """A batch of unequal lengths, with masked tokens, a masked member and active clipping."""
    generator = torch.Generator().manual_seed(seed)

    def normal(scale: float) -> torch.Tensor:
        return scale * torch.randn(B, T, generator=generator, dtype=torch.float64)

    logps = -normal(1.0).abs()
    lengths = torch.randint(1, T + 1, (B, 1), generator=generator)
    mask = (torch.arange(T) < lengths).long()
    mask[torch.randint(0, B, (1,), generator=generator)] = 0
    mask[0, 0] = 1
    advantages = torch.randn(B, generator=generator, dtype=torch.float64)
    return Batch(
        logps.requires_grad_(), logps.detach() + normal(spread), advantages, mask, logps + normal(1)
    )


def by_trl(trainer: GRPOTrainer, batch: Batch, **settings: Any) -> tuple[torch.Tensor, Any]:
    """TRL's loss of these log-probabilities and its gradient; no model runs."""
    defaults = {
        "loss_type": "grpo",
        "importance_sampling_level": "token",
        "beta": 0.0,
        "epsilon_low": LOW,
        "epsilon_high": HIGH,
        "current_gradient_accumulation_steps": 1,
    }
    trainer.args.use_bias_correction_kl = settings.pop("corrected", False)
    tokens = settings.pop("tokens", batch.mask.sum())
    for name, value in {**defaults, **settings}.items():
        setattr(trainer, name, value)
    entropies = torch.zeros_like(batch.logps)
    trainer._get_per_token_logps_and_entropies = lambda *_, **__: (batch.logps, entropies, None)
    prompt = torch.ones(B, 1, dtype=torch.long)
    assert batch.ref_logps is not None
    inputs = {
        "prompt_ids": prompt,
        "prompt_mask": prompt,
        "completion_ids": torch.ones(B, T, dtype=torch.long),
        "completion_mask": torch.ones(B, T, dtype=torch.long),
        "tool_mask": batch.mask,
        "advantages": batch.advantages,
        "old_per_token_logps": batch.old_logps,
        "ref_per_token_logps": batch.ref_logps.detach(),
        "num_items_in_batch": tokens,
    }
    loss = trainer._compute_loss(trainer.model, inputs)
    return loss.detach(), torch.autograd.grad(loss, batch.logps)[0]


Reference = Callable[..., torch.Tensor]
LOSSES: dict[str, tuple[dict[str, Any], Reference]] = {
    "grpo": (
        {"loss_type": "grpo"},
        lambda b, **kl: objectives.grpo_loss(b, low=LOW, high=HIGH, **kl),
    ),
    "gspo": (
        {"loss_type": "grpo", "importance_sampling_level": "sequence"},
        lambda b, **kl: objectives.gspo_loss(b, low=LOW, high=HIGH, **kl),
    ),
    "dr_grpo": (
        {"loss_type": "dr_grpo"},
        lambda b, **kl: objectives.dr_grpo_loss(b, length=LENGTH, low=LOW, high=HIGH, **kl),
    ),
    "dapo": (
        {"loss_type": "dapo", "tokens": torch.tensor(77.0)},
        lambda b, **kl: objectives.dapo_loss(
            b, tokens=torch.tensor(77.0), low=LOW, high=HIGH, **kl
        ),
    ),
    "bnpo": (
        {"loss_type": "bnpo"},
        lambda b, **kl: objectives.bnpo_loss(b, low=LOW, high=HIGH, **kl),
    ),
    "cispo": (
        {"loss_type": "cispo", "epsilon_high": 1.5, "tokens": torch.tensor(77.0)},
        lambda b, **kl: objectives.cispo_loss(b, tokens=torch.tensor(77.0), high=1.5, **kl),
    ),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("beta", "corrected"), [(0.0, False), (0.3, False), (0.3, True)])
@pytest.mark.parametrize("name", LOSSES)
def test_trl_computes_the_loss_and_the_gradient_of_the_reference(
    trl_trainer: GRPOTrainer, name: str, beta: float, corrected: bool, seed: int
) -> None:
    settings, reference = LOSSES[name]
    batch = random_batch(seed)
    if name == "gspo":  # one ratio each: a spread of tokens would average out of the clip range
        batch = batch._replace(old_logps=batch.logps.detach() - 0.6 * batch.advantages[:, None])
    batch = batch._replace(ref_logps=batch.ref_logps.detach())  # type: ignore[union-attr]
    loss, gradient = by_trl(trl_trainer, batch, beta=beta, corrected=corrected, **settings)
    expected = reference(batch, beta=beta, corrected=corrected)
    slope = torch.autograd.grad(expected, batch.logps)[0]
    torch.testing.assert_close(loss, expected.detach(), rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(gradient, slope, rtol=1e-9, atol=1e-12)
    assert not gradient[batch.mask == 0].any()
    if beta == 0.0 and name != "cispo":
        counted = batch.mask.bool() & (batch.advantages[:, None] != 0)
        clipped = (gradient == 0) & counted
        assert clipped.any(), "no token was clipped, so the case says nothing about clipping"
        assert not clipped[counted].all()


def test_a_loss_that_differs_is_seen(trl_trainer: GRPOTrainer) -> None:
    batch = random_batch(0)
    loss, _ = by_trl(trl_trainer, batch, loss_type="grpo")
    assert not torch.isclose(loss, objectives.grpo_loss(batch, low=LOW, high=0.2).detach())


def test_accumulated_passes_are_scaled_as_the_reference_says(trl_trainer: GRPOTrainer) -> None:
    batch = random_batch(5)
    loss, _ = by_trl(trl_trainer, batch, current_gradient_accumulation_steps=4)
    torch.testing.assert_close(
        loss, objectives.grpo_loss(batch, low=LOW, high=HIGH).detach() / 4, rtol=1e-9, atol=0
    )


def advantages_by_trl(trainer: GRPOTrainer, rewards: torch.Tensor, **settings: Any) -> torch.Tensor:
    """TRL's advantages of a (B, K) matrix of rewards, sampling and model left out."""
    defaults = {"scale_rewards": "group", "multi_objective_aggregation": "sum_then_normalize"}
    names = [f"r{k}" for k in range(rewards.shape[1])]
    changed = {
        **defaults,
        "reward_funcs": names,
        "reward_func_names": names,
        "reward_weights": torch.ones(rewards.shape[1]),
        "beta": 0.0,
        "num_generations": G,
        **settings,
    }
    for name, value in changed.items():
        setattr(trainer, name, value)
    tokens = [[5, 6]] * len(rewards)
    texts = ["x"] * len(rewards)
    trainer._generate = lambda _: (tokens, tokens, None, texts, None, {}, None, [])
    trainer._calculate_rewards = lambda *_: rewards
    prompts = [{"prompt": "1+1="}] * len(rewards)
    output: torch.Tensor = trainer._generate_and_score_completions(prompts)["advantages"]
    return output


SCALES = {
    "group": objectives.group_advantages,
    "none": objectives.centred_advantages,
    "batch": objectives.batch_advantages,
}


@pytest.mark.parametrize("unscored", [False, True])
@pytest.mark.parametrize("scale", SCALES)
def test_trl_computes_the_advantages_of_the_reference(
    trl_trainer: GRPOTrainer, scale: str, unscored: bool
) -> None:
    generator = torch.Generator().manual_seed(3)
    rewards = torch.rand(B, 1, generator=generator)
    rewards[G : 2 * G] = 1.0  # a silent group
    if unscored:
        rewards[0] = math.nan
        rewards[2 * G + 1] = math.nan
    got = advantages_by_trl(trl_trainer, rewards, scale_rewards=scale)
    expected = SCALES[scale](rewards[:, 0], G)
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-6)
    assert got.abs().max() > 0.1
    assert got[rewards[:, 0].isnan()].abs().sum() == 0
    assert (got[G : 2 * G] == 0).all()


def test_trl_computes_the_advantages_of_gdpo(trl_trainer: GRPOTrainer) -> None:
    generator = torch.Generator().manual_seed(4)
    rewards = torch.rand(B, 3, generator=generator)
    rewards[:, 1] = (rewards[:, 1] > 0.5).float()
    rewards[:G, 2] = 0.5
    weights = torch.tensor([1.0, 2.0, 0.5])
    got = advantages_by_trl(
        trl_trainer,
        rewards,
        multi_objective_aggregation="normalize_then_sum",
        reward_weights=weights,
    )
    expected = objectives.gdpo_advantages(rewards, weights, G)
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-6)


def test_advantages_by_hand() -> None:
    rewards = torch.tensor([1.0, 0.0, 0.0, 0.0, 2.0, math.nan, 4.0, math.nan], dtype=torch.float64)
    std = 0.5
    expected = [0.75 / (std + 1e-4)] + [-0.25 / (std + 1e-4)] * 3
    pair = 1.0 / (math.sqrt(2.0) + 1e-4)
    got = objectives.group_advantages(rewards, 4)
    assert got.tolist() == pytest.approx([*expected, -pair, 0.0, pair, 0.0])
    centred = objectives.centred_advantages(rewards, 4)
    assert centred.tolist() == [0.75, -0.25, -0.25, -0.25, -1.0, 0.0, 1.0, 0.0]


def one_token(ratio: float, advantage: float, ref: float = 0.0) -> Batch:
    logps = torch.tensor([[math.log(ratio)]], dtype=torch.float64)
    zero = torch.zeros(1, 1, dtype=torch.float64)
    return Batch(logps, zero, torch.tensor([advantage]), torch.ones(1, 1), logps + ref)


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss"),
    [
        (1.1, 2.0, -2.2),  # inside the clip range
        (1.5, 2.0, -2.56),  # above it: 1.28 x 2
        (0.5, 2.0, -1.0),  # a good token that became unlikely is not clipped
        (0.5, -2.0, 1.6),  # below it: 0.8 x 2
        (1.5, -2.0, 3.0),  # a bad token that became likely is not clipped
    ],
)
def test_the_clipped_loss_by_hand(ratio: float, advantage: float, loss: float) -> None:
    got = objectives.grpo_loss(one_token(ratio, advantage), low=LOW, high=HIGH)
    assert got.item() == pytest.approx(loss)
    level = objectives.gspo_loss(one_token(ratio, advantage), low=LOW, high=HIGH)
    assert level.item() == pytest.approx(loss)


def test_the_kl_term_by_hand() -> None:
    batch = one_token(1.0, 0.0, ref=math.log(2.0))
    assert objectives.grpo_loss(batch, beta=0.5).item() == pytest.approx(0.5 * (1 - math.log(2.0)))


def test_losses_weigh_lengths_as_their_papers_say() -> None:
    mask = torch.tensor([[1, 1, 1, 1], [1, 0, 0, 0]], dtype=torch.float64)
    zero = torch.zeros(2, 4, dtype=torch.float64)
    batch = Batch(zero, zero, torch.tensor([1.0, -1.0], dtype=torch.float64), mask)
    assert objectives.grpo_loss(batch).item() == pytest.approx((-1 + 1) / 2)
    assert objectives.bnpo_loss(batch).item() == pytest.approx((-4 + 1) / 5)
    assert objectives.dapo_loss(batch, tokens=torch.tensor(50.0)).item() == pytest.approx(-3 / 50)
    assert objectives.dr_grpo_loss(batch, length=8).item() == pytest.approx(-3 / 16)
