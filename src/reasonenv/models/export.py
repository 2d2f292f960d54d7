"""`export`: what a run trained, as a folder that other programs load."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from reasonenv.errors import ModelError, RunDirectoryError, StorageError
from reasonenv.models.adapters import base_of, check_base, load_adapter, trained_folder
from reasonenv.models.loading import load_model, load_tokenizer, quiet

__all__ = ["Exported", "export"]

_LEFT_OUT = {"training_args.bin", "README.md"}  # the one is a pickle, the other says nothing


@dataclass(frozen=True)
class Exported:
    """What was written.

    Args:
        path: the folder.
        kind: "adapter", "merged model" or "model" (of a run without LoRA).
        base: the model that an adapter needs; None where the folder stands alone.
    """

    path: Path
    kind: str
    base: str | None


def export(
    run: str | Path,
    out: str | Path,
    *,
    merged: bool = False,
    model: str | None = None,
    dtype: str = "auto",
    other_base: bool = False,
) -> Exported:
    """Write a run's adapter, or base and adapter merged into one model, with its tokenizer.

    Merging is done once, from the base's stored weights, in `dtype`: in bfloat16 the sum W + BA is
    rounded, so the merged model is close to what was trained, not equal (in float32 to about 1e-6).

    Args:
        run: a run, a checkpoint, or an adapter's folder.
        out: a new or an empty folder.
        merged: a whole model instead of the adapter.
        model: the base, where it is not where the adapter says.
        dtype: of the merged weights.
        other_base: accept a base of another name.

    Raises:
        ModelError: nothing trained is there, or the base does not fit.
        RunDirectoryError: there is something in `out` already.
        StorageError: it cannot be written; no half-written folder stays.
    """
    folder, out = trained_folder(run), Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RunDirectoryError(f"{out}: exists already; give another --out")
    base = base_of(folder)
    if base is not None and merged:
        model = model or base or None
        if model is None:
            raise ModelError(f"{folder}: the adapter does not name its base; give --model")
        if not other_base:
            check_base(folder, model)
    partial = out.with_name(f".{out.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        if base is not None and merged:
            assert model is not None
            with quiet():
                whole = load_adapter(load_model(model, dtype), folder).merge_and_unload()
                whole.save_pretrained(partial)
            if (folder / "tokenizer_config.json").is_file():
                _copy(folder, partial, without="adapter_")
            else:
                load_tokenizer(model).save_pretrained(partial)
        else:
            _copy(folder, partial)
        for file in partial.iterdir():
            file.chmod(0o644)
        if out.exists():
            out.rmdir()
        partial.rename(out)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(f"{out}: cannot be written ({reason}); nothing was left") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    kind = "model" if base is None else "merged model" if merged else "adapter"
    return Exported(out, kind, base if kind == "adapter" else None)


def _copy(folder: Path, target: Path, without: str | None = None) -> None:
    for file in folder.iterdir():
        kept = without is None or not file.name.startswith(without)
        if file.is_file() and kept and file.name not in _LEFT_OUT:
            shutil.copy2(file, target / file.name)
