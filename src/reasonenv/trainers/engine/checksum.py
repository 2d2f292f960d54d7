"""Whether a model's base weights are what they were."""

from __future__ import annotations

import hashlib
from typing import Any

import torch

__all__ = ["base_checksum"]


def base_checksum(model: Any) -> str:
    """Return a hash over the names and bytes of all weights but the adapter's.

    Under FSDP and ZeRO-3 it covers this rank's shards: equal before and after means the same.
    """
    digest = hashlib.sha256()
    for name, parameter in sorted(model.named_parameters(), key=lambda pair: pair[0]):
        if "lora_" in name or "modules_to_save" in name:
            continue
        value = parameter.detach()
        value = value.to_local() if hasattr(value, "to_local") else value
        data = value.contiguous().cpu().flatten().view(torch.uint8).numpy()
        digest.update(name.encode())
        digest.update(memoryview(data))
    return digest.hexdigest()
