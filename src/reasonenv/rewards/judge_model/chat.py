"""One request to an OpenAI-compatible chat endpoint: deadline, retries, and what failed."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reasonenv.errors import RewardError

__all__ = ["ChatEndpoint", "NoReply", "Reply"]

MAX_REPLY_BYTES = 1 << 20
MAX_WAIT_S = 60.0
"""The longest wait before a retry, whatever the server asks for."""

_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_REFUSED = frozenset({401, 402, 403, 404, 405})  # the same for every completion: somebody's mistake


class NoReply(Exception):
    """Raised when a request got no usable reply.

    Attributes:
        reason: a word for counting: "timeout", "connection", "http_429", "garbage", "budget".
        wait: seconds that the server asks to wait, 0 where it does not say.
        final: whether asking again is of no use.
    """

    def __init__(self, reason: str, message: str, *, wait: float = 0.0, final: bool = False):
        super().__init__(message)
        self.reason, self.wait, self.final = reason, wait, final


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said, and the tokens of prompt and reply together."""

    text: str
    tokens: int


@dataclass(frozen=True)
class ChatEndpoint:
    """An endpoint `URL/chat/completions`, and how patiently it is asked.

    Args:
        url: the base, such as `http://127.0.0.1:8000/v1`.
        model: its name there.
        api_key_env: the environment variable that holds the key; without it none is sent.
        temperature: of the judge's sampling.
        max_reply_tokens: the longest reply.
        timeout_s: for one request, from connecting to the last byte.
        retries: further requests after one that failed for a while (429, 5xx, no connection,
            time-out, a reply that is none).
        backoff_s: the wait before the first retry; it doubles with each one, up to `MAX_WAIT_S`,
            and is drawn from its upper half so that clients do not retry in step.
    """

    url: str
    model: str
    api_key_env: str
    temperature: float
    max_reply_tokens: int
    timeout_s: float
    retries: int
    backoff_s: float

    def ask(
        self,
        messages: list[dict[str, str]],
        usable: Callable[[str], bool],
        before_call: Callable[[], None],
        after_call: Callable[[int], None],
    ) -> Reply:
        """Return the model's reply.

        Args:
            messages: the chat.
            usable: whether a reply's text will do; one that will not is asked for again.
            before_call: called before each request; it may raise NoReply.
            after_call: called with the tokens of each reply.

        Raises:
            NoReply: every try failed.
            RewardError: the server refuses the request as such (401, 404 ...): key, URL or model.
        """
        for attempt in range(self.retries + 1):
            before_call()
            try:
                reply = self._once(messages)
                after_call(reply.tokens)
                if usable(reply.text):
                    return reply
                raise NoReply("garbage", f"no score in the judge's reply {reply.text[:200]!r}")
            except NoReply as failure:
                if failure.final or attempt == self.retries:
                    raise
                wait = min(self.backoff_s * 2**attempt, MAX_WAIT_S) * random.uniform(0.5, 1.0)
                time.sleep(max(wait, min(failure.wait, MAX_WAIT_S)))
        raise AssertionError("the last try returns or raises")

    def _once(self, messages: list[dict[str, str]]) -> Reply:
        from http.client import HTTPException
        from urllib.error import HTTPError, URLError
        from urllib.request import Request, urlopen

        body = {
            "model": self.model,
            "messages": messages,
            "temperature": self.temperature,
            "max_tokens": self.max_reply_tokens,
        }
        headers = {"Content-Type": "application/json"}
        key = os.environ.get(self.api_key_env) if self.api_key_env else None
        if key:
            headers["Authorization"] = f"Bearer {key}"
        url = f"{self.url.rstrip('/')}/chat/completions"
        request = Request(url, json.dumps(body).encode(), headers, method="POST")
        deadline = time.monotonic() + self.timeout_s
        try:
            with urlopen(request, timeout=self.timeout_s) as response:
                data = _read(response, deadline)
        except HTTPError as error:
            raise self._failed(error) from error
        except TimeoutError as error:
            raise NoReply("timeout", f"{url}: no reply in {self.timeout_s:g} s") from error
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise NoReply("timeout", f"{url}: no reply in {self.timeout_s:g} s") from error
            raise NoReply("connection", f"{url}: {error.reason}") from error
        except (OSError, HTTPException) as error:
            raise NoReply("connection", f"{url}: {type(error).__name__}: {error}") from error
        return _reply(data, messages)

    def _failed(self, error: Any) -> NoReply:
        said = error.read(500).decode("utf-8", "replace") if error.fp else ""
        message = f"{error.url}: HTTP {error.code} {said!r:.300}"
        if error.code in _REFUSED:
            raise RewardError(
                f"the judge model refuses every request: {message}; mend url, model, or the key "
                f"in the environment variable {self.api_key_env!r}"
            ) from error
        wait = _seconds(error.headers.get("Retry-After"))
        final = error.code not in _RETRIED
        return NoReply(f"http_{error.code}", message, wait=wait, final=final)


def _read(response: Any, deadline: float) -> bytes:
    """Read a response; a server that drips bytes does not outlive the deadline."""
    data = b""
    while chunk := response.read1(1 << 16):
        data += chunk
        if time.monotonic() > deadline:
            raise TimeoutError
        if len(data) > MAX_REPLY_BYTES:
            raise NoReply("garbage", f"a reply of more than {MAX_REPLY_BYTES} bytes")
    return data


def _reply(data: bytes, messages: list[dict[str, str]]) -> Reply:
    try:
        content = json.loads(data)
        text = content["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise NoReply("garbage", f"no chat completion: {data[:200]!r}") from error
    if not isinstance(text, str):
        raise NoReply("garbage", f"no text in the chat completion: {data[:200]!r}")
    usage = content.get("usage")
    tokens = usage.get("total_tokens") if isinstance(usage, dict) else None
    if not isinstance(tokens, int) or tokens < 0:  # the server does not count: four letters each
        tokens = (sum(len(message["content"]) for message in messages) + len(text)) // 4
    return Reply(text, tokens)


def _seconds(header: str | None) -> float:
    try:
        return max(0.0, float(header or 0))
    except ValueError:  # a date: the own backoff will do
        return 0.0
