"""Rollouts to the same accuracy: problems drawn by expected signal against uniform draws.

    python benchmarks/sampling.py [--pools quickstart skewed] [--seeds 0 1 2] [--by expected_signal]

Both sides train the tiny model with the quickstart's settings (constant learning rate after its
warm-up, so the final rate is equal), from the same seed, and differ in `sampling:` alone. Every
rollout that was generated counts. Pools, written down before the first run:

* `quickstart`: the quickstart's own endless sums of two numbers below 100; no problem comes twice
  in a run, and all are of one level.
* `skewed`: 400 problems held in memory, 80 such sums and 320 products of two numbers of two
  digits, which the model never gets right; nothing but its outcome tells a problem's kind. Accuracy
  is that of held-out sums.

The target of a seed is its accuracy before training plus nine tenths of what uniform sampling
gained; curves are means of three neighbouring evaluations, and a crossing is interpolated. Printed
is the ratio of rollouts to the target, expected signal / uniform: its geometric mean over seeds,
and a 95 % interval (Student's t of the logarithms). Aim: at most 0.7.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from reasonenv import GRPOLearner
from reasonenv.trainers import read_metrics

LIMIT = 0.7
T_QUANTILE = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}  # 97.5 % of Student's t, by seeds
SUMS, PRODUCTS, HELD_OUT = 80, 320, 500


def skewed(folder: Path) -> dict[str, Any]:
    """Write the skewed pool and its held-out sums; return the recipe's fields that name them."""
    rng = np.random.default_rng(20261130)
    sums: dict[str, int] = {}
    while len(sums) < SUMS + HELD_OUT:
        a, b = (int(n) for n in rng.integers(0, 100, size=2))
        sums.setdefault(f"{a}+{b}=", a + b)
    products: dict[str, int] = {}
    while len(products) < PRODUCTS:
        a, b = (int(n) for n in rng.integers(10, 100, size=2))
        products.setdefault(f"{a}*{b}=", a * b)
    pairs = list(sums.items())
    files = {"train": pairs[:SUMS] + list(products.items()), "held_out": pairs[SUMS:]}
    for name, rows in files.items():
        lines = [json.dumps({"question": q, "answer": str(a)}) for q, a in rows]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return {"data": str(folder / "train.jsonl"), "held_out": str(folder / "held_out.jsonl")}


def curve(pool: str, sampling: dict[str, Any], seed: int, steps: int, out: Path) -> np.ndarray:
    """Train once; return an array of (rollouts so far, held-out accuracy)."""
    fields: dict[str, Any] = {"eval": {"problems": HELD_OUT, "every": 5}}
    if pool == "skewed":
        files = skewed(out.parent)
        fields["data"] = files["data"]
        fields["eval"]["data"] = files["held_out"]
    GRPOLearner(
        recipe="quickstart", out=out, seed=seed, steps=steps, sampling=sampling, **fields
    ).train()
    generated = {row["step"]: row["rollouts"] for row in read_metrics(out, "train")}
    points = [
        (sum(n for step, n in generated.items() if step <= row["step"]), row["eval_accuracy"])
        for row in read_metrics(out, "eval")
    ]
    return np.array(points)


def rollouts_to(points: np.ndarray, target: float) -> float:
    """Return the rollouts at which the smoothed curve first reaches the target; inf if never."""
    smooth = np.convolve(points[:, 1], np.ones(3) / 3, mode="valid")
    at = points[1:-1, 0]
    for i, value in enumerate(smooth):
        if value >= target:
            if i == 0:
                return float(at[0])
            share = (target - smooth[i - 1]) / (value - smooth[i - 1])
            return float(at[i - 1] + share * (at[i] - at[i - 1]))
    return math.inf


def main() -> int:
    """Train, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pools", nargs="+", default=["quickstart", "skewed"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--by", default="expected_signal", choices=["uniform", "expected_signal"])
    parser.add_argument("--resample", type=int, default=0)
    arguments = parser.parse_args()
    ours = {"by": arguments.by, "resample": arguments.resample}
    for pool in arguments.pools:
        ratios: list[float] = []
        for seed in arguments.seeds:
            with tempfile.TemporaryDirectory() as folder:
                runs = [
                    curve(pool, sampling, seed, arguments.steps, Path(folder) / str(i))
                    for i, sampling in enumerate(({"by": "uniform"}, ours))
                ]
            before, after = runs[0][0, 1], runs[0][-3:, 1].mean()
            target = before + 0.9 * (after - before)
            needed = [rollouts_to(points, target) for points in runs]
            ratios.append(needed[1] / needed[0])
            print(
                f"RESULT {pool} seed {seed}: uniform {before:.3f} -> {after:.3f} in "
                f"{runs[0][-1, 0]:.0f} rollouts, ours -> {runs[1][-3:, 1].mean():.3f} in "
                f"{runs[1][-1, 0]:.0f}; rollouts to {target:.3f}: uniform {needed[0]:.0f}, ours "
                f"{needed[1]:.0f}, ratio {ratios[-1]:.2f}",
                flush=True,
            )
        logs = [math.log(ratio) for ratio in ratios]
        if len(logs) not in T_QUANTILE:
            print(f"RESULT {pool}: an interval takes {min(T_QUANTILE)} to {max(T_QUANTILE)} seeds")
            continue
        if not all(map(math.isfinite, logs)):
            print(f"RESULT {pool}: no interval: the target was not reached on every seed")
            continue
        centre = statistics.mean(logs)
        half = T_QUANTILE[len(logs)] * statistics.stdev(logs) / math.sqrt(len(logs))
        low, high = math.exp(centre - half), math.exp(centre + half)
        verdict = "met" if high <= LIMIT else "missed" if low > LIMIT else "undecided"
        print(
            f"RESULT {pool}: ratio {math.exp(centre):.2f}, 95 % interval {low:.2f} to {high:.2f} "
            f"over {len(logs)} seeds; aim at most {LIMIT}: {verdict}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
