"""`Sampling`: how completions are drawn; all of it explicit, nothing taken from a model's files."""

from __future__ import annotations

from dataclasses import dataclass

from reasonenv.errors import EvaluationError
from reasonenv.types import content_hash

__all__ = ["Sampling", "seed_of"]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How completions are drawn.

    A model's own `generation_config.json` may hold another temperature, a top-k or a repetition
    penalty; none of it is used, so that what a result states is what was done.

    Args:
        n: completions of each problem.
        temperature: 0 decodes greedily, which allows n = 1 only.
        top_p: nucleus; 1 keeps all tokens.
        top_k: most likely tokens kept; 0 keeps all.
        max_tokens: the length limit of a completion.
        seed: the same seed draws the same completions on the same machine.

    Raises:
        EvaluationError: a value out of range, or n > 1 without any randomness.
    """

    n: int = 1
    temperature: float = 0.8
    top_p: float = 1.0
    top_k: int = 0
    max_tokens: int = 512
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value, valid, is_valid in (
            ("n", self.n, "at least 1", self.n >= 1),
            ("temperature", self.temperature, "at least 0", self.temperature >= 0),
            ("top_p", self.top_p, "above 0 and at most 1", 0 < self.top_p <= 1),
            ("top_k", self.top_k, "at least 0 (0: no limit)", self.top_k >= 0),
            ("max_tokens", self.max_tokens, "at least 1", self.max_tokens >= 1),
            ("seed", self.seed, "at least 0", self.seed >= 0),
        ):
            if not is_valid:
                raise EvaluationError(f"{name}={value}: it is {valid}")
        if self.temperature == 0 and self.n > 1:
            raise EvaluationError(
                f"temperature=0 gives {self.n} equal completions of each problem, so pass@k and "
                "maj@k would say nothing: take n=1, or a temperature such as 0.8"
            )

    def __str__(self) -> str:
        how = "greedy" if self.temperature == 0 else f"temperature {self.temperature:g}"
        nucleus = f", top-p {self.top_p:g}" if self.top_p < 1 else ""
        top_k = f", top-k {self.top_k}" if self.top_k else ""
        return (
            f"{self.n} a problem, {how}{nucleus}{top_k}, at most {self.max_tokens} tokens, "
            f"seed {self.seed}"
        )


def seed_of(*parts: object) -> int:
    """Return a seed of 31 bits that depends on `parts` alone."""
    return int(content_hash(list(parts))[:8], 16) >> 1
