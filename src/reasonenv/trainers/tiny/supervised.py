"""The warm start: supervised training of a tiny model on texts that a skill makes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from reasonenv.trainers.tiny.tokens import END, ROLES
from reasonenv.types import Problem

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

__all__ = ["render_prompt", "train_on"]

_IGNORED = -100  # the label that the loss leaves out
_SHOW_EVERY = 250
_RISING = 0.05  # of the steps


def render_prompt(tokenizer: PreTrainedTokenizerFast, problem: Problem) -> str:
    """Return the chat prompt of a problem, up to where the assistant's text starts."""
    messages = [{"role": "user", "content": problem.prompt}]
    return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))


def train_on(
    model: Qwen3ForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    texts: Iterator[Sequence[tuple[str, str]]],
    *,
    steps: int,
    learning_rate: float,
) -> None:
    """Train `model` in place to write completions, printing the progress.

    The loss sees the completion and its end token alone.

    Args:
        model: what `build_model` returned.
        tokenizer: the one that it was built for.
        texts: batches of prompt and completion, endless.
        steps: of the optimizer; the learning rate rises for the first 5 % and then falls to 0.
        learning_rate: at its highest.
    """
    import torch

    optimizer = torch.optim.AdamW(
        model.parameters(), lr=learning_rate, betas=(0.9, 0.99), weight_decay=0.01
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer,
        learning_rate,
        total_steps=max(steps, 4),
        pct_start=max(_RISING, 2 / max(steps, 4)),  # it divides by its rising steps less 1
        cycle_momentum=False,
    )
    model.train()
    started = time.monotonic()
    for step in range(1, steps + 1):
        whole = [prompt + completion + END for prompt, completion in next(texts)]
        batch = tokenizer(whole, padding=True, return_tensors="pt")
        loss = model(**batch, labels=_completion_labels(tokenizer, batch["input_ids"])).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if step % _SHOW_EVERY == 0 or step == steps:
            seconds = time.monotonic() - started
            print(f"step {step}/{steps}  loss {loss.item():.3f}  {seconds:.0f} s", flush=True)
    model.eval()


def _completion_labels(tokenizer: PreTrainedTokenizerFast, ids: torch.Tensor) -> torch.Tensor:
    """Return `ids` after the assistant's mark; `_IGNORED` elsewhere. Padding is on the left."""
    mark = ids == tokenizer.convert_tokens_to_ids(ROLES[-1])
    written = (mark.cumsum(1) > 0) & ~mark
    return ids.masked_fill(~written, _IGNORED)
