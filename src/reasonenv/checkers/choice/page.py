r"""`Page`: what of a completion a reader sees, at the places where it stands.

Thinking and struck-out text are turned into spaces, look-alike characters are made plain. Of a very
long completion the beginning, the end and the neighbourhood of the last cue words between them are
kept, so that a megabyte costs milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from reasonenv.checkers.choice.fold import fold
from reasonenv.checkers.text import blank_thinking

__all__ = ["HEAD_CHARS", "LONG_CHARS", "TAIL_CHARS", "Page", "read_page"]

LONG_CHARS = 40_000
"""Longer completions are read in parts."""
HEAD_CHARS = 8_000
TAIL_CHARS = 24_000
AROUND_CHARS = 700
"""Kept around a cue word between head and tail."""
CORE_CUES = ("nswer", "NSWER", "boxed{", "答案", "твет", "ntwort", "espuesta", "esposta", "éponse")
"""Searched for between head and tail."""

_STRUCK = re.compile(
    r"~~[^~\n]{1,300}~~|<(del|strike)>[^<\n]{0,300}</\1>|\\(?:cancel|sout|st)\{[^{}\n]{0,300}\}",
    re.IGNORECASE,
)
_FINAL_CHANNEL = "<|channel|>final<|message|>"
_TOKEN = re.compile(
    r"<\|(?:im_end|im_start|endoftext|eot_id|end_of_text|eom_id|end|user|assistant|return"
    r"|start_header_id)\|>|</s>|<eo[sadeu]>|<EOS_TOKEN>|<(?:end|start)_of_turn>"
    r"|<｜(?:end▁of▁sentence|User|Assistant)｜>|\[/?INST\]"
)
_TURN = re.compile(
    r"\n[ \t>#*_-]{0,8}(?:(?:next|new|another|follow-?up)\s)?"
    r"(?:human|user|question|q|problem|instruction|frage|pregunta|pergunta|domanda|вопрос|soru"
    r"|问题|题目|問題|질문|문제|السؤال|प्रश्न|câu hỏi)"
    r"(?:\s?\#?\d{1,4})?[*_]{0,3}\s?[:：]",
    re.IGNORECASE,
)


_TOKEN_OPENINGS = ("<|", "</s>", "<e", "<E", "_turn>", "<｜", "INST]")
FEW_COLONS = 40
MAX_TURN_CHARS = 50
"""The longest heading of a made-up turn."""
_STRUCK_OPENINGS = ("~~", "<d", "<D", "<s", "<S", "\\c", "\\s")


@dataclass(frozen=True, slots=True)
class Page:
    """What a reader sees.

    Args:
        text: as long as the completion.
        low: the same in lower case, as long as `text`.
        kept: the parts of a long completion that were kept, in order; else the whole.
        reads: where slots were read, which is what costs time: `statements` counts them.
    """

    text: str
    low: str
    kept: tuple[tuple[int, int], ...]
    reads: list[int] = field(default_factory=list)

    def with_text(self, text: str) -> Page:
        """Return the same page with another text of the same length, itself if it is the same."""
        return self if text == self.text else Page(text, text.lower(), self.kept)

    def segments(self) -> Iterator[tuple[int, int]]:
        """Yield the parts between template tokens and made-up turns, wordless ones left out.

        Once an answer has been given, the parts behind it do not count (policy 22).
        """
        text = self.text
        cuts = self._turns()
        if any(text.find(one, *kept) >= 0 for one in _TOKEN_OPENINGS for kept in self.kept):
            cuts += [cut.span() for kept in self.kept for cut in _TOKEN.finditer(text, *kept)]
            cuts.sort()
        start = 0
        for cut, after in cuts:
            if cut > start and not text[start:cut].isspace():
                yield start, cut
            start = max(start, after)
        if start < len(text) or not cuts:
            yield start, len(text)

    def _turns(self) -> list[tuple[int, int]]:
        """Return where the made-up turns begin: each has a colon, of which most replies have few.

        Looking back from the colons is the faster way, as long as there are few of them.
        """
        text = self.text
        colons: list[int] = []
        for start, end in self.kept:
            at = text.find(":", start, end)
            while at >= 0 and len(colons) <= FEW_COLONS:
                colons.append(at)
                at = text.find(":", at + 1, end)
        if len(colons) > FEW_COLONS:
            return [cut.span() for kept in self.kept for cut in _TURN.finditer(text, *kept)]
        turns = []
        for colon in colons:
            line = text.rfind("\n", max(0, colon - MAX_TURN_CHARS), colon)
            cut = _TURN.match(text, line) if line >= 0 else None
            if cut and cut.end() == colon + 1:
                turns.append(cut.span())
        return turns


def read_page(completion: str, reasoning_tag: str | None = None) -> Page:
    """Return what a reader sees of a completion.

    Args:
        completion: prefill and completion.
        reasoning_tag: one more tag that marks thinking, as `<tag>` and as `[tag]`.
    """
    if len(completion) > LONG_CHARS:
        return _long_page(completion, reasoning_tag)
    text = completion
    if ("<" in text or "◁" in text) and (reasoning_tag or "<|" in text or "think" in text.lower()):
        text = _without_thinking(text, reasoning_tag)
    if reasoning_tag and f"[{reasoning_tag}]" in text:
        text = _without_brackets(text, reasoning_tag)
    text = _plain(text)
    return Page(text, text.lower(), ((0, len(text)),))


def _without_thinking(text: str, tag: str | None) -> str:
    text = blank_thinking(text, tag)
    final = text.rfind(_FINAL_CHANNEL)
    if final < 0:
        return text
    final += len(_FINAL_CHANNEL)
    return " " * final + text[final:]


def _without_brackets(text: str, tag: str) -> str:
    opener, closer = f"[{tag}]", f"[/{tag}]"
    end = text.rfind(closer)
    last = text.rfind(opener)
    if last > end:  # it never closes
        text = text[:last] + " " * (len(text) - last)
    first = text.find(opener)
    if end >= 0:
        start = first if 0 <= first < end else 0
        end += len(closer)
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _plain(text: str) -> str:
    text = fold(text)
    if any(opening in text for opening in _STRUCK_OPENINGS):
        text = _STRUCK.sub(lambda struck: " " * len(struck[0]), text)
    return text


def _long_page(completion: str, tag: str | None) -> Page:
    """Keep the parts of a long completion that can hold its answer."""
    shown = _shown_parts(completion, tag)
    wanted: list[tuple[int, int]] = []
    for start, end in shown:
        wanted.append((start, min(end, start + HEAD_CHARS)))
        wanted.append((max(start, end - TAIL_CHARS), end))
    middle, until = HEAD_CHARS, len(completion) - TAIL_CHARS
    for cue in CORE_CUES:
        at = completion.rfind(cue, middle, until)
        if at >= 0 and any(start <= at < end for start, end in shown):
            wanted.append((max(0, at - AROUND_CHARS), at + AROUND_CHARS))
    kept: list[tuple[int, int]] = []
    for start, end in sorted(wanted):
        if kept and start <= kept[-1][1]:
            kept[-1] = (kept[-1][0], max(end, kept[-1][1]))
        elif end > start:
            kept.append((start, end))
    pieces: list[str] = []
    at = 0
    for start, end in kept:
        pieces += [" " * (start - at), _plain(completion[start:end])]
        at = end
    pieces.append(" " * (len(completion) - at))
    return Page("".join(pieces), "".join(piece.lower() for piece in pieces), tuple(kept))


def _shown_parts(completion: str, tag: str | None) -> list[tuple[int, int]]:
    """Return what stands before the first thinking block and what stands after the last one."""
    names = [f"<{name}>" for name in ("think", "thinking", tag) if name] + ["◁think▷"]
    closers = [name[0] + "/" + name[1:] for name in names]
    first_open = _first(completion, names, 0)
    first_close = _first(completion, closers, 0)
    last_close = max(
        (completion.rfind(closer) + len(closer) for closer in closers if closer in completion),
        default=0,
    )
    reopened = _first(completion, names, last_close)
    parts = [(last_close, reopened)]
    if last_close and first_open < first_close:
        parts.insert(0, (0, first_open))
    return parts


def _first(text: str, words: list[str], start: int) -> int:
    found = [at for at in (text.find(word, start) for word in words) if at >= 0]
    return min(found, default=len(text))
