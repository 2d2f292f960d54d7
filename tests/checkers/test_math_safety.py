"""Safety: nothing is executed, nothing hangs, cheap exact comparisons stay exact, imports wait."""

import subprocess
import sys
import time

import pytest

from reasonenv.checkers import MathJudge, judge_answer, verify
from reasonenv.checkers.math import extract_answer
from reasonenv.checkers.math.limits import MAX_ANSWER_CHARS
from reasonenv.checkers.math.slow import decide_in_worker
from reasonenv.checkers.math.symbolic import decide_slowly
from reasonenv.checkers.math.tree import Add, Call, Number, Pow, Symbol
from reasonenv.types import Problem, Status

HANG = 5.0
"""Seconds of CPU; a generous guard, every case here takes milliseconds."""

HOSTILE = ["9^{9^{9^{9}}}", "10**10**10", "1e1000000000", "1e-1000000000", "99999999!", "2^" * 3000]
HOSTILE += ["(" * 5000, "\\frac{1}{" * 1000, "-" * 9000 + "2", "1/" * 1000 + "3", "0^0", "0^{-1}"]
HOSTILE += ["__import__('os').getpid()*0+1", "\\sqrt{" * 1500, "1" * 9000, "0." + "3" * 9000]
HOSTILE += ["{" * 4000 + "5" + "}" * 4000, "|" * 3000, "5" + "!" * 3000, "((((((x)!)!)!)!)!)!"]
HOSTILE += ["2^{2^{100}}", "\\binom{10^9}{5\\cdot 10^8}", "x^{x^{x^{x^x}}}", "(x+y+z)^{500}"]
HOSTILE += ["\\sin(10^{10^5})", "e^{e^{e^{e^e}}}", "\\tan(\\frac{\\pi}{2})", "1,1," * 2000 + "1"]
HOSTILE += [
    "\\ln(\\ln(\\ln(1)))",
    "\\gcd(10^{3000},3)",
    "((1/3)^{1000})^{1000}",
    "\\pm" * 500 + "1",
]
HOSTILE += [
    "1\\pm" * 15 + "1",
    "\\begin{pmatrix}" + "1&" * 1200 + "1\\end{pmatrix}",
    "1:" * 500 + "2",
]
HOSTILE += ["\\text{" * 1000, "\\begin{cases}" * 200, "10^{-10^{10}}", "\\sqrt[10^{9}]{2}"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_answers_are_refused_quickly(text):
    start = time.process_time()
    assert judge_answer("5", text).status in (Status.INCORRECT, Status.NO_ANSWER)
    verdict = judge_answer(text, text + "+1")
    assert verdict.status is not Status.CORRECT
    assert time.process_time() - start < HANG


JUNK = ["a", "\\boxed{", "\\boxed{1} ", "answer is ", "answer: 1\n", "{", "<think>", " ", "\n", "$"]
JUNK += ["*", "1", "#### 1\n", '"answer": "', ". ", "= ", "<answer>", "\\", "\\text{ and }", "((1,"]
JUNK += ["is 1 ", "x = ", '"answer": "1"}', "**", "that x=", "\\boxed{5}, "]


@pytest.mark.parametrize("piece", JUNK)
def test_a_megabyte_of_junk_is_judged_quickly(piece):
    junk = piece * (1_000_000 // len(piece))
    start = time.process_time()
    MathJudge()(Problem("?", "5"), junk)
    extract_answer("\\boxed{5}" + junk)
    judge_answer("5", junk[: MAX_ANSWER_CHARS - 1])
    assert time.process_time() - start < HANG


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("9^{9^{9^9}}", "9^{9^{9^8}}"),
        ("10^{10^{10}}", "10^{10^{10}}+1"),
        ("1/2004!", "1/2006!"),
        ("1e400", "1e401"),
        ("1e-400", "0"),
        ("2^{64}", "18446744073709551617"),
        ("9007199254740993", "9007199254740992"),
        ("\\sqrt{10^{40}+1}", "10^{20}"),
        ("\\sin(\\pi\\cdot 10^{30}+10^{-30})", "0"),
        ("e^{-1000}", "0"),
        ("\\pi", "\\sqrt[4]{\\frac{2143}{22}}"),
        ("e^{\\pi\\sqrt{163}}", "262537412640768744"),
        ("10^{10000}+1", "10^{10000}"),
        ("0." + "3" * 40 + "3", "0." + "3" * 40 + "4"),
        ("\\cosh(300)-\\sinh(300)", "0"),
    ],
)
def test_what_nearly_agrees_is_told_apart(gold, answer):
    assert not verify(gold, answer)
    assert not verify(answer, gold)


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("10^{10^{10}}", "10**10**10"),
        ("5^{5^{5^{5^5}}}-5", "5^{5^{5^{5^5}}} - 5"),
        ("3^{100}", "9^{50}"),
        ("(x+1)^{1000}", "(1+x)^{1000}"),
        ("2005!", "2005\\cdot 2004!"),
        ("\\sqrt[3]{2+\\sqrt5}+\\sqrt[3]{2-\\sqrt5}", "1"),
        ("2^{2^{100}} \\bmod 7", "2"),
    ],
)
def test_what_is_large_and_equal_is_equal(gold, answer):
    assert verify(gold, answer)
    assert verify(answer, gold)


def test_the_algebra_rung_decides_trees_in_a_worker():
    n = Symbol("n")
    double = Add((n, n)), Call("max", (Add((n, n)), Add((n, n))))
    assert decide_slowly(*double)
    assert decide_in_worker(*double) is True
    assert decide_in_worker(n, Add((n, Number(1)))) is False


def test_algebra_that_takes_too_long_is_undecided():
    tower = Number(9)
    for _ in range(4):
        tower = Pow(Number(9), tower)
    assert decide_in_worker(Call("sin", (tower,)), Call("cos", (tower,))) in (None, False)


def test_plain_answers_import_neither_sympy_nor_mpmath():
    code = """
import sys
from reasonenv.checkers import MathJudge, verify
from reasonenv.types import Problem
judge = MathJudge()
assert judge(Problem("?", "72"), "#### 72").correct
assert verify("\\\\frac{1}{2}", "50\\\\%") and not verify("1,234", "1235")
assert verify("x^2-1", "(x-1)(x+1)") and verify("2\\\\sqrt{3}", "\\\\sqrt{12}")
assert verify("[2,5)", "2 \\\\le x < 5") and verify("\\\\{1,2\\\\}", "2, 1")
assert not {"sympy", "mpmath"} & set(sys.modules), "imported"
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.parametrize("gold", ["0.12345678", "123456.789", "1e400", "1.5e-300"])
@pytest.mark.parametrize(
    "answer",
    [
        r"\ln(1000000!)",
        r"(10^7)!+\pi",
        r"\lfloor(1000000)!\rfloor",
        r"\lfloor e^{1000000}\rfloor",
        r"\lfloor(1+\sqrt2)^{10^6}\rfloor",
        r"\arctan(10^{10^7})",
    ],
)
@pytest.mark.timeout(30)
def test_the_digits_of_a_huge_value_are_not_worked_out(gold, answer):
    assert judge_answer(gold, answer).status is Status.INCORRECT


@pytest.mark.timeout(60)
def test_one_deadline_holds_for_a_verdict_of_many_members():
    members = ", ".join(rf"\binom{{n}}{{10^{{{k}}}}}" for k in range(90, 102))
    gold = ", ".join(str(k) for k in range(12))
    assert judge_answer(rf"\{{{gold}\}}", members).status is Status.INCORRECT
