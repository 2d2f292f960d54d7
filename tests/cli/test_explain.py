r"""`reasonenv explain`: what it prints, and what it refuses."""

import io
import sys

import pytest

from reasonenv.checkers.math import MathOptions, explain


def test_a_right_answer_is_explained_as_the_library_does(reasonenv_cli):
    said = reasonenv_cli("explain", "math", "1/2", "0.50")
    assert said.code == 0
    assert said.out.strip() == explain("1/2", "0.50")
    assert said.out.startswith("correct: ")


def test_a_wrong_answer_is_no_failure_of_the_command(reasonenv_cli):
    said = reasonenv_cli("explain", "math", "7", "--", "-7")
    assert said.code == 0
    assert said.out.startswith("incorrect: ")


def test_markup_is_printed_as_it_is(reasonenv_cli):
    said = reasonenv_cli("explain", "math", "[bold]", "[bold]")
    assert said.code == 0
    assert "[bold]" in said.out


@pytest.fixture
def completion(tmp_path):
    """Return a file for a completion, and a way to write it."""

    def write(text):
        file = tmp_path / "completion.txt"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    return write


def test_a_completion_is_read_from_a_file(reasonenv_cli, completion):
    file = completion("First 3, then \\boxed{42}.")
    said = reasonenv_cli("explain", "math", "42", "--completion", file)
    place, rest = said.out.split("\n", 1)
    assert place == "the answer stands in: box"
    assert rest.strip() == explain("42", "42")


def test_a_completion_is_read_from_stdin(reasonenv_cli, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\nAnswer: 42")))
    said = reasonenv_cli("explain", "math", "41", "--completion", "-")
    assert "incorrect: " in said.out


def test_strict_demands_a_box(reasonenv_cli, completion):
    file = completion("The answer is 42.")
    assert "\ncorrect: " in reasonenv_cli("explain", "math", "42", "--completion", file).out
    said = reasonenv_cli("explain", "math", "42", "--completion", file, "--strict")
    assert (said.code, said.out[:10]) == (0, "no_answer:")


def test_no_answer_is_said_with_the_reason(reasonenv_cli, completion):
    file = completion("<think>and so on")
    said = reasonenv_cli("explain", "math", "42", "--completion", file)
    assert said.code == 0
    assert said.out.startswith("no_answer: ")


@pytest.mark.parametrize(
    ("gold", "answer", "flags", "options", "correct"),
    [
        ("5\\%", "5", [], {}, False),
        ("5\\%", "5", ["--percent", "lenient"], {"percent": "lenient"}, True),
        ("0.67", "2/3", ["--tolerance", "0.01"], {"tolerance": 0.01}, True),
        ("15", "15 cm", [], {}, True),
        ("15", "15 cm", ["--no-units"], {"units": False}, False),
        ("1024", "2^{10}", ["--must-be-evaluated"], {"must_be_evaluated": True}, False),
        ("x + C", "x + K", ["--renamed-constants"], {"renamed_constants": True}, True),
    ],
)
def test_options_reach_the_judge(reasonenv_cli, gold, answer, flags, options, correct):
    said = reasonenv_cli("explain", "math", gold, answer, *flags)
    assert said.out.strip() == explain(gold, answer, MathOptions(**options))
    assert said.out.startswith("correct: " if correct else "incorrect: ")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["maths", "1", "1"], "did you mean `math`"),
        (["math", "1"], "give ANSWER, or --completion FILE"),
        (["math", "1", "1", "--completion", "x"], "not both"),
        (["math", "1", "1", "--strict"], "give --completion FILE"),
        (["math", "1", "--completion", "no/such/file"], "no/such/file: cannot be read"),
        (["math", "1", "1", "--percent", "lenent"], "percent is 'strict' or 'lenient'"),
        (["math", "1", "1", "--tolerance", "2"], "tolerance is relative"),
    ],
)
def test_what_cannot_be_explained_says_why(reasonenv_cli, args, message):
    said = reasonenv_cli("explain", *args)
    assert said.code == 1
    assert message in " ".join(said.err.split())
