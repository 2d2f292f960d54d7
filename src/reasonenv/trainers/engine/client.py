"""A vLLM server that is sent adapters instead of weights."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import requests
from trl.generation.vllm_client import VLLMClient

from reasonenv.errors import EngineError
from reasonenv.trainers.finishing import Finished

__all__ = ["AdapterClient"]

_REQUESTS = 64  # at once: a prompt's completions come when they are finished, not with the last
_SECONDS = 120.0  # a server may be busy with others' requests when an adapter comes

_HOW = (
    "start it with --enable-lora --max-loras 2 --max-lora-rank {rank} and with "
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 in its environment"
)


class AdapterClient(VLLMClient):
    """TRL's client, whose model is the newest adapter of the server's base model."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        try:
            super().__init__(*args, **kwargs)
        except OSError as error:  # the kind of error that requests raises
            raise EngineError(
                f"no vLLM server answers ({error}); start one, or set grpo.vllm_server_base_url"
            ) from error
        self.base = self.model
        self.tell: Finished | None = None
        """Told of each completion as soon as it is finished, while others are still generated."""

    def init_communicator(self, device: Any = 0) -> None:
        """Do nothing: no weights are sent, so that no NCCL group is needed."""

    def generate(self, prompts: Any, features: Any = None, n: int = 1, **kwargs: Any) -> Any:
        """Generate as TRL's client does, where `tell` is set by one request for each prompt."""
        if self.tell is None or features is not None or len(prompts) < 2:
            return super().generate(prompts, features, n, **kwargs)

        def ask(prompt: Any) -> dict[str, Any]:
            reply: dict[str, Any] = super(AdapterClient, self).generate([prompt], None, n, **kwargs)
            return reply

        with ThreadPoolExecutor(min(len(prompts), _REQUESTS)) as pool:
            tasks = {pool.submit(ask, prompt): i for i, prompt in enumerate(prompts)}
            for task in as_completed(tasks):
                for ids in task.result()["completion_ids"]:
                    self.tell(prompts[tasks[task]], ids)
        replies = [task.result() for task in tasks]
        return {key: [one for reply in replies for one in reply[key]] for key in replies[0]}

    def load(self, name: str, folder: Path, rank: int) -> None:
        """Load an adapter from a folder that the server can read, and sample from it from now on.

        Raises:
            EngineError: the server refuses; it goes on with the adapter that it had.
        """
        body = {"lora_name": name, "lora_path": str(folder.resolve())}
        # Not by the session, which would ask a server that refuses again and again.
        reply = requests.post(f"{self.base_url}/v1/load_lora_adapter", json=body, timeout=_SECONDS)
        if reply.status_code != 200:
            how = _HOW.format(rank=rank)
            raise EngineError(
                f"the vLLM server at {self.base_url} does not load an adapter from {folder} "
                f"(status {reply.status_code}: {reply.text[:300]}); {how}, and keep the run "
                "directory where the server can read it"
            )
        self.model = name

    def drop(self, name: str) -> None:
        """Unload an adapter; one that is not there is no error."""
        self.session.post(f"{self.base_url}/v1/unload_lora_adapter", json={"lora_name": name})
