"""What a judge model may cost in one process, and what it has cost."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from reasonenv.rewards.judge_model.chat import NoReply

__all__ = ["Budget", "JudgeUsage"]


@dataclass(frozen=True, slots=True)
class JudgeUsage:
    """What a judge model has cost in this process.

    Attributes:
        calls: requests sent, retries among them.
        tokens: of prompts and replies, as the server counts them.
        cached: grades that were read from disk.
        failures: completions that got no score, by the reason: "timeout", "http_429", "garbage",
            "budget" ...
    """

    calls: int
    tokens: int
    cached: int
    failures: Mapping[str, int]


@dataclass
class Budget:
    """Counts calls and tokens, and refuses a call that would go over; safe in threads."""

    max_calls: int | None = None
    max_tokens: int | None = None
    calls: int = 0
    tokens: int = 0
    cached: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take_call(self) -> None:
        """Count a call that is about to be sent.

        Raises:
            NoReply: calls or tokens are spent. Calls that are on their way may still overrun the
                tokens, by what they use.
        """
        with self._lock:
            over_calls = self.max_calls is not None and self.calls >= self.max_calls
            if over_calls or (self.max_tokens is not None and self.tokens >= self.max_tokens):
                raise NoReply("budget", "the judge's budget is spent", final=True)
            self.calls += 1

    def count(self, *, tokens: int = 0, cached: int = 0, failure: str | None = None) -> None:
        """Add to what was used."""
        with self._lock:
            self.tokens += tokens
            self.cached += cached
            if failure is not None:
                self.failures[failure] += 1

    def usage(self) -> JudgeUsage:
        """Return what was used so far."""
        with self._lock:
            return JudgeUsage(self.calls, self.tokens, self.cached, dict(self.failures))
