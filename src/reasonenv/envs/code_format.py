"""`CodeFormat`: how a completion that holds a program should be laid out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from reasonenv.answer_format import AnswerFormat
from reasonenv.errors import did_you_mean

__all__ = ["CodeFormat", "fenced"]

_REASONING_TAGS = ("reasoning", "think", "thinking", "thought")
_FENCES = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)


def fenced(program: str) -> str:
    r"""Return a program in a block that no line of it can close.

    >>> fenced("print(1)")
    '```python\nprint(1)\n```'
    """
    longest = max((len(mark) for mark in _FENCES.findall(program)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}python\n{program.strip(chr(10))}\n{fence}"


@dataclass(frozen=True)
class CodeFormat(AnswerFormat):
    r"""Reasoning in its tag, then the program in a fenced block inside the answer's tag, or alone.

    Extraction is that of `reasonenv.checkers.code.extract`, so that what this object renders is
    what the judge runs.

    Args:
        answer: "answer", or None where the block stands alone.
        reasoning: "reasoning", "think", "thinking" or "thought"; None where none is demanded.
        boxed: always False: programs are full of braces.
        instruction: as for `AnswerFormat`.

    Raises:
        ValueError: tags that the extraction of programs does not read, or `boxed`.

    >>> CodeFormat(reasoning=None).render("print(1)")
    '<answer>\n```python\nprint(1)\n```\n</answer>'
    """

    def __post_init__(self) -> None:
        if self.boxed:
            raise ValueError("a program cannot stand in \\boxed{}: give answer='answer', or None")
        for name, given, valid in (
            ("answer", self.answer, ("answer",)),
            ("reasoning", self.reasoning, _REASONING_TAGS),
        ):
            if given is not None and given not in valid:
                hint = did_you_mean(str(given), valid)
                raise ValueError(
                    f"{name}={given!r}: programs are not read out of that tag; {hint}, or None"
                )

    @classmethod
    def of(cls, layout: AnswerFormat | Mapping[str, Any]) -> CodeFormat:
        """Return `layout` as a layout of programs.

        Raises:
            ValueError: a field that `AnswerFormat` does not have, or a value that is refused.
        """
        if isinstance(layout, cls):
            return layout
        given = asdict(layout) if isinstance(layout, AnswerFormat) else dict(layout)
        try:
            return cls(**given)
        except TypeError as error:
            fields = ", ".join(cls.__match_args__)
            raise ValueError(f"layout={given!r}: {error}; its fields are {fields}") from error

    def prompt_instruction(self, answer_is: str = "Python program") -> str:
        """Return the sentences that demand this layout."""
        if self.instruction is not None:
            return self.instruction
        parts = []
        if self.reasoning:
            parts.append(f"Think step by step inside <{self.reasoning}></{self.reasoning}> tags.")
        if self.answer:
            parts.append(f"Put only the {answer_is} inside <{self.answer}></{self.answer}> tags.")
        else:
            parts.append(f"{'Then give' if parts else 'Give'} only the {answer_is} once.")
        return " ".join(parts)

    def render(self, answer: str, reasoning: str = "") -> str:
        """Return a completion in this layout that holds the program `answer`."""
        tail = fenced(answer)
        if self.answer is not None:
            tail = f"<{self.answer}>\n{tail}\n</{self.answer}>"
        if self.reasoning is None:
            return tail
        return f"<{self.reasoning}>\n{reasoning}\n</{self.reasoning}>\n{tail}"

    def extract(self, text: str) -> str | None:
        """Return the program that a judge finds in `text`, None where it finds none."""
        from reasonenv.checkers.code.extract import extract_program

        return extract_program(text, kind="stdio").program
