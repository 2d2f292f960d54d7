r"""`AnswerFormat`: the one place that knows how a completion should be laid out.

The prompt's instruction, the tags that reward terms pay for, and the extraction of the answer all
come from the same object, so they cannot drift apart; `reasonenv check` tests that they agree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["AnswerFormat"]

_TAG_NAME = re.compile(r"[A-Za-z][\w-]{0,31}\Z")


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    r"""How a completion should be laid out: `<reasoning>..</reasoning><answer>..</answer>`.

    Args:
        answer: tag around the final answer; None where the answer is boxed.
        reasoning: tag around the reasoning; None where none is demanded.
        boxed: whether the answer stands in `\boxed{}` instead of a tag.
        instruction: text that tells the policy all this; None writes it from the fields, and ""
            says nothing (for models that already know).

    Raises:
        ValueError: a name that is no tag name, one name for both tags, or neither or both of
            `answer` and `boxed`.

    >>> AnswerFormat().render("42", "6 * 7")
    '<reasoning>\n6 * 7\n</reasoning>\n<answer>42</answer>'
    >>> AnswerFormat(reasoning=None).extract("so <answer> 42 </answer>")
    '42'
    """

    answer: str | None = "answer"
    reasoning: str | None = "reasoning"
    boxed: bool = False
    instruction: str | None = None

    def __post_init__(self) -> None:
        for tag in self.tags:
            if not _TAG_NAME.match(tag):
                raise ValueError(f"a tag is a name such as 'answer', got {tag!r}")
        if len(set(self.tags)) < len(self.tags):
            raise ValueError(f"reasoning and answer need tags of their own, got {self.tags!r}")
        if (self.answer is None) != self.boxed:
            raise ValueError(
                "an answer is either tagged or boxed: give answer='answer', "
                f"or answer=None with boxed=True (got answer={self.answer!r}, boxed={self.boxed})"
            )

    @property
    def tags(self) -> tuple[str, ...]:
        """The demanded tags, in the order in which they should stand."""
        return tuple(tag for tag in (self.reasoning, self.answer) if tag is not None)

    def prompt_instruction(self, answer_is: str = "final answer") -> str:
        """Return the sentences that demand this layout; `answer_is` names what an answer is."""
        if self.instruction is not None:
            return self.instruction
        parts = []
        if self.reasoning:
            parts.append(f"Think step by step inside <{self.reasoning}></{self.reasoning}> tags.")
        if self.boxed:
            parts.append(f"Put only the {answer_is} inside \\boxed{{}}.")
        else:
            parts.append(f"Put only the {answer_is} inside <{self.answer}></{self.answer}> tags.")
        return " ".join(parts)

    def render(self, answer: str, reasoning: str = "") -> str:
        """Return a completion in this layout."""
        tail = f"\\boxed{{{answer}}}" if self.boxed else f"<{self.answer}>{answer}</{self.answer}>"
        if self.reasoning is None:
            return tail
        return f"<{self.reasoning}>\n{reasoning}\n</{self.reasoning}>\n{tail}"

    def extract(self, text: str) -> str | None:
        """Return the last answer given in the demanded place, None where there is none.

        An empty place is an empty answer, not a missing one. Linear in the length of `text`.
        """
        return last_boxed(text) if self.boxed else last_tagged(text, str(self.answer))


def last_tagged(text: str, tag: str) -> str | None:
    """Return what the last closed `<tag>...</tag>` holds, stripped; None where none is closed."""
    opener, closer = f"<{tag}>", f"</{tag}>"
    start = text.rfind(opener, 0, max(text.rfind(closer), 0))
    if start < 0:
        return None
    start += len(opener)
    return text[start : text.index(closer, start)].strip()  # a stray closer later is no part of it


def last_boxed(text: str) -> str | None:
    r"""Return what the last `\boxed{...}` holds, braces balanced; None where it never closes."""
    start = max(text.rfind("\\boxed{"), text.rfind("\\fbox{"))
    if start < 0:
        return None
    start = text.index("{", start) + 1
    depth = 1
    for end in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return text[start:end].strip()
    return None
