"""Judging Countdown: does the expression use exactly the given numbers and reach the target?

The expression is parsed by a recursive descent over integers, + - * /, brackets and unary minus,
and evaluated in exact fractions. Nothing is executed; length, depth and digits are limited.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reasonenv.answer_format import AnswerFormat, last_boxed, last_tagged
from reasonenv.checkers.text import after_thinking, cut_at_stop_token
from reasonenv.types import Problem, Status, Verdict

__all__ = ["CountdownJudge", "evaluate"]

MAX_EXPRESSION_CHARS = 1_000
MAX_DEPTH = 30
MAX_NUMBERS = 50
MAX_DIGITS = 12


class ExpressionError(ValueError):
    """Raised when a text is no expression of these operators, or is over a limit."""


_SIGNS = str.maketrans(
    {"×": "*", "·": "*", "⋅": "*", "÷": "/", "−": "-", "–": "-", "[": "(", "]": ")"}
)
_MACROS = ((r"\times", "*"), (r"\cdot", "*"), (r"\div", "/"), (r"\left", ""), (r"\right", ""))
_TOKEN = re.compile(r"\s*(?:(\d+)|([-+*/()]))", re.ASCII)
_CUE = re.compile(r"answer(?:\s+is)?\s*:?\s*([^\n]*)\Z", re.IGNORECASE)


def evaluate(text: str) -> tuple[Fraction | None, list[int]]:
    """Return (the value, the numbers used); the value is None where something divides by zero.

    Raises:
        ExpressionError: `text` is no expression of integers, + - * /, brackets and unary minus.

    >>> evaluate("(3 + 5) / -4")
    (Fraction(-2, 1), [3, 5, 4])
    """
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        if len(text) > MAX_EXPRESSION_CHARS:
            raise ExpressionError(f"an expression of more than {MAX_EXPRESSION_CHARS} characters")
        self.tokens: list[str] = []
        self.numbers: list[int] = []
        self.next = self.depth = 0
        self.divides_by_zero = False
        position, text = 0, text.rstrip()
        while position < len(text):
            token = _TOKEN.match(text, position)
            if token is None:
                raise ExpressionError(
                    f"{text[position : position + 20]!r} is no part of an expression"
                )
            self.tokens.append(token[1] or token[2])
            position = token.end()

    def parse(self) -> tuple[Fraction | None, list[int]]:
        value = self.sum()
        if self.next != len(self.tokens):
            raise ExpressionError(f"{self.tokens[self.next]!r} stands where an operator should")
        return (None if self.divides_by_zero else value), self.numbers

    def peek(self) -> str:
        return self.tokens[self.next] if self.next < len(self.tokens) else ""

    def sum(self) -> Fraction:
        value = self.product()
        while self.peek() in ("+", "-"):
            sign = 1 if self.peek() == "+" else -1
            self.next += 1
            value += sign * self.product()
        return value

    def product(self) -> Fraction:
        value = self.factor()
        while self.peek() in ("*", "/"):
            operator = self.peek()
            self.next += 1
            other = self.factor()
            if operator == "*":
                value *= other
            elif other == 0:
                self.divides_by_zero = True
            else:
                value /= other
        return value

    def factor(self) -> Fraction:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ExpressionError(f"brackets deeper than {MAX_DEPTH}")
        token = self.peek()
        self.next += 1
        if token == "-":
            value = -self.factor()
        elif token == "(":
            value = self.sum()
            if self.peek() != ")":
                raise ExpressionError("a bracket that never closes")
            self.next += 1
        elif token.isdigit() and len(token) <= MAX_DIGITS and len(self.numbers) < MAX_NUMBERS:
            self.numbers.append(int(token))
            value = Fraction(int(token))
        else:
            raise ExpressionError(
                f"{token[:20]!r} stands where a number should" if token else "it ends early"
            )
        self.depth -= 1
        return value


@dataclass(frozen=True)
class CountdownJudge:
    """Whether the answered expression uses `metadata["numbers"]` once each and gives the target.

    Args:
        format: where the prompt demanded the answer; None reads a box, an `<answer>` tag, what
            follows the last "answer is", or the last line.

    >>> problem = Problem("?", None, {"numbers": [2, 3, 4], "target": 20})
    >>> CountdownJudge()(problem, "<answer>(2 + 3) * 4 = 20</answer>").status
    <Status.CORRECT: 'correct'>
    """

    format: AnswerFormat | None = None

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        """Return the verdict on `completion`; a problem without numbers is a CHECKER_ERROR."""
        given = _given(problem.metadata)
        if given is None:
            error = "metadata holds 'numbers' (integers) and 'target' (an integer)"
            return Verdict(Status.CHECKER_ERROR, 0.0, None, {"error": error})
        numbers, target = given
        answer = self._extract(completion)
        if not answer:
            return Verdict(Status.NO_ANSWER, 0.0, None, {"reason": "no expression given"})
        answer = answer[: MAX_EXPRESSION_CHARS + 1]
        try:
            value, used = _answered(answer)
        except ExpressionError as error:
            return Verdict(Status.MALFORMED, 0.0, answer, {"reason": str(error)})
        if value is None:
            return Verdict(Status.INCORRECT, 0.0, answer, {"reason": "divides by zero"})
        detail = {"value": str(value), "used": sorted(used), "reason": "reaches the target"}
        if sorted(used) != sorted(numbers):
            detail["reason"] = "does not use exactly the given numbers"
        elif value != target:
            detail["reason"] = "misses the target"
        else:
            return Verdict(Status.CORRECT, 1.0, answer, detail)
        return Verdict(Status.INCORRECT, 0.0, answer, detail)

    def _extract(self, completion: str) -> str | None:
        text = after_thinking(completion, self.format.reasoning if self.format else None)
        if text is None:
            return None
        text = cut_at_stop_token(text).strip()
        if self.format is not None:
            return self.format.extract(text)
        found = last_boxed(text)
        if found is None:
            found = last_tagged(text, "answer")
        if found is None:
            line = text.rpartition("\n")[2][: 2 * MAX_EXPRESSION_CHARS]
            cue = _CUE.search(line)
            found = cue[1] if cue else line
        return found.strip(" .$*`")


def _given(metadata: Mapping[str, Any]) -> tuple[list[int], int] | None:
    numbers, target = metadata.get("numbers"), metadata.get("target")
    if not isinstance(numbers, list | tuple) or not isinstance(target, int):
        return None
    return (list(numbers), target) if all(isinstance(n, int) for n in numbers) else None


def _answered(answer: str) -> tuple[Fraction | None, list[int]]:
    """Evaluate `expression` or `expression = value`, where the value must be the true one."""
    text = answer.translate(_SIGNS)
    for macro, sign in _MACROS:
        text = text.replace(macro, sign)
    left, equals, right = text.partition("=")
    value, used = evaluate(left)
    if equals:
        stated, _ = evaluate(right)
        if value is not None and stated != value:
            raise ExpressionError("the value after '=' is not the expression's")
    return value, used
