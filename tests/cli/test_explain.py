"""`reasonenv explain`: what it prints, and what it refuses."""

import pytest

from reasonenv.checkers import MathJudge


def lines(said):
    """Return what was printed as a mapping of the first word to the rest."""
    return dict(line.split(maxsplit=1) for line in said.out.splitlines())


def test_a_right_answer_is_explained_by_its_rung_and_both_forms(reasonenv_cli):
    said = reasonenv_cli("explain", "math", "1/2", "0.50")
    assert said.code == 0
    told = lines(said)
    assert told["verdict"] == "correct"
    assert told["rung"]
    assert told["gold"].startswith("1/2   read as   ")
    assert told["answer"].startswith("0.50   read as   ")


def test_a_wrong_answer_is_no_failure_of_the_command(reasonenv_cli):
    said = reasonenv_cli("explain", "math", "7", "--", "-7")
    assert (said.code, lines(said)["verdict"]) == (0, "incorrect")


def test_markup_and_surrogates_are_printed_as_they_are(reasonenv_cli):
    said = reasonenv_cli("explain", "math", "[bold]3[/]", "[red]")
    assert "[bold]3[/]" in said.out
    assert "[red]" in said.out
    assert said.code == 0


def test_a_completion_is_read_from_a_file(reasonenv_cli, tmp_path):
    file = tmp_path / "completion.txt"
    file.write_text("First 3, then \\boxed{42}.", encoding="utf-8")
    told = lines(reasonenv_cli("explain", "math", "42", "--completion", file))
    assert told["verdict"] == "correct"
    assert told["answer"].startswith("42")
    assert "box" in told["place"]


def test_a_completion_is_read_from_stdin(reasonenv_cli, monkeypatch):
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Answer: 42 \xff")))
    told = lines(reasonenv_cli("explain", "math", "41", "--completion", "-"))
    assert told["verdict"] == "incorrect"


def test_strict_demands_the_place(reasonenv_cli, tmp_path):
    file = tmp_path / "completion.txt"
    file.write_text("The answer is 42.", encoding="utf-8")
    for flags, verdict in (([], "correct"), (["--strict"], "no_answer")):
        said = reasonenv_cli("explain", "math", "42", "--completion", file, *flags)
        assert lines(said)["verdict"] == verdict
    file.write_text("<answer>41</answer> \\boxed{42}", encoding="utf-8")
    said = reasonenv_cli("explain", "math", "42", "--completion", file, "--strict", "--boxed")
    assert lines(said)["verdict"] == "correct"


def test_no_answer_is_said(reasonenv_cli, tmp_path):
    file = tmp_path / "completion.txt"
    file.write_text("<think>and so on", encoding="utf-8")
    told = lines(reasonenv_cli("explain", "math", "42", "--completion", file))
    assert told["verdict"] == "no_answer"
    assert told["answer"] == "(none found)"


needs_options = pytest.mark.skipif(
    "percent" not in MathJudge.__dataclass_fields__, reason="the judge has no options yet"
)


@needs_options
def test_options_reach_the_judge(reasonenv_cli):
    for mode, verdict in (("strict", "incorrect"), ("lenient", "correct")):
        said = reasonenv_cli("explain", "math", "5\\%", "5", "--percent", mode)
        assert lines(said)["verdict"] == verdict
    said = reasonenv_cli("explain", "math", "0.67", "2/3", "--tolerance", "0.01")
    assert lines(said)["verdict"] == "correct"


@needs_options
def test_a_value_that_the_judge_refuses_is_said(reasonenv_cli):
    said = reasonenv_cli("explain", "math", "5", "5", "--percent", "lenent")
    assert said.code == 1
    assert "lenient" in said.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["maths", "1", "1"], "did you mean `math`"),
        (["math", "1"], "give ANSWER, or --completion FILE"),
        (["math", "1", "1", "--completion", "x"], "not both"),
        (["math", "1", "1", "--strict"], "give --completion FILE"),
        (["math", "1", "--completion", "no/such/file"], "no/such/file: cannot be read"),
    ],
)
def test_what_cannot_be_explained_says_why(reasonenv_cli, args, message):
    said = reasonenv_cli("explain", *args)
    assert said.code == 1
    assert message in " ".join(said.err.split())
