"""Golds at the end of worked solutions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonenv.errors import DataError
from reasonenv.problems import Columns, from_rows
from reasonenv.problems.golds import boxed_answer, read_gold, stated_answer


@pytest.mark.parametrize(
    ("solution", "gold"),
    [
        (r"Thus $\boxed{\frac{1}{2}}$.", r"\frac{1}{2}"),
        (r"\boxed{1} and then \boxed{2}", "2"),
        (r"\boxed{\boxed{5}}", "5"),
        (r"so $\boxed 7$.", "7"),
        (r"\boxed{1}, no, \boxed 7", "7"),
        (r"\boxed 7, no, \boxed{1}", "1"),
        (r"\fbox{ 3 }", "3"),
        ("no box", ""),
        (r"it never closes: \boxed{3", ""),
        (r"\boxed{}", ""),
    ],
)
def test_the_last_box_holds_the_gold(solution, gold):
    assert boxed_answer(solution) == gold


@pytest.mark.parametrize(
    ("solution", "gold"),
    [
        ("It is 3.\nThe answer is: 10", "10"),
        ("The answer is 4. No.\nThe final answer is: $x = 2$", "$x = 2$"),
        ("the answer is: 1,000\nQ.E.D.", "1,000"),
        ("The answer is:", ""),
        ("The answers are 1 and 2", ""),
    ],
)
def test_the_last_statement_holds_the_gold(solution, gold):
    assert stated_answer(solution) == gold


def test_a_solution_without_a_gold_is_refused_with_its_end():
    with pytest.raises(DataError, match=r"row 3: the gold stands in the last .*'no box'.*no_gold"):
        read_gold("no box", "boxed", "row 3")
    assert read_gold("no box", "boxed", optional=True) == ""


def test_an_unknown_form_gets_a_suggestion():
    with pytest.raises(DataError, match=r"did you mean `boxed`"):
        read_gold("1", "box")
    with pytest.raises(DataError, match=r"columns: a gold is not read as 'box'.*`boxed`"):
        Columns(gold="box")
    with pytest.raises(DataError, match=r"`gold` is one of auto, boxed, stated"):
        Columns.of({"gold": ["boxed"]})


def test_a_file_in_maths_format_is_read_by_naming_its_columns():
    rows = [{"problem": "?", "level": "Level 5", "type": "Algebra", "solution": r"\boxed{1}"}]
    columns = {"answer": "solution", "gold": "boxed", "leave_out": ["level"]}
    problem = from_rows(rows, columns=columns)[0]
    assert problem.answer == "1"
    assert dict(problem.metadata) == {"type": "Algebra", "solution": r"\boxed{1}"}


def test_a_further_column_holds_the_bare_gold():
    columns = {"answer": ["solution", "answer"], "gold": "boxed"}
    assert from_rows([{"question": "?", "answer": "3"}], columns=columns)[0].answer == "3"


def test_a_file_in_which_no_row_has_a_gold_is_no_problem_set():
    with (
        pytest.warns(UserWarning, match="1 rows without a gold"),
        pytest.raises(DataError, match="no problem in it"),
    ):
        from_rows([{"question": "?", "answer": "None"}], columns={"no_gold": ["None"]})


@given(st.text(alphabet="ab{}\\ 1", max_size=40))
def test_any_text_is_read_without_an_exception(text):
    assert isinstance(boxed_answer(text), str)
    assert isinstance(stated_answer(text), str)


@given(st.text(alphabet="ab1+^ ", min_size=1, max_size=20).map(str.strip).filter(bool))
def test_what_is_boxed_is_read_back(gold):
    assert boxed_answer(f"So \\boxed{{{gold}}} it is.") == gold
