"""What makes a question usable, and golds as labels."""

import pytest

from reasonenv.errors import DataError
from reasonenv.problems import load, to_problem, to_row
from reasonenv.problems.choices import (
    UnusableChoiceError,
    check_choice,
    collisions,
    golds_of,
    labels_of,
    read_choices,
)
from reasonenv.types import Problem

COLOURS = ("red", "blue", "green")


def question(options=COLOURS, answer="B", **metadata):
    if options is not None:
        metadata["options"] = options
    return Problem("Which?", answer, metadata, id="q7")


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (question(None), "it has no options; give them as metadata"),
        (question("red"), "options are a list of texts"),
        (question(["red"]), "2 to 26 options are needed, got 1"),
        (question([]), "2 to 26 options are needed, got 0"),
        (question([f"n{i}" for i in range(27)]), "2 to 26 options are needed, got 27"),
        (question(["red", " "]), "option 2 is a text that is not blank"),
        (question(["red", None]), "option 2 is a text that is not blank, got None"),
        (question(["red", "blue", "red"]), "A and C have the same text, 'red'"),
        (question(["a  cat", "a cat"], "A"), "A and B have the same text"),
        (question(["x" * 3_000_000, "y"], "A"), "option A has 3000000 characters, at most 20000"),
        (question(answer="D"), "the gold 'D' names no option; valid: A, B, C"),
        (question(answer=1), "the gold 1 names no option"),
        (question(answer=""), "the gold '' names no option"),
        (question(["B", "A", "x"]), "the text of option A is 'B', the label of another option"),
        (question(["x", "y", "(a)."]), r"the text of option C is '\(a\)\.', the label of another"),
        (question(["2", "3"], "1", labels=["1", "2"]), "option 1 is '2', the label of another"),
        (question(labels=["P", "Q"]), "each option has one label and no two the same"),
        (question(labels=["P", "p", "Q"]), "each option has one label and no two the same"),
        (question(answer=("A", "B")), "several labels and metadata.'multiple'. go together"),
        (question(answer="A", multiple=True), "several labels and metadata.'multiple'. go togeth"),
        (question(answer=(), multiple=True), "names at least one"),
        (question(answer=("A", "E"), multiple=True), "names no option; valid: A, B, C"),
    ],
)
def test_an_unusable_question_is_refused_with_its_id(problem, message):
    with pytest.raises(UnusableChoiceError, match=f"^problem q7: .*{message}") as caught:
        check_choice(problem)
    assert len(str(caught.value)) < 400  # also where an option is of megabytes


@pytest.mark.parametrize(
    "problem",
    [
        question(),
        question(answer=" b "),
        question(answer=None),
        question(["A", "B", "AB", "O"]),  # blood groups: each letter is its own label
        question(["5", "6"], "Q", labels=["P", "Q"]),
        question(["2", "1"], "A"),  # numbers are no letters
        question(answer=("A", "C"), multiple=True),
        question([f"n{i}" for i in range(26)], "Z"),
        question(["mA", "MA"], "A"),  # case may make the difference
    ],
)
def test_a_usable_question_passes(problem):
    check_choice(problem)


def test_golds_are_places():
    assert golds_of(question()) == (1,)
    assert golds_of(question(answer=("c", "A"), multiple=True)) == (0, 2)
    assert golds_of(question(answer=None)) == ()
    assert labels_of(question(answer="P", labels=["P", "Q", "R"])) == ("P", "Q", "R")


def test_collisions_are_texts_that_are_other_options_labels():
    assert collisions(["B", "x"], ["A", "B"]) == [(0, 1)]
    assert collisions(["a", "b"], ["A", "B"]) == []
    assert collisions(["4", "3"], ["1", "2"]) == []
    assert collisions(["{1}", "$2$", "9"], ["2", "3", "1"]) == [(0, 2), (1, 0)]
    assert collisions(["II", "x"], ["I", "II"]) == [(0, 1)]


@pytest.mark.parametrize(
    ("gold", "start", "letter"), [(0, 0, "A"), (2, 0, "C"), (1, 1, "A"), (3, 1, "C")]
)
def test_integer_golds_are_read_where_it_is_said_from_what_they_count(gold, start, letter):
    assert read_choices(list(COLOURS), gold, "row", counts_from=start)[1] == letter


@pytest.mark.parametrize(("gold", "start"), [(3, 0), (-1, 0), (0, 1), (4, 1), (True, 0), (1, None)])
def test_an_integer_gold_that_is_no_option_is_refused(gold, start):
    with pytest.raises(UnusableChoiceError, match="names no option"):
        read_choices(list(COLOURS), gold, "row", counts_from=start)


def test_a_row_may_have_several_right_options():
    row = {"question": "?", "options": ["2", "4", "5"], "answer": ["B", "A"], "multiple": True}
    problem = to_problem(row)
    assert problem.answer == ("A", "B")
    assert to_problem(to_row(problem)) == problem
    with pytest.raises(DataError, match="with `multiple` the gold is a list of labels, got 'B'"):
        to_problem({**row, "answer": "B"})


def test_a_problem_with_labels_of_its_own_survives_writing_and_reading():
    problem = question(answer="Q", labels=["P", "Q", "R"])
    assert to_problem(to_row(problem)) == problem


ROWS = [
    {"id": "good", "question": "?", "options": ["x", "y"], "answer": "A"},
    {"id": "twins", "question": "?", "options": ["x", "x"], "answer": "A"},
    {"id": "letters", "question": "?", "options": ["B", "A"], "answer": "A"},
]


def test_a_set_with_an_unusable_question_is_refused_with_the_questions_id_and_the_way_round():
    with pytest.raises(DataError, match=r"row 2: .*of problem twins: .*'unusable': 'leave_out'"):
        load("jsonl", data=ROWS)


def test_unusable_questions_can_be_left_out_and_are_counted():
    with pytest.warns(UserWarning, match="2 questions .* are left out .*of problem twins"):
        assert [p.id for p in load("jsonl", data=ROWS, columns={"unusable": "leave_out"})] == [
            "good"
        ]


@pytest.mark.parametrize(
    ("columns", "message"),
    [({"unusable": "drop"}, "raise or leave_out"), ({"counts_from": 2}, "from 0 or 1, got 2")],
)
def test_columns_say_what_they_take(columns, message):
    with pytest.raises(DataError, match=message):
        load("jsonl", data=ROWS, columns=columns)
