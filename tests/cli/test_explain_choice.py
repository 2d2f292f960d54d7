"""`reasonenv explain choice`: what it prints, and what it refuses."""

import pytest

from reasonenv.checkers.choice import explain

OPTIONS = ["Sydney", "Canberra", "Melbourne", "Perth"]
FLAGS = [part for text in OPTIONS for part in ("--option", text)]


def test_anchor_span_letter_and_text_are_shown_as_the_library_does(reasonenv_cli):
    said = reasonenv_cli("explain", "choice", "B", "Not A. Answer: (b)", *FLAGS)
    assert said.code == 0
    assert said.out.strip() == explain("Not A. Answer: (b)", OPTIONS, "B")
    for line in ("correct: B, said by its label", "span   7 to 18: (b)", "text   Canberra"):
        assert line in said.out


def test_what_is_no_answer_is_told_from_what_is_malformed(reasonenv_cli):
    assert reasonenv_cli("explain", "choice", "B", "I cannot tell.", *FLAGS).out.startswith(
        "no_answer: no answer stated"
    )
    assert reasonenv_cli("explain", "choice", "B", "Answer: A or B", *FLAGS).out.startswith(
        "malformed: several labels"
    )


def test_a_bare_list_of_the_options_is_called_that(reasonenv_cli):
    listed = "\n".join(f"{a}. {b}" for a, b in zip("ABCD", OPTIONS, strict=True))
    said = reasonenv_cli("explain", "choice", "B", listed, *FLAGS)
    assert said.out.startswith("malformed: the options told again")


def test_labels_and_several_golds_reach_the_judge(reasonenv_cli):
    labels = [part for label in ("1", "2", "3", "4") for part in ("--label", label)]
    said = reasonenv_cli(
        "explain", "choice", "2,3", "Answer: 2 and 3", *FLAGS, *labels, "--multiple"
    )
    assert said.out.startswith("correct: 2,3")


def test_a_whole_completion_is_read_from_a_file(reasonenv_cli, tmp_path):
    file = tmp_path / "reply.txt"
    file.write_text("Let us see.\n\nAnswer: C")
    said = reasonenv_cli("explain", "choice", "B", "--completion", file, *FLAGS)
    assert said.out.startswith("incorrect: C")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["choice", "B", "B"], "at least two options"),
        (["choice", "B", "B", *FLAGS, "--strict"], "say nothing about a choice"),
        (["choice", "B", "B", *FLAGS, "--tolerance", "0.1"], "say nothing about a choice"),
        (["math", "1", "1", "--option", "x"], "are for choice"),
    ],
)
def test_what_makes_no_sense_is_refused(reasonenv_cli, args, message):
    said = reasonenv_cli("explain", *args)
    assert said.code != 0
    assert message in said.err


def test_an_unusable_problem_is_a_failed_checker_and_says_why(reasonenv_cli):
    said = reasonenv_cli("explain", "choice", "E", "Answer: B", *FLAGS)
    assert said.out.startswith("checker_error: the gold is one of A, B, C, D")
