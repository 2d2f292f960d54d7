"""Prompts as the model sees them, and completions decoded as the judge should see them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from reasonenv.envs.core import ReasoningEnv
from reasonenv.errors import NoChatTemplateError
from reasonenv.types import Problem

__all__ = ["TEMPLATES", "PromptFormat", "decode", "prefill_of", "written_out"]

TEMPLATES = ("chat", "plain", "raw")
"""How a prompt is written: by the model's chat template, as a text, as a text without an end."""


class PromptFormat:
    """Writes a problem's prompt for one tokenizer.

    Args:
        env: writes question and instruction.
        tokenizer: of the model.
        template: one of `TEMPLATES`.
        chat_args: further arguments of the chat template (`grpo.chat_template_kwargs`).

    Raises:
        NoChatTemplateError: "chat", and the tokenizer has no chat template.
    """

    def __init__(
        self,
        env: ReasoningEnv,
        tokenizer: Any,
        template: str = "chat",
        chat_args: Mapping[str, Any] | None = None,
    ) -> None:
        self.env, self.template = env, template
        self.tokenizer, self.chat_args = tokenizer, dict(chat_args or {})
        if template == "chat" and not getattr(tokenizer, "chat_template", None):
            raise NoChatTemplateError(
                f"{tokenizer.name_or_path}: the model's tokenizer has no chat template; set "
                "prompt.template to plain (--set prompt.template=plain), or give an instruct model"
            )
        self.prefill = prefill_of(tokenizer, chat_args or {}) if template == "chat" else ""

    def __call__(self, problem: Problem) -> str | list[dict[str, str]]:
        """Return the prompt as TRL takes it: a text, or a list of messages."""
        if self.template != "chat":
            return written_out(self.env, problem, self.template)
        return [dict(message) for message in self.env.prompt_messages(problem)]

    def text(self, problem: Problem) -> str:
        """Return the prompt as one text, with all that the chat template adds."""
        prompt = self(problem)
        if isinstance(prompt, str):
            return prompt
        text: str = self.tokenizer.apply_chat_template(
            prompt, tokenize=False, add_generation_prompt=True, **self.chat_args
        )
        return text

    def ids(self, text: str) -> list[int]:
        """Return the tokens of a prompt's text, those that a tokenizer sets before it included."""
        bare = self.template != "chat"  # a chat template writes them out itself
        return list(self.tokenizer(text, add_special_tokens=bare)["input_ids"])

    def feedback_text(self, feedback: str) -> str:
        """Return what stands between a completion and the next: feedback as the template has it.

        With a chat template: the end of the assistant's message, the user's with the feedback, and
        the next generation prompt.
        """
        if self.template != "chat":
            return f"\n{feedback}\n"
        mark = "reasonenv-mark"
        messages = [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": mark},
            {"role": "user", "content": feedback},
        ]
        text: str = self.tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True, **self.chat_args
        )
        return text.partition(mark)[2]

    def feedback_ids(self, feedback: str, end_ids: frozenset[int]) -> list[int]:
        """Return the tokens of `feedback_text`, without the end that the model wrote itself."""
        text = self.feedback_text(feedback)
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids[1:] if ids and ids[0] in end_ids else ids


def written_out(env: ReasoningEnv, problem: Problem, template: str) -> str:
    """Return a prompt without a chat template: as "plain" a newline ends it, as "raw" nothing."""
    return env.prompt_text(problem) + ("\n" if template == "plain" else "")


def prefill_of(tokenizer: Any, chat_args: Mapping[str, Any]) -> str:
    r"""Return what the generation prompt opens inside the answer: "" or, say, "<think>\n".

    It is what the generation prompt adds beyond the header of an assistant's message. The header
    is read off a rendered answer, up to the answer's text.
    """
    question = [{"role": "user", "content": "?"}]
    answer = "reasonenv-mark"

    def render(messages: list[dict[str, str]], generate: bool) -> str:
        text: str = tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=generate, **chat_args
        )
        return text

    before, asked = render(question, False), render(question, True)
    answered = render([*question, {"role": "assistant", "content": answer}], False)
    start = len(_common(before, asked))
    opened = asked[start:]
    header = answered[start:].partition(answer)[0]
    return opened[len(_common(opened, header)) :]


def _common(a: str, b: str) -> str:
    """Return the longest beginning that two texts share."""
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))
    return "".join(character for character, _ in same)


def decode(
    tokenizer: Any, ids: Sequence[int], end_ids: frozenset[int], pad_id: int | None
) -> tuple[str, bool]:
    """Return a completion's text and whether it was cut off at the length limit.

    Only padding and the end token are removed: tags may be special tokens, and a decoder that
    skips those would hide them from the judge.

    Args:
        tokenizer: of the model.
        ids: the completion's token ids.
        end_ids: ids that end a completion.
        pad_id: the padding's id.
    """
    end = len(ids)
    while end and ids[end - 1] == pad_id and pad_id not in end_ids:
        end -= 1
    ended = end > 0 and ids[end - 1] in end_ids
    while end and (ids[end - 1] in end_ids or ids[end - 1] == pad_id):
        end -= 1
    text: str = tokenizer.decode(
        list(ids[:end]), skip_special_tokens=False, clean_up_tokenization_spaces=False
    )
    return text, not ended
