"""The math judge: statuses, places, options, and what its detail tells."""

import pickle
from dataclasses import replace

import pytest

from reasonenv.answer_format import AnswerFormat
from reasonenv.checkers import MathJudge, judge_answer, verify
from reasonenv.checkers.math import MathOptions, accuracy_reward, explain, extract_answer
from reasonenv.checkers.math import slow as slow_module
from reasonenv.checkers.math.limits import MAX_ANSWER_CHARS
from reasonenv.errors import WorkerDied, WorkerTimeout
from reasonenv.types import Problem, Status


def judge(gold, completion, **options):
    return MathJudge(**options)(Problem("?", gold), completion)


def paid(gold, answer, **options):
    return judge_answer(gold, answer, MathOptions(**options)).status is Status.CORRECT


@pytest.mark.parametrize(
    "gold", [None, True, "", "  ", [], float("nan"), float("inf"), "\\boxed{}", "(2,", "\\frac{1}{"]
)
def test_an_unusable_gold_is_a_failed_checker_and_not_a_wrong_answer(gold):
    verdict = judge(gold, "\\boxed{1}")
    assert verdict.status is Status.CHECKER_ERROR
    assert verdict.correct is None
    assert verdict.detail["error"]


def test_an_unreadable_gold_still_equals_its_own_spelling():
    assert (
        judge_answer("\\sum_{k=1}^n k^k", "$\\sum_{k=1}^{n} k^{k}$").status is Status.CHECKER_ERROR
    )
    assert verify("\\sum_{k=1}^n k^k", "$\\sum_{k=1}^n  k^k$")


@pytest.mark.parametrize("gold", [42, 42.0, "42"])
def test_a_gold_may_be_a_number_or_a_text(gold):
    assert judge(gold, "\\boxed{42}").status is Status.CORRECT


def test_a_huge_int_gold_is_refused_before_python_refuses_to_print_it():
    assert judge_answer(10**20_000, "1").status is Status.CHECKER_ERROR


def test_an_answer_over_the_size_limit_is_malformed():
    assert judge("1", "\\boxed{" + "1" * (MAX_ANSWER_CHARS + 1) + "}").status is Status.MALFORMED


def test_an_answer_that_is_no_text_is_malformed():
    assert judge_answer("1", 1).status is Status.MALFORMED


@pytest.mark.parametrize("text", ["", "  \n", "<think>4", "\\boxed{", "\\boxed{}", "The answer is"])
def test_where_nothing_is_answered_the_status_says_so(text):
    assert judge("4", text).status is Status.NO_ANSWER


@pytest.mark.parametrize(
    ("gold", "answer", "rung"),
    [
        ("1/2", "50\\%", "rational"),
        ("x", "$x$", "string"),
        ("(x+1)^2", "x^2+2x+1", "residue"),
        ("1/3", "0.333333", "decimal"),
        ("\\sin 2x", "2\\sin x\\cos x", "numeric"),
        ("(1,2)", "[1,2]", "form"),
    ],
)
def test_the_detail_says_which_rung_decided(gold, answer, rung):
    assert judge_answer(gold, answer).detail["rung"] == rung


def test_the_detail_shows_the_place_and_both_sides():
    detail = judge("1/2", "\\boxed{50\\%}").detail
    assert dict(detail) == {"place": "box", "rung": "rational", "gold": "1/2", "answer": "1/2"}


def test_explain_tells_a_person_how_the_verdict_came_about():
    text = explain("\\sqrt2", "1.414")
    assert text.startswith("incorrect")
    assert "read as a decimal" in text
    assert "a function's value: \\sqrt{2}" in text
    assert "cannot be read" in explain("\\frac{", "1")


def test_strict_counts_only_the_demanded_place():
    layout = AnswerFormat()
    assert judge("4", "\\boxed{4}", strict=True, format=layout).status is Status.NO_ANSWER
    assert judge("4", layout.render("4"), strict=True, format=layout).status is Status.CORRECT
    assert judge("4", "\\boxed{4}", format=layout).status is Status.CORRECT


def test_strict_without_a_format_demands_a_box():
    assert judge("4", "the answer is 4", strict=True).status is Status.NO_ANSWER
    assert judge("4", "the answer is \\boxed{4}", strict=True).status is Status.CORRECT


def test_the_formats_reasoning_is_no_answer():
    text = "<reasoning>\\boxed{4}</reasoning>\n<answer>5</answer>"
    assert judge("4", text, format=AnswerFormat()).status is Status.INCORRECT
    assert judge("5", text, format=AnswerFormat()).status is Status.CORRECT
    assert judge("4", "<reasoning>\\boxed{4}", format=AnswerFormat()).status is Status.NO_ANSWER


def test_tolerance_is_relative_to_the_gold():
    assert not paid("0.67", "2/3")
    assert paid("0.67", "2/3", tolerance=0.01)
    assert paid("6.28", "2\\pi", tolerance=0.001)
    assert not paid("6.28", "6.4", tolerance=0.001)
    assert paid("(0.67, 1)", "(2/3, 1)", tolerance=0.01)
    assert not paid("99999999999", "100000000000", tolerance=0.01)


def test_percent_lenient_ignores_a_sign_that_only_one_side_has():
    assert not paid("5\\%", "5")
    assert paid("5\\%", "5", percent="lenient")
    assert paid("5\\%", "0.05", percent="lenient")
    assert not paid("5\\%", "6", percent="lenient")


def test_units_off_demands_the_unit_on_both_sides():
    assert paid("15", "15 cm")
    assert not paid("15", "15 cm", units=False)
    assert paid("15 cm", "15 cm", units=False)


@pytest.mark.parametrize(
    "answer", ["2^{10}", "1000+24", "2048/2", "\\sqrt{1048576}", "32\\cdot 32"]
)
def test_must_be_evaluated_refuses_what_restates_the_sum(answer):
    assert paid("1024", answer)
    assert not paid("1024", answer, must_be_evaluated=True)


@pytest.mark.parametrize(
    "answer", ["3/4", "0.75", "\\frac{3}{4}", "75\\%", "x=\\frac{3}{4}", "0.75 \\text{ cm}"]
)
def test_must_be_evaluated_takes_every_worked_out_form(answer):
    assert paid("\\frac34", answer, must_be_evaluated=True)
    assert paid("2\\sqrt{3}", "2\\sqrt3", must_be_evaluated=True)
    assert not paid("\\frac34", "\\frac68", must_be_evaluated=True)


def test_renamed_constants_may_have_another_name():
    assert not paid("x^2+C", "x^2+K")
    assert paid("x^2+C", "x^2+K", renamed_constants=True)
    assert paid("Ae^x+Be^{-x}", "C_1e^{x}+C_2e^{-x}", renamed_constants=True)
    assert not paid("x^2+C", "x^2", renamed_constants=True)
    assert not paid("x^2+y", "x^2+z", renamed_constants=True)


@pytest.mark.parametrize("option", [{"percent": "maybe"}, {"tolerance": -1}, {"tolerance": 2}])
def test_an_option_out_of_range_is_refused_at_construction(option):
    with pytest.raises(ValueError, match=next(iter(option))):
        MathJudge(**option)


def test_an_unknown_option_is_refused_with_the_nearest_name():
    with pytest.raises(ValueError, match="did you mean `tolerance`"):
        MathOptions.of({"tolerence": 0.1})


def test_a_judge_pickles():
    judge = MathJudge(strict=True, format=AnswerFormat(), tolerance=0.1)
    assert pickle.loads(pickle.dumps(judge)) == judge
    assert replace(judge, tolerance=0.0) != judge


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("\\boxed{3}, \\boxed{5}", "3, 5"),
        ("\\boxed{3}. Later \\boxed{5}", "5"),
        ("\\boxed{\\frac{a}{\\sqrt{b}}}", "\\frac{a}{\\sqrt{b}}"),
        ("The answer is 72, in total, so she sold that many.", "72"),
        ("<answer> 7 </answer>", "7"),
        ("#### 1,000", "1,000"),
        ('{"answer": "\\\\frac{1}{2}"}', "\\frac{1}{2}"),
    ],
)
def test_the_final_answer_is_found_where_it_stands(text, answer):
    assert extract_answer(text).answer == answer


class Pool:
    def __init__(self, error):
        self.error = error

    def run(self, *arguments, timeout):
        raise self.error


UNDECIDABLE = "5\\ln(\\ln(\\ln(1)))", "\\ln(\\ln(\\ln(1)))"


def test_what_no_worker_decides_in_time_is_wrong_and_says_undecided(monkeypatch):
    monkeypatch.setattr("reasonenv.checkers.pool.default_pool", lambda: Pool(WorkerTimeout("late")))
    verdict = judge_answer(*UNDECIDABLE)
    assert verdict.status is Status.INCORRECT
    assert verdict.detail["undecided"] is True
    assert "deadline" in explain(*UNDECIDABLE)


def test_a_worker_that_dies_again_is_a_failed_checker(monkeypatch):
    monkeypatch.setattr("reasonenv.checkers.pool.default_pool", lambda: Pool(WorkerDied("gone")))
    verdict = judge_answer(*UNDECIDABLE)
    assert verdict.status is Status.CHECKER_ERROR
    assert str(slow_module.ATTEMPTS) in verdict.detail["error"]


def test_a_fault_of_the_checker_is_a_failed_checker(monkeypatch):
    def broken(*arguments):
        raise ArithmeticError("broken")

    monkeypatch.setattr("reasonenv.checkers.math.judge.equal_trees", broken)
    verdict = judge_answer("1/2", "0.5")
    assert verdict.status is Status.CHECKER_ERROR
    assert verdict.detail["error"] == "ArithmeticError: broken"


def test_the_reward_function_has_trls_form():
    chat = [{"role": "assistant", "content": "\\boxed{0.5}"}]
    golds = ["1/2", "so \\boxed{\\frac12}", "2", "\\frac{"]
    completions = [chat, "\\boxed{0.5}", "nothing", "\\boxed{1}"]
    assert accuracy_reward(completions, golds, prompts=None) == [1.0, 1.0, 0.0, None]
