"""Finding the program in a completion.

The policy, in the order in which it is applied:

1. Text through the last `</think>` is reasoning; of what follows, the last closed `<answer>` is
   the reply (`extraction.reply`).
2. The whole reply, if it is a program. Fenced Python blocks, the last one first: with an entry
   point the last that defines it, else the last that parses. A block that does not parse yields
   to an earlier one that does.
3. Blocks in tags (`[PYTHON]`), code lines amid prose, code between backticks.
4. A body that continues the prompt's function is joined to the prompt.
5. Names that the program lacks come from the other blocks and from the prompt.

Programs are parsed and never run; no name, quote or cut-off end is ever mended.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from reasonenv.checkers.code.extraction.fences import Block, fenced_blocks, pieces
from reasonenv.checkers.code.extraction.joining import (
    Source,
    continued,
    prompt_source,
    with_needs,
)
from reasonenv.checkers.code.extraction.loose import not_in_strings, outside, spans, tagged_blocks
from reasonenv.checkers.code.extraction.prose import code_amid_prose, looks_like_code
from reasonenv.checkers.code.extraction.reply import Reply, find_reply
from reasonenv.checkers.code.extraction.syntax import (
    MAX_PROGRAM_CHARS,
    Definition,
    definition,
    is_code,
    parse,
)
from reasonenv.checkers.code.extraction.variants import variants

__all__ = ["Extracted", "ExtractionStatus", "extract_program"]

MAX_COMPLETION_CHARS = 4_000_000
"""Longer completions are not searched."""

MAX_BLOCKS = 2000
"""How many blocks are searched, counted from the last."""

MAX_READINGS = 4000
"""How many texts are tried as programs in one search: blocks, and pieces of blocks."""

_PRINTS = re.compile(r"\b(?:print|input|stdin|stdout|open|write)\b")

ExtractionStatus = Literal["ok", "no_program", "no_entry_point", "unparsable", "too_long"]
"""`ok`: a program that parses and defines the entry point, if one was asked for.
`no_entry_point`: one that parses and does not define it. `unparsable`: a text that was meant as a
program and does not parse. `too_long`: a completion or a program over the limits. `no_program`."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was found in a completion.

    Args:
        program: the program, without a line break at its end; None where there is none. Also
            given where it lacks the entry point or does not parse, so that a judge can say so.
        status: how the search ended.
        detail: which rules led to it, joined by `+`: "whole", "fence", "tag", "prose", "span" or
            "body", with "answer", "dedent", "whitespace", "repl", "pieces", "needs".
        span: the first and the last line of the completion that it was taken from, from 1.
    """

    program: str | None
    status: ExtractionStatus
    detail: str = ""
    span: tuple[int, int] | None = None

    @property
    def ok(self) -> bool:
        """Whether there is a program worth running."""
        return self.status == "ok"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A text that may be the program, or the best reading of it that parses."""

    code: str
    tree: ast.Module | None
    rule: str
    line: int
    size: int
    block: Block | None = None
    rank: Definition = Definition.NONE


def extract_program(
    completion: str, entry_point: str | None = None, prompt: str = "", kind: str = "assert"
) -> Extracted:
    r"""Return the program in a completion; never raises for any text, and never runs one.

    Args:
        completion: the policy's whole text, reasoning included.
        entry_point: the function that tests call, or `Solution.method`; ignored for stdio.
        prompt: what the completion continues, for bodies without a signature and for imports.
        kind: "stdio" for programs that read and print; any other kind has an entry point.

    >>> extract_program("So:\n```python\ndef f(x):\n    return x\n```", "f").program
    'def f(x):\n    return x'
    """
    if len(completion) > MAX_COMPLETION_CHARS:
        return Extracted(None, "too_long")
    reply = find_reply(completion)
    if reply is None:
        return Extracted(None, "no_program", "unclosed reasoning")
    return _Search(reply, prompt, entry_point if kind != "stdio" else None).result()


class _Search:
    """One search through one reply."""

    def __init__(self, reply: Reply, prompt: str, entry_point: str | None) -> None:
        self.reply = reply
        self.prompt = prompt
        self.entry_point = entry_point
        self.fenced = fenced_blocks(reply.text)
        self.blocks = list(self._python_blocks())
        self.bare = outside(reply.text, not_in_strings(reply.text, self.fenced))
        self.prose: list[_Candidate] | None = None
        self.tagged = tagged_blocks(reply.text)
        self.readings = 0

    def result(self) -> Extracted:
        best = self._best()
        if best is None:
            body = self._body() if self.entry_point is not None else None
            best = body or self._fallback()
        if best is None:
            return Extracted(None, "no_program")
        if len(best.code) > MAX_PROGRAM_CHARS:
            return self._extracted(best, None, "too_long")
        if best.tree is None:
            return self._extracted(best, best.code, "unparsable")
        found = best.rank is not Definition.NONE or self.entry_point is None
        code = with_needs(best.code, best.tree, self._sources(best), self.entry_point)
        if code != best.code and parse(code) is None:
            code = best.code
        rule = best.rule + ("+needs" if code != best.code else "")
        return self._extracted(best, code, "ok" if found else "no_entry_point", rule)

    def _extracted(
        self, best: _Candidate, code: str | None, status: ExtractionStatus, rule: str = ""
    ) -> Extracted:
        first = self.reply.line + best.line + 1
        rules = [part for part in (self.reply.rule, rule or best.rule) if part]
        program = code.strip("\n") if code is not None else None
        return Extracted(program, status, "+".join(rules), (first, first + best.size))

    def _python_blocks(self) -> Iterator[Block]:
        """Yield the blocks that may hold the program; a prompt may have opened the first one."""
        if self.fenced and not self.fenced[0].tagged:
            lines = self.reply.text.split("\n", self.fenced[0].line)
            head = "\n".join(lines[: max(self.fenced[0].line - 1, 0)])
            if head.strip() and is_code(parse(head)):
                yield Block(head, 0, self.fenced[0].line)
        for block in self.fenced:
            if block.is_python or block.is_markup:
                yield block

    def _best(self) -> _Candidate | None:
        """Return the last candidate that defines the entry point best, of the first that has it."""
        for stage in (
            self._whole_stage,
            self._fence_stage,
            self._tag_stage,
            self._prose_stage,
            self._span_stage,
        ):
            best: _Candidate | None = None
            for candidate in stage():
                if self.entry_point is None:
                    if not is_code(candidate.tree):
                        continue
                    if not _may_be_a_sample(candidate):
                        return candidate
                    best = best or candidate
                elif candidate.rank > (best.rank if best is not None else Definition.NONE):
                    best = candidate
                    if best.rank is Definition.FULL:
                        break
            if best is not None:
                return best
        return None

    def _whole_stage(self) -> Iterator[_Candidate]:
        """Yield the whole reply, if it is a program: fences in it then stand in its strings."""
        text = self.reply.text
        if self.tagged:  # "[PYTHON]" is a list
            return
        whole = self._reading([(text, "")], text, 0, "whole")
        if whole is not None and self._fits(whole):
            yield whole

    def _fence_stage(self) -> Iterator[_Candidate]:
        return self._from_blocks(self.blocks, "fence")

    def _tag_stage(self) -> Iterator[_Candidate]:
        return self._from_blocks(self.tagged, "tag")

    def _span_stage(self) -> Iterator[_Candidate]:
        if self.entry_point is None:  # any word between backticks would be a program
            return iter(())
        return self._from_blocks(spans(self.reply.text, self.entry_point.partition(".")[0]), "span")

    def _prose_stage(self) -> Iterator[_Candidate]:
        if self.prose is None:
            self.prose = []
            for readings in (variants(self.bare), _amid_prose(self.bare, strict=False)):
                found = self._reading(readings, self.bare, 0, "prose")
                if found is not None:
                    self.prose.append(found)
        return iter(self.prose)

    def _from_blocks(self, blocks: list[Block], rule: str) -> Iterator[_Candidate]:
        """Yield one candidate per block, the last block first."""
        for block in reversed(blocks[-MAX_BLOCKS:]):
            if self._irrelevant(block.text):
                continue
            yield from self._from_block(block, rule)

    def _from_block(self, block: Block, rule: str) -> Iterator[_Candidate]:
        text, line = block.text, block.line
        if not block.is_markup:
            whole = self._reading(variants(text), text, line, rule, block)
            if whole is not None and is_code(whole.tree):
                yield whole
                if self._fits(whole) or not whole.rule.endswith("repl"):
                    return
        parts = [part for part in pieces(block) if not self._irrelevant(part.text)]
        found = False
        for part in reversed(parts):
            for readings in (variants(part.text), _amid_prose(part.text, strict=True)):
                one = self._reading(readings, part.text, part.line, f"{rule}+pieces", part)
                if one is not None and is_code(one.tree):
                    yield one
                    found = True
                    break
        if not found and not block.is_markup:
            one = self._reading(_amid_prose(text, strict=True), text, line, rule, block)
            if one is not None:
                yield one

    def _irrelevant(self, text: str) -> bool:
        return self.entry_point is not None and self.entry_point.partition(".")[0] not in text

    def _reading(
        self,
        readings: Iterable[tuple[str, str]],
        text: str,
        line: int,
        rule: str,
        block: Block | None = None,
    ) -> _Candidate | None:
        """Return the reading of `text` that defines the entry point best, None if none parses."""
        best: _Candidate | None = None
        self.readings += 1
        if self.readings > MAX_READINGS:
            return None
        for code, how in readings:
            tree = parse(code)
            if tree is None:
                continue
            rank = definition(tree, self.entry_point) if self.entry_point else Definition.NONE
            if best is None or rank > best.rank or (not is_code(best.tree) and is_code(tree)):
                names = f"{rule}+{how}" if how else rule
                best = _Candidate(code, tree, names, line, text.count("\n"), block, rank)
            if self._fits(best):
                break
        return best

    def _fits(self, candidate: _Candidate) -> bool:
        """Return whether no later reading of the same text could be better."""
        if self.entry_point is None:
            return is_code(candidate.tree)
        return candidate.rank is Definition.FULL

    def _body(self) -> _Candidate | None:
        """Return the prompt continued by the last block, or else by the text without fences."""
        if not self.prompt.strip() or self.entry_point is None:
            return None
        texts = [(block.text, block.line, block) for block in reversed(self.blocks[-MAX_BLOCKS:])]
        head = self.reply.text.split("\n```", maxsplit=1)[0]
        for text, line, block in [*texts[:8], (head, 0, None), (self.bare, 0, None)]:
            if len(text) > MAX_PROGRAM_CHARS:
                continue
            code = continued(text, self.prompt, self.entry_point)
            tree = parse(code) if code is not None else None
            if code is not None and tree is not None:
                size = text.count("\n")
                return _Candidate(code, tree, "body", line, size, block, Definition.FULL)
        return None

    def _fallback(self) -> _Candidate | None:
        """Return what is not the program but was meant as one: the last that parses, or any."""
        entry_point, self.entry_point = self.entry_point, None
        try:
            best = self._best()
        finally:
            self.entry_point = entry_point
        if best is not None:
            return best
        for block in reversed(self.blocks):
            if block.text.strip() and (block.tagged or _has_code(block.text)):
                size = block.text.count("\n")
                return _Candidate(block.text, None, "fence", block.line, size, block)
        if _has_code(self.bare):
            return _Candidate(self.bare, None, "prose", 0, self.bare.count("\n"))
        return None

    def _sources(self, best: _Candidate) -> Iterator[Source]:
        """Yield where missing names may come from: nearer blocks first, the prompt last."""
        at = best.block.line if best.block is not None else -1
        before = [block for block in self.blocks if block.line < at]
        after = [block for block in self.blocks if block.line > at]
        for block in (*reversed(before[-MAX_BLOCKS:]), *after):
            tree = parse(block.text)
            if tree is not None:
                yield Source(block.text, tree)
        found = prompt_source(self.prompt, self.entry_point)
        if found is not None:
            yield found


def _may_be_a_sample(candidate: _Candidate) -> bool:
    """Return whether this is a block without a tag that prints nothing: `x = 5` is an input."""
    block = candidate.block
    return block is not None and not block.tagged and not _PRINTS.search(candidate.code)


def _amid_prose(text: str, strict: bool) -> Iterator[tuple[str, str]]:
    """Yield the code lines of `text`, as it stands and in its most forgiving reading."""
    *_, (last, _how) = variants(text)
    for one in dict.fromkeys((text, last)):
        found = code_amid_prose(one, strict)
        if found is not None:
            yield found[0], "prose" if strict else ""


def _has_code(text: str) -> bool:
    return any(looks_like_code(line) for line in text.split("\n"))
