"""The skill of `quick` and `deep`: two-digit sums, learned from labels whose digits slip.

60 % of the labels are wrong, and the right digit is still the likeliest one everywhere: greedy
decoding solves nearly all problems that the model never saw, while samples slip about as often as
the labels. GRPO then has something honest to do: it sharpens a latent skill.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reasonenv.answer_format import AnswerFormat
from reasonenv.problems.base import ProceduralProblems
from reasonenv.problems.procedural import Arithmetic
from reasonenv.trainers.tiny.supervised import render_prompt
from reasonenv.types import Problem

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

__all__ = ["FORMAT", "accuracy", "slip", "sum_pool", "sum_texts"]

FORMAT = AnswerFormat(reasoning=None, instruction="")
"""The layout that the models were taught: `<answer>132</answer>` and nothing else."""

DRAWS = 40_000  # of sums; they hold 99 % of the 8,000 or so of the train split
SLIP_RATE = 0.35  # of a label's digits, each redrawn from 0-9: 6 labels in 10 come out wrong


def slip(digits: str, rng: np.random.Generator, rate: float = SLIP_RATE) -> str:
    """Return `digits`, each redrawn from 0-9 at this rate."""
    return "".join(str(rng.integers(10)) if rng.random() < rate else d for d in digits)


def sum_pool(seed: int, draws: int) -> list[Problem]:
    """Return the distinct problems among `draws` of the train split.

    No label, right or wrong, is ever given for a problem of the test split.
    """
    source = ProceduralProblems(Arithmetic(), split="train", seed=seed, size=draws)
    return list({problem.id: problem for problem in map(source.__getitem__, range(draws))}.values())


def sum_texts(
    tokenizer: PreTrainedTokenizerFast, seed: int, batch_size: int, total: int
) -> Iterator[Sequence[tuple[str, str]]]:
    """Yield batches of prompts with completions whose digits slip; `total` texts are wanted."""
    pool = sum_pool(seed, min(DRAWS, total))
    prompts = [render_prompt(tokenizer, problem) for problem in pool]
    rng = np.random.default_rng(seed)
    while True:
        chosen = rng.integers(len(pool), size=batch_size)
        yield [(prompts[i], FORMAT.render(slip(pool[i].answer, rng))) for i in chosen]


def accuracy(
    model: Qwen3ForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    problems: Sequence[Problem],
    *,
    sample: bool,
    seed: int = 0,
    max_new_tokens: int = 8,
) -> float:
    """Return the share of sums solved greedily, or by one sample at T = 1."""
    import torch

    prompts = [render_prompt(tokenizer, problem) for problem in problems]
    batch = tokenizer(prompts, padding=True, return_tensors="pt")
    how: dict[str, Any] = {"temperature": 1.0, "top_k": 0, "top_p": 1.0} if sample else {}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        ids = model.generate(**batch, do_sample=sample, max_new_tokens=max_new_tokens, **how)
    answers = tokenizer.batch_decode(
        ids[:, batch["input_ids"].shape[1] :], skip_special_tokens=True
    )
    right = [FORMAT.extract(a) == p.answer for a, p in zip(answers, problems, strict=True)]
    return float(np.mean(right))
