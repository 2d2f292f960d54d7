"""What samples completions: its one interface, and what goes in and comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from reasonenv.envs.core import ReasoningEnv
from reasonenv.evaluation.sampling import Sampling
from reasonenv.types import Problem

__all__ = ["Asked", "Backend", "Sample"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A problem's prompt, as the model gets it.

    Args:
        problem: what is asked.
        text: the prompt for people: the rendered text, or chat messages as JSON where a server
            renders them.
        content: what the back end sends: token ids, a text, or messages.
        prefill: what the generation prompt opened inside the answer ("<think>", say).
    """

    problem: Problem
    text: str
    content: Any
    prefill: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """One completion: its text, its length in tokens (None: not told), whether it was cut off."""

    text: str
    n_tokens: int | None = None
    truncated: bool = False


class Backend(Protocol):
    """Samples completions of prompts. Not thread-safe: one caller at a time."""

    name: str

    def ask(self, env: ReasoningEnv, problem: Problem) -> Asked:
        """Return a problem's prompt."""
        ...

    def sample(
        self, asked: Sequence[Asked], sampling: Sampling, seeds: Sequence[int]
    ) -> list[Sample]:
        """Return one completion of each prompt, in order.

        Args:
            asked: the prompts; the same one may stand several times.
            sampling: how to draw.
            seeds: one for each prompt; the same prompts and seeds give the same completions.

        Raises:
            BackendError: it failed for good; nothing of this batch was kept.
        """
        ...

    def facts(self) -> Mapping[str, Any]:
        """Return what a result should state about this back end: plain data."""
        ...

    def close(self) -> None:
        """Free what it holds."""
        ...
