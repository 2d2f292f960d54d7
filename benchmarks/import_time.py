"""What `import reasonenv` and `reasonenv --help` take, beside `import gymnasium` alone.

    python benchmarks/import_time.py [--runs 15]

Each is a fresh process; the processes take turns. `import reasonenv` registers environments with
Gymnasium, so importing that is the limit.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

WITHIN = "import time; t = time.perf_counter(); import {0}; print(time.perf_counter() - t)"


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    seconds: dict[str, list[float]] = {"import gymnasium": [], "import reasonenv": []}
    commands: list[float] = []
    for _ in range(runs):
        for name, taken in seconds.items():
            code = WITHIN.format(name.removeprefix("import "))
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
            taken.append(float(done.stdout))
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "reasonenv", "--help"], capture_output=True)
        commands.append(time.perf_counter() - began)
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    for name, median in medians.items():
        print(f"{name}: {median:.3f} s (median of {runs}, within the process)")
    print(f"reasonenv --help: {statistics.median(commands):.3f} s (the whole process)")
    pairs = zip(seconds["import reasonenv"], seconds["import gymnasium"], strict=True)
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    print(f"import reasonenv / import gymnasium: {ratio:.2f}; load {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
