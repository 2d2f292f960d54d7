"""No work for rows without a share in the loss: silent groups, and members that are masked out.

A group whose members all earned the same has advantages of zero: under a loss without a KL term
it moves nothing, yet TRL runs it forward and backward. Here such rows leave the batch before the
forward pass, and each loss' normaliser stays what it was, so that loss and gradients are the same
numbers (to float rounding):

* `dapo`, `cispo`, `vespo` divide by the tokens of the step, which were counted before: no change;
* `grpo`, `sapo`, `luspo`, `dr_grpo` divide by the rows that are left, k of n: times `k / n`;
* `bnpo` divides by the tokens that are left: times `tokens left / tokens`.

Where something besides the advantages moves the weights, all rows stay: `why_all_rows` says what.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor, nn

__all__ = [
    "MEAN_OVER_ROWS",
    "keep_rows",
    "rows_to_keep",
    "silent_rows",
    "why_all_rows",
    "why_model_needs_all_rows",
]

MEAN_OVER_ROWS = frozenset({"grpo", "sapo", "dr_grpo", "luspo"})
"""Losses that divide by the number of rows; the others divide by unmasked tokens."""

_ROUNDING = 1e-9
_IMAGES = ("pixel_values", "image_grid_thw", "num_images", "num_tiles")
_DROPOUTS = ("attention_dropout", "attn_pdrop", "attention_probs_dropout_prob", "embd_pdrop")


def why_all_rows(grpo: Mapping[str, Any], lora: Mapping[str, Any] | None) -> str | None:
    """Return why these settings need every row in the loss, None where they do not.

    Args:
        grpo: settings by the names of `trl.GRPOConfig`; what is missing has TRL's default.
        lora: settings by the names of `peft.LoraConfig`, None without an adapter.
    """
    if grpo.get("beta"):
        return f"grpo.beta={grpo['beta']}: their KL term moves the weights"
    if grpo.get("entropy_coef") or grpo.get("use_adaptive_entropy"):
        return "the entropy bonus is paid on every row"
    quantile = grpo.get("top_entropy_quantile")
    if quantile is not None and quantile < 1.0:
        return f"grpo.top_entropy_quantile={quantile}: the quantile is taken over every row"
    if lora and lora.get("lora_dropout"):
        return f"lora.lora_dropout={lora['lora_dropout']}: other rows would draw other dropout"
    return None


def why_model_needs_all_rows(model: nn.Module, aux_loss: bool) -> str | None:
    """Return why this loaded model needs every row in the loss, None where it does not.

    Args:
        model: as it trains, its adapter in it.
        aux_loss: whether the load-balancing loss of a mixture of experts is trained on, too.
    """
    if aux_loss:
        return "the load-balancing loss of the experts is taken over every row"
    for name, module in model.named_modules():
        if type(module).__name__.startswith("Dropout") and getattr(module, "p", 0.0) > 0.0:
            return f"{name} has dropout {module.p}: other rows would draw other dropout"
    config = getattr(model, "config", None)
    for name in _DROPOUTS:
        if isinstance(getattr(config, name, None), float) and getattr(config, name) > 0.0:
            return f"the model's {name} is {getattr(config, name)}: other rows would draw another"
    return None


def silent_rows(rewards: Tensor, group_size: int) -> Tensor:
    """Return which rows belong to a group whose scored members all earned the same.

    Decided on the rewards that advantages are computed from: equal rewards of 0.1 give advantages
    of about 1e-4 by rounding, not 0. GDPO's parts are normalised before, which leaves some 1e-13 of
    parts that were equal: differences up to 1e-9 are none.

    Args:
        rewards: as the advantages are computed from, float32, shape (N,) or (N, K); the members
            of a group stand together, NaN was not scored.
        group_size: G.

    Returns:
        Shape (N,), True for the members of silent groups (those with no scored member, too).
    """
    groups = rewards.reshape(-1, group_size, rewards[0].numel())
    high = groups.nan_to_num(nan=float("-inf")).amax(1)
    low = groups.nan_to_num(nan=float("inf")).amin(1)
    return (high - low <= _ROUNDING).all(-1).repeat_interleave(group_size)


def rows_to_keep(live: Tensor, has_tokens: Tensor, count: int) -> Tensor:
    """Return the indices of `count` rows, in order: the live ones, then rows to fill up with.

    Args:
        live: shape (B,), which rows have a share in the loss.
        has_tokens: shape (B,), which rows have unmasked tokens; filling prefers them, since
            logged means over no token would be undefined.
        count: at least the number of live rows and at most B.
    """
    order = (2 * live.int() + has_tokens.int()).argsort(descending=True, stable=True)
    return order[:count].sort().values


def keep_rows(
    inputs: Mapping[str, Any], rows: Tensor, loss_type: str
) -> tuple[dict[str, Any], float | Tensor]:
    """Return a batch with these rows only, and what its loss has to be multiplied by.

    Args:
        inputs: as `GRPOTrainer._compute_loss` takes them.
        rows: indices of the rows to keep, from `rows_to_keep`.
        loss_type: TRL's name.
    """
    size = inputs["completion_ids"].size(0)
    kept = {
        key: value[rows] if hasattr(value, "ndim") and value.ndim and len(value) == size else value
        for key, value in inputs.items()
    }
    if loss_type in MEAN_OVER_ROWS:
        return kept, len(rows) / size
    if loss_type == "bnpo":
        tokens, left = (_tokens(batch).sum().clamp(min=1.0) for batch in (inputs, kept))
        return kept, left / tokens
    return kept, 1.0


def live_rows(inputs: Mapping[str, Any]) -> tuple[Tensor, Tensor] | None:
    """Return which rows have a share in the loss and which have tokens, each of shape (B,).

    None where the batch holds images, whose tensors have other first dimensions.
    """
    if any(key in inputs for key in _IMAGES):
        return None
    advantages = inputs["advantages"]
    moved = (advantages != 0).reshape(len(advantages), -1).any(1)
    has_tokens = _tokens(inputs).sum(1) > 0
    return moved & has_tokens, has_tokens


def _tokens(inputs: Mapping[str, Any]) -> Tensor:
    mask: Tensor = inputs["completion_mask"]
    return mask * inputs["tool_mask"] if "tool_mask" in inputs else mask
