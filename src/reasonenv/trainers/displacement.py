"""How far a finished run moved each layer: what `lora.layers: top:N@RUN` chooses by.

A layer's displacement is relative and pooled over the weights that its adapter changes (study
eq. 11): the measures are those of `reasonenv.dynamics.weights`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reasonenv.errors import ModelError, RecipeError

if TYPE_CHECKING:
    from reasonenv.dynamics.weights.adapters import Adapter

__all__ = ["adapter_parameters", "layer_displacements"]


def adapter_parameters(run: str | Path) -> int:
    """Return how many parameters a finished run trained.

    Raises:
        RecipeError: there is no adapter.
    """
    adapter = _adapter(run)
    parts = [
        tensor
        for one in adapter.factors.values()
        for tensor in (one.a, one.b, one.magnitude)
        if tensor is not None
    ]
    return sum(tensor.numel() for tensor in (*parts, *adapter.others.values()))


def layer_displacements(run: str | Path, base: Any, layers: str, count: int) -> list[float]:
    """Return each layer's relative displacement.

    Args:
        run: the directory of a finished run, or an adapter's folder.
        base: the model that it trained, without an adapter.
        layers: path of the model's list of layers.
        count: how many there are.

    Raises:
        RecipeError: the run has no adapter, or one of another model.
    """
    from reasonenv.dynamics.weights.analysis import update_of
    from reasonenv.dynamics.weights.displacement import pooled_displacement
    from reasonenv.dynamics.weights.updates import frobenius

    weights = dict(base.named_parameters())
    moved: list[list[float]] = [[] for _ in range(count)]
    before: list[list[float]] = [[] for _ in range(count)]
    for name, factors in sorted(_adapter(run).factors.items()):
        weight = weights.get(name)
        shape = (factors.b.shape[0], factors.a.shape[1])
        if weight is None or set(shape) != set(weight.shape):
            raise RecipeError(
                f"{run}: its adapter belongs to another model: {name.removesuffix('.weight')} is "
                + ("not there" if weight is None else f"{tuple(weight.shape)} here")
            )
        layer = re.match(rf"{re.escape(layers)}\.(\d+)\.", name)
        if layer is None or int(layer[1]) >= count:
            continue
        out_by_in = weight.detach() if tuple(weight.shape) == shape else weight.detach().T
        moved[int(layer[1])].append(update_of(factors, out_by_in).squared_norm().sqrt().item())
        before[int(layer[1])].append(frobenius(weight).item())
    return [pooled_displacement(*norms) for norms in zip(moved, before, strict=True)]


def _adapter(run: str | Path) -> Adapter:
    from reasonenv.dynamics.weights.adapters import Adapter

    folder = Path(run).expanduser()
    inner = folder / "adapter"
    try:
        return Adapter.read(inner if inner.is_dir() else folder)
    except ModelError as error:
        why = "there is no such folder"
        if folder.is_dir():
            why = f"it holds no adapter (it trained all weights, or has not finished): {error}"
        raise RecipeError(
            f"{run}: {why}; give the directory of a finished run with LoRA"
        ) from error
