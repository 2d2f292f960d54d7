"""The few nouns that flow through everything.

* `Problem`: what is asked, and the gold that only judges see.
* `Rollout`: one completion of one problem, as it left the sampler.
* `Verdict`: what a judge says about a completion; `Status` and `Cost` are its parts.
* `Judged`: a rollout with its verdict; a `Group` is the rollouts of one draw of one problem.

All are frozen, picklable plain data. They know no env, no reward and no torch.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

__all__ = [
    "Cost",
    "FrozenDict",
    "Group",
    "Judged",
    "Message",
    "Problem",
    "Prompt",
    "Rollout",
    "Status",
    "Verdict",
]


class FrozenDict(Mapping[str, Any]):
    """A read-only mapping that pickles (which `types.MappingProxyType` does not)."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, Any] | None = None) -> None:
        self._items = {str(key): freeze(value) for key, value in dict(items or {}).items()}

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return repr(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items))  # of the keys: 1 and 1.0 are equal, their texts not

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (self._items,)


def freeze(value: Any) -> Any:
    """Return `value` with every mapping, list and set in it made read-only."""
    if isinstance(value, FrozenDict):
        return value
    if isinstance(value, Mapping):
        return FrozenDict(value)
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    if isinstance(value, set):
        return frozenset(value)
    return value


def thaw(value: Any) -> Any:
    """Return `value` as plain JSON-able data: dicts and lists, the inverse of `freeze`."""
    if isinstance(value, Mapping):
        return {str(key): thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return value


def canonical_json(value: Any) -> str:
    """Return the one JSON text of `value`: keys sorted, no spaces, other objects by `repr`.

    Raises:
        ValueError: an object whose `repr` is an address, so another text in another process.
    """
    # What is frozen holds no other mappings, and their keys are texts: nothing to copy.
    plain = value._items if isinstance(value, FrozenDict) else thaw(value)
    return json.dumps(
        plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain
    )


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def _plain(value: Any) -> Any:
    """Return an object that JSON does not know as one that it does, the same in any process."""
    if isinstance(value, FrozenDict):
        return value._items
    if isinstance(value, set | frozenset):
        return sorted((thaw(item) for item in value), key=canonical_json)
    if hasattr(value, "tolist"):  # numpy's arrays and scalars: their repr leaves items out
        return value.tolist()
    text = repr(value)
    if _ADDRESS.search(text):
        raise ValueError(
            f"{text[:200]} has no content of its own to tell it by; use plain data, a dataclass, "
            "or an object with a __repr__ (for a Problem: or give it an id=)"
        )
    return text


def content_hash(value: Any) -> str:
    """Return 16 hex digits that depend on the content of `value` alone, on every machine."""
    text = canonical_json(value).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:16]


Message: TypeAlias = Mapping[str, str]
"""One chat message: `{"role": "user", "content": "..."}`."""

Prompt: TypeAlias = str | tuple[Message, ...]
"""A question as plain text, or as chat messages."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is asked of a policy, and the gold that only its judge sees.

    Args:
        prompt: the question, as text or as chat messages, without any instruction on format.
        answer: the gold: an expression, an option letter, or tests; the judge knows which.
        metadata: options, entry point, level, source ...; deep-frozen.
        id: a hash of the other three unless given, so that the same problem has the same id on
            every machine, in every run.

    Raises:
        ValueError: no id, and a content that cannot be told from another's (a function, say).

    >>> Problem("2+2=", "4").id == Problem("2+2=", "4").id
    True
    """

    prompt: Prompt
    answer: Any
    metadata: Mapping[str, Any] = field(default_factory=FrozenDict)
    id: str = ""

    def __post_init__(self) -> None:
        for name in ("prompt", "answer", "metadata"):
            object.__setattr__(self, name, freeze(getattr(self, name)))
        if not self.id:
            content = [self.prompt, self.answer, self.metadata]
            object.__setattr__(self, "id", content_hash(content))

    def __hash__(self) -> int:
        return hash(self.id)


class Status(StrEnum):
    """How the judging of one completion ended.

    The first four are evidence about the policy. The last three say that the *checker* failed:
    they carry no reward, and the member leaves its group's statistics and the loss.
    """

    CORRECT = "correct"
    INCORRECT = "incorrect"
    NO_ANSWER = "no_answer"
    MALFORMED = "malformed"
    CHECKER_ERROR = "checker_error"
    CHECKER_TIMEOUT = "checker_timeout"
    SANDBOX_UNAVAILABLE = "sandbox_unavailable"

    @property
    def is_evidence(self) -> bool:
        """Whether this status says something about the policy."""
        return self in _EVIDENCE


_EVIDENCE = frozenset({Status.CORRECT, Status.INCORRECT, Status.NO_ANSWER, Status.MALFORMED})


@dataclass(frozen=True, slots=True)
class Cost:
    """What a verdict cost: wall seconds, CPU seconds, peak memory in bytes (None: not measured)."""

    seconds: float = 0.0
    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says about one completion.

    Args:
        status: how judging ended.
        score: in [0, 1]; 1.0 exactly when `status` is CORRECT; the share of tests passed for code.
            Evidence for terms that pay for partial success, never the task's outcome.
        answer: what was extracted from the completion, None where nothing was.
        detail: how the verdict was reached: plain, JSON-able, the same at every call.
        cost: excluded from comparison, since no two runs take the same time.

    Raises:
        ValueError: no status, a score outside [0, 1], or one that contradicts the status.
    """

    status: Status
    score: float = 0.0
    answer: str | None = None
    detail: Mapping[str, Any] = field(default_factory=FrozenDict)
    cost: Cost = field(default=Cost(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "detail", freeze(self.detail))
        object.__setattr__(self, "status", Status(self.status))
        if not 0.0 <= self.score <= 1.0:
            raise ValueError(f"a verdict's score lies in [0, 1], got {self.score!r}")
        if (self.status is Status.CORRECT) != (self.score == 1.0):
            raise ValueError(
                f"a score of 1.0 and CORRECT go together, got {self.status} and {self.score}"
            )

    @property
    def correct(self) -> bool | None:
        """True or False where the verdict is evidence, None where the checker failed."""
        return self.status is Status.CORRECT if self.status.is_evidence else None


@dataclass(frozen=True, slots=True)
class Rollout:
    """One completion of one problem, as it left the sampler.

    Args:
        problem: what was asked.
        completion: the policy's text, decoded from its tokens: only padding and the end token
            are removed, since tags may be special tokens.
        group_id: which draw of the problem this belongs to; the rollouts of one draw share it.
        prefill: what the generation prompt already opened (R1-style templates open `<think>`).
        n_tokens: the completion's length in tokens; None where no tokenizer was involved.
        truncated: whether the completion was cut off at the length limit.
        turns: the earlier (completion, feedback) exchanges of a multi-turn episode.
        step: the trainer's global step at which it was sampled, 0 outside training.
    """

    problem: Problem
    completion: str
    group_id: str = ""
    prefill: str = ""
    n_tokens: int | None = None
    truncated: bool = False
    turns: tuple[tuple[str, str], ...] = ()
    step: int = 0

    @property
    def text(self) -> str:
        """What judges and reward terms read: the prefill followed by the completion."""
        return self.prefill + self.completion


@dataclass(frozen=True, slots=True)
class Judged:
    """A rollout with its verdict: what rewards, storage, audits and evaluation take."""

    rollout: Rollout
    verdict: Verdict


Group: TypeAlias = Sequence[Judged]
"""The rollouts of one draw of one problem: `group_id`, not the problem's id, says which."""
