"""Models small enough to learn on a CPU: one ships with the library, others are made on request.

* `path`: the packaged directory of `quick`, for `AutoModelForCausalLM.from_pretrained`.
* `KINDS`: which models there are, and how each is made; `make` makes one.
* `build_tokenizer`, `build_model`, `warm_start`, `save`: the parts that `make` is made of.
* `accuracy`: what a model can do with sums, greedily or by sampling.
* `python -m reasonenv.trainers.tiny [KIND] [--out DIR] [--seed N]` makes a model and says what it
  can do; without arguments the one that ships, again.

**What `quick` shows, and what not.** In 150 steps of GRPO with LoRA sampled accuracy rose from 0.35
to 0.81 while greedy accuracy fell from 0.99 to 0.96 (means of three runs, 1,000 test problems). So
it shows that rewards, advantages, LoRA, logging and evaluation work together, in a run short enough
for a test. It does not show that RL teaches anything that the base could not do, and no
hyper-parameter or effect size found on a tiny model carries over to a language model.

**What can be reproduced.** One thread (`__main__` sees to that), one machine and the same packages
give bit-identical weights. Other processors, or other versions of torch, add floats in another
order: their weights differ, in the last bits at first and visibly after 1,500 steps. How well such
a model does was not measured; `__main__` prints it.
"""

from __future__ import annotations

from pathlib import Path

from reasonenv.models.loading import tiny_path
from reasonenv.trainers.tiny.kinds import DEFAULT_SEED, KINDS, Kind, make, warm_start
from reasonenv.trainers.tiny.model import Size, build_model, save
from reasonenv.trainers.tiny.sums import FORMAT, accuracy
from reasonenv.trainers.tiny.tokens import build_tokenizer

__all__ = [
    "DEFAULT_SEED",
    "FORMAT",
    "KINDS",
    "Kind",
    "Size",
    "accuracy",
    "build_model",
    "build_tokenizer",
    "make",
    "path",
    "save",
    "warm_start",
]


def path() -> Path:
    """Return the directory of the model that ships with the library."""
    return tiny_path()
