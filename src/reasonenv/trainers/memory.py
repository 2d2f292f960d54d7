"""Out of memory: which knob frees most, estimated from the sizes of the model and the batch.

What a pass holds, in bytes, with b rows of s tokens, width h, L layers:

* update: about 34 b s h for each layer in half precision (Korthikanti et al. 2022, 2205.05198,
  without the attention scores), twice that in float32; 2 b s h with gradient checkpointing;
* generation: the cache of keys and values, 2 b s L (kv heads) (head width) numbers;
* always: weights, and for each trained parameter its gradient and two moments (12 bytes).

These are estimates, good enough to put the knobs in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reasonenv.errors import MemoryExhaustedError

__all__ = ["Sizes", "advice", "explained", "is_exhausted", "sizes_of"]

_ACTIVATIONS, _CHECKPOINTED = 17, 1  # numbers a token, a unit of width and a layer
_STATE_BYTES = 12
_WORDS = (
    "out of memory",
    "not enough memory",
    "can't allocate memory",
    "cannot allocate memory",
    "alloc_failed",
)


def is_exhausted(error: BaseException) -> bool:
    """Return whether an error says that the memory of a device or of the machine ran out."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(words in text for words in _WORDS)


@dataclass(frozen=True, slots=True)
class Sizes:
    """What memory is spent on.

    Attributes:
        rows: in one forward pass of a rank.
        generated: rows that a rank generates at once.
        prompt: tokens of the longest prompt so far.
        completion: most tokens of a completion (of an episode).
        width: of the model.
        layers: of the model.
        cached: numbers that a layer caches for a token.
        number_bytes: of one number of the base weights.
        parameters: of the model.
        trained: of them, those that are trained.
        checkpointing: whether activations are recomputed.
        shards: over how many GPUs weights are parted.
        vllm: whether another engine generates.
    """

    rows: int
    generated: int
    prompt: int
    completion: int
    width: int
    layers: int
    cached: int
    number_bytes: int
    parameters: int
    trained: int
    checkpointing: bool
    shards: int = 1
    vllm: bool = False

    @property
    def activations(self) -> float:
        """Bytes of an update's activations."""
        each = _CHECKPOINTED if self.checkpointing else _ACTIVATIONS
        tokens = self.rows * (self.prompt + self.completion)
        return tokens * self.width * self.layers * each * self.number_bytes

    @property
    def cache(self) -> float:
        """Bytes of a generation's cache."""
        tokens = self.generated * (self.prompt + self.completion)
        return tokens * self.layers * self.cached * self.number_bytes


def advice(phase: str, sizes: Sizes, processes: int = 1) -> list[tuple[float, str]]:
    """Return what to change, with the bytes that it frees, the most first.

    Args:
        phase: "generate" or "update": where memory ran out.
        sizes: of the run.
        processes: ranks of the run.
    """
    share = sizes.completion / 2 / max(sizes.prompt + sizes.completion, 1)
    held = sizes.activations if phase == "update" else sizes.cache
    shorter = f"grpo.max_completion_length {sizes.completion} -> {sizes.completion // 2}"
    knobs: list[tuple[float, str]] = []
    if sizes.completion > 1:
        knobs.append((held * share, shorter))
    if phase == "update":
        if sizes.rows > 1:
            rows = f"rows_per_forward {sizes.rows} -> {sizes.rows // 2}"
            knobs.append((held / 2, f"{rows} (the same step in twice as many passes)"))
        if not sizes.checkpointing:
            freed = held * (1 - _CHECKPOINTED / _ACTIVATIONS)
            knobs.append((freed, "grpo.gradient_checkpointing: true (a third slower)"))
    elif not sizes.vllm and sizes.generated > 1:
        batch = f"prompts_per_step, so that {sizes.generated // 2} rows are generated at once"
        knobs.append((held / 2, f"halve {batch}"))
    if sizes.trained > sizes.parameters // 4:
        freed = sizes.trained * (_STATE_BYTES + sizes.number_bytes) * 0.98 / sizes.shards
        knobs.append((freed, "lora: {r: 16} instead of training all weights"))
    if sizes.shards == 1 and processes > 1:
        freed = sizes.parameters * sizes.number_bytes * (1 - 1 / processes)
        knobs.append((freed, "shard: fsdp (parts the weights over the GPUs)"))
    if sizes.vllm:
        knobs.append((0.0, "grpo.vllm_gpu_memory_utilization: a smaller share for colocated vLLM"))
    if sizes.number_bytes == 4:
        knobs.append((sizes.parameters * 2.0, "dtype: bfloat16 (where the device has it)"))
    return sorted(knobs, key=lambda knob: -knob[0])


def in_words(phase: str, reason: str, knobs: list[tuple[float, str]]) -> str:
    """Return the message of a run that ran out of memory."""
    listed = "; ".join(
        f"{number}. {what}" + (f", about {_size(freed)}" if freed else "")
        for number, (freed, what) in enumerate(knobs, 1)
    )
    where = {"generate": "while completions were generated", "update": "in an update"}[phase]
    said = (reason.strip().splitlines() or ["no reason given"])[0]
    return f"out of memory {where} ({said:.200}). What frees most, by estimate: {listed}"


def _size(count: float) -> str:
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count / 1024:.1f} KiB"


def explained(trainer: Any, error: Exception) -> Exception:
    """Return what to raise for an error of training: another one where memory ran out."""
    if not is_exhausted(error):
        return error
    knobs = advice(trainer.phase, sizes_of(trainer), trainer.accelerator.num_processes)
    return MemoryExhaustedError(in_words(trainer.phase, str(error), knobs))


def sizes_of(trainer: Any) -> Sizes:
    """Return the sizes of an `EnvGRPOTrainer`'s run."""
    model = trainer.accelerator.unwrap_model(trainer.model)
    config = model.config.get_text_config()
    heads = config.num_attention_heads
    width = config.hidden_size
    head = getattr(config, "head_dim", None) or width // heads
    parameters = [(p.numel(), p.element_size(), p.requires_grad) for p in model.parameters()]
    args = trainer.args
    checkpointing = bool(args.gradient_checkpointing) or bool(
        (args.fsdp_config or {}).get("activation_checkpointing")
    )
    sharded = trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled
    return Sizes(
        rows=args.per_device_train_batch_size,
        generated=args.per_device_train_batch_size * args.steps_per_generation,
        prompt=trainer.longest_prompt,
        completion=args.max_completion_length,
        width=width,
        layers=config.num_hidden_layers,
        cached=2 * head * (getattr(config, "num_key_value_heads", None) or heads),
        number_bytes=min((size for _, size, trained in parameters if not trained), default=4),
        parameters=sum(count for count, _, _ in parameters),
        trained=sum(count for count, _, trained in parameters if trained),
        checkpointing=checkpointing,
        shards=trainer.accelerator.num_processes if sharded else 1,
        vllm=trainer.use_vllm,
    )
