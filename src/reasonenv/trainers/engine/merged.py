"""Merged copies of weights, one at a time, for adapters that vLLM cannot serve."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import torch

__all__ = ["merged_parameters"]


def merged_parameters(model: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield every parameter of the model with its adapter merged in, under the base's own names.

    A module that carries an adapter is copied and the copy merged: the trainer's own weights are
    read only, whatever kind of adapter it is, and memory for one module more is all it takes.
    """
    carriers = {
        name: module
        for name, module in model.named_modules()
        if hasattr(module, "merge") and hasattr(module, "get_base_layer")
    }
    merged: dict[str, dict[str, torch.Tensor]] = {}
    for name, parameter in model.named_parameters():
        if "original_module" in name or model.prefix in name:
            continue
        owner = name.rpartition(".base_layer.")[0]
        value = parameter.detach()
        if owner in carriers:
            if owner not in merged:
                merged = {owner: _merged(carriers[owner])}  # one module at a time
            value = merged[owner][name.rpartition(".")[2]]
        yield _base_name(name), value


def _merged(module: Any) -> dict[str, torch.Tensor]:
    twin = copy.deepcopy(module)
    with torch.no_grad():
        twin.merge(safe_merge=False)
    return {name: value.detach() for name, value in twin.get_base_layer().named_parameters()}


def _base_name(name: str) -> str:
    name = name.removeprefix("base_model.model.").replace(".base_layer", "")
    for part in ("modules_to_save.default.", "_checkpoint_wrapped_module."):
        name = name.replace(part, "")
    return name
