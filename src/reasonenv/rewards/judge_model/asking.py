"""Asks a judge model about many completions at once, and remembers what it said."""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from reasonenv.rewards.judge_model.budget import Budget, JudgeUsage
from reasonenv.rewards.judge_model.cache import ScoreCache
from reasonenv.rewards.judge_model.chat import ChatEndpoint, NoReply
from reasonenv.rewards.judge_model.grading import messages, score_in
from reasonenv.types import Judged, content_hash

if TYPE_CHECKING:
    from reasonenv.rewards.judge_model.term import JudgeModel

__all__ = ["Asker", "asker_of"]

MAX_REMEMBERED = 200_000
"""Scores kept in memory: some tens of megabytes."""


class Asker:
    """The living side of one `JudgeModel`: its memory, its cache and its budget."""

    def __init__(self, judge: JudgeModel) -> None:
        self.judge = judge
        self.endpoint = ChatEndpoint(
            judge.url,
            judge.model,
            judge.api_key_env,
            judge.temperature,
            judge.max_reply_tokens,
            judge.timeout_s,
            judge.retries,
            judge.backoff_s,
        )
        self.budget = Budget(judge.max_calls, judge.max_tokens)
        self.cache = ScoreCache(judge.cache) if judge.cache else None
        self._scores: OrderedDict[str, float] = OrderedDict()
        self._failed: dict[str, str] = {}  # since the last `prepare`: not asked a second time
        self._warned: set[str] = set()
        self._lock = threading.Lock()

    def prepare(self, judged: Sequence[Judged]) -> None:
        """Ask about all of these now, so that `scores` need not."""
        self._failed = {}
        self._failed = self._ask(self._chats(judged)[1])

    def scores(self, judged: Sequence[Judged]) -> list[float | None]:
        """Return the score of each, in [0, 1]; None where there is none to be had."""
        keys, chats = self._chats(judged)
        self._ask({key: chat for key, chat in chats.items() if key not in self._failed})
        return [self._known(key) for key in keys]

    def usage(self) -> JudgeUsage:
        """Return what was used so far."""
        return self.budget.usage()

    def _chat(self, judged: Judged) -> list[dict[str, str]]:
        judge = self.judge
        return messages(judged, judge.instruction, judge.best, judge.show_gold, judge.max_chars)

    def _chats(self, judged: Sequence[Judged]) -> tuple[list[str], dict[str, list[dict[str, str]]]]:
        """Return the key of each, and the chat of each key."""
        chats = [self._chat(one) for one in judged]
        keys = [self._key(chat) for chat in chats]
        return keys, dict(zip(keys, chats, strict=True))

    def _key(self, chat: list[dict[str, str]]) -> str:
        judge = self.judge
        return content_hash(
            [judge.url, judge.model, judge.temperature, judge.max_reply_tokens, judge.best, chat]
        )

    def _known(self, key: str) -> float | None:
        with self._lock:
            if key in self._scores:
                self._scores.move_to_end(key)
            return self._scores.get(key)

    def _remember(self, key: str, score: float) -> None:
        with self._lock:
            self._scores[key] = score
            while len(self._scores) > MAX_REMEMBERED:
                self._scores.popitem(last=False)

    def _ask(self, chats: dict[str, list[dict[str, str]]]) -> dict[str, str]:
        """Ask what is not known yet; return the reason of each that got no score."""
        left = {}
        for key, chat in chats.items():
            score = self._known(key)
            if score is None and self.cache is not None:
                score = self.cache.get(key)
                if score is not None:
                    self._remember(key, score)
                    self.budget.count(cached=1)
            if score is None:
                left[key] = chat
        if not left:
            return {}
        threads = min(self.judge.concurrency, len(left))
        with ThreadPoolExecutor(threads, thread_name_prefix="judge-model") as pool:
            reasons = list(pool.map(self._ask_one, left, left.values()))
        return {key: reason for key, reason in zip(left, reasons, strict=True) if reason}

    def _ask_one(self, key: str, chat: list[dict[str, str]]) -> str | None:
        """Ask about one completion; return why there is no score, None where there is one."""
        scale = self.judge.best
        try:
            reply = self.endpoint.ask(
                chat,
                usable=lambda text: score_in(text, scale) is not None,
                before_call=self.budget.take_call,
                after_call=lambda tokens: self.budget.count(tokens=tokens),
            )
        except NoReply as failure:
            self.budget.count(failure=failure.reason)
            self._warn_once(failure)
            return failure.reason
        score = score_in(reply.text, scale)
        assert score is not None
        self._remember(key, score)
        if self.cache is not None:
            self.cache.put(key, score, reply.text)
        return None

    def _warn_once(self, failure: NoReply) -> None:
        with self._lock:
            if failure.reason in self._warned:
                return
            self._warned.add(failure.reason)
        warnings.warn(
            f"the judge model gave no score ({failure.reason}): {failure}; such members are not "
            "scored, and are counted in JudgeModel.usage()",
            stacklevel=2,
        )


_ASKERS: dict[JudgeModel, Asker] = {}
_LOCK = threading.Lock()


def asker_of(judge: JudgeModel) -> Asker:
    """Return this process's asker of a judge: equal judges share memory and budget."""
    with _LOCK:
        if judge not in _ASKERS:
            _ASKERS[judge] = Asker(judge)
        return _ASKERS[judge]
