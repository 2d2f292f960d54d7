"""A trained adapter: finding it in a run, checking that it fits its base, and loading it."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from reasonenv.errors import ModelError
from reasonenv.extras import need
from reasonenv.models.loading import resolve_model

__all__ = ["base_of", "check_base", "fingerprint", "load_adapter", "trained_folder"]

_WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")


def trained_folder(run: str | Path) -> Path:
    """Return the folder with what a run trained: an adapter, or (without LoRA) a whole model.

    Args:
        run: a run directory, a checkpoint, or such a folder itself.

    Raises:
        ModelError: nothing trained is there.
    """
    path = Path(run).expanduser()
    if not path.is_dir():
        raise ModelError(f"{run}: there is no such folder; give a run's directory or an adapter's")
    for folder in (path, path / "adapter"):
        if (folder / "adapter_config.json").is_file() or (folder / "config.json").is_file():
            return folder
    unfinished = " (a run that is not finished: see its checkpoints/)"
    hint = unfinished if (path / "recipe.yaml").is_file() else ""
    raise ModelError(
        f"{run}: neither an adapter (adapter_config.json) nor a model (config.json) is there{hint}"
    )


def base_of(folder: Path) -> str | None:
    """Return the model that an adapter says it was trained on; None for a whole model."""
    file = folder / "adapter_config.json"
    if not file.is_file():
        return None
    try:
        base = json.loads(file.read_text(encoding="utf-8")).get("base_model_name_or_path")
    except (OSError, ValueError, AttributeError) as error:
        raise ModelError(f"{file}: cannot be read ({error})") from error
    return str(base) if base else ""


def check_base(folder: Path, model: str) -> None:
    """Refuse an adapter that was trained on a model of another name.

    A model has the same name in any folder: the last part of its path or hub id counts.

    Raises:
        ModelError: the names differ.
    """
    base = base_of(folder)
    if base and _name(base) != _name(model) and _name(base) != _name(resolve_model(model)):
        raise ModelError(
            f"{folder}: this adapter was trained on {base}, and the model given is {model}; give "
            "that model, or say --other-base if it is the same one under another name"
        )


def _name(model: str) -> str:
    cached = re.search(r"models--([^/]+)--([^/]+)/snapshots/", model)
    name = cached[2] if cached else model.rstrip("/").rpartition("/")[2]
    return "tiny_model" if name == "tiny" else name.lower()


def load_adapter(model: Any, folder: Path) -> Any:
    """Return `model` with the adapter of `folder` switched on.

    Raises:
        ModelError: the adapter was not made for a model of this shape, or cannot be read.
    """
    peft = need("peft", extra="train", by="reasonenv.models")
    state = need("peft.utils.save_and_load", extra="train", by="reasonenv.models")
    try:
        stored = state.load_peft_weights(str(folder), device="cpu")
        adapted = peft.PeftModel.from_pretrained(model, str(folder))
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:300]
        raise ModelError(f"{folder}: this adapter does not fit the model: {reason}") from error
    _require_same_modules(adapted, stored, folder)
    # PEFT only warns of weights that have no place.
    wanted = {name: tuple(t.shape) for name, t in state.get_peft_model_state_dict(adapted).items()}
    found = {name: tuple(tensor.shape) for name, tensor in stored.items()}
    if wanted != found:
        odd = sorted(wanted.items() ^ found.items())
        raise ModelError(
            f"{folder}: this adapter was trained on a model of another shape: {len(found)} "
            f"tensors are stored and {len(wanted)} have a place, {odd[0][0]!r} does not fit"
        )
    adapted.eval()
    return adapted


def _require_same_modules(adapted: Any, stored: Any, folder: Path) -> None:
    """Refuse a model in which modules that the adapter's config names have no trained weights.

    PEFT leaves them alone without a word: the layers that a deeper model has more, say.
    """
    tuners = need("peft.tuners.tuners_utils", extra="train", by="reasonenv.models")
    config = adapted.peft_config["default"]
    prefix = "base_model.model."
    trained = {
        name.partition(".lora_")[0].removeprefix(prefix) for name in stored if ".lora_" in name
    }
    if not trained:
        return  # another kind of adapter: its names are its own
    base = adapted.get_base_model()
    named = {
        name.removesuffix(".base_layer")
        for name, module in base.named_modules()
        if hasattr(module, "in_features") and not re.search(r"\.lora_", name)
    }
    wanted = {name for name in named if tuners.check_target_module_exists(config, name)}
    missing = sorted(wanted - trained)
    if missing:
        raise ModelError(
            f"{folder}: this adapter was trained on a model of another shape: it holds nothing for "
            f"{missing[0]} and {len(missing) - 1} other modules that its config names"
        )


def fingerprint(folder: Path) -> str:
    """Return 16 hex digits of what is trained in `folder`, so that results can tell it."""
    digest = hashlib.sha256()
    files = [folder / name for name in _WEIGHTS if (folder / name).is_file()]
    for file in files or sorted(folder.glob("*.safetensors")):
        with open(file, "rb") as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
    return digest.hexdigest()[:16]
