"""`JudgeModel`: the term."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from reasonenv.errors import RewardError
from reasonenv.rewards.base import Range, RewardContext, Term
from reasonenv.rewards.checks import need_integer, need_number
from reasonenv.types import Group, Judged, Status

if TYPE_CHECKING:
    from reasonenv.rewards.judge_model.asking import Asker
    from reasonenv.rewards.judge_model.budget import JudgeUsage

__all__ = ["JudgeModel"]


@dataclass(frozen=True, repr=False)
class JudgeModel(Term):
    """The grade that a language model gives a completion, asked over HTTP.

    Formula: r = grade / best; 0 for a blank completion, which is not sent. Range: [0, 1]; with
    `only_solved` [0, 1] if right and {0} if wrong. Not potential-based. What it cannot see: what
    the judge cannot tell. Judges prefer long, confident and flattering answers, and a completion
    can talk to them; the completion stands between marks that it cannot forge, which helps and is
    no proof. Keep its weight below correctness, and look at what it pays for. Source: grading by
    a language model (arXiv 2306.05685).

    A judge that does not answer is no verdict: after all retries the member is *not scored* by the
    whole reward (NaN; it leaves its group's statistics and the loss). Budget spent, time-outs, 429
    and 5xx, and replies without a grade all end so, are counted in `usage()`, and warned of once
    each. A request that the server refuses as such (401, 403, 404) is a mistake of whoever set it
    up: it raises `RewardError`.

    The same completion of the same problem is asked about once; with `cache` also in later runs.
    Memory and budget belong to a process: several ranks have one each, and a resumed run begins
    anew (its cache does not). A gate around the term does not spare the calls; `only_solved` does.

    Args:
        url: the base of an OpenAI-compatible endpoint, such as `http://127.0.0.1:8000/v1`.
        model: the judge's name there.
        instruction: what the grade is for, in a sentence or two.
        best: the best grade that the judge may give; 0 is the worst.
        show_gold: whether the judge sees the gold answer.
        only_solved: ask about right answers only; wrong ones earn 0.
        cache: a folder for grades; None keeps them in memory only.
        max_calls: the most requests of this process, retries among them; None: no limit.
        max_tokens: the most tokens of prompts and replies; None: no limit.
        concurrency: the most requests at a time.
        timeout_s: for one request, from connecting to the last byte.
        retries: further requests after one that failed.
        backoff_s: the wait before the first of them; it doubles each time.
        temperature: of the judge's sampling.
        max_reply_tokens: the longest reply.
        max_chars: of a longer completion the middle is left out, and the judge is told so.
        api_key_env: the environment variable that holds the key; the key itself is in no formula.

    >>> judge = JudgeModel("http://127.0.0.1:8000/v1", "judge", only_solved=True)
    >>> judge.range(correct=False)
    Range(low=0.0, high=0.0)
    >>> judge.usage().calls
    0
    """

    url: str
    model: str
    instruction: str = "Grade how sound and how clear the reasoning is."
    best: float = 10
    show_gold: bool = False
    only_solved: bool = False
    cache: str | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    concurrency: int = 8
    timeout_s: float = 60.0
    retries: int = 4
    backoff_s: float = 1.0
    temperature: float = 0.0
    max_reply_tokens: int = 256
    max_chars: int = 20_000
    api_key_env: str = "OPENAI_API_KEY"
    can_fail: ClassVar[bool] = True
    reads: ClassVar[frozenset[str]] = frozenset({"verdict"})

    def __post_init__(self) -> None:
        if not isinstance(self.url, str) or not self.url.startswith(("http://", "https://")):
            raise RewardError(
                f"JudgeModel: url is http://... or https://... up to /v1, got {self.url!r}"
            )
        for name in ("model", "instruction"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name).strip():
                raise RewardError(f"JudgeModel: {name} is a text, got {getattr(self, name)!r}")
        for name in ("cache", "api_key_env"):
            if not isinstance(getattr(self, name), str | None):
                raise RewardError(f"JudgeModel: {name} is a text, got {getattr(self, name)!r}")
        for name in ("show_gold", "only_solved"):
            if not isinstance(getattr(self, name), bool):
                raise RewardError(
                    f"JudgeModel: {name} is True or False, got {getattr(self, name)!r}"
                )
        for name, least in (
            ("max_calls", 0),
            ("max_tokens", 0),
            ("concurrency", 1),
            ("retries", 0),
            ("max_reply_tokens", 1),
            ("max_chars", 2),
        ):
            value = getattr(self, name)
            if value is not None or not name.startswith("max_") or name == "max_chars":
                need_integer("JudgeModel", name, value, least=least)
        for name in ("best", "timeout_s"):
            need_number("JudgeModel", name, getattr(self, name), above=0)
        for name in ("backoff_s", "temperature"):
            need_number("JudgeModel", name, getattr(self, name), least=0)

    def prepare(self, judged: Sequence[Judged], context: RewardContext) -> None:
        """Ask about the members of several groups at once."""
        self._asker().prepare([one for one in judged if self._is_asked(one)])

    def unscored(self, group: Group, context: RewardContext) -> list[bool]:
        """Return where the judge gives no grade."""
        return [grade is None for grade in self._grades(group)]

    def measure(self, group: Group, context: RewardContext) -> list[float]:
        """Return each member's grade, which `unscored` has asked for."""
        return [float("nan") if grade is None else grade for grade in self._grades(group)]

    def _grades(self, group: Group) -> list[float | None]:
        asked = [i for i, judged in enumerate(group) if self._is_asked(judged)]
        grades: list[float | None] = [0.0] * len(group)
        if asked:
            found = self._asker().scores([group[i] for i in asked])
            for i, grade in zip(asked, found, strict=True):
                grades[i] = grade
        return grades

    def _is_asked(self, judged: Judged) -> bool:
        if self.only_solved and judged.verdict.status is not Status.CORRECT:
            return False
        return bool(judged.rollout.text.strip())

    def range(self, correct: bool) -> Range:
        """Return [0, 1]; {0} for a wrong answer with `only_solved`."""
        return Range(0.0, 0.0 if self.only_solved and not correct else 1.0)

    def usage(self) -> JudgeUsage:
        """Return what this judge has cost in this process."""
        return self._asker().usage()

    def _asker(self) -> Asker:
        from reasonenv.rewards.judge_model.asking import asker_of

        return asker_of(self)
