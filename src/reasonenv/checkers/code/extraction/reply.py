"""What of a completion is the reply: no reasoning, no special tokens, the last answer only.

Tags and tokens inside a program's strings are part of the program: models are asked to write
parsers of their own formats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from reasonenv.checkers.code.extraction.fences import Block, fenced_blocks
from reasonenv.checkers.code.extraction.lexing import strings
from reasonenv.checkers.code.extraction.prose import looks_like_code
from reasonenv.checkers.code.extraction.syntax import parse

__all__ = ["Reply", "find_reply"]

MAX_TAGS = 64
"""How many tags of one kind are asked whether they stand in a string."""

MAX_QUOTED_LINE = 2000

_THINKING = re.compile(
    r"<(?P<close>/?)(?:think|thinking|reasoning|thought)>|◁(?P<glyph>/?)think▷", re.IGNORECASE
)
_ANSWER = re.compile(r"<(?P<close>/?)answer>", re.IGNORECASE)
_STOP = re.compile(
    r"<\|(?:im_end|im_start|endoftext|eot_id|end_of_text|eom_id|end|return|EOT|endofcode)\|>"
    r"|</s>|<eos>|<eoa>|<EOS_TOKEN>|<end_of_turn>|<｜end▁of▁sentence｜>|\[/INST\]"
)
_ANY_TOKEN = r"(?:<\|[\w./:-]{1,40}\|>|<｜[^｜\n]{1,40}｜>|</?s>|<pad>|<bos>|<eos>|<unk>)"
_LEADING = re.compile(rf"(?:\s*{_ANY_TOKEN})+(?:assistant\b[ \t]*\n?)?", re.IGNORECASE)
_TRAILING = re.compile(rf"{_ANY_TOKEN}\s*\Z")
_FINAL_CHANNEL = "<|channel|>final<|message|>"


@dataclass(frozen=True, slots=True)
class Reply:
    r"""The part of a completion that is searched.

    Args:
        text: that part, line breaks as `\n`.
        line: the line of the completion that it begins on, from 0.
        rule: "answer" where an answer tag held it, else "".
    """

    text: str
    line: int
    rule: str


def find_reply(completion: str) -> Reply | None:
    """Return the reply in a completion, None where the reasoning never ends."""
    text = completion.replace("\r\n", "\n").replace("\r", "\n")
    start = text.rfind(_FINAL_CHANNEL) + len(_FINAL_CHANNEL) if _FINAL_CHANNEL in text else 0
    after = _after_thinking(_Searched(text[start:]))
    if after is None:
        return None
    start += after
    if leading := _LEADING.match(text, start):
        start = leading.end()
    while start < len(text) and text[start] == "\ufeff":
        start += 1
    end = _end(text, start)
    searched = _Searched(text[start:end])
    low, high, rule = _answer(searched)
    return Reply(searched.text[low:high], text.count("\n", 0, start + low), rule)


def _end(text: str, start: int) -> int:
    """Return where the reply ends: at the first stop token, before trailing special tokens."""
    end = len(text)
    searched = _Searched(text[start:])
    for token in searched.real(_STOP.finditer(searched.text)):
        end = start + token.start()
        break
    while trailing := _TRAILING.search(text, max(start, end - 64), end):
        end = trailing.start()
    return end


def _after_thinking(searched: _Searched) -> int | None:
    tags = list(_THINKING.finditer(searched.text))
    for tag in searched.real(reversed(tags)):
        return tag.end() if tag["close"] or tag["glyph"] else None
    return 0


def _answer(searched: _Searched) -> tuple[int, int, str]:
    """Return the bounds of the last closed answer, of all where none is closed."""
    text = searched.text
    close: re.Match[str] | None = None
    for tag in searched.real(reversed(list(_ANSWER.finditer(text)))):
        if tag["close"]:
            close = tag
        elif close is not None:
            return tag.end(), _first_close(searched, tag.end(), close.start()), "answer"
        else:
            continue
    if close is not None:  # the prompt already opened it
        return 0, close.start(), "answer"
    return 0, len(text), ""


def _first_close(searched: _Searched, start: int, end: int) -> int:
    for tag in searched.real(_ANSWER.finditer(searched.text, start, end)):
        return tag.start()
    return end


class _Searched:
    """A text with its blocks, found when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: list[tuple[int, int, Block]] | None = None
        self._parses: dict[int, bool] = {}

    def real(self, tags: Iterator[re.Match[str]]) -> Iterator[re.Match[str]]:
        """Yield the tags that stand in no string of a program and in no quotes."""
        for count, tag in enumerate(tags):
            if count >= MAX_TAGS or not self._is_literal(tag.start(), tag.end()):
                yield tag

    def _is_literal(self, start: int, end: int) -> bool:
        text = self.text
        before, after = text[start - 1 : start], text[end : end + 1]
        if before and before == after and before in "\"'`":
            return True
        block = self._block_at(start)
        low = text.rfind("\n", 0, start) + 1
        high = text.find("\n", end)
        line = text[low : high if high >= 0 else len(text)]
        if len(line) <= MAX_QUOTED_LINE and (block is not None or looks_like_code(line.lstrip())):
            for first, last in strings(line):
                if first < start - low and end - low < last:
                    return True
        number = -1 if block is None else block.line
        if number not in self._parses:
            # A program with a tag in it parses only where the tag stands in a string or a comment.
            self._parses[number] = parse(text if block is None else block.text) is not None
        return self._parses[number]

    def _block_at(self, position: int) -> Block | None:
        if self._starts is None:
            self._starts = _with_bounds(self.text)
        for low, high, block in self._starts:
            if low <= position < high:
                return block
        return None


def _with_bounds(text: str) -> list[tuple[int, int, Block]]:
    offsets = [0]
    for line in text.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    return [
        (offsets[block.line], offsets[min(block.end, len(offsets) - 1)], block)
        for block in fenced_blocks(text)
        if block.is_python and block.closed
    ]
