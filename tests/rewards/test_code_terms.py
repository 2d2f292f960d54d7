"""Terms for programs, on verdicts as a judge of programs gives them."""

import ast
import pickle
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonenv.errors import RewardError
from reasonenv.rewards import (
    AllPassed,
    Complexity,
    FractionPassed,
    RarityWeightedTests,
    Syntax,
    from_config,
)
from reasonenv.rewards.triviality import worked_share
from reasonenv.types import Judged, Problem, Rollout, Status, Verdict


def ran(*tests, program="def f(x):\n    return x + 1", problem=None, **detail):
    """Return a judged program whose tests ended as given: 1 or 0 a test, or an outcome's name."""
    names = {1: "passed", 0: "wrong_answer"}
    outcomes = [names.get(test, test) for test in tests]
    share = outcomes.count("passed") / len(outcomes) if outcomes else 0.0
    status = Status.CORRECT if share == 1 else Status.INCORRECT
    problem = problem or Problem("Write f.", ("assert f(1) == 2",), {"entry_point": "f"})
    verdict = Verdict(status, share, program, {"tests": outcomes, **detail})
    return Judged(Rollout(problem, "text"), verdict)


def nothing(status=Status.NO_ANSWER):
    return Judged(Rollout(Problem("p", ()), "text"), Verdict(status))


def values(term, *group):
    return term(list(group)).total.tolist()


@pytest.mark.parametrize(
    ("program", "paid"),
    [
        ("x = 1", 1.0),
        ("def f():\n    pass", 1.0),
        ("", 0.0),
        ("pass", 0.0),
        ("'prose in quotes'", 0.0),
        ("Sure", 0.0),
        ("import os", 0.0),
        ("def f(:", 0.0),
        ("x = '\x00'", 0.0),
        ("x = '\ud800'", 0.0),
        ("x = 1\n" * 50_000, 0.0),
        ("(" * 5_000 + ")" * 5_000, 0.0),
        (None, 0.0),
    ],
)
def test_syntax_is_paid_where_a_program_parses_and_does_something(program, paid):
    assert values(Syntax(), ran(0, program=program)) == [paid]


def test_syntax_is_paid_to_right_programs_and_never_against_the_judges_word():
    assert values(Syntax(), ran(1, program=None)) == [1.0]
    assert values(Syntax(), ran(0, syntax_ok=False), nothing()) == [0.0, 0.0]


def test_all_passed_and_the_fraction_read_the_verdict():
    group = [ran(1, 1), ran(1, 0), ran(0, "timeout"), nothing()]
    assert values(AllPassed(), *group) == [1.0, 0.0, 0.0, 0.0]
    assert values(FractionPassed(), *group) == [1.0, 0.5, 0.0, 0.0]


def test_a_test_that_the_others_pass_weighs_nothing():
    easy, hard = ran(1, 1, 0), ran(1, 0, 1)
    group = [easy, easy, easy, hard]
    # For `hard` the others pass tests 1 and 2 always: only test 3 weighs. For an `easy` one, test 2
    # is passed by 2 of 3 others, test 3 by 1 of 3: weights 0, 1/3, 2/3.
    paid = values(RarityWeightedTests(), *group)
    assert paid == pytest.approx([0.5 / 3, 0.5 / 3, 0.5 / 3, 0.5])


def test_a_steeper_gamma_pays_more_for_the_rarest_test():
    group = [ran(1, 1, 0), ran(1, 0, 1), ran(1, 1, 0)]
    # For the second member: test 2 is passed by both others, test 3 by neither.
    assert values(RarityWeightedTests(), *group)[1] == 0.5
    shallow, steep = (values(RarityWeightedTests(gamma=g), *group)[0] for g in (0.5, 4.0))
    assert shallow == pytest.approx(steep)  # tests 2 and 3 are as rare for the first member
    group.append(ran(0, 1, 0))
    shallow, steep = (values(RarityWeightedTests(gamma=g), *group)[0] for g in (0.5, 4.0))
    assert steep < shallow


def test_without_others_and_where_all_weights_vanish_tests_weigh_the_same():
    assert values(RarityWeightedTests(), ran(1, 0, 0, 0)) == [0.125]
    assert values(RarityWeightedTests(share=1.0), ran(1, 0), ran(1, 1)) == [0.5, 1.0]
    assert values(RarityWeightedTests(), ran(0, 1), ran(1, 1), ran(1, 1))[1:] == [1.0, 1.0]


def test_members_without_tests_pass_none_of_them():
    assert values(RarityWeightedTests(), nothing(), nothing()) == [0.0, 0.0]
    paid = values(RarityWeightedTests(), nothing(), ran(1, 0), nothing(Status.MALFORMED))
    assert paid == [0.0, 0.25, 0.0]


def test_a_member_whose_checker_failed_weighs_no_test():
    failed = nothing(Status.SANDBOX_UNAVAILABLE)
    paid = RarityWeightedTests()([ran(1, 0), failed, ran(0, 1)]).total
    assert paid.tolist()[::2] == [0.5, 0.5]
    assert np.isnan(paid[1])


OUTCOMES = st.lists(st.sampled_from([0, 1, "timeout", "ValueError", "not_run"]), min_size=1)


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(
            st.lists(st.sampled_from([0, 1, "timeout"]), min_size=n, max_size=n), min_size=1
        )
    ),
    st.floats(0.1, 8),
    st.floats(0, 1),
)
def test_rarity_stays_in_its_range_and_right_programs_earn_one(rows, gamma, share):
    group = [ran(*row) for row in rows]
    term = RarityWeightedTests(gamma=gamma, share=share)
    for paid, row in zip(values(term, *group), rows, strict=True):
        assert paid == 1.0 if set(row) == {1} else paid <= share + 1e-9
    # The order of the members, and of the tests, is nobody's business.
    turned = values(term, *(ran(*reversed(row)) for row in reversed(rows)))
    assert turned[::-1] == pytest.approx(values(term, *group))


@given(st.lists(OUTCOMES, min_size=1, max_size=5), st.integers(0, 4))
def test_passing_one_more_test_never_earns_less(rows, which):
    width = min(map(len, rows))
    rows = [row[:width] for row in rows]
    which %= width
    better = [list(row) for row in rows]
    better[0][which] = 1
    for term in (FractionPassed(), AllPassed(), RarityWeightedTests()):
        before = values(term, *(ran(*row) for row in rows))[0]
        assert values(term, *(ran(*row) for row in better))[0] >= before - 1e-12


WORKED = {
    "a formula": "def f(n):\n    return n * 2",
    "a loop with constants behind conditions": (
        "def f(n):\n    if n < 2:\n        return False\n    for i in range(2, n):\n"
        "        if n % i == 0:\n            return False\n    return True"
    ),
    "base cases": (
        "def f(n):\n    if n == 0:\n        return 0\n    if n == 1:\n        return 1\n"
        "    return f(n - 1) + f(n - 2)"
    ),
    "a counter": "def f(s):\n    k = 0\n    for c in s:\n        k += 1\n    return k",
    "an early return": "def f(xs):\n    if not xs:\n        return 0\n    return max(xs)",
    "sorted in place": "def f(xs):\n    xs.sort()\n    return xs",
    "in place, without a result": "def f(xs):\n    xs.reverse()",
    "a table that is walked": (
        "R = {'I': 1, 'V': 5, 'X': 10, 'L': 50}\ndef f(s):\n    total = 0\n"
        "    for c in s:\n        total += R[c]\n    return total"
    ),
    "a generator": "def f(n):\n    for i in range(n):\n        yield i * i",
    "a method": "class Solution:\n    def f(self, a, b):\n        return a + b",
    "a conditional expression": "def f(n):\n    return 'even' if n % 2 == 0 else 'odd'",
    "a helper": "def g(n):\n    return n + 1\ndef f(n):\n    return g(n)",
    "a comparison of what was computed": (
        "def f(a, b):\n    c = a * b\n    if c == 0:\n        return 'No'\n    else:\n"
        "        return 'Yes'"
    ),
    "a table that grows": (
        "def f(n):\n    r = [0, 0, 2, 0]\n    if n < 4:\n        return r[n]\n"
        "    for i in range(n):\n        r.append(r[-1] + r[-2])\n    return r[-1]"
    ),
    "any and all": "def f(xs):\n    return any(x < 0 for x in xs)",
}
TRIVIAL = {
    "nothing": "def f(n):\n    pass",
    "a docstring": "def f(n):\n    '''Doubles.'''",
    "not implemented": "def f(n):\n    raise NotImplementedError",
    "none": "def f(n):\n    return None",
    "a constant": "def f(n):\n    return 4",
    "an echo": "def f(n):\n    return n",
    "a table": "def f(n):\n    return {1: 2, 2: 4, 3: 6}[n]",
    "a table with a default": "def f(n):\n    return {1: 2, 2: 4, 3: 6}.get(n, 0)",
    "a table with a name": "T = {1: 2, 2: 4, 3: 6}\ndef f(n):\n    return T[n]",
    "a table of tuples": "def f(a, b):\n    return {(1, 2): 3, (2, 2): 4, (0, 0): 0}[a, b]",
    "a table behind a check": "T = {1: 2}\ndef f(n):\n if n in T: return T[n]\n return 0",
    "conditions": "def f(n):\n if n == 1: return 2\n elif n == 2: return 4\n return 6",
    "conditions in one line": "def f(n):\n    return 2 if n == 1 else 4 if n == 2 else 6",
    "a match": "def f(n):\n match n:\n  case 1: return 2\n  case _: return 4",
    "caught": "def f(n):\n    try:\n        return 4\n    except Exception:\n        return 0",
    "a helper that is never called": "def g(n):\n    return n * 2\ndef f(n):\n    return 4",
}  # fmt: skip


@pytest.mark.parametrize("program", WORKED.values(), ids=WORKED)
def test_programs_that_work_their_results_out_are_paid_in_full(program):
    assert values(Complexity(), ran(0, program=program)) == [1.0]


@pytest.mark.parametrize("program", TRIVIAL.values(), ids=TRIVIAL)
def test_trivial_and_hard_coded_programs_are_paid_nothing(program):
    assert values(Complexity(), ran(1, program=program)) == [0.0]


def test_a_solution_beside_a_table_of_answers_is_paid_in_part():
    cases = "".join(f"    if n == {k}:\n        return {k * 7}\n" for k in range(12))
    program = f"def f(n):\n{cases}    return n * 2"
    assert values(Complexity(), ran(0, program=program)) == [pytest.approx(1 / 11)]
    assert values(Complexity(free=12), ran(0, program=program)) == [1.0]


STDIO = Problem("Print.", ({"input": "1", "output": "2"},), {"kind": "stdio"})


@pytest.mark.parametrize(
    ("program", "paid"),
    [
        ("n = int(input())\nprint(n * 2)", 1.0),
        ("import sys\nprint(sum(map(int, sys.stdin.read().split())))", 1.0),
        ("for line in open(0):\n    print(line.strip()[::-1])", 1.0),
        ("n = int(input())\nprint('YES' if n % 2 else 'NO')", 1.0),
        ("def solve():\n    n = int(input())\n    print(n * 2)\nsolve()", 1.0),
        ("a, b = map(int, input().split())\na += b\nprint('YES' if a == 5 else 'NO')", 1.0),
        ("print(4)", 0.0),
        ("a, b = map(int, input().split())\nprint(3 if (a, b) == (1, 2) else 7)", 0.0),
        ("n = input()\nprint({'1': '2', '3': '6'}[n])", 0.0),
        ("n = input()\nif n == '1':\n    print(2)\nelse:\n    print(4)", 0.0),
    ],
)
def test_whole_programs_are_read_by_what_they_print(program, paid):
    assert values(Complexity(), ran(0, program=program, problem=STDIO)) == [paid]


def test_padding_earns_nothing():
    hard = "def f(n):\n    return 4"
    padded = "def f(n):\n    k = n\n    for i in range(n):\n        k += i\n    return 4"
    assert values(Complexity(), ran(0, program=hard), ran(0, program=padded)) == [0.0, 0.0]


@pytest.mark.parametrize(
    "program",
    [
        "def f(n):\n if n: return 0\n" + "".join(f" elif n == {i}: return 1\n" for i in range(900)),
        "def f(n):\n    return " + "+".join(["n"] * 20_000),
        "def f(n):\n    return " + "-" * 90 + "n",
        "x = " + "[" * 90 + "]" * 90,
        "\n".join(f"a{i} = a{i + 1}" for i in range(4_000)),
        "def f(n):\n    return lambda: " * 1 + "lambda: " * 500 + "n",
        "\x00",
        "",
        None,
    ],
)  # fmt: skip
def test_no_program_takes_long_or_raises(program):
    started = time.process_time()
    (paid,) = values(Complexity(), ran(0, program=program))
    assert 0 <= paid <= 1
    assert time.process_time() - started < 5


@given(st.text(max_size=60))
def test_any_text_has_a_complexity_and_a_syntax(text):
    for term in (Complexity(), Syntax()):
        assert 0 <= values(term, ran(0, program=text))[0] <= 1


def test_results_of_all_functions_count_where_no_entry_point_is_known():
    tree = ast.parse("def a(n):\n    return 4\ndef b(n):\n    return n + 1")
    assert worked_share(tree, free=0) == 0.5
    assert worked_share(tree, free=0, entry_point="b") == 1.0


@pytest.mark.parametrize(
    "term",
    [Syntax(), AllPassed(), FractionPassed(), RarityWeightedTests(2.0, share=0.25), Complexity(1)],
)
def test_code_terms_travel_as_formulas_configs_and_pickles(term):
    assert from_config(repr(term)) == from_config(term.to_config()) == term
    assert pickle.loads(pickle.dumps(term)) == term


def test_the_studys_reward_for_programs_can_be_written_down():
    reward = from_config(
        "Correct() + Complexity() + 0.5 * TagCount('reasoning', 'answer') + 0.5 * Syntax()"
    )
    assert reward.range(correct=True) == (1.5, 3.0)
    assert "correctness does not dominate" in reward.warnings()[0]


@pytest.mark.parametrize(
    "formula",
    [
        "RarityWeightedTests(gamma=0)",
        "RarityWeightedTests(gamma='steep')",
        "RarityWeightedTests(share=1.5)",
        "Complexity(free=-1)",
        "Complexity(free=1.5)",
        "Syntax(3)",
    ],
)
def test_arguments_that_mean_nothing_are_refused(formula):
    with pytest.raises(RewardError):
        from_config(formula)
