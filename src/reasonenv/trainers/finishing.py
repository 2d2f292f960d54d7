"""Which rows of a transformers batch are finished while others are still generated.

`model.generate` returns all rows at once, but asks its stopping criteria after every token: one of
ours looks at the batch now and then, stops nothing, and tells what it sees.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from transformers import StoppingCriteria, StoppingCriteriaList

__all__ = ["Finished", "finished_rows"]

Finished = Callable[[Sequence[int], Sequence[int]], None]
"""Takes the token ids of a prompt and of a finished completion, its end token included."""

_EVERY = 16  # tokens between two looks: each waits for the device


@contextlib.contextmanager
def finished_rows(
    model: Any, prompts: Sequence[Sequence[int]], end_ids: Sequence[int], tell: Finished
) -> Iterator[None]:
    """Tell of the rows that end early in the call of `model.generate` inside this block.

    Args:
        model: generates.
        prompts: token ids of each row's prompt, in the batch's order.
        end_ids: token ids that end a completion.
        tell: called once for each row that ended before the last look.
    """
    watch = StoppingCriteriaList([_Watch(prompts, end_ids, tell)])
    before = vars(model).get("generate")  # the model's own, over that of its class
    model.generate = partial(model.generate, stopping_criteria=watch)
    try:
        yield
    finally:
        if before is None:
            del model.generate
        else:
            model.generate = before


class _Watch(StoppingCriteria):
    def __init__(
        self, prompts: Sequence[Sequence[int]], end_ids: Sequence[int], tell: Finished
    ) -> None:
        self.prompts, self.end_ids, self.tell = prompts, end_ids, tell
        self.width = self.seen = 0
        self.going = self.none_stops = self.ends = torch.empty(0)

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        length = input_ids.shape[1]
        if not self.width:
            self.width = self.seen = length - 1  # of the padded prompts: one token was written
            self.ends = torch.tensor(self.end_ids, device=input_ids.device)
            self.none_stops = torch.zeros_like(input_ids[:, 0], dtype=torch.bool)
            self.going = ~self.none_stops
        if length - self.seen >= _EVERY:
            self._look(input_ids)
            self.seen = length
        return self.none_stops

    def _look(self, input_ids: torch.Tensor) -> None:
        ended = torch.isin(input_ids[:, self.seen :], self.ends).any(dim=1) & self.going
        self.going &= ~ended
        ends = set(self.end_ids)
        for row in ended.nonzero()[:, 0].tolist():
            ids = input_ids[row, self.width :].tolist()
            end = next(i for i, token in enumerate(ids) if token in ends)
            self.tell(self.prompts[row], ids[: end + 1])
