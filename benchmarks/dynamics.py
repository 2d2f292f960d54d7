"""What following a run costs, and what a full analysis of a 1.5 B adapter costs.

    python benchmarks/dynamics.py tracking --model FOLDER [--blocks 10] [--steps 2]
    python benchmarks/dynamics.py analysis [--rank 16]

`tracking`: the same GRPO run of the learner's trainer with and without `DisplacementTracker` at
every step, from the same seed, taking turns block by block in one process. A block is measured in
CPU seconds of the process, which other processes disturb less than wall time. Printed is the ratio
with / without of CPU seconds a step: its median over blocks, a 95 % bootstrap interval of the
median, and the tracker's own seconds a step, timed inside. The aim is a ratio of at most 1.03.

`analysis`: a LoRA adapter of random weights on all seven projections of 28 layers with the shapes
of Qwen2.5-1.5B, over a base of random bfloat16 weights on disk, measured whole: displacement,
ranks, bfloat16-visible sparsity, base spectra (without, then with the cache), principal angles,
overlap and shift. The aims are 60 s and 8 GiB on 2 cores. Random weights have no leading
directions; the number of products is the same as for real ones.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

RATIO, SECONDS, GIB = 1.03, 60.0, 8.0

HIDDEN, INNER, KV, LAYERS = 1536, 8960, 256, 28  # of Qwen2.5-1.5B
SHAPES = {
    "self_attn.q_proj": (HIDDEN, HIDDEN),
    "self_attn.k_proj": (KV, HIDDEN),
    "self_attn.v_proj": (KV, HIDDEN),
    "self_attn.o_proj": (HIDDEN, HIDDEN),
    "mlp.gate_proj": (INNER, HIDDEN),
    "mlp.up_proj": (INNER, HIDDEN),
    "mlp.down_proj": (HIDDEN, INNER),
}


def tracking(model: str, blocks: int, steps: int) -> None:
    """Measure what the tracker adds to a step."""
    import torch
    from sides import CLOCK, Sides, quiet, verdict

    from reasonenv.dynamics import DisplacementTracker
    from reasonenv.trainers.recipe import Recipe

    class Timed(DisplacementTracker):
        """The tracker with a clock around each of its steps."""

        seconds = 0.0
        count = 0

        def on_step_end(self, *args: Any, **kwargs: Any) -> None:
            """Measure, and be measured."""
            began = time.perf_counter()
            super().on_step_end(*args, **kwargs)
            self.seconds += time.perf_counter() - began
            self.count += 1

    quiet()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    overrides = ["grpo.report_to=none"]
    if model != "tiny":
        overrides += [
            "grpo.num_generations=8", "prompts_per_step=1", "grpo.max_completion_length=24",
            "rows_per_forward=8",
        ]  # fmt: skip
    recipe = Recipe.load("quickstart", overrides, model=model)
    with tempfile.TemporaryDirectory() as folder:
        sides = Sides(recipe, steps, Path(folder))
        tracker = Timed(Path(folder) / "dynamics")
        followed, alone = sides.learner(more=[tracker]), sides.learner()
        for side in (followed, alone):
            side.block(99)  # warm-up
        tracker.seconds, tracker.count = 0.0, 0
        ratios = []
        for number in range(blocks):
            order = ((followed, alone), (alone, followed))[number % 2]
            seconds = {id(side): side.block(number)[0] for side in order}
            pair = seconds[id(followed)], seconds[id(alone)]
            ratios.append(pair[0] / pair[1])
            print(f"block {number + 1}: with {pair[0]:.3f}, without {pair[1]:.3f} {CLOCK} a step")
    print(verdict(ratios, RATIO))
    print(f"the tracker itself: {1000 * tracker.seconds / tracker.count:.1f} ms a step")


def make_files(folder: Path, rank: int) -> tuple[Path, Path]:
    """Write a random base, one shard a layer, and a random adapter; return their folders."""
    import torch
    from safetensors.torch import save_file

    base, adapter = folder / "base", folder / "adapter"
    base.mkdir()
    adapter.mkdir()
    generator = torch.Generator().manual_seed(0)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator) * 0.02

    index: dict[str, str] = {}
    factors: dict[str, torch.Tensor] = {}
    for layer in range(LAYERS):
        shard = {}
        for module, (m, n) in SHAPES.items():
            name = f"model.layers.{layer}.{module}"
            shard[f"{name}.weight"] = random(m, n).bfloat16()
            factors[f"base_model.model.{name}.lora_A.weight"] = random(rank, n)
            factors[f"base_model.model.{name}.lora_B.weight"] = random(m, rank) * 0.1
        file = f"model-{layer:05d}.safetensors"
        save_file(shard, base / file)
        index |= dict.fromkeys(shard, file)
    (base / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    save_file(factors, adapter / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "r": rank, "lora_alpha": 2 * rank}
    (adapter / "adapter_config.json").write_text(json.dumps(config))
    return base, adapter


def analysis(rank: int, folder: str | None) -> None:
    """Measure a whole adapter in a fresh process, twice: with an empty and a full cache."""
    import subprocess

    with tempfile.TemporaryDirectory(dir=folder) as place:
        base, adapter = make_files(Path(place), rank)
        for said in ("empty cache", "full cache"):
            command = [sys.executable, __file__, "one", str(base), str(adapter), place + "/cache"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout)
            aims = ""
            if said == "empty cache":
                met = found["seconds"] <= SECONDS and found["gib"] <= GIB
                aims = f"; aims {SECONDS:.0f} s and {GIB:.0f} GiB: {'met' if met else 'missed'}"
            print(
                f"{found['tensors']} tensors of rank {rank}, {said}: "
                f"{found['seconds']:.1f} s wall, {found['cpu']:.1f} CPU s, "
                f"peak memory {found['gib']:.2f} GiB{aims}"
            )


def one(base: str, adapter: str, cache: str) -> None:
    """Analyse in this process, and print what it took as JSON."""
    from reasonenv.dynamics import analyse_adapter

    began = time.perf_counter()
    report = analyse_adapter(adapter, base, cache=Path(cache))
    seconds = time.perf_counter() - began
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "tensors": len(report.tensors),
                "seconds": seconds,
                "cpu": used.ru_utime + used.ru_stime,
                "gib": used.ru_maxrss / 2**20,
            }
        )
    )


def main() -> int:
    """Measure and print."""
    if sys.argv[1:2] == ["one"]:
        one(*sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    follow = commands.add_parser("tracking")
    follow.add_argument("--model", default="tiny", help="a model's folder")
    follow.add_argument("--blocks", type=int, default=10)
    follow.add_argument("--steps", type=int, default=2, help="of one block")
    whole = commands.add_parser("analysis")
    whole.add_argument("--rank", type=int, default=16)
    whole.add_argument("--folder", help="where 2.6 GB of random weights are written for the time")
    arguments = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    if arguments.command == "tracking":
        tracking(arguments.model, arguments.blocks, arguments.steps)
    else:
        analysis(arguments.rank, arguments.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
