"""`python -m reasonenv.trainers.tiny [KIND]`: make a tiny model, and say what it can do."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from reasonenv.extras import need
from reasonenv.problems.base import ProceduralProblems
from reasonenv.problems.procedural import Arithmetic
from reasonenv.trainers.tiny import DEFAULT_SEED, KINDS, accuracy, make, path, save

_LONGEST = {"tagged": 96}  # tokens of a completion; sums alone take 8


def main(argv: Sequence[str] | None = None) -> int:
    """Make, measure and save a model."""
    parser = argparse.ArgumentParser(
        prog="python -m reasonenv.trainers.tiny",
        description="Make a tiny model. "
        + " ".join(f"{name}: {kind.about}." for name, kind in KINDS.items()),
    )
    parser.add_argument("kind", nargs="?", default="quick", choices=list(KINDS))
    parser.add_argument("--out", type=Path, help="a new directory; `quick` replaces the packaged")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="of weights and data")
    parser.add_argument("--steps", type=int, help="of the warm start instead of its own number")
    options = parser.parse_args(argv)
    if options.out is None and options.kind != "quick":
        parser.error(f"{options.kind} does not ship with the library: give --out DIR")

    torch = need("torch", extra="train", by="reasonenv.trainers.tiny")
    torch.set_num_threads(1)  # the order of a sum depends on how many there are
    started = time.process_time()
    model, tokenizer = make(options.kind, options.seed, steps=options.steps)
    spent = time.process_time() - started
    print(f"{model.num_parameters():,} parameters, {spent:.0f} CPU seconds")
    test = ProceduralProblems(Arithmetic(), split="test", size=1000)
    problems = [test[i] for i in range(len(test))]
    longest = _LONGEST.get(options.kind, 8)
    shares = [
        accuracy(model, tokenizer, problems, sample=sample, max_new_tokens=longest)
        for sample in (False, True)
    ]
    print(
        f"{len(problems)} sums of the test split: greedy {shares[0]:.3f}, sampled {shares[1]:.3f}"
    )
    out = save(model, tokenizer, options.out or path())
    print(f"wrote {out}: {sum(file.stat().st_size for file in out.iterdir()):,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
