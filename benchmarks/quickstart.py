"""The quickstart on several seeds: seconds of the whole command, accuracy before and after.

    python benchmarks/quickstart.py [--seeds 0 1 2]

Runs `reasonenv train quickstart` as a user does, a fresh process each, and prints a table. The aim:
at most about two minutes on two CPU cores, and at least 30 points gained on every seed.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from reasonenv.trainers.report import summary


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    seeds = parser.parse_args().seeds
    print("| seed | seconds | CPU seconds | accuracy before | after | points |")
    print("|---|---|---|---|---|---|")
    worst = 100.0
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            run = Path(folder) / str(seed)
            command = [sys.executable, "-m", "reasonenv", "train", "quickstart"]
            began = time.perf_counter()
            spent = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run(
                [*command, "--seed", str(seed), "--out", str(run)], capture_output=True, text=True
            )
            seconds = time.perf_counter() - began
            now = resource.getrusage(resource.RUSAGE_CHILDREN)
            if done.returncode:
                print(done.stdout + done.stderr)
                return 1
            figures = summary(run)
            cpu = now.ru_utime + now.ru_stime - spent.ru_utime - spent.ru_stime
            before, after = figures["before"]["accuracy"], figures["after"]["accuracy"]
            worst = min(worst, figures["points"])
            print(
                f"| {seed} | {seconds:.0f} | {cpu:.0f} | {before:.1%} | {after:.1%} "
                f"| {figures['points']:+.1f} |",
                flush=True,
            )
    print(f"\nload {os.getloadavg()[0]:.1f}; least gain {worst:+.1f} points (aim: at least +30)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
