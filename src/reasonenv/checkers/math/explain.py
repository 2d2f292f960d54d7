"""How a verdict came about, in words for a person."""

from __future__ import annotations

from reasonenv.checkers.math.judge import judge_answer
from reasonenv.checkers.math.options import DEFAULTS, MathOptions
from reasonenv.checkers.math.read import read
from reasonenv.checkers.math.tree import Node, Unreadable

__all__ = ["explain"]

_RUNGS = {
    "limits": "the limits on size or emptiness decided",
    "string": "both sides are spelled alike, or name an option",
    "form": "the structure decided",
    "rational": "exact rational values decided",
    "residue": "exact identity testing (residues modulo a prime) decided",
    "decimal": "the digits of a decimal were compared with the exact value",
    "numeric": "values at several points, to many digits, decided",
    "algebra": "computer algebra decided",
}


def explain(gold: str, answer: str, options: MathOptions = DEFAULTS) -> str:
    r"""Return how the verdict on a bare answer came about.

    >>> print(explain("1/2", "0.5"))
    correct: exact rational values decided
      gold   1/2, read as a quotient: 1/2
      answer 0.5, read as a decimal: 1/2
    """
    verdict = judge_answer(gold, answer, options)
    detail = verdict.detail
    reason = detail.get("error") or detail.get("reason") or _RUNGS[str(detail.get("rung"))]
    lines = [f"{verdict.status}: {reason}"]
    for name, text in (("gold", gold), ("answer", answer)):
        shown = detail.get(name)
        if shown is not None:
            lines.append(f"  {name:<6} {text.strip()}, read as {_kind(read(text).tree)}: {shown}")
    if detail.get("undecided"):
        lines.append("  computer algebra reached its deadline, and what is not proved is not paid")
    return "\n".join(lines)


_KINDS = {
    "Number": "an integer", "Decimal": "a decimal", "Recurring": "a recurring decimal",
    "Mixed": "a mixed number", "BaseN": "a number with a base", "Constant": "a constant",
    "Symbol": "a letter", "Add": "a sum", "Neg": "a negative value", "Mul": "a product",
    "Div": "a quotient", "Pow": "a power", "Call": "a function's value",
    "PlusMinus": "two values", "Bracketed": "a tuple or interval", "Set": "a set",
    "List": "a list", "SetOp": "a set operation", "SetBuilder": "a set with a condition",
    "Chain": "an equation or inequality", "Ratio": "a ratio or time", "Matrix": "a matrix",
    "Piecewise": "a piecewise definition", "Quantity": "a value with a unit", "Text": "words",
}  # fmt: skip


def _kind(node: Node) -> str:
    return "nothing readable" if isinstance(node, Unreadable) else _KINDS[type(node).__name__]
