"""TRL's vLLM generation with a sync that leaves the trainer's base weights alone."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from trl.generation import vllm_generation
from trl.generation.vllm_generation import VLLMGeneration, empty_cache
from trl.trainer import grpo_trainer

from reasonenv.errors import EngineError
from reasonenv.trainers.engine.adapters import (
    adapter_tensors,
    engine_rank,
    why_not_servable,
    write_adapter,
)
from reasonenv.trainers.engine.client import AdapterClient
from reasonenv.trainers.engine.merged import merged_parameters
from reasonenv.trainers.finishing import Finished

__all__ = ["EngineGeneration", "engine_generation"]


@contextlib.contextmanager
def engine_generation(
    folder: Path, arguments: Mapping[str, Any], *, views: int = 1
) -> Iterator[None]:
    """Have TRL's trainers that are made inside this block generate with `EngineGeneration`.

    TRL names its class directly and offers no other way in.

    Args:
        folder: for adapters on their way to the engine; a server must be able to read it.
        arguments: of `vllm.LLM` in this process (`dtype`, `enforce_eager` ...), over TRL's.
        views: prompts in one group, as of `EngineGeneration`.
    """
    made = partial(EngineGeneration, folder=folder, arguments=arguments, views=views)
    with _replaced(grpo_trainer, "VLLMGeneration", made):
        yield


@contextlib.contextmanager
def _replaced(module: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


class EngineGeneration(VLLMGeneration):
    """Samples from vLLM; the adapter is handed over by itself wherever vLLM can serve it.

    A new name for each version matters: vLLM keys its prefix cache by it (and a server serves the
    next run, too). The old version is
    dropped once the new one is in place, so that a sync which fails leaves the engine with the old
    adapter, and the trainer untouched.

    Args:
        folder: for adapters on their way to the engine.
        arguments: of `vllm.LLM`, over TRL's.
        views: how many different prompts a group holds; more than one are sent one by one, since
            TRL asks a server for all completions of a group by the group's first prompt.
        args, kwargs: as for TRL's class.
    """

    def __init__(
        self,
        *args: Any,
        folder: Path,
        arguments: Mapping[str, Any],
        views: int = 1,
        **kwargs: Any,
    ) -> None:
        self.folder, self.arguments, self.views = folder, arguments, views
        self.version = 0
        self._llm_weights_sleeping: bool = False
        self.adapter: str | None = None
        """The name of the version that the engine samples from; None before the first sync."""
        model = kwargs["model"]
        self.is_peft = hasattr(model, "peft_config")
        self.why_merged = why_not_servable(model) if self.is_peft else "there is no adapter"
        self.rank = 0 if self.why_merged else engine_rank(model)
        # A server may still hold an earlier run's adapters, and their names in its prefix cache.
        own = kwargs.get("mode") == "server"
        self._named = f"reasonenv-{secrets.token_hex(4)}" if own else "reasonenv"
        self.tell: Finished | None = None
        """Told of each completion as soon as it is finished, while others are still generated."""
        super().__init__(*args, **kwargs)

    def _init_vllm(self) -> None:
        arguments = dict(self.arguments)
        if not self.why_merged:
            arguments |= {"enable_lora": True, "max_lora_rank": self.rank, "max_loras": 2}
        with contextlib.ExitStack() as stack:
            if self.mode == "colocate":
                if self.why_merged and not torch.cuda.is_available():
                    _keep_plain_weights()
                made = partial(_llm, vllm_generation.LLM, arguments)
                stack.enter_context(_replaced(vllm_generation, "LLM", made))
            elif not self.why_merged:
                stack.enter_context(_replaced(vllm_generation, "VLLMClient", AdapterClient))
            super()._init_vllm()

    def sync_weights(self) -> None:
        """Hand the present adapter (or merged weights) to the engine.

        Raises:
            EngineError: the engine does not take it; it keeps the version that it had.
        """
        if self.why_merged:
            super().sync_weights()
            return
        if self.mode == "colocate" and self.enable_sleep_mode and self._llm_weights_sleeping:
            empty_cache()
            self.llm.wake_up(tags=["weights"])
            self.llm.collective_rpc("reload_weights")  # the base, from disk: it never changes
            self._llm_weights_sleeping = False
        tensors = self._gathered_adapter()
        if self.mode == "colocate":
            self._hand_over(tensors, self._load_here)
        elif self.accelerator.is_main_process:
            self._hand_over(tensors, self._load_on_server)
        self.accelerator.wait_for_everyone()

    def _gathered_adapter(self) -> dict[str, torch.Tensor]:
        """Return the adapter's tensors on every rank; a collective call where they are sharded."""
        trained = [p for name, p in self.model.named_parameters() if "lora_" in name]
        with (
            self._dist.gather_params(trained),
            self._dist.summon_full_params(self.model, recurse=True, writeback=False),
        ):
            return adapter_tensors(self.model)

    def _hand_over(self, tensors: Mapping[str, torch.Tensor], load: Any) -> None:
        self.version += 1
        name = f"{self._named}-{self.version}"
        self.folder.mkdir(parents=True, exist_ok=True)
        where = Path(tempfile.mkdtemp(prefix="adapter-", dir=self.folder))
        try:
            base = str(getattr(self.model, "name_or_path", ""))
            load(name, write_adapter(where / name, tensors, base, self.rank))
        finally:
            shutil.rmtree(where, ignore_errors=True)
            with contextlib.suppress(OSError):  # not empty: another rank is at it
                self.folder.rmdir()
        self.adapter = name

    def _load_here(self, name: str, folder: Path) -> None:
        from vllm.lora.request import LoRARequest

        request = LoRARequest(name, self.version, str(folder))
        try:
            taken = self.llm.llm_engine.add_lora(request)
        except Exception as error:  # of whatever kind: the old adapter is still there
            raise EngineError(f"vLLM does not take version {self.version}: {error}") from error
        if not taken:
            raise EngineError(f"vLLM does not take version {self.version} of the adapter")
        # TRL passes no adapter when it generates.
        self.llm.generate = partial(type(self.llm).generate, self.llm, lora_request=request)
        if self.adapter is not None:
            self.llm.llm_engine.remove_lora(self.version - 1)

    def _load_on_server(self, name: str, folder: Path) -> None:
        self.vllm_client.load(name, folder, self.rank)
        if self.adapter is not None:
            self.vllm_client.drop(self.adapter)

    def _iter_named_params(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Yield merged copies; TRL's own way merges into the trainer's weights."""
        if not self.is_peft or self._dist.is_fsdp:
            yield from super()._iter_named_params()
            return
        with self._dist.gather_params(list(self.model.parameters())):
            yield from merged_parameters(self.model)

    def generate(
        self, prompts: Any, images: Any, num_generations: int, profiler: Any = None
    ) -> Any:
        """Generate as TRL does, with each row's own prompt."""
        with self._telling():
            count = 1 if self.views > 1 else num_generations
            return super().generate(prompts, images, count, profiler)

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        """Tell of completions as they finish; TRL's own client, which sends weights, does not."""
        if self.tell is None:
            yield
        elif self.mode == "colocate":
            engine = self.llm.llm_engine
            with _replaced(engine, "step", partial(_step, engine.step, self.tell)):
                yield
        else:
            if isinstance(getattr(self, "vllm_client", None), AdapterClient):
                self.vllm_client.tell = self.tell
            yield


def _step(step: Any, tell: Finished) -> Any:
    """Have vLLM's engine write the next tokens, and tell of the completions that end with them."""
    outputs = step()
    for output in outputs:
        if output.finished:
            for one in output.outputs:
                tell(output.prompt_token_ids, list(one.token_ids))
    return outputs


def _keep_plain_weights() -> None:
    """Keep vLLM on a CPU from repacking weights for oneDNN: repacked ones take no new values."""
    from vllm import _custom_ops

    _custom_ops._supports_onednn = False


def _llm(cls: Any, arguments: Mapping[str, Any], **given: Any) -> Any:
    return cls(**{**given, **arguments})
