"""Whole parameters where training has sharded them over ranks.

Gathering is collective: every rank calls it for the same parameters in the same order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from torch import Tensor

from reasonenv.errors import ModelError

__all__ = ["gathered", "whole"]


def whole(parameter: Tensor) -> Tensor:
    """Return a parameter in one piece; FSDP 2's DTensor is gathered."""
    gather = getattr(parameter, "full_tensor", None)
    if gather is None:
        return parameter
    full: Tensor = gather()
    return full


@contextlib.contextmanager
def gathered(model: Any, parameters: Sequence[Tensor]) -> Iterator[None]:
    """Hold these parameters whole inside the block, on every rank; they may not be changed.

    FSDP 1 summons its units' parameters, ZeRO-3 gathers its partitions, FSDP 2's are gathered one
    by one by `whole`; DDP and one process have whole parameters anyway.

    Raises:
        ModelError: they are sharded in a way that cannot be undone here.
    """
    with contextlib.ExitStack() as stack:
        if any(hasattr(parameter, "ds_id") for parameter in parameters):
            if find_spec("deepspeed") is None:
                raise ModelError(
                    "the weights are partitioned by ZeRO-3 and deepspeed cannot be imported here, "
                    "so they cannot be gathered: track with FSDP or ZeRO-2, or not at all"
                )
            import deepspeed  # type: ignore[import-not-found, unused-ignore]

            zero = deepspeed.zero
            stack.enter_context(zero.GatheredParameters(list(parameters), modifier_rank=None))
        else:
            from torch.distributed.fsdp import FullyShardedDataParallel

            units = [m for m in model.modules() if isinstance(m, FullyShardedDataParallel)]
            if units:
                stack.enter_context(
                    FullyShardedDataParallel.summon_full_params(
                        units[0], recurse=True, writeback=False
                    )
                )
        for parameter in parameters:
            if parameter.numel() == 0 and not hasattr(parameter, "full_tensor"):
                raise ModelError(
                    "a trained parameter is empty on this rank: it is sharded by something other "
                    "than FSDP or ZeRO-3, and cannot be gathered"
                )
        yield
