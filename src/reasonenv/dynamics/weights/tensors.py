"""The weights of a saved model, one tensor at a time, without building the model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from torch import Tensor

from reasonenv.dynamics.weights.names import base_name
from reasonenv.errors import ModelError
from reasonenv.extras import need

__all__ = ["WeightFiles"]

_EMBEDDINGS = ("embed_tokens.weight", "wte.weight", "embed_in.weight")


class WeightFiles:
    """A model folder's safetensors as a mapping from tensor names to tensors.

    Args:
        folder: with `model.safetensors`, or shards and `model.safetensors.index.json`.

    Raises:
        ModelError: no such folder, no safetensors in it, or one that cannot be read.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise ModelError(
                f"{folder}: there is no such folder; give the folder of the saved base model"
            )
        index = self.folder / "model.safetensors.index.json"
        single = self.folder / "model.safetensors"
        if single.is_file():
            files = [single]
        elif index.is_file():
            try:
                held = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
                files = [self.folder / name for name in sorted(set(held.values()))]
            except (ValueError, KeyError, AttributeError, OSError) as error:
                raise ModelError(f"{index}: not an index of safetensors ({error})") from error
        else:
            raise ModelError(f"{folder}: holds no model.safetensors, so no weights can be read")
        self._safe_open = need("safetensors", extra="train", by="reasonenv.dynamics").safe_open
        self._file: dict[str, Path] = {}
        self._key: dict[str, str] = {}
        for file in files:
            for key in self._keys(file):
                self._file[base_name(key)], self._key[base_name(key)] = file, key

    def _keys(self, file: Path) -> list[str]:
        try:
            with self._safe_open(str(file), framework="pt") as held:
                return list(held.keys())
        except Exception as error:  # safetensors raises a class of its own and OSError
            raise ModelError(f"{file}: cannot be read as safetensors ({error})") from error

    def __contains__(self, name: object) -> bool:
        return name in self._file

    def __iter__(self) -> Iterator[str]:
        return iter(self._file)

    def __len__(self) -> int:
        return len(self._file)

    def __getitem__(self, name: str) -> Tensor:
        """Return a tensor on the CPU, in the type in which it is stored."""
        with self._safe_open(str(self._file[name]), framework="pt") as held:
            tensor: Tensor = held.get_tensor(self._key[name])
        return tensor

    def find(self, name: str) -> str | None:
        """Return the stored name of `name`: itself, or one that differs by a prefix, or None.

        A causal model's `model.layers...` may be stored as `layers...` and the other way round; a
        head that is tied to the embedding is stored as that.
        """
        if name in self:
            return name
        if name.endswith("lm_head.weight"):
            embeddings = [key for key in self if key.endswith(_EMBEDDINGS)]
            return embeddings[0] if len(embeddings) == 1 else None
        ends = [key for key in self if key.endswith("." + name) or name.endswith("." + key)]
        return max(ends, key=len) if ends else None
