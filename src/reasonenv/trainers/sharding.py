"""What the GPUs of a run share among them: `shard:` of a recipe, as keys of TrainingArguments.

none     each GPU holds the whole model (DDP)
fsdp     weights, gradients and optimizer state are parted (PyTorch's FSDP 2, `fully_shard`)
zero2    gradients and optimizer state are parted (DeepSpeed ZeRO-2)
zero3    weights, too (DeepSpeed ZeRO-3)

With LoRA the optimizer state is small and only the base weights are worth parting: `fsdp` or
`zero3`, and only where a model does not fit one GPU. `grpo.fsdp_config` and `grpo.deepspeed` take
whole configurations of their own instead.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any

from reasonenv.errors import LaunchError, RecipeError
from reasonenv.extras import need

__all__ = ["check_devices", "check_optimizer", "check_sharding", "sharding"]


def sharding(shard: str, *, checkpointing: bool = True) -> dict[str, Any]:
    """Return the keys of `transformers.TrainingArguments` that part a model so.

    Args:
        shard: "none", "fsdp", "zero2" or "zero3".
        checkpointing: recompute activations in the backward pass (FSDP has its own).
    """
    if shard == "fsdp":
        own = {"auto_wrap_policy": "TRANSFORMER_BASED_WRAP", "state_dict_type": "FULL_STATE_DICT"}
        config = {"version": 2, "reshard_after_forward": True, **own}
        return {"fsdp": True, "fsdp_config": {**config, "activation_checkpointing": checkpointing}}
    if shard in ("zero2", "zero3"):
        stage: dict[str, Any] = {"stage": int(shard[-1]), "overlap_comm": True}
        if shard == "zero3":
            # An adapter is saved whole: without this its factors would be gathered by nobody.
            stage["stage3_gather_16bit_weights_on_model_save"] = True
        batches = dict.fromkeys(
            (
                "train_batch_size",
                "train_micro_batch_size_per_gpu",
                "gradient_accumulation_steps",
                "gradient_clipping",
            ),
            "auto",
        )
        return {
            "deepspeed": {
                "zero_optimization": stage,
                "bf16": {"enabled": "auto"},
                "fp16": {"enabled": "auto"},
                **batches,
            }
        }
    return {}


def check_sharding(shard: str, grpo: Mapping[str, Any]) -> None:
    """Check that a model is parted in one way.

    Raises:
        RecipeError: `shard:` and a configuration of its own in `grpo:`.
        MissingExtraError: DeepSpeed is asked for and not installed.
    """
    own = [key for key in ("fsdp", "fsdp_config", "deepspeed") if grpo.get(key)]
    if shard != "none" and own:
        raise RecipeError(
            f"shard: {shard} and grpo.{own[0]} both say how the model is parted: leave one out"
        )


def check_devices(shard: str, processes: int) -> None:
    """Check that this machine can part a model so, before one is loaded.

    Raises:
        LaunchError: there is no GPU, or one process alone.
        MissingExtraError: DeepSpeed is asked for and not installed.
    """
    if shard == "none":
        return
    torch = need("torch", extra="train", by="reasonenv.trainers")
    if not torch.cuda.is_available():
        raise LaunchError(
            f"shard: {shard} parts a model over GPUs, and torch sees none here: set shard to none "
            "(--set shard=none)"
        )
    if processes == 1:
        raise LaunchError(
            f"shard: {shard} parts a model over several processes, and there is one: set shard to "
            "none (--set shard=none), or give more GPUs"
        )
    if shard.startswith("zero"):
        need("deepspeed", extra="deepspeed", by=f"shard: {shard}")


def check_optimizer(name: str) -> None:
    """Check that this machine can run an optimizer (`grpo.optim`), before a model is loaded.

    Raises:
        LaunchError: one of bitsandbytes, with 8-bit or paged states, without a GPU or the package.
    """
    if not name.endswith("8bit") and not name.startswith("paged_"):
        return
    torch = need("torch", extra="train", by="reasonenv.trainers")
    instead = "set grpo.optim to adamw_torch (--set grpo.optim=adamw_torch)"
    if not torch.cuda.is_available():
        raise LaunchError(f"grpo.optim: {name} needs a GPU, and torch sees none here: {instead}")
    if importlib.util.find_spec("bitsandbytes") is None:
        raise LaunchError(
            f"grpo.optim: {name} needs bitsandbytes: `pip install bitsandbytes`, or {instead}"
        )
