"""The tokenizers of the tiny models, and the chat template that they share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

__all__ = ["END", "PAD", "ROLES", "TAGS", "build_tokenizer", "learn_tokenizer"]

PAD, END = "<|pad|>", "<|end|>"
ROLES = ("<|system|>", "<|user|>", "<|assistant|>")
TAGS = ("<reasoning>", "</reasoning>", "<answer>", "</answer>")

# One token before each message, one after those of the assistant, where sampling has to stop.
CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    "{{- '<|' + message['role'] + '|>' + message['content'] -}}"
    "{%- if message['role'] == 'assistant' -%}{{- eos_token -}}{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|assistant|>' -}}{%- endif -%}"
)


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Return a byte-level tokenizer: one token per ASCII character, any text round-trips.

    Tags are single tokens, since `<answer>132</answer>` then takes 5 of them instead of 20. They
    are not *special* ones: decoding with `skip_special_tokens=True` must not lose them.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    special = (PAD, END, *ROLES)
    bytes_ = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {token: i for i, token in enumerate([*special, *TAGS, *bytes_])}
    core = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens([AddedToken(token, normalized=False) for token in special])
    core.add_tokens([AddedToken(token, normalized=False) for token in TAGS])
    return _wrapped(core)


def learn_tokenizer(texts: Iterable[str], size: int) -> PreTrainedTokenizerFast:
    """Return a byte-pair tokenizer of `size` tokens learned from `texts`; digits stay single.

    Words that stand in every task are one token each then, which makes sequences a third as long.
    Tags are single tokens, and no special ones, as in `build_tokenizer`.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    special = (PAD, END, *ROLES)
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[*special, *TAGS],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    core.train_from_iterator(texts, trainer)
    fields = json.loads(core.to_str())  # the trainer makes all added tokens special ones
    for token in fields["added_tokens"]:
        token["special"] = token["content"] in special
    return _wrapped(Tokenizer.from_str(json.dumps(fields)))


def _wrapped(core: Tokenizer) -> PreTrainedTokenizerFast:
    from transformers import PreTrainedTokenizerFast

    made: Any = PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token=PAD,
        eos_token=END,
        bos_token=END,
        padding_side="left",
        clean_up_tokenization_spaces=False,
        model_max_length=1024,
        chat_template=CHAT_TEMPLATE,
    )
    return made
