"""What of an adapter vLLM can serve, and the files in which it is handed over."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

__all__ = ["ADAPTER", "adapter_tensors", "engine_rank", "why_not_servable", "write_adapter"]

ADAPTER = "default"
"""The name that PEFT gives to a model's only adapter."""

_ENGINE_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)  # vLLM sizes its buffers by one of these
_UNSERVED_MODULES = re.compile(r"(?:^|\.)(?:lm_head|embed_tokens|embed_in|embed_out|wte|score)$")
_FACTOR = re.compile(r"^(?P<module>.+)\.lora_(?P<which>[AB])\." + ADAPTER + r"\.weight$")


def lora_layers(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield each module that carries the adapter, with its name in the PEFT model."""
    for name, module in model.named_modules():
        if ADAPTER in getattr(module, "lora_A", ()) or ADAPTER in getattr(
            module, "lora_embedding_A", ()
        ):
            yield name, module


def why_not_servable(model: Any) -> str | None:
    """Return why vLLM cannot serve the model's adapter as it is, None if it can.

    Ranks and alphas of their own for some modules, and rsLoRA, are no hindrance: `write_adapter`
    folds each module's scaling into its B.
    """
    config = model.peft_config[ADAPTER]
    if str(getattr(config.peft_type, "value", config.peft_type)).upper() != "LORA":
        return f"it is no LoRA but {config.peft_type}"
    if getattr(config, "use_dora", False):
        return "DoRA rescales the merged weight"
    if getattr(config, "bias", "none") != "none" or getattr(config, "lora_bias", False):
        return "it trains biases"
    if getattr(config, "modules_to_save", None):
        return f"it trains whole modules ({', '.join(config.modules_to_save)})"
    if getattr(config, "trainable_token_indices", None):
        return "it trains embeddings of single tokens"
    if getattr(config, "target_parameters", None):
        return "it targets parameters instead of modules"
    for name, _ in lora_layers(model):
        if _UNSERVED_MODULES.search(name):
            return f"it stands on {name.rpartition('.')[2]}"
    rank = max((module.r[ADAPTER] for _, module in lora_layers(model)), default=0)
    if rank > _ENGINE_RANKS[-1]:
        return f"its rank {rank} is above vLLM's {_ENGINE_RANKS[-1]}"
    return None


def engine_rank(model: Any) -> int:
    """Return the least rank of vLLM's buffers that holds the adapter."""
    rank = max(module.r[ADAPTER] for _, module in lora_layers(model))
    return next(one for one in _ENGINE_RANKS if one >= rank)


def adapter_tensors(model: Any) -> dict[str, torch.Tensor]:
    """Return the adapter's factors on the CPU, each B times its module's scaling.

    Where parameters are sharded the caller gathers them first; those of FSDP 2 are gathered here.
    """
    scalings = {name: float(module.scaling[ADAPTER]) for name, module in lora_layers(model)}
    tensors = {}
    for name, parameter in model.named_parameters():
        found = _FACTOR.match(name)
        if found is None:
            continue
        value = parameter.detach()
        value = value.full_tensor() if hasattr(value, "full_tensor") else value
        if found["which"] == "B":  # in float32, so that a product is rounded once
            value = (value.float() * scalings[found["module"]]).to(value.dtype)
        tensors[f"{found['module']}.lora_{found['which']}.weight"] = value.cpu().contiguous()
    return tensors


def write_adapter(folder: Path, tensors: Mapping[str, torch.Tensor], base: str, rank: int) -> Path:
    """Write an adapter of scaling 1 as PEFT saves one, and return its folder.

    Args:
        folder: a new one.
        tensors: of `adapter_tensors`.
        base: the name of the base model.
        rank: at least that of every factor; alpha equals it, so that nothing is scaled again.
    """
    folder.mkdir(parents=True)
    modules = {name.rsplit(".", 3)[-3] for name in tensors}
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base,
        "r": rank,
        "lora_alpha": rank,
        "bias": "none",
        "target_modules": sorted(modules),
    }
    (folder / "adapter_config.json").write_text(json.dumps(config))
    save_file(dict(tensors), folder / "adapter_model.safetensors")
    return folder
