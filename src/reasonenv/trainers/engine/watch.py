"""What a run does about its engine: set it up, probe it, and see that the base stayed the same."""

from __future__ import annotations

import contextlib
import warnings
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from reasonenv.trainers.recipe import EnginePlan

__all__ = ["EngineWatch", "engine_context"]

_PROBED_TOKENS = 64


def engine_context(
    plan: EnginePlan, config: Any, model: Any, folder: Path, *, views: int = 1
) -> AbstractContextManager[None]:
    """Return the block in which a trainer has to be made to generate as `plan` says.

    Args:
        plan: the recipe's `vllm:` section.
        config: the run's `trl.GRPOConfig`; without `use_vllm` the block does nothing.
        model: the base model, for its dtype.
        folder: for adapters on their way to the engine.
        views: different prompts in one group.
    """
    if not config.use_vllm:
        return contextlib.nullcontext()
    from reasonenv.trainers.engine.generation import engine_generation

    arguments: dict[str, Any] = {"dtype": str(model.dtype).removeprefix("torch.")}
    if not torch.cuda.is_available():
        arguments["enforce_eager"] = True  # there is nothing to capture on a CPU
    return engine_generation(folder, {**arguments, **plan.arguments}, views=views)


@dataclass
class EngineWatch:
    """What was found out about a trainer's engine before training, to be compared after it.

    Attributes:
        facts: for the run's `facts.json`; empty where transformers samples.
    """

    trainer: Any
    plan: EnginePlan
    facts: dict[str, Any]

    @classmethod
    def start(cls, trainer: Any, plan: EnginePlan) -> EngineWatch:
        """Probe the engine and hash the base weights; every rank calls this.

        Raises:
            EngineError: the engine does not sample from the adapter, or does not take it.
        """
        watch = cls(trainer, plan, {})
        if not trainer.use_vllm:
            return watch
        from reasonenv.trainers.engine.checksum import base_checksum
        from reasonenv.trainers.engine.probe import compare_with_trainer, probe_adapter

        generation = trainer.vllm_generation
        sync = "adapter" if not generation.why_merged else "merged copies"
        watch.facts = {"engine": f"vLLM, {generation.mode}, {sync}"}
        if generation.is_peft and generation.why_merged:
            watch.facts["why_merged"] = generation.why_merged
        if plan.checksum and generation.is_peft:
            watch.facts["base_checksum"] = base_checksum(trainer.model)
        if plan.probe and not generation.why_merged:
            size = len(trainer.processing_class)
            ids = [i * 7919 % size for i in range(1, _PROBED_TOKENS)]
            watch.facts["engine_probe_nats"] = probe_adapter(generation, ids)
            if trainer.accelerator.num_processes == 1:  # sharded weights have no forward pass here
                watch.facts["engine_gap_nats"] = compare_with_trainer(generation, ids)
        return watch

    def finish(self) -> dict[str, Any]:
        """Return the facts, with whether the base is what it was; warn where it is not."""
        if "base_checksum" in self.facts:
            from reasonenv.trainers.engine.checksum import base_checksum

            same = base_checksum(self.trainer.model) == self.facts["base_checksum"]
            self.facts["base_unchanged"] = same
            if not same:
                warnings.warn(
                    "the base weights changed during training: the adapter that was saved belongs "
                    "to other weights than the model's own",
                    stacklevel=2,
                )
        return self.facts
