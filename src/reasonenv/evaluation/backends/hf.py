"""`TransformersBackend`: any causal language model of transformers, with a LoRA adapter or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reasonenv.envs.core import ReasoningEnv
from reasonenv.errors import BackendError
from reasonenv.evaluation.backends.base import Asked, Sample
from reasonenv.evaluation.backends.local import LocalPrompts
from reasonenv.evaluation.sampling import Sampling, seed_of
from reasonenv.extras import need
from reasonenv.models.adapters import base_of, load_adapter
from reasonenv.models.loading import load_model, load_tokenizer, quiet
from reasonenv.types import Problem

__all__ = ["TransformersBackend"]


class TransformersBackend:
    """Generates with transformers, batches padded on the left; on a GPU where there is one.

    Args:
        model: a local folder, a hub id, or "tiny".
        adapter: a folder that `trained_folder` returned; a whole model in it replaces `model`.
        dtype: of the weights; "auto" is bfloat16 on a GPU that has it, float32 on a CPU.
        template: of `reasonenv.models.prompts.TEMPLATES`.
        chat_args: further arguments of the chat template.

    Raises:
        ModelError: model or adapter cannot be loaded, or do not fit.
        HubUnavailableError: the model is on a hub that cannot be reached.
    """

    name = "transformers"

    def __init__(
        self,
        model: str,
        *,
        adapter: Path | None = None,
        dtype: str = "auto",
        template: str = "chat",
        chat_args: Mapping[str, Any] | None = None,
    ) -> None:
        self._torch = need("torch", extra="train", by="evaluation with transformers")
        whole = str(adapter) if adapter is not None and base_of(adapter) is None else None
        with quiet():
            loaded = load_model(whole or model, dtype)
            tokenizer = load_tokenizer(whole or model)
        ends = loaded.generation_config.eos_token_id
        self.prompts = LocalPrompts(
            tokenizer, template, chat_args, [ends] if isinstance(ends, int) else ends or []
        )
        self._limit: int | None = getattr(loaded.config, "max_position_embeddings", None)
        if adapter is not None and whole is None:
            with quiet():
                loaded = load_adapter(loaded, adapter)
        self.device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self.model = loaded.to(self.device).eval()
        self.dtype = str(next(loaded.parameters()).dtype).removeprefix("torch.")

    def ask(self, env: ReasoningEnv, problem: Problem) -> Asked:
        """Return a problem's prompt."""
        return self.prompts.ask(env, problem)

    def sample(
        self, asked: Sequence[Asked], sampling: Sampling, seeds: Sequence[int]
    ) -> list[Sample]:
        """Return one completion of each prompt; the seeds of a batch act together."""
        torch = self._torch
        longest = max(len(one.content) for one in asked)
        if self._limit is not None and longest + sampling.max_tokens > self._limit:
            raise BackendError(
                f"a prompt of {longest} tokens and {sampling.max_tokens} more pass the model's "
                f"{self._limit} positions: set --max-tokens to at most {self._limit - longest}"
            )
        pad = self.prompts.pad_id
        rows = [[pad] * (longest - len(one.content)) + one.content for one in asked]
        mask = [[0] * (longest - len(a.content)) + [1] * len(a.content) for a in asked]
        with torch.random.fork_rng(), torch.inference_mode():
            torch.manual_seed(seed_of(*seeds))
            try:
                out = self.model.generate(
                    input_ids=torch.tensor(rows, device=self.device),
                    attention_mask=torch.tensor(mask, device=self.device),
                    generation_config=self._config(sampling),
                )
            except torch.cuda.OutOfMemoryError as error:
                raise BackendError(
                    f"out of GPU memory with {len(asked)} completions at once: give a smaller "
                    "--batch-size or --max-tokens; what is finished is kept"
                ) from error
        return [self.prompts.read(ids[longest:]) for ids in out.tolist()]

    def _config(self, sampling: Sampling) -> Any:
        transformers = need("transformers", extra="train", by="evaluation with transformers")
        random = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": sampling.top_k,
        }
        config = transformers.GenerationConfig(
            max_new_tokens=sampling.max_tokens,
            do_sample=sampling.temperature > 0,
            pad_token_id=self.prompts.pad_id,
            eos_token_id=sorted(self.prompts.end_ids),
            disable_compile=True,
            **(random if sampling.temperature > 0 else {}),
        )
        # generate() fills what a given config leaves open from the model's own: so that one goes.
        self.model.generation_config = config
        return config

    def facts(self) -> Mapping[str, Any]:
        """Return device and dtype."""
        return {"device": self.device, "dtype": self.dtype, "template": self.prompts.template}

    def close(self) -> None:
        """Free the weights."""
        del self.model
        if self.device == "cuda":
            self._torch.cuda.empty_cache()
