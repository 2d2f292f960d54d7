"""What the learner costs beside plain TRL: the same steps trained both ways, block by block.

    python benchmarks/learner_overhead.py [live|tracked|skipping|memory ...] [--recipe quickstart]
        [--model tiny|FOLDER] [--blocks 10] [--steps 4] [--set key=value ...] [--each]

`live`: the learner, every row run (aim: at most 1.03 times plain TRL). `tracked`: with displacement
at every step, spectra every 25 steps and health checks (1.05). `skipping`: without work for rows
that have no share in the loss, at the share that this model has here (0.75). `memory`: peak memory
of one process each, training a block (1.02).

Both sides train the same model with the same `GRPOConfig`, adapter, prompts, judge and reward. They
take turns in one process, from the same weights and random numbers, so that both sample the same
completions; a block is measured in CPU seconds of the process, which other processes disturb less
than time on the clock (with a GPU: seconds). Printed is the median ratio of blocks with its 95 %
bootstrap interval; "undecided" means that the interval holds the aim.

The environment judges equal completions of a problem once. Plain TRL uses that, too, so that the
ratio is the learner's own cost; with `--each` it judges every completion, as a reward function
written by hand would. What the learner does besides within that time: decoding that keeps special
tokens, verdicts, scores by term, gathered signals, one parquet part a generation, metrics.jsonl.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from sides import CLOCK, ON_GPU, Side, Sides, quiet, verdict

from reasonenv.trainers.recipe import Recipe

AIMS = {"live": 1.03, "tracked": 1.05, "skipping": 0.75, "memory": 1.02}
TRACK = ["track.every=1", "track.spectra_every=25"]


def side_of(name: str, recipe: str, overrides: list[str], steps: int, folder: Path) -> Side:
    """Make a side by its name."""
    given = ["grpo.report_to=none", *overrides, *(TRACK if name == "tracked" else [])]
    sides = Sides(Recipe.load(recipe, given), steps, folder)
    if name.startswith("plain"):
        return sides.plain(each=name == "plain-each")
    return sides.learner("auto" if name == "skipping" else "off")


def ratios(one: Side, other: Side, blocks: int) -> list[float]:
    """Train both in turns; print each block, and return the ratios one / other."""
    for side in (one, other):
        side.block(99)  # warm-up
    found, times, shares = [], [], []
    gaps: dict[str, list[float]] = {"loss": [], "norm": []}
    for number in range(blocks):
        done = {id(side): side.block(number) for side in ((one, other), (other, one))[number % 2]}
        (ours, rows), (plain, others) = done[id(one)], done[id(other)]
        found.append(ours / plain)
        times.append((ours, plain))
        shares += [row["frac_reward_zero_std"] for row in others]
        # Later steps start from weights that may differ in the last bits: the first one tells.
        gaps["loss"].append(abs(rows[0]["loss"] - others[0]["loss"]))
        norm = others[0]["grad_norm"]
        gaps["norm"].append(abs(rows[0]["grad_norm"] - norm) / max(norm, 1e-9))
        print(f"block {number + 1}: {ours:.3f} and {plain:.3f} {CLOCK} a step", flush=True)
    medians = [statistics.median(pair[i] for pair in times) for i in (0, 1)]
    print(
        f"medians {medians[0]:.3f} and {medians[1]:.3f} {CLOCK} a step, blocks of {one.steps} "
        f"steps; silent groups {statistics.mean(shares):.0%}; largest difference of a loss "
        f"{max(gaps['loss']):.1e}, of a gradient norm {max(gaps['norm']):.1e} of it"
    )
    return found


def peak(name: str, arguments: argparse.Namespace) -> float:
    """Return the peak memory in MiB of a process that trains one block."""
    command = [sys.executable, __file__, "one", "--side", name, "--recipe", arguments.recipe]
    command += ["--steps", str(arguments.steps)]
    command += [part for override in arguments.set for part in ("--set", override)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def one_process(arguments: argparse.Namespace, folder: Path) -> None:
    """Train one block, and print the peak memory of this process in MiB."""
    side_of(arguments.side, arguments.recipe, arguments.set, arguments.steps, folder).block(0)
    if ON_GPU:
        print(torch.cuda.max_memory_allocated() / 2**20)
    else:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="*", default=["live"], choices=[*AIMS, "one"])
    parser.add_argument("--recipe", default="quickstart")
    parser.add_argument("--model", default=None, help="a folder; the recipe's unless given")
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--steps", type=int, default=4, help="of one block")
    parser.add_argument("--set", action="append", default=[], help="override of the recipe")
    parser.add_argument("--each", action="store_true", help="plain TRL judges every completion")
    parser.add_argument("--side", help="of `one`, which is a process of `memory`")
    arguments = parser.parse_args()
    if arguments.model:
        arguments.set.append(f"model={arguments.model}")
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    quiet()
    plain = "plain-each" if arguments.each else "plain"
    with tempfile.TemporaryDirectory() as folder:
        if arguments.what == ["one"]:
            one_process(arguments, Path(folder))
            return 0
        model = Recipe.load(arguments.recipe, arguments.set).model
        print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {model}")
        for name in arguments.what:
            print(f"{name} / plain TRL", flush=True)
            if name == "memory":
                pairs = [(peak("live", arguments), peak(plain, arguments)) for _ in range(5)]
                found = [ours / theirs for ours, theirs in pairs]
                low, high = min(found), max(found)
                print(
                    f"peak memory {pairs[0][0]:.0f} and {pairs[0][1]:.0f} MiB (the first of five "
                    f"pairs); ratio {statistics.median(found):.3f}, from {low:.3f} to {high:.3f}; "
                    f"aim at most {AIMS[name]}"
                )
                continue
            made = [
                side_of(one, arguments.recipe, arguments.set, arguments.steps, Path(folder) / name)
                for one in (name, plain)
            ]
            print(verdict(ratios(*made, arguments.blocks), AIMS[name]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
