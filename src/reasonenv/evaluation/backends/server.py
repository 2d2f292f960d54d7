"""`ServerBackend`: any server that speaks OpenAI's protocol (vLLM, SGLang, llama.cpp ...)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from reasonenv.envs.core import ReasoningEnv
from reasonenv.errors import BackendError, did_you_mean
from reasonenv.evaluation.backends.base import Asked, Sample
from reasonenv.evaluation.backends.http import Client
from reasonenv.evaluation.sampling import Sampling
from reasonenv.models.prompts import written_out
from reasonenv.types import Problem, canonical_json

__all__ = ["ServerBackend"]


class ServerBackend:
    """Asks a server, one request a completion, so many at once; each carries its own seed.

    The server renders chat messages by the model's template (`template="chat"`), or completes a
    plain text. Whether it honours the seed is its affair: vLLM does.

    Args:
        url: of the API, such as `http://localhost:8000/v1`.
        model: the name under which the server serves it.
        template: "chat" uses `/chat/completions`, the others `/completions`.
        api_key: sent as a bearer token; None sends none.
        concurrency: requests at once.
        retries: how often a request is repeated that was turned away or lost.
        timeout: seconds to wait for an answer.
        chat_args: further arguments of the chat template (vLLM's `chat_template_kwargs`).

    Raises:
        BackendError: the server cannot be reached, is none of this kind, or serves other models.
    """

    name = "server"

    def __init__(
        self,
        url: str,
        model: str,
        *,
        template: str = "chat",
        api_key: str | None = None,
        concurrency: int = 8,
        retries: int = 6,
        timeout: float = 600.0,
        chat_args: Mapping[str, Any] | None = None,
    ) -> None:
        if concurrency < 1:
            raise BackendError(f"concurrency={concurrency}: at least one request at once")
        self.model, self.template = model, template
        self.chat_args = dict(chat_args or {})
        self._client = Client(url, api_key=api_key, retries=retries, timeout=timeout)
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="ask")
        self._require_model()

    def _require_model(self) -> None:
        listed = self._client.get("models")
        try:
            served = [str(entry["id"]) for entry in listed["data"]]
        except (TypeError, KeyError) as error:
            raise BackendError(
                f"{self._client.url}: answers, but lists no models, so it is no server of OpenAI's "
                f"kind (got {listed!r:.200}); its address usually ends in /v1"
            ) from error
        if self.model not in served:
            hint = did_you_mean(self.model, served, otherwise="it serves")
            raise BackendError(f"{self._client.url} does not serve {self.model!r}; {hint}")

    def ask(self, env: ReasoningEnv, problem: Problem) -> Asked:
        """Return a problem's prompt: messages, or a plain text."""
        if self.template != "chat":
            text = written_out(env, problem, self.template)
            return Asked(problem, text, text)
        messages = [dict(message) for message in env.prompt_messages(problem)]
        return Asked(problem, canonical_json(messages), messages)

    def sample(
        self, asked: Sequence[Asked], sampling: Sampling, seeds: Sequence[int]
    ) -> list[Sample]:
        """Return one completion of each prompt; the first request that fails for good ends it."""
        waiting = [
            self._pool.submit(self._complete, one, sampling, seed)
            for one, seed in zip(asked, seeds, strict=True)
        ]
        try:
            return [future.result() for future in waiting]
        except BaseException:
            for future in waiting:
                future.cancel()
            raise

    def _complete(self, asked: Asked, sampling: Sampling, seed: int) -> Sample:
        body: dict[str, Any] = {
            "model": self.model,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "seed": seed,
        }
        if sampling.top_k:
            body["top_k"] = sampling.top_k  # not OpenAI's own; vLLM, SGLang and llama.cpp know it
        if self.template != "chat":
            return self._client.post("completions", {**body, "prompt": asked.content}, read_text)
        if self.chat_args:
            body["chat_template_kwargs"] = self.chat_args
        return self._client.post(
            "chat/completions", {**body, "messages": asked.content}, read_message
        )

    def facts(self) -> Mapping[str, Any]:
        """Return the server's address and the served model."""
        return {"server": self._client.url, "served": self.model, "template": self.template}

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def read_text(answer: Any) -> Sample:
    """Return the completion in an answer of `/completions`.

    Raises:
        KeyError, TypeError, IndexError: it holds none.
    """
    return _sample(answer, answer["choices"][0]["text"])


def read_message(answer: Any) -> Sample:
    """Return the completion in an answer of `/chat/completions`.

    Reasoning that the server took out of the text is put back in front of it, in think tags: the
    judge sees what the model wrote.

    Raises:
        KeyError, TypeError, IndexError: it holds none.
    """
    message = answer["choices"][0]["message"]
    text = message["content"] or ""
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(reasoning, str) and reasoning:
        text = f"<think>\n{reasoning}\n</think>\n{text}"
    return _sample(answer, text)


def _sample(answer: Any, text: Any) -> Sample:
    if not isinstance(text, str):
        raise TypeError(f"a completion is a text, got {type(text).__name__}")
    counted = (answer.get("usage") or {}).get("completion_tokens")
    cut_off = answer["choices"][0].get("finish_reason") == "length"
    return Sample(text, counted if isinstance(counted, int) else None, cut_off)
