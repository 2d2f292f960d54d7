"""The mathematics of group-relative policy optimisation, a few lines of plain torch each.

This is the reference that TRL is held against, not what trains: a test compares TRL's advantages,
losses and gradients with it on random batches, so that a release that changes them is seen. It
also says in one place what each name in a recipe's `loss_type` means.

Advantages, from rewards of shape (N,), N a multiple of G, the members of a group side by side:

* `group_advantages` (GRPO), `centred_advantages` (Dr. GRPO), `batch_advantages`, `gdpo_advantages`.

Losses, from a `Batch` of B completions padded to T tokens:

* `grpo_loss`, `dr_grpo_loss`, `dapo_loss`, `bnpo_loss`, `gspo_loss`, `cispo_loss`.

`beta` weighs a KL term towards a reference; `corrected` multiplies it by the importance ratio (see
`kl_term`), which TRL 1.16 does unless `use_bias_correction_kl` is false.

A reward of NaN is that of a member whose checker failed: it leaves every mean and deviation, and
its advantage is 0; its loss mask has to be zero, too (`EnvGRPOTrainer` sees to that).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

__all__ = [
    "EPSILON",
    "Batch",
    "batch_advantages",
    "bnpo_loss",
    "centred_advantages",
    "cispo_loss",
    "dapo_loss",
    "dr_grpo_loss",
    "gdpo_advantages",
    "group_advantages",
    "grpo_loss",
    "gspo_loss",
    "kl_term",
]

EPSILON = 1e-4  # what TRL adds to a deviation before it divides by it


class Batch(NamedTuple):
    """B completions, padded to T tokens.

    Attributes:
        logps: log-probabilities of the tokens under the policy, (B, T).
        old_logps: under the policy that sampled them, (B, T).
        advantages: one for each completion, (B,).
        mask: 1 for the tokens that count, (B, T).
        ref_logps: under the reference of the KL term, (B, T); needed where beta > 0.
    """

    logps: Tensor
    old_logps: Tensor
    advantages: Tensor
    mask: Tensor
    ref_logps: Tensor | None = None


def group_advantages(rewards: Tensor, group_size: int) -> Tensor:
    """Return GRPO's advantages (arXiv 2402.03300): `(r - mean(group)) / (std(group) + EPSILON)`.

    The deviation is the unbiased one (divisor n - 1), as TRL and the paper's code take it.
    """
    groups = rewards.view(-1, group_size)
    scaled = _centred(groups) / (_std(groups, dim=1) + EPSILON)
    return torch.nan_to_num(scaled, nan=0.0).view(-1)


def centred_advantages(rewards: Tensor, group_size: int) -> Tensor:
    """Return Dr. GRPO's advantages (arXiv 2503.20783): `r - mean(group)`, not scaled."""
    return torch.nan_to_num(_centred(rewards.view(-1, group_size)), nan=0.0).view(-1)


def batch_advantages(rewards: Tensor, group_size: int) -> Tensor:
    """Return `(r - mean(group)) / (std(batch) + EPSILON)` (TRL's `scale_rewards: batch`)."""
    scaled = _centred(rewards.view(-1, group_size)) / (_std(rewards) + EPSILON)
    return torch.nan_to_num(scaled, nan=0.0).view(-1)


def gdpo_advantages(rewards: Tensor, weights: Tensor, group_size: int) -> Tensor:
    """Return GDPO's advantages (arXiv 2601.05242): each reward is normalised for itself.

    `s = sum_k w_k (r_k - mean(group r_k)) / (std(group r_k) + EPSILON)`, then
    `(s - mean(batch s)) / (std(batch s) + EPSILON)`.

    Args:
        rewards: K rewards of each completion, (N, K).
        weights: (K,).
        group_size: G.
    """
    parts = rewards.T.reshape(len(weights), -1, group_size)  # (K, N / G, G)
    normalised = (parts - _mean(parts, dim=2)) / (_std(parts, dim=2) + EPSILON)
    total = torch.einsum("k,kng->ng", weights, normalised).reshape(-1)
    return torch.nan_to_num((total - _mean(total)) / (_std(total) + EPSILON), nan=0.0)


def grpo_loss(
    batch: Batch, *, low: float = 0.2, high: float = 0.2, beta: float = 0.0, corrected: bool = False
) -> Tensor:
    """Return GRPO's loss (arXiv 2402.03300): the mean over completions of the mean over tokens.

    With the ratio `p = exp(logp - old_logp)` a token's loss is
    `-min(p A, clip(p, 1 - low, 1 + high) A) + beta KL`.
    """
    return _mean_of_means(_losses(batch, low, high, beta, corrected), batch.mask)


def gspo_loss(
    batch: Batch, *, low: float = 0.2, high: float = 0.2, beta: float = 0.0, corrected: bool = False
) -> Tensor:
    """Return GSPO's loss (arXiv 2507.18071): GRPO's with one ratio for the whole completion.

    The ratio is `exp(mean over tokens of (logp - old_logp))`. In a recipe: `loss_type: grpo` with
    `importance_sampling_level: sequence`.
    """
    ratio = _token_mean(batch.logps - batch.old_logps, batch.mask).exp().unsqueeze(1)
    losses = _clip(ratio, batch.advantages, low, high)
    losses = losses + kl_term(batch, beta, ratio if corrected else None)
    return _mean_of_means(losses.expand_as(batch.logps), batch.mask)


def dr_grpo_loss(
    batch: Batch,
    *,
    length: int,
    low: float = 0.2,
    high: float = 0.2,
    beta: float = 0.0,
    corrected: bool = False,
) -> Tensor:
    """Return Dr. GRPO's loss (arXiv 2503.20783): a sum over tokens, divided by a constant.

    Args:
        batch: B completions.
        length: the longest completion that may be sampled; the divisor is `B length`.
        low: lower clip range.
        high: upper clip range.
        beta: weight of the KL term.
        corrected: whether that term carries the importance ratio.
    """
    losses = _losses(batch, low, high, beta, corrected)
    return (losses * batch.mask).sum() / (len(losses) * length)


def dapo_loss(
    batch: Batch,
    *,
    tokens: Tensor,
    low: float = 0.2,
    high: float = 0.28,
    beta: float = 0.0,
    corrected: bool = False,
) -> Tensor:
    """Return DAPO's loss (arXiv 2503.14476): every token of the step weighs the same.

    Args:
        batch: B completions.
        tokens: how many tokens count in the whole optimizer step, over all its batches and ranks.
        low: lower clip range.
        high: upper clip range, larger than `low` in the paper ("clip higher").
        beta: weight of the KL term.
        corrected: whether that term carries the importance ratio.
    """
    losses = _losses(batch, low, high, beta, corrected)
    return (losses * batch.mask).sum() / tokens.clamp(min=1.0)


def bnpo_loss(
    batch: Batch, *, low: float = 0.2, high: float = 0.2, beta: float = 0.0, corrected: bool = False
) -> Tensor:
    """Return TRL's `bnpo` loss: the mean over the tokens of this batch.

    As DAPO's, but normalised by the tokens of one forward pass, so that its value depends on how
    a step is cut into passes. (TRL's documentation is the source.)
    """
    losses = _losses(batch, low, high, beta, corrected)
    return (losses * batch.mask).sum() / batch.mask.sum().clamp(min=1.0)


def cispo_loss(
    batch: Batch, *, tokens: Tensor, high: float, beta: float = 0.0, corrected: bool = False
) -> Tensor:
    """Return CISPO's loss (MiniMax-M1, arXiv 2506.13585): the weight is clipped, not the token.

    A token's loss is `-stop_gradient(min(p, high)) A logp`: clipped tokens keep a gradient.

    Args:
        batch: B completions.
        tokens: as for `dapo_loss`.
        high: largest weight itself (not 1 + high).
        beta: weight of the KL term.
        corrected: whether that term carries the importance ratio.
    """
    ratio = _ratio(batch)
    losses = -ratio.clamp(max=high).detach() * batch.advantages.unsqueeze(1) * batch.logps
    losses = losses + kl_term(batch, beta, ratio if corrected else None)
    return (losses * batch.mask).sum() / tokens.clamp(min=1.0)


def kl_term(batch: Batch, beta: float, ratio: Tensor | None = None) -> Tensor:
    """Return `beta w (exp(d) - d - 1)` with `d = ref_logp - logp`, (B, T).

    An estimate of KL(policy || reference) that is never negative ("k3", arXiv 2402.03300, eq. 4).

    Args:
        batch: B completions.
        beta: weight of the term; with 0 no reference is needed.
        ratio: w, the importance ratio, which makes the gradient that of the reverse KL
            (DeepSeek-V3.2, arXiv 2512.02556); None: w = 1, as in the paper of GRPO.
    """
    if not beta:
        return torch.zeros((), device=batch.logps.device)
    assert batch.ref_logps is not None, "beta > 0 needs ref_logps"
    d = batch.ref_logps - batch.logps
    each = beta * (d.exp() - d - 1.0)
    return each if ratio is None else each * ratio


def _losses(batch: Batch, low: float, high: float, beta: float, corrected: bool) -> Tensor:
    ratio = _ratio(batch)
    clipped = _clip(ratio, batch.advantages, low, high)
    return clipped + kl_term(batch, beta, ratio if corrected else None)


def _ratio(batch: Batch) -> Tensor:
    return (batch.logps - batch.old_logps).exp()


def _clip(ratio: Tensor, advantages: Tensor, low: float, high: float) -> Tensor:
    each = advantages.unsqueeze(1)
    return -torch.min(ratio * each, ratio.clamp(1 - low, 1 + high) * each)


def _token_mean(values: Tensor, mask: Tensor) -> Tensor:
    return (values * mask).sum(1) / mask.sum(1).clamp(min=1.0)


def _mean_of_means(losses: Tensor, mask: Tensor) -> Tensor:
    return _token_mean(losses, mask).mean()


def _centred(groups: Tensor) -> Tensor:
    return groups - _mean(groups, dim=1)


def _mean(values: Tensor, dim: int | None = None) -> Tensor:
    return values.nanmean(dim=dim, keepdim=dim is not None)


def _std(values: Tensor, dim: int | None = None) -> Tensor:
    """Return the unbiased deviation of what is not NaN."""
    scored = (~values.isnan()).sum(dim=dim, keepdim=dim is not None)
    squares = (values - _mean(values, dim)).square().nansum(dim=dim, keepdim=dim is not None)
    return (squares / (scored - 1)).sqrt()
