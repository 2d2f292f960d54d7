"""Prompts, prefills, and completions decoded from token ids."""

from __future__ import annotations

from typing import Any

import pytest

import reasonenv
from reasonenv.errors import NoChatTemplateError
from reasonenv.models.loading import load_tokenizer
from reasonenv.models.prompts import PromptFormat, decode, prefill_of

PLAIN = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
R1 = PLAIN.replace("<|assistant|>{% endif", "<|assistant|><think>\n{% endif")
# Qwen3's way: an empty thought before an assistant's last answer, none in the generation prompt.
EMPTY_THOUGHT = PLAIN.replace(
    "{{ m.content }}",
    "{% if m.role == 'assistant' %}<think>\n\n</think>\n\n{% endif %}{{ m.content }}",
)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return load_tokenizer("tiny")


@pytest.mark.parametrize(
    ("template", "prefill"), [(PLAIN, ""), (R1, "<think>\n"), (EMPTY_THOUGHT, "")]
)
def test_a_prefill_is_what_the_generation_prompt_opens(
    tokenizer: Any, template: str, prefill: str
) -> None:
    own = tokenizer.chat_template
    try:
        tokenizer.chat_template = template
        assert prefill_of(tokenizer, {}) == prefill
    finally:
        tokenizer.chat_template = own


def test_tags_that_are_special_tokens_survive_decoding(tokenizer: Any) -> None:
    end = tokenizer.eos_token_id
    ids = [*tokenizer("<answer>132</answer>")["input_ids"], end]
    assert decode(tokenizer, ids, frozenset({end}), tokenizer.pad_token_id) == (
        "<answer>132</answer>",
        False,
    )


def test_a_completion_without_an_end_token_is_truncated(tokenizer: Any) -> None:
    ids = tokenizer("<answer>13")["input_ids"]
    end, pad = tokenizer.eos_token_id, tokenizer.pad_token_id
    assert decode(tokenizer, ids, frozenset({end}), pad) == ("<answer>13", True)


def test_padding_after_the_end_is_removed_and_an_empty_completion_is_empty(tokenizer: Any) -> None:
    end, pad = tokenizer.eos_token_id, tokenizer.pad_token_id
    assert decode(tokenizer, [end, pad, pad], frozenset({end}), pad) == ("", False)
    assert decode(tokenizer, [], frozenset({end}), pad) == ("", True)


def test_a_model_without_a_chat_template_says_how_to_go_on(tokenizer: Any) -> None:
    env = reasonenv.make("reasonenv/Arithmetic-v0")
    own = tokenizer.chat_template
    try:
        tokenizer.chat_template = None
        with pytest.raises(NoChatTemplateError, match=r"prompt\.template to plain"):
            PromptFormat(env, tokenizer)
        text = PromptFormat(env, tokenizer, "plain")(env.problems[0])
    finally:
        tokenizer.chat_template = own
    assert isinstance(text, str)
    assert text.endswith("tags.\n")


@pytest.mark.parametrize(("template", "ending"), [("plain", "3+4=\n"), ("raw", "3+4=")])
def test_a_raw_prompt_is_gone_on_with_at_once(tokenizer: Any, template: str, ending: str) -> None:
    few_shot = reasonenv.Problem("7+5=12\n3+4=", "7")
    env = reasonenv.MathEnv([few_shot], layout={"reasoning": None, "instruction": ""})
    prompt = PromptFormat(env, tokenizer, template)
    assert prompt(few_shot) == prompt.text(few_shot) == f"7+5=12\n{ending}"
    assert prompt.prefill == ""
