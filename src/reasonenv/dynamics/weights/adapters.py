"""LoRA updates out of an adapter folder, or out of a live PEFT model."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from reasonenv.dynamics.weights.names import base_name
from reasonenv.errors import DataError, ModelError
from reasonenv.extras import need

__all__ = ["Adapter", "Factors", "live_factors"]

_PART = re.compile(
    r"(?P<module>.+)\.(?P<part>lora_A|lora_B|lora_embedding_A|lora_embedding_B|"
    r"lora_magnitude_vector)(?:\.default)?(?:\.weight)?\Z"
)


@dataclass(frozen=True, slots=True)
class Factors:
    """What LoRA holds for one weight.

    Attributes:
        a: shape (r, n).
        b: shape (m, r).
        scale: alpha / r, alpha / sqrt(r) for rsLoRA.
        magnitude: DoRA's, shape (m,), or None.
        transposed: whether the base stores this weight as (n, m), as GPT-2's Conv1D and
            embeddings do.
    """

    a: Tensor
    b: Tensor
    scale: float
    magnitude: Tensor | None = None
    transposed: bool = False


@dataclass(frozen=True)
class Adapter:
    """A saved LoRA adapter.

    Attributes:
        folder: where it was read from.
        config: its `adapter_config.json`.
        factors: by the name of the base weight.
        others: whole weights that the adapter holds besides (`modules_to_save`).
        skipped: what cannot be read as a matrix' update, in sentences.
    """

    folder: Path
    config: Mapping[str, Any]
    factors: Mapping[str, Factors]
    others: Mapping[str, Tensor]
    skipped: tuple[str, ...] = field(default=())

    @property
    def base(self) -> str:
        """The base model that the adapter names; empty where it names none."""
        return str(self.config.get("base_model_name_or_path") or "")

    @classmethod
    def read(cls, folder: str | Path) -> Adapter:
        """Return the adapter in a folder.

        Raises:
            ModelError: there is none, it is not LoRA, or its files cannot be read.
        """
        path = Path(folder)
        config_file, weights = path / "adapter_config.json", path / "adapter_model.safetensors"
        if not config_file.is_file() or not weights.is_file():
            raise ModelError(
                f"{folder}: no adapter is there (adapter_config.json and "
                "adapter_model.safetensors); a run that trained all weights has a whole model"
            )
        try:
            config = json.loads(config_file.read_text(encoding="utf-8"))
            tensors = need("safetensors.torch", extra="train", by="reasonenv.dynamics").load_file(
                str(weights)
            )
        except Exception as error:  # safetensors raises a class of its own
            raise ModelError(f"{folder}: the adapter cannot be read ({error})") from error
        if config.get("peft_type", "LORA") != "LORA":
            raise ModelError(
                f"{folder}: a {config['peft_type']} adapter; displacement from factors is "
                "for LoRA, rsLoRA and DoRA"
            )
        parts: dict[str, dict[str, Tensor]] = {}
        others: dict[str, Tensor] = {}
        for name, tensor in tensors.items():
            match = _PART.match(name)
            if match:
                parts.setdefault(base_name(match["module"]), {})[match["part"]] = tensor
            else:
                others[base_name(name)] = tensor
        factors, skipped = _factors(parts, config)
        for name in factors.keys() & others.keys():  # PEFT saves the base's embedding beside LoRA
            del others[name]
        return cls(path, config, factors, others, tuple(skipped))


def _factors(
    parts: Mapping[str, Mapping[str, Tensor]], config: Mapping[str, Any]
) -> tuple[dict[str, Factors], list[str]]:
    factors, skipped = {}, []
    for module, held in parts.items():
        embedding = "lora_embedding_A" in held
        names = ("lora_embedding_A", "lora_embedding_B") if embedding else ("lora_A", "lora_B")
        if not all(name in held for name in names):
            skipped.append(f"{module}: one of its two factors is missing")
            continue
        a, b = (held[name] for name in names)
        if a.ndim != 2 or b.ndim != 2:
            skipped.append(f"{module}: a convolution's factors are no matrices")
            continue
        factors[f"{module}.weight"] = Factors(
            a,
            b,
            _scaling(module, a.shape[0], config),
            held.get("lora_magnitude_vector"),
            embedding or bool(config.get("fan_in_fan_out")),
        )
    return factors, skipped


def _scaling(module: str, rank: int, config: Mapping[str, Any]) -> float:
    alpha = float(config.get("lora_alpha", 8))
    for pattern, value in (config.get("alpha_pattern") or {}).items():
        if re.match(rf"(.*\.)?({pattern})$", module):
            alpha = float(value)
            break
    return alpha / math.sqrt(rank) if config.get("use_rslora") else alpha / rank


def live_factors(model: Any, adapter: str = "default") -> Iterator[tuple[str, Factors, Any]]:
    """Yield (name of the base weight, factors, base layer) of a PEFT model's LoRA layers.

    The factors are the live parameters, not copies.

    Args:
        model: a `PeftModel`, or a wrapper whose names end alike.
        adapter: which of its adapters.

    Raises:
        DataError: a layer's factors are sharded away on this rank.
    """
    for name, module in model.named_modules():
        for a_name, b_name in (("lora_A", "lora_B"), ("lora_embedding_A", "lora_embedding_B")):
            holder_a, holder_b = getattr(module, a_name, {}), getattr(module, b_name, {})
            if adapter not in holder_a or adapter not in holder_b:
                continue
            a, b = holder_a[adapter], holder_b[adapter]
            a, b = getattr(a, "weight", a), getattr(b, "weight", b)
            magnitude = None
            if adapter in getattr(module, "lora_magnitude_vector", {}):
                magnitude = module.lora_magnitude_vector[adapter]
                magnitude = getattr(magnitude, "weight", magnitude)
            if a.ndim != 2 or b.ndim != 2:
                raise DataError(
                    f"{name}: its LoRA factors have {a.ndim} and {b.ndim} dimensions; matrices "
                    "are needed (a convolution, or parameters sharded by FSDP without gathering)"
                )
            transposed = a_name.startswith("lora_embedding") or bool(
                getattr(module, "fan_in_fan_out", False)
            )
            own = Factors(a, b, float(module.scaling[adapter]), magnitude, transposed)
            yield f"{base_name(name)}.weight", own, module.get_base_layer()
