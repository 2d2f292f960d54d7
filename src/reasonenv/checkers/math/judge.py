"""The verdict on a bare answer: limits, readings, options, and what `Verdict.detail` tells."""

from __future__ import annotations

from itertools import permutations

from reasonenv.checkers.math.compare import equal_trees
from reasonenv.checkers.math.evaluated import is_evaluated
from reasonenv.checkers.math.limits import MAX_ANSWER_CHARS, MAX_GOLD_CHARS, MAX_SHOWN_CHARS
from reasonenv.checkers.math.options import DEFAULTS, MathOptions
from reasonenv.checkers.math.printer import show
from reasonenv.checkers.math.rational import rational_or_none
from reasonenv.checkers.math.read import Reading, read
from reasonenv.checkers.math.scalars import Comparison
from reasonenv.checkers.math.slow import WorkerFailedError
from reasonenv.checkers.math.tree import Node, Symbol, Unreadable, rebuild, symbols_of
from reasonenv.types import Status, Verdict

__all__ = ["gold_text", "judge_answer", "verify"]

_CONSTANT_NAMES = frozenset("cCkKAB")
MAX_RENAMED = 3
"""Arbitrary constants that may have other names."""


def verify(gold: str, answer: str) -> bool:
    r"""Whether a bare answer denotes the same object as the gold; False where that is in doubt.

    >>> verify("1/2", "0.5"), verify("\\frac{3}{4}", "6/8"), verify("1/3", "0.33")
    (True, True, False)
    """
    return judge_answer(gold, answer).status is Status.CORRECT


def judge_answer(gold: object, answer: str, options: MathOptions = DEFAULTS) -> Verdict:
    """Return the verdict on a bare answer; never raises, executes nothing.

    Args:
        gold: a str, an int, or a finite float.
        answer: the final answer alone, as extracted.
        options: how to compare.

    Returns:
        CORRECT or INCORRECT with the deciding rung and both normal forms in `detail`; NO_ANSWER for
        an empty answer, MALFORMED for one over the size limits, CHECKER_ERROR for a gold that
        cannot be read (unless the answer spells it alike) and for a worker that died.
    """
    text = gold_text(gold)
    if isinstance(text, Verdict):
        return text
    if not isinstance(answer, str):
        return _limited(
            Status.MALFORMED, repr(answer), f"an answer of type {type(answer).__name__}"
        )
    if len(answer) > MAX_ANSWER_CHARS:
        return _limited(
            Status.MALFORMED, answer, f"an answer of more than {MAX_ANSWER_CHARS} characters"
        )
    try:
        return _judged(text, answer, options)
    except WorkerFailedError as error:
        return Verdict(Status.CHECKER_ERROR, 0.0, answer, {"error": str(error)})
    except Exception as error:  # a fault of the checker is no wrong answer, and no dead run
        reason = f"{type(error).__name__}: {error}"
        if _is_sound(text, options):
            detail = {"rung": "limits", "reason": "unreadable", "fault": reason}
            return Verdict(Status.INCORRECT, 0.0, answer, detail)
        return Verdict(Status.CHECKER_ERROR, 0.0, answer, {"error": reason})


def _is_sound(gold: str, options: MathOptions) -> bool:
    """Whether the gold by itself is judged without a fault, so that a fault is the answer's."""
    try:
        return _judged(gold, f"({gold})", options).status is not Status.CHECKER_ERROR
    except Exception:
        return False


def _judged(text: str, answer: str, options: MathOptions) -> Verdict:
    ours, theirs = read(text), read(answer)
    if not ours.spelling:
        return _unusable_gold(f"nothing is left of the gold {text[:MAX_SHOWN_CHARS]!r}")
    if not theirs.spelling:
        return Verdict(Status.NO_ANSWER, 0.0, None, {"rung": "limits", "reason": "an empty answer"})
    how = Comparison(options)
    equal = _equal(ours, theirs, how)
    if not equal and isinstance(ours.tree, Unreadable):
        return _unusable_gold(f"the gold cannot be read: {text[:MAX_SHOWN_CHARS]!r}")
    detail: dict[str, object] = {
        "rung": how.rung,
        "gold": _shown(ours),
        "answer": _shown(theirs),
    }
    if how.undecided:
        detail["undecided"] = True
    if equal and options.must_be_evaluated and not is_evaluated(theirs.tree):
        equal = False
        detail["reason"] = "the answer is not worked out"
    status = Status.CORRECT if equal else Status.INCORRECT
    return Verdict(status, float(equal), answer, detail)


def gold_text(gold: object) -> str | Verdict:
    """Return the gold as text, or the CHECKER_ERROR that says why it is none."""
    if isinstance(gold, bool) or not isinstance(gold, str | int | float):
        return _unusable_gold(f"a gold is a str, int or float, got {type(gold).__name__}")
    if isinstance(gold, float) and gold - gold != 0.0:  # inf and nan
        return _unusable_gold(f"a float gold is finite, got {gold}")
    if isinstance(gold, int) and gold.bit_length() > 4 * MAX_GOLD_CHARS // 3:
        return _unusable_gold("an int gold has at most 4,000 digits")
    text = gold if isinstance(gold, str) else repr(gold)
    if not text.strip():
        return _unusable_gold("the gold is empty")
    if len(text) > MAX_GOLD_CHARS:
        return _unusable_gold(f"a gold has at most {MAX_GOLD_CHARS} characters, got {len(text)}")
    return text


def _equal(gold: Reading, answer: Reading, how: Comparison) -> bool:
    if gold.currency and answer.currency and gold.currency != answer.currency:
        how.rung = "form"
        return False
    if gold.spelling == answer.spelling:
        how.rung = "string"
        return True
    if gold.choice and answer.choice and (gold.is_letter or answer.is_letter):
        how.rung = "string"
        return gold.choice == answer.choice
    if equal_trees(gold.tree, answer.tree, how):
        return True
    return how.options.renamed_constants and any(
        equal_trees(gold.tree, renamed, how) for renamed in _renamings(gold.tree, answer.tree)
    )


def _renamings(gold: Node, answer: Node) -> list[Node]:
    """Return the answer with its arbitrary constants renamed to the gold's, in every way."""
    ours, theirs = symbols_of(gold), symbols_of(answer)
    wanted, given = sorted(ours - theirs), sorted(theirs - ours)
    if len(wanted) != len(given) or not 0 < len(given) <= MAX_RENAMED:
        return []
    if not all(name.partition("_")[0] in _CONSTANT_NAMES for name in (*wanted, *given)):
        return []
    return [
        _renamed(answer, dict(zip(given, order, strict=True))) for order in permutations(wanted)
    ]


def _renamed(node: Node, names: dict[str, str]) -> Node:
    if isinstance(node, Symbol):
        return Symbol(names.get(node.name, node.name))
    return rebuild(node, lambda child: _renamed(child, names))


def _shown(side: Reading) -> str:
    value = rational_or_none(side.tree)
    if value is None or max(abs(value.numerator), value.denominator) > 10**MAX_SHOWN_CHARS:
        form = show(side.tree)
    else:
        form = str(value)
    return form if len(form) <= MAX_SHOWN_CHARS else form[: MAX_SHOWN_CHARS - 3] + "..."


def _unusable_gold(reason: str) -> Verdict:
    return Verdict(Status.CHECKER_ERROR, 0.0, None, {"error": reason})


def _limited(status: Status, answer: str, reason: str) -> Verdict:
    return Verdict(status, 0.0, answer[:MAX_SHOWN_CHARS], {"rung": "limits", "reason": reason})
