"""What several judges do to a completion before they look for the answer.

* `after_thinking`: the text after the last block, None where a block never closes (maths).
* `blank_thinking`: the whole text with each block turned into spaces, so that positions in it
  stay positions in the completion (choice).
* `cut_at_stop_token`: what stands before a stop token.
* `brace_pairs`: where each `{` closes, for boxes of any nesting.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["after_thinking", "blank_thinking", "brace_pairs", "cut_at_stop_token"]

THINK_TAGS = ("think", "thinking")
"""Tags that mark thinking in every template; a template's own reasoning tag comes on top."""

_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_STOP_TOKEN = re.compile(
    r"<\|(?:im_end|endoftext|eot_id|end_of_text|eom_id|end)\|>|</s>|<eos>|<eoa>|<EOS_TOKEN>|<end_of_turn>"
    r"|<｜end▁of▁sentence｜>"
)


@lru_cache(maxsize=64)
def _tag_pattern(extra: str | None) -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in (*THINK_TAGS, extra) if name)
    return re.compile(rf"<(?P<close>/?)(?:{names})>|◁(?P<glyph>/?)think▷", re.IGNORECASE)


def _tags(text: str, extra: str | None) -> list[tuple[int, int, bool]]:
    """Return (start, end, whether it closes) of every thinking tag, in order."""
    return [
        (tag.start(), tag.end(), bool(tag["close"] or tag["glyph"]))
        for tag in _tag_pattern(extra).finditer(text)
    ]


def after_thinking(text: str, extra: str | None = None) -> str | None:
    """Return the text after the last closed thinking block; None where a later one never closes.

    Args:
        text: a whole completion.
        extra: one more tag that marks thinking: the answer format's reasoning tag.

    >>> after_thinking("<think>2+2</think> 4")
    ' 4'
    >>> after_thinking("<think>2+2 is 4") is None
    True
    """
    start, is_open = 0, False
    for _, end, closes in _tags(text, extra):
        is_open = not closes
        if closes:
            start = end
    return None if is_open else text[start:]


def blank_thinking(text: str, extra: str | None = None) -> str:
    """Return `text`, as long as before, with thinking replaced by spaces.

    A closer without an opener blanks all before it, an opener without a closer all after it.

    >>> blank_thinking("<think>2+2</think> 4")
    '                   4'
    """
    pieces: list[str] = []
    blank_to, shown_from, opened_at = 0, 0, None
    for start, end, closes in _tags(text, extra):
        if closes:
            if opened_at is None:  # a stray closer: the template opened the block in the prompt
                pieces.clear()
                blank_to = end
            else:
                pieces.append(" " * (end - opened_at))
            shown_from, opened_at = end, None
        elif opened_at is None:
            pieces.append(text[shown_from:start])
            opened_at = start
    tail = text[shown_from:] if opened_at is None else " " * (len(text) - opened_at)
    return " " * blank_to + "".join(pieces) + tail


def cut_at_stop_token(text: str) -> str:
    """Return what stands before the first stop token: the rest is another turn, not the reply."""
    found = _STOP_TOKEN.search(text)
    return text[: found.start()] if found else text


def brace_pairs(text: str) -> dict[int, int]:
    r"""Return where each brace closes, in one pass; escaped braces are not braces.

    >>> brace_pairs(r"{a{b}\}}")
    {2: 4, 0: 7}
    """
    pairs: dict[int, int] = {}
    stack: list[int] = []
    for found in _BRACE.finditer(text):
        if found[0] == "{":
            stack.append(found.start())
        elif found[0] == "}" and stack:
            pairs[stack.pop()] = found.start()
    return pairs
