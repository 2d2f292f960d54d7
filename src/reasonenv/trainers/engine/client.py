"""A vLLM server that is sent adapters instead of weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import requests
from trl.generation.vllm_client import VLLMClient

from reasonenv.errors import EngineError

__all__ = ["AdapterClient"]

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

    def init_communicator(self, device: Any = 0) -> None:
        """Do nothing: no weights are sent, so that no NCCL group is needed."""

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
