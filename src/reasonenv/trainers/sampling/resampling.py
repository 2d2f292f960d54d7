"""`Chosen`: the groups that a step trains on, where groups of one outcome were sampled anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    from reasonenv.trainers.storage import Row

__all__ = ["Chosen"]

_LEFT = ("prompt_ids", "prompt_mask")  # padded on the left; the other sequences on the right
_FILL = {"tool_mask": 1}  # what padding holds where it is not 0 (or the padding token's id)


class Chosen:
    """One group for each place of a rank's batch, each from the call that sampled it.

    Args:
        output: of `GRPOTrainer._generate_and_score_completions`.
        rows: its rollouts.
        size: G.
    """

    def __init__(self, output: dict[str, Any], rows: Sequence[Row], size: int) -> None:
        self.size = size
        self._groups = [
            (output, place, list(rows[place * size : (place + 1) * size]))
            for place in range(len(rows) // size)
        ]
        self.spare: list[Row] = []
        """Rollouts that the loss does not see."""

    @property
    def rows(self) -> list[Row]:
        """The rollouts of the chosen groups, in their places."""
        return [row for _, _, rows in self._groups for row in rows]

    def is_mixed(self, place: int) -> bool:
        """Return whether the group there holds a right and a wrong answer."""
        return _is_mixed(self._groups[place][2])

    def offer(
        self, output: dict[str, Any], rows: Sequence[Row], places: Sequence[int], wanted: list[int]
    ) -> None:
        """Take newly sampled groups where they are mixed and wanted.

        Args:
            output: of the call that sampled them.
            rows: its rollouts.
            places: the place that each of its groups is for.
            wanted: the places that want one.
        """
        for i, place in enumerate(places):
            group = list(rows[i * self.size : (i + 1) * self.size])
            if place in wanted and _is_mixed(group):
                self.spare += self._groups[place][2]
                self._groups[place] = output, i, group
            else:
                self.spare += group

    def batch(self, pad_id: int) -> dict[str, Any]:
        """Return the chosen groups as one batch, padded to the longest of them."""
        parts = [
            _slice(output, slice(i * self.size, (i + 1) * self.size))
            for output, i, _ in self._groups
        ]
        return {key: _join([part[key] for part in parts], key, pad_id) for key in parts[0]}


def _is_mixed(rows: Sequence[Row]) -> bool:
    return len({row["solved"] for row in rows if row["solved"] is not None}) == 2


def _slice(output: dict[str, Any], rows: slice) -> dict[str, Any]:
    return {
        key: value[rows]
        for key, value in output.items()
        if getattr(value, "ndim", 0)  # what counts the whole batch is counted anew
    }


def _join(tensors: Sequence[Tensor], key: str, pad_id: int) -> Tensor:
    import torch
    from torch.nn.functional import pad

    if tensors[0].ndim == 1:
        return torch.cat(list(tensors))
    width = max(tensor.size(1) for tensor in tensors)
    value = pad_id if key.endswith("_ids") else _FILL.get(key, 0)
    return torch.cat(
        [
            pad(t, (width - t.size(1), 0) if key in _LEFT else (0, width - t.size(1)), value=value)
            for t in tensors
        ]
    )
