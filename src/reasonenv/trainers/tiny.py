"""A model of 0.12 M parameters that ships with the library and learns on a CPU in a minute.

* `path`: the packaged directory, for `AutoModelForCausalLM.from_pretrained`.
* `build_tokenizer`, `build_model`, `warm_start`, `save`: how it was made.
* `accuracy`: what it can do, greedily or by sampling.
* `python -m reasonenv.trainers.tiny [--out DIR] [--seed N]` makes it again in about two minutes.

**What it shows, and what not.** The warm start teaches two-digit addition from labels in which
every digit may have slipped, so that 60 % of them are wrong. The right digit is still the likeliest
one everywhere: greedy decoding solves nearly all problems that the model never saw, while samples
slip about as often as the labels. GRPO then *sharpens* this latent skill: in 150 steps with LoRA
sampled accuracy rose from 0.35 to 0.81 while greedy accuracy fell from 0.99 to 0.96 (means of three
runs, 1,000 test problems). So the model shows that rewards, advantages, LoRA, logging and
evaluation work together, in a run short enough for a test. It does not show that RL teaches
anything that the base could not do, and no hyper-parameter or effect size found on it carries over
to a language model.

**What can be reproduced.** One thread (`main` sees to that), one machine and the same packages give
bit-identical weights. Other processors, or other versions of torch, add floats in another order:
their weights differ, in the last bits at first and visibly after 1,500 steps. How well such a model
does was not measured; `main` prints it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reasonenv.answer_format import AnswerFormat
from reasonenv.extras import need
from reasonenv.models.loading import tiny_path
from reasonenv.problems.base import ProceduralProblems
from reasonenv.problems.procedural import Arithmetic
from reasonenv.types import Problem

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

__all__ = ["FORMAT", "accuracy", "build_model", "build_tokenizer", "path", "save", "warm_start"]

DEFAULT_SEED = 0
FORMAT = AnswerFormat(reasoning=None, instruction="")
"""The layout that the model was taught: `<answer>132</answer>` and nothing else."""

SLIP_RATE = 0.35  # of a label's digits, each redrawn from 0-9: 6 labels in 10 come out wrong
STEPS = 1500
BATCH_SIZE = 128
LEARNING_RATE = 4e-3
DRAWS = 40_000  # of problems; they hold 99 % of the 8,000 or so of the train split

PAD, END = "<|pad|>", "<|end|>"
ROLES = ("<|system|>", "<|user|>", "<|assistant|>")
TAGS = ("<reasoning>", "</reasoning>", "<answer>", "</answer>")

# One token before each message, one after those of the assistant, where sampling has to stop.
CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    "{{- '<|' + message['role'] + '|>' + message['content'] -}}"
    "{%- if message['role'] == 'assistant' -%}{{- eos_token -}}{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|assistant|>' -}}{%- endif -%}"
)


def path() -> Path:
    """Return the directory of the model that ships with the library."""
    return tiny_path()


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Return a byte-level tokenizer: one token per ASCII character, any text round-trips.

    Tags are single tokens, since `<answer>132</answer>` then takes 5 of them instead of 20. They
    are not *special* ones: decoding with `skip_special_tokens=True` must not lose them.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    special = (PAD, END, *ROLES)
    bytes_ = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {token: i for i, token in enumerate([*special, *TAGS, *bytes_])}
    core = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens([AddedToken(token, normalized=False) for token in special])
    core.add_tokens([AddedToken(token, normalized=False) for token in TAGS])
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token=PAD,
        eos_token=END,
        bos_token=END,
        padding_side="left",
        clean_up_tokenization_spaces=False,
        model_max_length=1024,
        chat_template=CHAT_TEMPLATE,
    )


def build_model(tokenizer: PreTrainedTokenizerFast, seed: int = DEFAULT_SEED) -> Qwen3ForCausalLM:
    """Return an untrained Qwen3 of width 64 and 2 layers; the global random state is left alone."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=192,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=32,  # the least that vLLM's attention takes
        max_position_embeddings=1024,
        initializer_range=0.1,  # the usual 0.02 suits wide models and learns more slowly here
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Qwen3ForCausalLM(config)


def accuracy(
    model: Qwen3ForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    problems: Sequence[Problem],
    *,
    sample: bool,
    seed: int = DEFAULT_SEED,
) -> float:
    """Return the share of addition `problems` solved greedily, or by one sample at T = 1."""
    import torch

    prompts = [_render_prompt(tokenizer, problem) for problem in problems]
    batch = tokenizer(prompts, padding=True, return_tensors="pt")
    how: dict[str, Any] = {"temperature": 1.0, "top_k": 0, "top_p": 1.0} if sample else {}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        ids = model.generate(**batch, do_sample=sample, max_new_tokens=8, **how)
    answers = tokenizer.batch_decode(
        ids[:, batch["input_ids"].shape[1] :], skip_special_tokens=True
    )
    right = [FORMAT.extract(a) == p.answer for a, p in zip(answers, problems, strict=True)]
    return float(np.mean(right))


def _render_prompt(tokenizer: PreTrainedTokenizerFast, problem: Problem) -> str:
    messages = [{"role": "user", "content": problem.prompt}]
    return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))


def _training_texts(
    tokenizer: PreTrainedTokenizerFast, seed: int, batch_size: int, draws: int
) -> Iterator[list[str]]:
    """Yield batches of prompts with completions whose digits slip at `SLIP_RATE`.

    Only the train split is drawn from: no label, right or wrong, is ever given for a test problem.
    """
    source = ProceduralProblems(Arithmetic(), split="train", seed=seed, size=draws)
    pool = list({problem.id: problem for problem in map(source.__getitem__, range(draws))}.values())
    prompts = [_render_prompt(tokenizer, problem) for problem in pool]
    rng = np.random.default_rng(seed)
    while True:
        chosen = rng.integers(len(pool), size=batch_size)
        yield [prompts[i] + FORMAT.render(_slip(pool[i].answer, rng)) + END for i in chosen]


def _slip(digits: str, rng: np.random.Generator) -> str:
    return "".join(str(rng.integers(10)) if rng.random() < SLIP_RATE else d for d in digits)


def warm_start(
    model: Qwen3ForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    *,
    seed: int = DEFAULT_SEED,
    steps: int = STEPS,
    batch_size: int = BATCH_SIZE,
) -> None:
    """Train `model` in place on addition with labels that slip, printing the progress.

    Args:
        model: what `build_model` returned.
        tokenizer: what `build_tokenizer` returned.
        seed: of the problems and of the labels.
        steps: of the optimizer; the learning rate rises for the first 5 % and then falls to 0.
        batch_size: problems in one step.

    Raises:
        ValueError: fewer than one step, or an empty batch.
    """
    import torch

    if steps < 1 or batch_size < 1:
        raise ValueError(f"steps and batch_size are at least 1, got {steps} and {batch_size}")

    optimizer = torch.optim.AdamW(
        model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.99), weight_decay=0.01
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, LEARNING_RATE, total_steps=max(steps, 2), pct_start=0.05, cycle_momentum=False
    )
    texts = _training_texts(tokenizer, seed, batch_size, min(DRAWS, steps * batch_size))
    model.train()
    started = time.monotonic()
    for step in range(1, steps + 1):
        batch = tokenizer(next(texts), padding=True, return_tensors="pt")
        loss = model(**batch, labels=_completion_labels(tokenizer, batch["input_ids"])).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if step % 250 == 0 or step == steps:
            seconds = time.monotonic() - started
            print(f"step {step}/{steps}  loss {loss.item():.3f}  {seconds:.0f} s", flush=True)
    model.eval()


def _completion_labels(tokenizer: PreTrainedTokenizerFast, ids: torch.Tensor) -> torch.Tensor:
    """Return `ids` from the answer tag on; -100 elsewhere, which the loss ignores."""
    answering = (ids == tokenizer.convert_tokens_to_ids(f"<{FORMAT.answer}>")).cumsum(1) > 0
    return ids.masked_fill(~answering, -100)


def save(model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast, out: str | Path) -> Path:
    """Write weights, configuration and tokenizer to the directory `out`, and return it."""
    out = Path(out)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    (out / "model.safetensors").chmod(0o644)  # written as 0600, which only its owner can load
    return out


def main(argv: Sequence[str] | None = None) -> int:
    """Build, warm-start and save the model: `python -m reasonenv.trainers.tiny`."""
    parser = argparse.ArgumentParser(
        prog="python -m reasonenv.trainers.tiny",
        description="Make the tiny model that ships with reasonenv again (about two minutes).",
    )
    parser.add_argument("--out", type=Path, default=path(), help="default: the packaged directory")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="of weights and data")
    options = parser.parse_args(argv)

    torch = need("torch", extra="train", by="reasonenv.trainers.tiny")
    torch.set_num_threads(1)  # the order of a sum depends on how many there are
    tokenizer = build_tokenizer()
    model = build_model(tokenizer, options.seed)
    print(f"{model.num_parameters():,} parameters, {STEPS} steps of {BATCH_SIZE}", flush=True)
    warm_start(model, tokenizer, seed=options.seed)
    test = ProceduralProblems(Arithmetic(), split="test", size=1000)
    problems = [test[i] for i in range(len(test))]
    greedy = accuracy(model, tokenizer, problems, sample=False)
    sampled = accuracy(model, tokenizer, problems, sample=True)
    print(f"accuracy on {len(problems)} test problems: greedy {greedy:.3f}, sampled {sampled:.3f}")
    out = save(model, tokenizer, options.out)
    print(f"wrote {out}: {sum(file.stat().st_size for file in out.iterdir()):,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
