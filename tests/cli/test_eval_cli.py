"""`reasonenv eval`, `rollouts`, `rejudge`, `sample` and `export`, as a person runs them."""

from __future__ import annotations

import json

import pytest

EVAL = (
    "eval", "--model", "tiny", "--env", "reasonenv/Arithmetic-v0", "--problems", "6", "--n", "3",
    "--temperature", "1.0", "--max-tokens", "8",
    "--env-args", "{layout: {reasoning: null, instruction: ''}}",
)  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return a folder with two evaluations, a and b, made by the command itself."""
    from reasonenv.cli import main

    folder = tmp_path_factory.mktemp("evaluations")
    for name, seed in (("a", 0), ("b", 1)):
        with pytest.raises(SystemExit) as done:
            main([*EVAL, "--seed", str(seed), "--out", str(folder / name)])
        assert not done.value.code
    return folder


def test_an_evaluation_prints_its_figures_with_prompt_and_sampling(reasonenv_cli, runs):
    again = reasonenv_cli("eval", runs / "a")
    assert again.code == 0
    assert "| Arithmetic | 6 |" in again.out
    for said in ("pass@1", "pass@3", "maj@3", "temperature 1", "Template: chat", "<|user|>"):
        assert said in again.out, said
    assert again.out == (runs / "a" / "report.md").read_text()


def test_the_same_command_goes_on_where_it_was(reasonenv_cli, runs):
    part = runs / "a" / "completions" / "Arithmetic" / "part-00000.jsonl"
    before = [json.loads(line) for line in part.read_text().splitlines()]
    part.unlink()
    assert reasonenv_cli(*EVAL, "--seed", "0", "--out", runs / "a").code == 0
    after = [json.loads(line) for line in part.read_text().splitlines()]
    assert [row["completion"] for row in after] == [row["completion"] for row in before]


@pytest.mark.parametrize("spelled", [("eval", "--compare"), ("eval", "compare")])
def test_two_evaluations_are_compared_either_way_it_is_spelled(
    reasonenv_cli, runs, tmp_path, spelled
):
    done = reasonenv_cli(*spelled, runs / "a", f"other={runs / 'b'}", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "## Differences from a" in done.out
    assert "p (Holm)" in done.out
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        "compare.json", "compare.md", "compare.tex", "forest.png",
    }  # fmt: skip


def test_rollouts_are_browsed_and_written_as_a_page(reasonenv_cli, runs, tmp_path):
    shown = reasonenv_cli("rollouts", runs / "a", "--limit", "2")
    assert shown.code == 0
    assert shown.out.count("problem ") == 2
    assert "4 more groups" in shown.err
    page = tmp_path / "page.html"
    done = reasonenv_cli("rollouts", runs / "a", "--html", page)
    assert "6 groups, 18 rollouts" in done.out
    assert page.read_text().startswith("<!doctype html>")
    whole = reasonenv_cli("rollouts", runs / "a", "--limit", "1", "--whole")
    assert whole.out.count("completion ") == 3
    none = reasonenv_cli("rollouts", runs / "a", "--unscored")
    assert none.code == 1
    assert "--unscored" in none.err


def test_an_evaluation_is_judged_again(reasonenv_cli, runs):
    done = reasonenv_cli("rejudge", runs / "b")
    assert done.code == 0
    assert "18 completions judged again, 0 have another status" in done.out
    assert (runs / "b" / "rejudged" / "moved.json").is_file()


def test_a_model_is_asked_one_problem(reasonenv_cli):
    done = reasonenv_cli(
        "sample", "reasonenv/Arithmetic-v0", "--model", "tiny", "--n", "2", "--max-tokens", "8",
        "--index", "1",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "completion 2" in done.out
    assert "gold " in done.out
    assert "solved" in done.out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("eval",), "which model"),
        (("eval", "--model", "tiny"), "on what"),
        (("eval", "no-run"), "no evaluation is there"),
        (("eval", "a", "b"), "--compare"),
        (("eval", "a", "--n", "4"), "its own plan"),
        (("eval", "--compare", "a"), "two or more"),
        (("eval", "--model", "tiny", "--env", "x", "--env-args", "["), "not valid YAML"),
        (("eval", "--model", "tiny", "--env", "x", "--env-args", "3"), "mapping"),
        (("eval", "--model", "tiny", "--env", "x/Y-v0"), "no environment is registered"),
        (("eval", "--model", "./none", "--env", "reasonenv/Arithmetic-v0"), "no such folder"),
        (("rollouts", "no-run"), "no run is there"),
        (("rejudge", "no-run"), "no run is there"),
        (("export", "no-run", "--out", "x"), "no such folder"),
        (("sample", "no-run"), "no such folder"),
    ],
)
def test_bad_input_is_told_in_one_line_without_a_traceback(
    reasonenv_cli, monkeypatch, tmp_path, args, said
):
    monkeypatch.chdir(tmp_path)
    done = reasonenv_cli(*args)
    assert done.code == 1
    assert said in done.err
    assert "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == []
