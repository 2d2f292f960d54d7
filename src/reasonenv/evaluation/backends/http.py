"""One JSON request at a time, repeated with growing pauses while there is hope."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from reasonenv.errors import BackendError
from reasonenv.extras import need

__all__ = ["Client"]

T = TypeVar("T")

_AGAIN = {408, 409, 425, 429, 500, 502, 503, 504, 529}  # turned away or lost: worth another try
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0  # seconds
_LONGEST_ASKED = 300.0  # ... that a server may ask for by Retry-After
_CONNECT = 10.0  # seconds to wait for a connection


class _Lost(Exception):
    """Raised when a request may be repeated; `pause` is what the server asked for, in seconds."""

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.pause = pause


class Client:
    """Sends JSON to one server and reads JSON; safe to use from several threads.

    Args:
        url: what the paths of requests follow.
        api_key: sent as a bearer token; never part of a message.
        retries: how often a request is repeated.
        timeout: seconds to wait for an answer.
    """

    def __init__(self, url: str, *, api_key: str | None, retries: int, timeout: float) -> None:
        if not url.startswith(("http://", "https://")):
            raise BackendError(f"{url!r}: a server's address starts with http:// or https://")
        self._requests = need("requests", extra="eval", by="evaluation on a server")
        self.url = url.rstrip("/")
        self._retries, self._timeout = retries, timeout
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._local = threading.local()  # a session is no thread's but its own

    def get(self, path: str) -> Any:
        """Return the JSON at `path`, asked for twice at most: a first question must not take long.

        Raises:
            BackendError: see `post`.
        """
        return self._repeat("GET", path, None, lambda answer: answer, retries=1)

    def post(self, path: str, body: Any, read: Callable[[Any], T]) -> T:
        """Return what `read` makes of the server's answer.

        Raises:
            BackendError: the server cannot be reached, refuses the request, or keeps turning it
                away, losing it, or answering what `read` cannot use.
        """
        return self._repeat("POST", path, body, read, self._retries)

    def _repeat(
        self, method: str, path: str, body: Any, read: Callable[[Any], T], retries: int
    ) -> T:
        pause = _FIRST_PAUSE
        for attempt in range(retries + 1):
            try:
                return self._once(method, path, body, read)
            except _Lost as lost:
                if attempt == retries:
                    times = f" ({attempt + 1} times)" if attempt else ""
                    raise BackendError(f"{self.url}/{path}: {lost}{times}") from lost
                # Half of the pause at random: threads turned away together do not return together.
                wait = lost.pause if lost.pause is not None else pause * (0.5 + random.random() / 2)
                time.sleep(min(wait, _LONGEST_PAUSE if lost.pause is None else _LONGEST_ASKED))
                pause = min(2 * pause, _LONGEST_PAUSE)
        raise AssertionError("unreachable")

    def _once(self, method: str, path: str, body: Any, read: Callable[[Any], T]) -> T:
        errors = self._requests.exceptions
        try:
            answer = self._session().request(
                method,
                f"{self.url}/{path}",
                json=body,
                headers=self._headers,
                timeout=(_CONNECT, self._timeout),
            )
        except (errors.ConnectionError, errors.Timeout, errors.ChunkedEncodingError) as error:
            raise _Lost(f"cannot be reached ({_reason(error)}); is the server up?") from error
        except errors.RequestException as error:
            raise BackendError(f"{self.url}: {error}") from error
        said = " ".join(answer.text.split())[:200]
        if answer.status_code in _AGAIN:
            after = answer.headers.get("Retry-After", "")
            pause = float(after) if after.replace(".", "", 1).isdigit() else None
            raise _Lost(f"answers {answer.status_code}: {said!r}", pause)
        if answer.status_code != 200:
            hint = " (is the API key right?)" if answer.status_code in (401, 403) else ""
            raise BackendError(
                f"{self.url}/{path}: refuses with {answer.status_code}: {said}{hint}"
            )
        try:
            return read(answer.json())
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise _Lost(f"answers what is no completion: {said!r}") from error

    def _session(self) -> Any:
        if not hasattr(self._local, "session"):
            self._local.session = self._requests.Session()
        return self._local.session


def _reason(error: BaseException) -> str:
    """Return the innermost reason of a chain of library errors, in one line."""
    reason: Any = error
    for _ in range(6):
        inner = getattr(reason, "reason", None) or (reason.args[0] if reason.args else None)
        if not isinstance(inner, BaseException):
            break
        reason = inner
    return " ".join(str(reason).split())[-160:]
