"""Which tiny models there are, and how each is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from reasonenv.errors import did_you_mean
from reasonenv.trainers.tiny.model import Size, build_model
from reasonenv.trainers.tiny.sums import sum_texts
from reasonenv.trainers.tiny.supervised import train_on
from reasonenv.trainers.tiny.tagged import tagged_texts, tagged_tokenizer
from reasonenv.trainers.tiny.tokens import build_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

__all__ = ["DEFAULT_SEED", "KINDS", "Kind", "make", "warm_start"]

DEFAULT_SEED = 0

_Texts = Callable[[Any, int, int, int], Iterator[Sequence[tuple[str, str]]]]


@dataclass(frozen=True)
class Kind:
    """A tiny model.

    Args:
        about: what it is for, with the cost of its warm start.
        size: of the network.
        tokenizer: makes its tokenizer from a seed.
        texts: makes batches of prompt and completion from (tokenizer, seed, batch size,
            texts in all).
        steps: of the warm start.
        batch_size: texts in one step.
        learning_rate: at its highest.
    """

    about: str
    size: Size
    tokenizer: Callable[[int], PreTrainedTokenizerFast]
    texts: _Texts
    steps: int
    batch_size: int
    learning_rate: float


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "quick": Kind(
            about="0.12 M parameters, 2 layers; ships with the library (2 minutes)",
            size=Size(width=64, layers=2, spread=0.1),
            tokenizer=lambda _seed: build_tokenizer(),
            texts=sum_texts,
            steps=1500,
            batch_size=128,
            learning_rate=4e-3,
        ),
        "deep": Kind(
            about="0.28 M parameters, 8 layers, for studies of where training acts (4 minutes)",
            size=Size(width=48, layers=8, spread=0.06),
            tokenizer=lambda _seed: build_tokenizer(),
            texts=sum_texts,
            steps=1500,
            batch_size=128,
            learning_rate=3e-3,
        ),
        "tagged": Kind(
            about="0.25 M parameters, 4 layers, for studies of rewards: reasons in tags, adds, and "
            "writes functions of one expression (10 minutes)",
            size=Size(width=64, layers=4, spread=0.08),
            tokenizer=tagged_tokenizer,
            texts=tagged_texts,
            steps=3000,
            batch_size=32,
            learning_rate=4e-3,
        ),
    }
)


def make(
    name: str = "quick", seed: int = DEFAULT_SEED, *, steps: int | None = None
) -> tuple[Qwen3ForCausalLM, PreTrainedTokenizerFast]:
    """Return the model of this name after its warm start, with its tokenizer.

    Args:
        name: a key of `KINDS`.
        seed: of weights, problems and labels.
        steps: of the warm start instead of the kind's own.

    Raises:
        ValueError: no such kind, or fewer than one step.
    """
    if name not in KINDS:
        raise ValueError(f"no tiny model is called {name!r}; {did_you_mean(name, KINDS)}")
    kind = KINDS[name]
    tokenizer = kind.tokenizer(seed)
    model = build_model(tokenizer, seed, kind.size)
    warm_start(model, tokenizer, name, seed=seed, steps=steps)
    return model, tokenizer


def warm_start(
    model: Qwen3ForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    name: str = "quick",
    *,
    seed: int = DEFAULT_SEED,
    steps: int | None = None,
    batch_size: int | None = None,
) -> None:
    """Teach `model` the skill of a kind in place, printing the progress.

    Args:
        model: what `build_model` returned.
        tokenizer: the one that it was built for.
        name: a key of `KINDS`.
        seed: of the problems and of the labels.
        steps: of the optimizer; None takes the kind's.
        batch_size: texts in one step; None takes the kind's.

    Raises:
        ValueError: fewer than one step, or an empty batch.
    """
    kind = KINDS[name]
    steps = kind.steps if steps is None else steps
    batch_size = kind.batch_size if batch_size is None else batch_size
    if steps < 1 or batch_size < 1:
        raise ValueError(f"steps and batch_size are at least 1, got {steps} and {batch_size}")
    texts = kind.texts(tokenizer, seed, batch_size, steps * batch_size)
    train_on(model, tokenizer, texts, steps=steps, learning_rate=kind.learning_rate)
