"""How far a finished run moved each layer: what `lora.layers: top:N@RUN` chooses by.

A layer's displacement is relative: `||D||_F / ||W||_F` over the weights that its adapter changes,
with `D = s B A`. It comes from the factors, `||BA||_F^2 = sum((B^T B) * (A A^T))`, so that no
update is ever formed; DoRA's, which also rescales rows, is the one exception.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reasonenv.errors import RecipeError
from reasonenv.extras import need

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["adapter_parameters", "layer_displacements"]


def adapter_parameters(run: str | Path) -> int:
    """Return how many parameters a finished run trained.

    Raises:
        RecipeError: there is no adapter.
    """
    _, tensors = _adapter(run)
    return sum(tensor.numel() for tensor in tensors.values())


def layer_displacements(run: str | Path, base: Any, layers: str, count: int) -> list[float]:
    """Return each layer's relative displacement.

    Args:
        run: the directory of a finished run, or an adapter's folder.
        base: the model that it trained, without an adapter.
        layers: path of the model's list of layers.
        count: how many there are.

    Raises:
        RecipeError: the run has no adapter, or one of another model.
    """
    config, tensors = _adapter(run)
    weights = dict(base.named_parameters())
    moved, before = [0.0] * count, [0.0] * count
    for name in sorted(_modules(tensors)):
        match = re.match(rf"{re.escape(layers)}\.(\d+)\.", name)
        weight = weights.get(f"{name}.weight")
        down = tensors[f"base_model.model.{name}.lora_A.weight"]
        up = tensors[f"base_model.model.{name}.lora_B.weight"]
        if weight is None or {up.shape[0], down.shape[1]} != set(weight.shape):
            raise RecipeError(
                f"{run}: its adapter belongs to another model: {name} is "
                + ("not there" if weight is None else f"{tuple(weight.shape)} here")
            )
        if match is None or int(match[1]) >= count:
            continue
        scale = _scale(config, name, down.shape[0])
        dora = tensors.get(f"base_model.model.{name}.lora_magnitude_vector")
        layer = int(match[1])
        moved[layer] += _square(weight, up, down, scale, dora)
        before[layer] += weight.detach().double().square().sum().item()
    return [math.sqrt(m / b) if b else 0.0 for m, b in zip(moved, before, strict=True)]


def _square(weight: Tensor, up: Tensor, down: Tensor, scale: float, dora: Tensor | None) -> float:
    """Return the squared Frobenius norm of a module's update."""
    up, down = up.double(), down.double()
    if dora is None:
        grams = (up.T @ up) * (down @ down.T)
        return scale * scale * max(0.0, grams.sum().item())
    whole = weight.detach().double()
    changed = whole if up.shape[0] == whole.shape[0] else whole.T
    summed = changed + scale * up @ down
    rows = dora.double().flatten().unsqueeze(1) / summed.norm(dim=1, keepdim=True)
    return float((rows * summed - changed).square().sum())


def _adapter(run: str | Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    safetensors = need("safetensors.torch", extra="train", by="reasonenv.trainers")
    folder = Path(run).expanduser()
    if (folder / "adapter").is_dir():
        folder = folder / "adapter"
    config, weights = folder / "adapter_config.json", folder / "adapter_model.safetensors"
    if not (config.is_file() and weights.is_file()):
        why = "there is no such folder"
        if Path(run).expanduser().is_dir():
            why = "it holds no adapter (it trained all weights, or has not finished)"
        raise RecipeError(f"{run}: {why}; give the directory of a finished run with LoRA")
    return json.loads(config.read_text(encoding="utf-8")), safetensors.load_file(weights)


def _modules(tensors: Mapping[str, Any]) -> set[str]:
    ending = ".lora_A.weight"
    return {
        key.removeprefix("base_model.model.").removesuffix(ending)
        for key in tensors
        if key.endswith(ending)
    }


def _scale(config: Mapping[str, Any], name: str, rank: int) -> float:
    """Return s: alpha / r, or alpha / sqrt(r) with rsLoRA, as the adapter's own config says."""
    alpha = config["lora_alpha"]
    for pattern, value in (config.get("alpha_pattern") or {}).items():
        if re.match(rf"(.*\.)?({pattern})$", name):
            alpha = value
            break
    return float(alpha / math.sqrt(rank) if config.get("use_rslora") else alpha / rank)
