"""Suite files: those that ship, and what is refused in one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from reasonenv.envs import catalogue
from reasonenv.errors import EvaluationError
from reasonenv.evaluation import evaluate, load_suite, make_backend, plan_evaluation
from reasonenv.evaluation.suites import suite_names

from .conftest import LAYOUT


@pytest.mark.parametrize("name", suite_names())
def test_a_suite_that_ships_names_environments_that_are_registered(name: str) -> None:
    known = {info.id for info in catalogue()}
    suite = load_suite(name)
    assert suite.description
    assert {benchmark.env for benchmark in suite.benchmarks} <= known


def test_the_studys_suite_holds_its_sets_with_their_numbers() -> None:
    problems = {one.name: one.problems for one in load_suite("study").benchmarks}
    assert {"GSM-Plus": 2400, "MetaMathQA": 2000, "NuminaMath": 99}.items() <= problems.items()
    assert {"OpenMath2": 2000, "IMO-Bench": 400}.items() <= problems.items()
    assert {"MATH-500", "AIME-2026", "HMMT-2025", "ARC-Challenge", "MBPP"} <= set(problems)
    assert len(problems) == 16


def test_the_local_suite_runs_without_a_download(tmp_path: Path) -> None:
    plan = plan_evaluation(model="tiny", suite="local", problems=4, n=2, max_tokens=8,
                           env_args=LAYOUT)  # fmt: skip
    assert plan.temperature == 1.0  # the suite's own
    results = evaluate(plan, tmp_path / "run", make_backend=make_backend)
    names = ["Arithmetic-2", "Arithmetic-3", "Countdown"]
    assert list(results["benchmarks"]) == names
    assert all(figures["completions"] == 8 for figures in results["benchmarks"].values())
    assert results["benchmarks"]["Countdown"]["maj"] is None  # any expression may be right


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n", "a mapping of keys"),
        ("benchmarks: []\n", "benchmarks"),
        ("benchmarks: [{env: a/B-v0, problem: 3}]\n", "did you mean `problems`"),
        ("benchmark: [{env: a/B-v0}]\n", "did you mean `benchmarks`"),
        ("benchmarks: [{env: a/B-v0}, {env: c/B-v0}]\n", "two benchmarks are called B"),
        ("benchmarks: [{env: a/B-v0, problems: 0}]\n", "problems"),
        ("benchmarks: [\n", "not valid YAML"),
    ],
)
def test_a_suite_that_is_not_valid_is_told_with_its_file(
    tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(EvaluationError, match=r"mine.yaml") as caught:
        load_suite(file)
    assert said in str(caught.value)


def test_an_unknown_suite_is_told_with_the_nearest() -> None:
    with pytest.raises(EvaluationError, match="did you mean `study`"):
        load_suite("studdy")
    with pytest.raises(EvaluationError, match="cannot be read"):
        load_suite("no/such.yaml")
