"""The learner on a GPU, in one go: step time and memory beside plain TRL, base checksum, vLLM sync.

    python benchmarks/gpu.py [--size 0.5B] [--blocks 10] [--steps 2] [--rows 64] [--tokens 256]

The model has the shapes of Qwen2.5 (0.5B or 1.5B; `small` tries the script on a CPU) and random
weights, so that nothing is downloaded: its completions are noise that never ends by itself, and
every row has its full length. Rewards are drawn at random, so that no group is silent. Printed are,
learner / plain TRL: the ratio of seconds a step with a 95 % interval, tokens a second, peak memory
of the GPU; whether the base weights are bit-equal after training; and, with vLLM, the same through
a colocated engine that is handed the adapter alone, and what probe and checksum find.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import tempfile
from pathlib import Path

import torch
from learner_overhead import ratios
from sides import CLOCK, ON_GPU, Side, Sides, quiet, verdict

from reasonenv import GRPOLearner
from reasonenv.models.loading import load_tokenizer
from reasonenv.rewards import term
from reasonenv.trainers.engine.checksum import base_checksum
from reasonenv.trainers.recipe import Recipe
from reasonenv.types import Judged

SIZES = {  # hidden, intermediate, layers, heads, key-value heads, vocabulary: Qwen2.5's
    "0.5B": (896, 4864, 24, 14, 2, 151_936),
    "1.5B": (1536, 8960, 28, 12, 2, 151_936),
    "small": (128, 256, 2, 4, 2, 1024),
}
"""Shapes by name."""


@term(range=(0.0, 1.0))
def coin_toss(judged: Judged) -> float:
    """Return 0 or 1 by the completion's bytes: a reward that no group agrees on."""
    return float(sum(judged.rollout.completion.encode("utf-8", "surrogatepass")) % 2)


def make_model(size: str, folder: Path) -> Path:
    """Write a random model of these shapes, with the tiny model's tokenizer; return its folder."""
    from transformers import Qwen2Config, Qwen2ForCausalLM

    hidden, inner, layers, heads, kv, vocabulary = SIZES[size]
    tokenizer = load_tokenizer("tiny")
    config = Qwen2Config(
        hidden_size=hidden,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv,
        vocab_size=vocabulary,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=True,
    )
    torch.manual_seed(0)
    model = Qwen2ForCausalLM(config).to(torch.bfloat16 if ON_GPU else torch.float32)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def overrides(arguments: argparse.Namespace) -> list[str]:
    """Return what both sides train."""
    prompts = arguments.rows // 8
    return [
        "grpo.report_to=none",
        "grpo.num_generations=8",
        f"prompts_per_step={prompts}",
        f"rows_per_forward={min(arguments.rows, 16)}",
        f"grpo.max_completion_length={arguments.tokens}",
        f"grpo.generation_kwargs={{min_new_tokens: {arguments.tokens}}}",
        "grpo.learning_rate=1e-5",
    ]


def memory(side: Side) -> float:
    """Return the peak memory in GiB of one block on a GPU; NaN without one."""
    if not ON_GPU:
        return float("nan")
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    side.block(7)
    return torch.cuda.max_memory_allocated() / 2**30


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", default="0.5B", choices=list(SIZES))
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--steps", type=int, default=2, help="of one block")
    parser.add_argument("--rows", type=int, default=64, help="completions a step")
    parser.add_argument("--tokens", type=int, default=256, help="of a completion")
    arguments = parser.parse_args()
    quiet()
    device = torch.cuda.get_device_name() if ON_GPU else "CPU"
    print(f"{device}, {arguments.size}, {arguments.rows} completions of {arguments.tokens} tokens")
    with tempfile.TemporaryDirectory() as folder:
        model = make_model(arguments.size, Path(folder) / "model")
        fields = {"model": str(model), "reward": coin_toss.to_config()}
        recipe = Recipe.load("quickstart", overrides(arguments), **fields)
        sides = Sides(recipe, arguments.steps, Path(folder) / "sides")
        # One at a time on the GPU, so that each peak is its own.
        peaks, same = [], True
        for make in (sides.learner, sides.plain):
            side = make()
            before = base_checksum(side.trainer.model)
            peaks.append(memory(side))
            same = same and base_checksum(side.trainer.model) == before
            del side
        print(f"peak memory {peaks[0]:.2f} and {peaks[1]:.2f} GiB, {peaks[0] / peaks[1]:.3f} times")
        print(f"base weights bit-equal after training: {same}")
        learner, plain = sides.learner(), sides.plain()
        print(verdict(ratios(learner, plain, arguments.blocks), 1.03))
        tokens = arguments.rows * arguments.tokens
        seconds = learner.record.seconds / arguments.steps
        print(f"{tokens / seconds:,.0f} completion tokens a second ({CLOCK}), the learner")
        if importlib.util.find_spec("vllm") is None:
            print("vLLM is not installed: its sync was not tried")
            return 0
        del learner, plain
        engine = Recipe.load(
            "quickstart",
            [
                *overrides(arguments)[:-1],
                "grpo.use_vllm=true",
                "grpo.vllm_gpu_memory_utilization=0.3",
                "grpo.generation_kwargs=null",
                "eval.problems=0",
                "steps=10",
            ],
            **fields,
        )
        run = GRPOLearner(recipe=engine, out=Path(folder) / "engine").train().run
        facts = json.loads((run / "run.json").read_text())
        for key in ("engine", "engine_probe_nats", "engine_gap_nats", "base_unchanged"):
            print(f"{key}: {facts.get(key)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
