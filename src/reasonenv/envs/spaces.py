"""Spaces of text: any Unicode string, or a list of chat messages.

Gymnasium's own `Text` space holds only strings over a fixed alphabet, so no LaTeX and no newline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Space

__all__ = ["MessagesSpace", "UnicodeText"]

_SAMPLE_ALPHABET = "abcdefgh ABC 0123456789 +-*/=<>\\{}$\n.,é漢"
_SAMPLE_LENGTH = 24


class UnicodeText(Space[str]):
    r"""Every Unicode string of any length, the empty one included; samples are short.

    >>> "\\frac{1}{2}\n" in UnicodeText()
    True
    """

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """False: text has no fixed-size array."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a random string of up to 24 characters."""
        length = int(self.np_random.integers(0, _SAMPLE_LENGTH + 1))
        return "".join(self.np_random.choice(list(_SAMPLE_ALPHABET), size=length))

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a string."""
        return isinstance(x, str)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnicodeText)

    def __hash__(self) -> int:
        return hash(UnicodeText)

    def __repr__(self) -> str:
        return "UnicodeText()"


class MessagesSpace(Space[tuple[Mapping[str, str], ...]]):
    """Every sequence of chat messages, each with a role and a content."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)
        self._text = UnicodeText()

    @property
    def is_np_flattenable(self) -> bool:
        """False: messages have no fixed-size array."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> tuple[Mapping[str, str], ...]:
        """Return one user message with a random text."""
        self._text.seed(int(self.np_random.integers(2**31)))
        return ({"role": "user", "content": self._text.sample()},)

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a sequence of `{"role": str, "content": str}`."""
        return (
            isinstance(x, Sequence)
            and not isinstance(x, str)
            and all(
                isinstance(message, Mapping)
                and isinstance(message.get("role"), str)
                and isinstance(message.get("content"), str)
                for message in x
            )
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MessagesSpace)

    def __hash__(self) -> int:
        return hash(MessagesSpace)

    def __repr__(self) -> str:
        return "MessagesSpace()"
