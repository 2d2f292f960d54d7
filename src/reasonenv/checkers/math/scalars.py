"""The ladder for two scalars: form, exact rationals, residues, decimals, numbers, algebra."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from reasonenv.checkers.math.decimals import same_float, stands_for, written
from reasonenv.checkers.math.modular import fingerprint
from reasonenv.checkers.math.options import DEFAULTS, MathOptions
from reasonenv.checkers.math.rational import (
    NotRationalError,
    Rational,
    UndefinedError,
    rational,
    rational_or_none,
)
from reasonenv.checkers.math.slow import decide_in_worker
from reasonenv.checkers.math.tree import (
    BaseN,
    Call,
    Constant,
    Neg,
    Node,
    Number,
    Symbol,
    contains,
    rebuild,
    symbols_of,
)
from reasonenv.checkers.math.vocabulary import KNOWN_FUNCTIONS

__all__ = ["RUNGS", "Comparison", "constant_value", "equal_scalars"]

RUNGS = ("limits", "string", "form", "rational", "residue", "decimal", "numeric", "algebra")
"""The rungs of the ladder, cheapest first."""
_VALUE_BITS = 200
_DECIMAL_BITS_PER_DIGIT = 4


@dataclass(slots=True)
class Comparison:
    """What one comparison may do and what it needed.

    Attributes:
        options: how to compare.
        rung: the dearest rung that was needed.
        undecided: whether the last rung ran out of time: what the answer caused.
    """

    options: MathOptions = DEFAULTS
    rung: str = "form"
    undecided: bool = False

    def used(self, rung: str) -> None:
        """Remember that a rung was needed."""
        if RUNGS.index(rung) > RUNGS.index(self.rung):
            self.rung = rung


def equal_scalars(gold: Node, answer: Node, how: Comparison) -> bool:
    """Whether two scalars are equal; what cannot be proved equal is not."""
    if gold == answer:
        return True
    if how.options.percent == "lenient":
        gold, answer = _without_percent(gold, answer)
    based = _equal_base_n(gold, answer)
    if based is not None:
        return based
    if isinstance(gold, Symbol) and isinstance(answer, Symbol):
        return False
    infinite = _infinity(gold), _infinity(answer)
    if infinite != (0, 0):
        return infinite[0] == infinite[1]
    try:
        return _ladder(gold, answer, how)
    except UndefinedError:
        return False


def _ladder(gold: Node, answer: Node, how: Comparison) -> bool:
    ours, theirs = _rational(gold), _rational(answer)
    if ours is not None and theirs is not None:
        how.used("rational")
        return ours == theirs or _close(gold, answer, ours, theirs, how)
    one, other = fingerprint(gold), fingerprint(answer)
    if one.value is None or other.value is None:
        return False
    if one.value == other.value:
        how.used("residue")
        return True
    if _has_decimal(gold) or _has_decimal(answer) or how.options.tolerance:
        decided = _by_digits(gold, answer, ours, theirs, how)
        if decided:
            return True
    if one.certain and other.certain:
        how.used("residue")
        return False
    return _numeric(gold, answer, how)


def _numeric(gold: Node, answer: Node, how: Comparison) -> bool:
    from reasonenv.checkers.math.numeric import decide  # imports mpmath: only when needed

    how.used("numeric")
    gold, answer = _with_letters(gold), _with_letters(answer)
    equal = decide(gold, answer)
    if equal is not None:
        return equal
    if symbols_of(gold) != symbols_of(answer):
        return False
    how.used("algebra")
    if how.undecided:
        return False  # one deadline for a verdict, however many members it compares
    decided = decide_in_worker(gold, answer)
    if decided is None:
        how.undecided = True
    return decided is True


def _with_letters(node: Node) -> Node:
    """Return `node` with the values of unknown functions as letters, equal ones as the same."""
    if isinstance(node, Call) and node.name not in KNOWN_FUNCTIONS:
        values = [fingerprint(argument).value for argument in node.arguments]
        return Symbol(f"{node.name}{values}")
    return rebuild(node, _with_letters) if contains(node, Call) else node


def _rational(node: Node) -> Rational | None:
    try:
        return rational(node)
    except NotRationalError:
        return None


def _close(gold: Node, answer: Node, ours: Rational, theirs: Rational, how: Comparison) -> bool:
    """Whether two unequal rationals match as decimals do (P3) or within the tolerance."""
    if _within(how.options.tolerance, ours, theirs):
        how.used("decimal")
        return True
    one, other = written(gold), written(answer)
    if one is None and other is None:
        return False
    how.used("decimal")
    if one is not None and other is not None:
        return same_float(one, other)
    return stands_for(one, theirs) if one is not None else stands_for(other, ours)  # type: ignore[arg-type]


def _within(tolerance: float, gold: Rational, answer: Rational) -> bool:
    """Whether an answer is within the relative tolerance of a gold; an integer has none (P3)."""
    if not tolerance or Fraction(gold).denominator == 1:
        return False
    return abs(Fraction(gold) - answer) <= Fraction(tolerance) * abs(Fraction(gold))


def _by_digits(
    gold: Node, answer: Node, ours: Rational | None, theirs: Rational | None, how: Comparison
) -> bool:
    """Whether a decimal stands for an irrational constant, or two constants are close enough."""
    one, other = written(gold), written(answer)
    digits = max((w.digits for w in (one, other) if w is not None), default=0)
    ours = constant_value(gold, _DECIMAL_BITS_PER_DIGIT * digits) if ours is None else ours
    theirs = constant_value(answer, _DECIMAL_BITS_PER_DIGIT * digits) if theirs is None else theirs
    if ours is None or theirs is None:
        return False
    how.used("decimal")
    if _within(how.options.tolerance, ours, theirs):
        return True
    if one is not None:
        return stands_for(one, theirs)
    return other is not None and stands_for(other, ours)


def constant_value(node: Node, bits: int = 0) -> Rational | None:
    """Return the real value of a constant, exact or to at least 200 bits; None if it has none."""
    exact = rational_or_none(node)
    if exact is not None or contains(node, Symbol):
        return exact
    from reasonenv.checkers.math.kernels import to_fraction
    from reasonenv.checkers.math.numeric import value_of

    value = value_of(node, _VALUE_BITS + bits)
    return to_fraction(value) if value is not None else None


def _has_decimal(node: Node) -> bool:
    return written(node) is not None


def _without_percent(gold: Node, answer: Node) -> tuple[Node, Node]:
    ours = isinstance(gold, Call) and gold.name == "percent"
    theirs = isinstance(answer, Call) and answer.name == "percent"
    if ours == theirs:
        return gold, answer
    marked, plain = (gold, answer) if ours else (answer, gold)
    assert isinstance(marked, Call)
    value, number = rational_or_none(marked), rational_or_none(plain)
    if value is not None and value == number:
        return gold, answer  # 50% is 0.5 in any mode
    return (marked.arguments[0], plain) if ours else (plain, marked.arguments[0])


def _equal_base_n(gold: Node, answer: Node) -> bool | None:
    """Compare digits with a base as subscript; None where no side has one (P11)."""
    if not isinstance(gold, BaseN) and not isinstance(answer, BaseN):
        return None
    if isinstance(gold, BaseN) and isinstance(answer, BaseN):
        return gold.base == answer.base and gold.digits.lstrip("0") == answer.digits.lstrip("0")
    based, plain = (gold, answer) if isinstance(gold, BaseN) else (answer, gold)
    assert isinstance(based, BaseN)
    return isinstance(plain, Number) and str(plain.value) == (based.digits.lstrip("0") or "0")


def _infinity(node: Node) -> int:
    """Return 1, -1 or 0: whether a side is plus or minus infinity, or neither."""
    if isinstance(node, Neg):
        return -_infinity(node.value)
    return 1 if node == Constant("inf") else 0
