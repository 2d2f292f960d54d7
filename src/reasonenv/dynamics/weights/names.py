"""What a tensor's name says: the layer, the module, and which base weight an adapter sits on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Place", "base_name", "short_modules"]

_WRAPPERS = ("base_model.model.", "_fsdp_wrapped_module.", "_orig_mod.", "module.")


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where in the network a tensor is.

    Attributes:
        layer: counted from 0 at the input; None for embeddings, the head and the last norm.
        module: the path below the layer, without numbers: `self_attn.q_proj`.
    """

    layer: int | None
    module: str

    @classmethod
    def of(cls, name: str) -> Place:
        """Return the place of the tensor called `name`.

        >>> Place.of("model.layers.3.self_attn.q_proj.weight")
        Place(layer=3, module='self_attn.q_proj')
        >>> Place.of("lm_head.weight")
        Place(layer=None, module='lm_head')
        """
        parts = base_name(name).removesuffix(".weight").split(".")
        at = next((i for i, part in enumerate(parts) if part.isdigit()), None)
        if at is None:
            return cls(None, parts[-1])
        inner = [part for part in parts[at + 1 :] if not part.isdigit()]
        return cls(int(parts[at]), ".".join(inner) or parts[at - 1])


def base_name(name: str) -> str:
    """Return the name that a tensor has in the bare model, without wrappers.

    >>> base_name("base_model.model.model.layers.0.mlp.up_proj.base_layer.weight")
    'model.layers.0.mlp.up_proj.weight'
    """
    previous = None
    while previous != name:
        previous = name
        for wrapper in _WRAPPERS:
            name = name.removeprefix(wrapper)
    for wrapper in ("_fsdp_wrapped_module.", "_orig_mod.", "base_layer."):
        name = name.replace(wrapper, "")
    return name.replace(".modules_to_save.default.", ".").replace(".original_module.", ".")


def short_modules(modules: Iterable[str]) -> dict[str, str]:
    """Return for each module its last part, or the whole path where that would be ambiguous.

    >>> short_modules(["self_attn.q_proj", "attn.c_proj", "mlp.c_proj"])
    {'self_attn.q_proj': 'q_proj', 'attn.c_proj': 'attn.c_proj', 'mlp.c_proj': 'mlp.c_proj'}
    """
    distinct = list(dict.fromkeys(modules))
    last = [module.rpartition(".")[2] for module in distinct]
    return {
        module: short if last.count(short) == 1 else module
        for module, short in zip(distinct, last, strict=True)
    }
