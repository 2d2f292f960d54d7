"""Properties: identities keep an answer right, anything else makes it wrong, order is no matter."""

import json
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reasonenv.checkers import MathJudge, judge_answer, verify
from reasonenv.checkers.math.modular import fingerprint
from reasonenv.checkers.math.numeric import decide
from reasonenv.checkers.math.printer import show
from reasonenv.checkers.math.rational import UndefinedError
from reasonenv.checkers.math.tree import (
    Add,
    Call,
    Constant,
    Div,
    Mul,
    Neg,
    Number,
    Pow,
    Symbol,
)
from reasonenv.types import Problem, Status, thaw

ONE, TWO = Number(1), Number(2)
X, Y = Symbol("x"), Symbol("y")

leaves = st.integers(1, 12).map(Number) | st.sampled_from([X, Y, Constant("pi")])


def compound(inner):
    return (
        st.builds(lambda a, b: Add((a, b)), inner, inner)
        | st.builds(lambda a, b: Mul((a, b)), inner, inner)
        | st.builds(lambda a, b: Div(a, Add((Pow(b, TWO), ONE))), inner, inner)
        | st.builds(lambda a, n: Pow(a, Number(n)), inner, st.integers(2, 3))
        | st.builds(Neg, inner)
        | st.builds(lambda a: Call("sqrt", (Add((Pow(a, TWO), ONE)),)), inner)
        | st.builds(lambda a: Call("sin", (a,)), inner)
        | st.builds(lambda a: Call("abs", (a,)), inner)
    )


scalars = st.recursive(leaves, compound, max_leaves=6)


def rewritings(tree):
    """Yield trees that are equal to `tree` by an identity of algebra or trigonometry."""
    yield Add((Number(0), tree))
    yield Mul((tree, ONE))
    yield Neg(Neg(tree))
    yield Div(tree, ONE)
    yield Add((tree, Neg(ONE), ONE))
    yield Div(Mul((tree, Number(7))), Number(7))
    yield Mul((tree, Add((Pow(Call("sin", (X,)), TWO), Pow(Call("cos", (X,)), TWO)))))
    if isinstance(tree, Add):
        yield Add(tree.terms[::-1])
        yield Neg(Add(tuple(Neg(term) for term in tree.terms)))
    if isinstance(tree, Mul):
        yield Mul(tree.factors[::-1])
        first, last = tree.factors[0], tree.factors[-1]
        if isinstance(last, Add):
            yield Add(tuple(Mul((first, term)) for term in last.terms))
    if isinstance(tree, Pow) and tree.exponent == TWO:
        yield Mul((tree.base, tree.base))
    if isinstance(tree, Div):
        yield Mul((tree.top, Pow(tree.bottom, Neg(ONE))))
    if isinstance(tree, Call) and tree.name == "sqrt":
        yield Pow(tree.arguments[0], Div(ONE, TWO))
    if isinstance(tree, Call) and tree.name == "abs":
        yield Call("sqrt", (Pow(tree.arguments[0], TWO),))


def rewritten(tree, data):
    """Rewrite `tree` here, or below."""
    if data.draw(st.booleans()):
        if isinstance(tree, Add):
            return Add((rewritten(tree.terms[0], data), *tree.terms[1:]))
        if isinstance(tree, Mul):
            return Mul((rewritten(tree.factors[0], data), *tree.factors[1:]))
        if isinstance(tree, Call):
            return Call(tree.name, (rewritten(tree.arguments[0], data),))
    return data.draw(st.sampled_from(list(rewritings(tree))))


@settings(max_examples=150, deadline=None)
@given(scalars, st.data())
def test_an_expression_rewritten_by_an_identity_stays_equal(tree, data):
    other = rewritten(rewritten(tree, data), data)
    assert verify(show(tree), show(other))
    assert verify(show(other), show(tree))


@settings(max_examples=150, deadline=None)
@given(scalars, st.data())
def test_an_expression_perturbed_by_a_non_identity_is_not_equal(tree, data):
    size = data.draw(st.sampled_from([ONE, Div(ONE, Number(10**9)), X, Call("cos", (Y,))]))
    other = rewritten(Add((tree, size)), data)
    assert not verify(show(tree), show(other))
    assert not verify(show(other), show(tree))


@settings(max_examples=150, deadline=None)
@given(scalars, scalars)
def test_residues_and_numbers_agree(one, other):
    try:
        ours, theirs = fingerprint(one), fingerprint(other)
    except UndefinedError:
        return
    equal = decide(one, other)
    assume(equal is not None)
    if ours.value == theirs.value:
        assert equal
    elif ours.certain and theirs.certain:
        assert not equal


rationals = st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=997)


def ways(value):
    sign, size = "-" if value < 0 else "", abs(value)
    top, bottom = size.numerator, size.denominator
    yield f"{value.numerator}/{value.denominator}"
    yield f"{sign}\\frac{{{top}}}{{{bottom}}}"
    yield f"$ {sign}\\dfrac{{{3 * top}}}{{{3 * bottom}}} $."
    yield f"\\left({sign}{top}/{bottom}\\right)"
    yield f"{sign}\\frac{{{100 * top}}}{{{bottom}}}\\%"
    yield f"x = {value.numerator}/{value.denominator}"
    if bottom == 1:
        yield f"{value.numerator:,}"
        yield f"{value.numerator}.00 apples"
    elif top > bottom:
        yield f"{sign}{top // bottom}\\frac{{{top % bottom}}}{{{bottom}}}"


@given(rationals, st.data())
def test_a_rational_written_in_two_ways_is_equal(value, data):
    one, other = (data.draw(st.sampled_from(list(ways(value)))) for _ in range(2))
    assert verify(one, other)


@given(rationals, st.data(), st.integers(1, 50), st.sampled_from([1, -1]))
def test_a_perturbed_rational_is_not_equal(value, data, step, sign):
    other = value + Fraction(sign, step)
    one = data.draw(st.sampled_from(list(ways(value))))
    two = data.draw(st.sampled_from(list(ways(other))))
    assert not verify(one, two)
    assert not verify(two, one)


@given(st.integers(-(10**30), 10**30))
def test_integers_have_no_tolerance(value):
    assert verify(str(value), f"{value:,}")
    assert not verify(str(value), str(value + 1))


@given(st.integers(2, 10**4), st.integers(6, 30))
def test_a_decimal_of_enough_right_digits_stands_for_a_surd_and_one_wrong_digit_does_not(n, places):
    from math import isqrt

    assume(isqrt(n) ** 2 != n)
    digits = str(isqrt(n * 10 ** (2 * places)))
    text = f"{digits[:-places]}.{digits[-places:]}"
    assert verify(f"\\sqrt{{{n}}}", text)
    if len(digits) not in (17, 18):  # a float's length: the last two digits are noise
        wrong = f"{text[:-1]}{(int(text[-1]) + 5) % 10}"
        assert not verify(f"\\sqrt{{{n}}}", wrong)


PIECES = ["\\boxed{", "}", "{", "<think>", "</think>", "<answer>", "</answer>", "#### ", "answer: "]
PIECES += ["\\frac", "^", "_", "12", ",", " or ", " and ", "(", ")", "[", "]", "\\{", "\\}", "|"]
PIECES += [
    "\\text{",
    "%",
    "=",
    "\\pm",
    "$",
    "½",
    "²",
    "\\sqrt",
    "\\sin",
    "\\log_2",
    "x",
    "y",
    "\\pi",
]
PIECES += [
    "\\infty",
    "\\le",
    "\\in",
    "\\cup",
    "\\begin{pmatrix}",
    "\\end{pmatrix}",
    "&",
    "\\\\",
    "!",
]
PIECES += ["\\begin{cases}", "\\end{cases}", "1e400", "10^{10^{10}}", "99999999!", "\\binom", ":"]
PIECES += [
    "\\overline",
    "\\bmod",
    "\\gcd",
    "cm",
    " apples",
    "twelve",
    "\\approx",
    "\\mid",
    "'",
    "~",
]
PIECES += ["\\left", "\\right", "f(x)", "\\lfloor", "\\over", "\\choose", "3.5", "0", "e", "i", "+"]
PIECES += ["-", "*", "/", "<", "\n"]
pieces = st.sampled_from(PIECES)
soups = st.lists(pieces | st.text(max_size=3), max_size=20).map(" ".join)
texts = st.text(max_size=50) | soups | st.lists(pieces, max_size=20).map("".join)


@settings(max_examples=400, deadline=None)
@given(texts, texts)
def test_no_text_raises_and_every_verdict_is_plain_and_the_same_twice(gold, completion):
    judge = MathJudge()
    problem = Problem("?", gold)
    verdict = judge(problem, completion)
    assert verdict == judge(problem, completion)
    json.dumps(thaw(verdict.detail), allow_nan=False)
    bare = judge_answer(gold, completion)
    assert bare == judge_answer(gold, completion)
    assert (bare.status is Status.CORRECT) == verify(completion, gold)
    for one in (verdict, bare):  # a failed checker names the gold; anything else would be a fault
        assert one.status.is_evidence or "gold" in one.detail["error"], one


@given(st.text(st.characters(), max_size=40))  # surrogates too
def test_an_answer_equals_itself_or_is_empty(text):
    assert judge_answer(text, text).status in (Status.CORRECT, Status.CHECKER_ERROR)


@pytest.mark.parametrize("text", ["", " ", "$$", "\u200b", "{", "\x00", "\ud800"])
def test_nothing_is_never_equal_to_nothing_else(text):
    assert not verify(text, "0")
    assert not verify("0", text)
