"""Loading a model and its tokenizer: the embedded one, a local folder, or a hub id."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reasonenv.errors import HubUnavailableError, ModelError
from reasonenv.extras import need
from reasonenv.hub import why_unreachable

__all__ = ["load_model", "load_skeleton", "load_tokenizer", "quiet", "resolve_model", "tiny_path"]


def tiny_path() -> Path:
    """Return the directory of the model that ships with the library."""
    return Path(__file__).parent / "tiny_model"


def resolve_model(model: str) -> str:
    """Return where `model` is loaded from: a local folder, or the hub id itself.

    Raises:
        ModelError: a path that is not there, or that holds no model.
    """
    if model == "tiny":
        return str(tiny_path())
    path = Path(model).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise ModelError(f"{model}: the folder holds no config.json, so it is no saved model")
        return str(path)
    if path.exists() or path.is_absolute() or model.startswith(("./", "../", "~")):
        raise ModelError(f"{model}: there is no such folder; give a saved model's folder")
    return model


def load_tokenizer(model: str) -> Any:
    """Return the tokenizer of a model (as given to `resolve_model`).

    Raises:
        HubUnavailableError: it is on a hub that cannot be reached.
        ModelError: it cannot be loaded.
    """
    transformers = need("transformers", extra="train", by="reasonenv.models")
    return _load(transformers.AutoTokenizer, model)


def load_model(model: str, dtype: str = "auto") -> Any:
    """Return a causal language model, in `dtype` ("auto": bfloat16 on a GPU that has it).

    Raises:
        HubUnavailableError: it is on a hub that cannot be reached.
        ModelError: it cannot be loaded.
    """
    torch = need("torch", extra="train", by="reasonenv.models")
    transformers = need("transformers", extra="train", by="reasonenv.models")
    if dtype == "auto":
        wide = not torch.cuda.is_available() or not torch.cuda.is_bf16_supported()
        dtype = "float32" if wide else "bfloat16"
    return _load(transformers.AutoModelForCausalLM, model, dtype=getattr(torch, dtype))


def load_skeleton(model: str) -> Any:
    """Return a causal language model with shapes and no weights, from its config alone.

    Raises:
        HubUnavailableError: it is on a hub that cannot be reached.
        ModelError: it cannot be made.
    """
    torch = need("torch", extra="train", by="reasonenv.models")
    transformers = need("transformers", extra="train", by="reasonenv.models")
    config = _load(transformers.AutoConfig, model)
    with torch.device("meta"):
        return transformers.AutoModelForCausalLM.from_config(config)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep the libraries' progress bars and deprecation notes out of a command's own output."""
    logging = need("transformers.utils.logging", extra="train", by="reasonenv.models")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=FutureWarning)
            yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _load(factory: Any, model: str, **kwargs: Any) -> Any:
    where = resolve_model(model)
    local = Path(where).is_dir()
    try:
        if local:
            return factory.from_pretrained(where, local_files_only=True, **kwargs)
        try:  # the cache first: an unreachable hub costs minutes of retries
            return factory.from_pretrained(where, local_files_only=True, **kwargs)
        except OSError:
            _require_hub()
            return factory.from_pretrained(where, **kwargs)
    except (OSError, ValueError, KeyError) as error:
        if local:
            raise ModelError(f"{model}: cannot be loaded: {error}") from error
        raise HubUnavailableError(
            f"{model}: neither a local folder nor in the cache, and the hub does not give it "
            f"({_first_line(error)}); give the folder of a saved model: --model PATH, or "
            "--model tiny for the model that ships with reasonenv"
        ) from error


def _require_hub() -> None:
    """Fail in seconds where no hub answers."""
    hub = need("huggingface_hub.constants", extra="train", by="reasonenv.models")
    reason = "HF_HUB_OFFLINE is set" if hub.HF_HUB_OFFLINE else why_unreachable()
    if reason:
        raise OSError(reason)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:200]
