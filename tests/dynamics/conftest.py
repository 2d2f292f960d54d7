"""Small models with and without adapters, made once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def tiny(**fields: Any) -> Any:
    """Return a fresh, seeded Qwen3 of two narrow layers."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    sizes = {
        "vocab_size": 40,
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 8,
        "tie_word_embeddings": False,
    }
    return Qwen3ForCausalLM(Qwen3Config(**{**sizes, **fields})).eval()


def shake(model: Any, scale: float = 0.05, only: str = "lora") -> Any:
    """Move the parameters whose name holds `only`, as training would."""
    import torch

    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if only in name:
                parameter.add_(scale * torch.randn(parameter.shape, generator=generator))
    return model


@pytest.fixture(scope="session")
def base_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved base model."""
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("base")
    tiny().save_pretrained(folder)
    return folder


@pytest.fixture
def adapted(base_folder: Path, tmp_path: Path) -> Callable[..., tuple[Any, Path]]:
    """Return (live PEFT model with a moved adapter, the folder it was saved in)."""
    peft = pytest.importorskip("peft")

    def make(scale: float = 0.05, **lora: Any) -> tuple[Any, Path]:
        from transformers import AutoModelForCausalLM

        base = AutoModelForCausalLM.from_pretrained(base_folder)
        config = {"r": 3, "lora_alpha": 5, "target_modules": "all-linear", **lora}
        model = peft.get_peft_model(base, peft.LoraConfig(task_type="CAUSAL_LM", **config))
        folder = tmp_path / f"adapter-{len(list(tmp_path.iterdir()))}"
        shake(model, scale).save_pretrained(folder)
        return model, folder

    return make
