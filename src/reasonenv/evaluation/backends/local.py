"""Prompts as token ids and completions decoded from them, for models that run in this process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reasonenv.envs.core import ReasoningEnv
from reasonenv.evaluation.backends.base import Asked, Sample
from reasonenv.models.prompts import PromptFormat, decode
from reasonenv.types import Problem

__all__ = ["LocalPrompts"]


class LocalPrompts:
    """Writes prompts and reads completions with one tokenizer, as training does.

    Args:
        tokenizer: of the model.
        template: of `reasonenv.models.prompts.TEMPLATES`.
        chat_args: further arguments of the chat template.
        end_ids: ids that end a completion beside the tokenizer's own end token.
    """

    def __init__(
        self,
        tokenizer: Any,
        template: str = "chat",
        chat_args: Mapping[str, Any] | None = None,
        end_ids: Iterable[int] = (),
    ) -> None:
        self.tokenizer, self.template = tokenizer, template
        self.chat_args = dict(chat_args or {})
        own = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
        self.end_ids = frozenset([*own, *end_ids])
        self.pad_id: int = tokenizer.pad_token_id
        if self.pad_id is None:
            self.pad_id = min(self.end_ids, default=0)
        self._formats: dict[int, PromptFormat] = {}

    def ask(self, env: ReasoningEnv, problem: Problem) -> Asked:
        """Return the prompt: its text, and its token ids.

        Raises:
            NoChatTemplateError: a chat prompt is asked for, and the tokenizer has no template.
        """
        if id(env) not in self._formats:
            self._formats = {
                id(env): PromptFormat(env, self.tokenizer, self.template, self.chat_args)
            }
        written = self._formats[id(env)]
        text = written.text(problem)
        return Asked(problem, text, written.ids(text), written.prefill)

    def read(self, ids: Sequence[int]) -> Sample:
        """Return the completion that token ids spell, up to the first that ends it."""
        end = next((i + 1 for i, token in enumerate(ids) if token in self.end_ids), len(ids))
        kept = list(ids[:end])
        text, truncated = decode(self.tokenizer, kept, self.end_ids, None)
        return Sample(text, len(kept), truncated)
