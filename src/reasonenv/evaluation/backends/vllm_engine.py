"""`VLLMBackend`: vLLM in this process, with a LoRA adapter served beside the untouched base."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reasonenv.envs.core import ReasoningEnv
from reasonenv.errors import BackendError
from reasonenv.evaluation.backends.base import Asked, Sample
from reasonenv.evaluation.backends.local import LocalPrompts
from reasonenv.evaluation.sampling import Sampling
from reasonenv.extras import need
from reasonenv.models.adapters import base_of
from reasonenv.models.loading import load_tokenizer, resolve_model
from reasonenv.types import Problem

__all__ = ["VLLMBackend"]


class VLLMBackend:
    """Generates with vLLM; each completion has a seed of its own.

    Args:
        model: a local folder, a hub id, or "tiny".
        adapter: a folder that `trained_folder` returned; a whole model in it replaces `model`.
        dtype: as vLLM takes it.
        template: of `reasonenv.models.prompts.TEMPLATES`.
        chat_args: further arguments of the chat template.
        engine: further arguments of `vllm.LLM` (gpu_memory_utilization, tensor_parallel_size ...).

    Raises:
        MissingExtraError: vLLM is not installed.
        BackendError: the engine does not start.
    """

    name = "vllm"

    def __init__(
        self,
        model: str,
        *,
        adapter: Path | None = None,
        dtype: str = "auto",
        template: str = "chat",
        chat_args: Mapping[str, Any] | None = None,
        engine: Mapping[str, Any] | None = None,
    ) -> None:
        self._vllm = need("vllm", extra="vllm", by="evaluation with vLLM")
        whole = str(adapter) if adapter is not None and base_of(adapter) is None else None
        where = whole or resolve_model(model)
        options: dict[str, Any] = {"model": where, "dtype": dtype, **(engine or {})}
        self._lora: Any = None
        if adapter is not None and whole is None:
            config = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
            ranks = [config["r"], *(config.get("rank_pattern") or {}).values()]
            # vLLM takes ranks of a few sizes only; the next larger one serves.
            rank = next((r for r in (8, 16, 32, 64, 128, 256, 320, 512) if r >= max(ranks)), 512)
            options |= {"enable_lora": True, "max_loras": 1, "max_lora_rank": rank}
            lora = need("vllm.lora.request", extra="vllm", by="evaluation with vLLM")
            self._lora = lora.LoRARequest("evaluated", 1, str(adapter.resolve()))
        try:
            self._llm = self._vllm.LLM(**options)
        except (ValueError, RuntimeError, OSError) as error:
            raise BackendError(f"vLLM does not start with {where}: {error}") from error
        self.dtype = dtype
        ends = self._llm.get_default_sampling_params().stop_token_ids or []
        self.prompts = LocalPrompts(load_tokenizer(where), template, chat_args, ends)

    def ask(self, env: ReasoningEnv, problem: Problem) -> Asked:
        """Return a problem's prompt."""
        return self.prompts.ask(env, problem)

    def sample(
        self, asked: Sequence[Asked], sampling: Sampling, seeds: Sequence[int]
    ) -> list[Sample]:
        """Return one completion of each prompt."""
        params = [
            self._vllm.SamplingParams(
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                top_k=sampling.top_k,
                max_tokens=sampling.max_tokens,
                stop_token_ids=sorted(self.prompts.end_ids),
                seed=seed,
                detokenize=False,
            )
            for seed in seeds
        ]
        prompts = [{"prompt_token_ids": one.content} for one in asked]
        try:
            outputs = self._llm.generate(prompts, params, lora_request=self._lora, use_tqdm=False)
        except (ValueError, RuntimeError) as error:
            raise BackendError(f"vLLM failed: {error}") from error
        return [self.prompts.read(list(output.outputs[0].token_ids)) for output in outputs]

    def facts(self) -> Mapping[str, Any]:
        """Return dtype and version."""
        return {
            "dtype": self.dtype,
            "template": self.prompts.template,
            "version": self._vllm.__version__,
        }

    def close(self) -> None:
        """Free the engine."""
        del self._llm
