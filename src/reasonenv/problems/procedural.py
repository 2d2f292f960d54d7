"""Generators of endless problems that need no download: Arithmetic and Countdown.

Each is a frozen dataclass whose call makes one problem from a `numpy.random.Generator`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reasonenv.types import Problem, content_hash

__all__ = ["Arithmetic", "Countdown"]


@dataclass(frozen=True)
class Arithmetic:
    """`47+85=` with the answer `132`: integers of up to `digits` digits, one operator a step.

    A problem's id is that of its expression, whatever the wording.

    Args:
        digits: the most digits of an operand, 1 to 18.
        operators: drawn from with equal probability; any of "+", "-" and "*".
        terms: operands in one problem, at least 2; evaluated with the usual precedence.
        question: format of the prompt, `{expression}` in it: "What is {expression}?".

    Raises:
        ValueError: a number out of range, or an operator other than these.
    """

    digits: int = 2
    operators: str = "+"
    terms: int = 2
    question: str = "{expression}="

    def __post_init__(self) -> None:
        # 10**18 is the largest power of ten that numpy draws from as a 64-bit integer.
        if not 1 <= self.digits <= 18 or self.terms < 2 or not self.operators:
            raise ValueError(
                f"digits from 1 to 18, terms >= 2 and an operator are needed, got {self}"
            )
        if set(self.operators) - set("+-*"):
            raise ValueError(f"operators are any of '+-*', got {self.operators!r}")
        try:
            asks = "1+1" in self.question.format(expression="1+1")
        except (KeyError, IndexError, ValueError):
            asks = False
        if not asks:
            raise ValueError(
                "question is a text with {expression} in it and no other field, "
                f"got {self.question!r}"
            )

    def __call__(self, rng: np.random.Generator) -> Problem:
        """Return the sum that `rng` draws."""
        operands = rng.integers(0, 10**self.digits, size=self.terms)
        signs = rng.choice(list(self.operators), size=self.terms - 1)
        expression = str(operands[0])
        total, product = 0, int(operands[0])
        for sign, operand in zip(signs, operands[1:], strict=True):
            expression += f"{sign}{operand}"
            if sign == "*":
                product *= int(operand)
            else:
                total, product = total + product, int(operand) * (1 if sign == "+" else -1)
        prompt = self.question.format(expression=expression)
        metadata = {"expression": expression, "digits": int(self.digits), "source": "arithmetic"}
        # The id, which decides the split, is that of the expression alone: the same sum under
        # another wording or another `digits` must not be in the other split.
        return Problem(prompt, str(total + product), metadata, id=content_hash(expression))


@dataclass(frozen=True)
class Countdown:
    """Reach a target from given numbers, each used once, with + - * and exact division.

    The gold is one expression that reaches it; any other that does is as good, so the judge
    evaluates the answer (`reasonenv.checkers.countdown`).

    A problem's id is that of its question: two draws of it may show different golds.

    Args:
        numbers: how many numbers are given, at least 2.
        largest: the largest that may be among them, at least 2.

    Raises:
        ValueError: a number out of range.
    """

    numbers: int = 3
    largest: int = 20

    def __post_init__(self) -> None:
        if self.numbers < 2 or self.largest < 2:
            raise ValueError(f"at least 2 numbers of at least 2 are needed, got {self}")

    def __call__(self, rng: np.random.Generator) -> Problem:
        """Return the game that `rng` draws; it has a solution by construction."""
        given = [int(n) for n in rng.integers(1, self.largest + 1, size=self.numbers)]
        expression, target = str(given[0]), given[0]
        for operand in given[1:]:
            possible = ["+", "-", "*"] + ["/"] * (target % operand == 0)
            operator = str(rng.choice(possible))
            expression = f"({expression} {operator} {operand})"
            target = {
                "+": target + operand,
                "-": target - operand,
                "*": target * operand,
                "/": target // operand,
            }[operator]
        listed = ", ".join(str(n) for n in sorted(given))
        prompt = (
            f"Using each of the numbers {listed} exactly once, with + - * / and brackets, "
            f"write an expression that equals {target}."
        )
        metadata = {"numbers": sorted(given), "target": target, "source": "countdown"}
        # The id leaves the gold out: one question with two golds must not be in both splits.
        gold = expression.removeprefix("(").removesuffix(")")
        return Problem(prompt, gold, metadata, id=content_hash(prompt))
