"""Reading and printing: one grammar, every tree printed so that it is read back, no text raises."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasonenv.checkers.math.limits import MAX_DEPTH, MAX_TOKENS
from reasonenv.checkers.math.printer import show
from reasonenv.checkers.math.read import read
from reasonenv.checkers.math.tree import (
    Add,
    BaseN,
    Bracketed,
    Call,
    Chain,
    Constant,
    Decimal,
    Div,
    List,
    Matrix,
    Mixed,
    Mul,
    Neg,
    Number,
    Piecewise,
    PlusMinus,
    Pow,
    Quantity,
    Ratio,
    Recurring,
    Set,
    SetBuilder,
    SetOp,
    Symbol,
    Text,
    Unreadable,
)

x, y, n = Symbol("x"), Symbol("y"), Symbol("n")
one, two = Number(1), Number(2)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("-2^2", Neg(Pow(two, two))),
        ("2^{3^2}", Pow(two, Pow(Number(3), two))),
        ("2^3^2", Pow(two, Pow(Number(3), two))),
        ("x/2/y", Div(x, Mul((two, y)))),
        ("1/2x", Div(Mul((one, x)), two)),
        ("\\frac12", Div(one, two)),
        ("\\frac{1}2", Div(one, two)),
        ("2\\sqrt3", Mul((two, Call("sqrt", (Number(3),))))),
        ("\\sqrt12", Call("sqrt", (Number(12),))),
        ("\\sin x^2", Call("sin", (Pow(x, two),))),
        ("\\sin(x)^2", Pow(Call("sin", (x,)), two)),
        ("\\sin^2 x", Pow(Call("sin", (x,)), two)),
        ("\\tan^{-1}x", Call("arctan", (x,))),
        ("\\sin 2x\\cos x", Mul((Call("sin", (Mul((two, x)),)), Call("cos", (x,))))),
        ("\\log_28", Call("log", (Number(8), two))),
        ("3\\frac{1}{2}", Mixed(3, 1, 2)),
        ("3 1/2", Mixed(3, 1, 2)),
        ("31/2", Div(Number(31), two)),
        ("0.1\\overline{6}", Recurring("0", "1", "6")),
        ("1011_{two}", BaseN("1011", 2)),
        ("1,234,567", Number(1234567)),
        ("1,2", List((one, two))),
        ("(1,234)", Bracketed("()", (one, Number(234)))),
        ("1.5E-3", Decimal(15, 4)),
        ("x_{10}", Symbol("x_10")),
        ("f(x)", Call("f", (x,))),
        ("n(n+1)", Mul((n, Add((n, one))))),
        ("I(0)", Call("I", (Number(0),))),
        ("ab^2", Mul((Symbol("a"), Pow(Symbol("b"), two)))),
        ("|x|", Call("abs", (x,))),
        ("{3 \\over 4}", Div(Number(3), Number(4))),
        ("{5 \\choose 2}", Call("binomial", (Number(5), two))),
        ("\\{1,2\\}", Set((one, two))),
        ("{1,2}", Set((one, two))),
        ("{42}", Number(42)),
        ("[1,2)", Bracketed("[)", (one, two))),
        ("1\\pm x", PlusMinus(one, x)),
        ("x \\le 2", Chain(("<=",), (x, two))),
        ("\\{x : x>2\\}", SetBuilder(x, Chain((">",), (x, two)))),
        ("\\{x | x>2\\}", SetBuilder(x, Chain((">",), (x, two)))),
        ("[1,2]\\cup\\{3\\}", SetOp("cup", (Bracketed("[]", (one, two)), Set((Number(3),))))),
        ("3:2", Ratio((Number(3), two))),
        ("15\\text{ cm}^2", Quantity(Number(15), "cm^2")),
        ("60 \\frac{\\text{miles}}{\\text{hour}}", Quantity(Number(60), "h^-1 mi")),
        ("12dollars", Quantity(Number(12), "dollar")),
        ("5x", Mul((Number(5), x))),
        ("twenty-one", Number(21)),
        ("June 20", Text("June 20")),
        ("x²", Pow(x, two)),
        ("½", Div(one, two)),
        ("\\begin{pmatrix}1&2\\end{pmatrix}", Matrix(((one, two),))),
        (
            "\\begin{cases}x&\\text{if }x>2\\\\1&\\text{otherwise}\\end{cases}",
            Piecewise(((x, Chain((">",), (x, two))), (one, Text("otherwise")))),
        ),
    ],
)
def test_a_text_is_read_as_the_grammar_says(text, tree):
    assert read(text).tree == tree


@pytest.mark.parametrize(
    "text",
    ["5+", "528_8",
     "(5", "\\frac{5}", "\\frac{}{}", "5 5", "5.5.5", "4 10/3", "--2", "x^", "\\sqrt{}",
     "2,", "(1,2", "\\begin{pmatrix}1&2\\\\3\\end{pmatrix}", "1/2%", "\\foo", "x+-*y", "e_{}"],
)  # fmt: skip
def test_what_no_rule_reads_is_unreadable(text):
    assert isinstance(read(text).tree, Unreadable)


@pytest.mark.parametrize(
    "text", ["(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH, "1+" * MAX_TOKENS + "1", "2^" * 500 + "2"]
)
def test_what_is_over_the_limits_is_unreadable(text):
    assert isinstance(read(text).tree, Unreadable)


@pytest.mark.parametrize(
    ("one", "other"),
    [("$x+1$", "x + 1"), ("\\left(x\\right)", "(x)"), ("\\dfrac{1}{2}", "\\tfrac{1}{2}"),
     ("x\\,y", "x y"), ("\\mathrm{d}", "d"), ("\\displaystyle 2", "2"), ("−1", "-1")],
)  # fmt: skip
def test_looks_do_not_change_the_spelling(one, other):
    assert read(one).spelling == read(other).spelling


numbers = st.integers(0, 10**9).map(Number)
digits = st.text("0123456789", min_size=1, max_size=4)
leaves = (
    numbers
    | st.sampled_from(["x", "y", "n", "a_1", "x_max", "\\alpha", "\\theta_2", "y'"]).map(Symbol)
    | st.sampled_from(["pi", "e", "i", "inf"]).map(Constant)
    | st.builds(Decimal, st.integers(0, 10**8), st.integers(1, 12))
    | st.builds(Recurring, digits, st.just("") | digits, digits)
    | st.builds(lambda w, t: Mixed(w, t, t + 2), st.integers(1, 50), st.integers(1, 50))
    | st.builds(BaseN, st.text("01", min_size=1, max_size=9), st.integers(2, 36))
)
FUNCTIONS = ["sin", "cos", "arctan", "ln", "sqrt", "abs", "floor", "ceil", "factorial", "f", "det"]


def compound(inner):
    several = st.lists(inner, min_size=2, max_size=4).map(tuple)
    return (
        st.builds(Add, several)
        | st.builds(Mul, several)
        | st.builds(Div, inner, inner)
        | st.builds(Pow, inner, inner)
        | st.builds(Neg, inner)
        | st.builds(lambda name, a: Call(name, (a,)), st.sampled_from(FUNCTIONS), inner)
        | st.builds(lambda a, b: Call("log", (a, b)), inner, inner)
        | st.builds(lambda a, b: Call("root", (a, b)), inner, inner)
        | st.builds(lambda a, b: Call("binomial", (a, b)), inner, inner)
        | st.builds(lambda a, b: Call("mod", (a, b)), inner, inner)
        | st.builds(PlusMinus, inner, inner, st.booleans())
    )


scalars = st.recursive(leaves, compound, max_leaves=12)
items = st.lists(scalars, min_size=2, max_size=4).map(tuple)
relations = st.sampled_from(["=", "<", ">", "<=", ">=", "!="])
sets = st.builds(Bracketed, st.sampled_from(["()", "[]", "(]", "[)"]), items) | st.builds(
    Set, st.lists(scalars, max_size=3).map(tuple)
)
chains = st.builds(lambda op, a, b: Chain((op,), (a, b)), relations, scalars, scalars)
pairs_of_sets = st.lists(sets, min_size=2, max_size=3).map(tuple)
rows = st.lists(st.tuples(scalars, scalars), min_size=1, max_size=3).map(tuple)
cases = st.lists(st.tuples(scalars, chains), min_size=1, max_size=3).map(tuple)
units = st.sampled_from(["cm", "ft^2", "h^-1 mi", "apple"])
structures = (
    sets
    | chains
    | st.builds(List, items, st.sampled_from([",", "and", "or"]))
    | st.builds(SetOp, st.sampled_from(["cup", "cap"]), pairs_of_sets)
    | st.builds(SetBuilder, st.just(x), chains)
    | st.builds(Matrix, rows)
    | st.builds(Piecewise, cases)
    | st.builds(Quantity, numbers, units)
)


@settings(max_examples=300, deadline=None)
@given(scalars | structures)
def test_a_printed_tree_is_read_as_the_same_tree(tree):
    assert read(show(tree)).tree == tree
