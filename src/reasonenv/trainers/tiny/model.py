"""The architecture of the tiny models: Qwen3, so that all tools for real models fit them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

__all__ = ["Size", "build_model", "save"]


@dataclass(frozen=True)
class Size:
    """How large a tiny model is.

    Args:
        width: of the residual stream; the MLP is three times as wide.
        layers: decoder layers.
        spread: the standard deviation of the first weights; the usual 0.02 suits wide models and
            learns more slowly here.
    """

    width: int = 64
    layers: int = 2
    spread: float = 0.1


def build_model(
    tokenizer: PreTrainedTokenizerFast, seed: int = 0, size: Size | None = None
) -> Qwen3ForCausalLM:
    """Return an untrained Qwen3 with two heads; the global random state is left alone."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    size = size or Size()
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=size.width,
        intermediate_size=3 * size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=32,  # the least that vLLM's attention takes
        max_position_embeddings=1024,
        initializer_range=size.spread,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Qwen3ForCausalLM(config)


def save(model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast, out: str | Path) -> Path:
    """Write weights, configuration and tokenizer to the directory `out`, and return it."""
    out = Path(out)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    (out / "model.safetensors").chmod(0o644)  # written as 0600, which only its owner can load
    return out
