"""Multiple choice: options in a drawn order, judged as they were asked, now and again later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reasonenv.errors import EvaluationError
from reasonenv.evaluation import evaluate, open_run, plan_evaluation, rejudge
from reasonenv.evaluation.backends.base import Asked, Sample

ENV = "reasonenv/Quiz-v0"


class Chooser:
    """Answers each question with the letter of its first option, or of its right one."""

    name = "chooser"

    def __init__(self, right: bool) -> None:
        self.right = right

    def ask(self, env: Any, problem: Any) -> Asked:
        return Asked(problem, env.prompt_text(problem), None)

    def sample(self, asked: Any, sampling: Any, seeds: Any) -> list[Sample]:
        letters = [str(one.problem.answer) if self.right else "A" for one in asked]
        return [Sample(f"<answer>{letter}</answer>", 3) for letter in letters]

    def facts(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        pass


def run(out: Path, right: bool, **fields: Any) -> dict[str, Any]:
    plan = plan_evaluation(model="m", envs=[ENV], server="http://x", backend="server",
                           problems=20, **fields)  # fmt: skip
    results = evaluate(plan, out, make_backend=lambda plan: Chooser(right))
    figures: dict[str, Any] = results["benchmarks"]["Quiz"]
    return figures


def test_options_are_asked_in_the_same_drawn_order_by_every_evaluation(tmp_path: Path) -> None:
    run(tmp_path / "a", right=False, n=2)
    run(tmp_path / "b", right=False, n=2, seed=7)
    asked = [[(r["problem_id"], r["prompt"], r["rendering"]) for r in open_run(tmp_path / x).rows()]
             for x in ("a", "b")]  # fmt: skip
    assert asked[0] == asked[1]
    assert len({json.dumps(rendering) for _, _, rendering in asked[0]}) > 1


@pytest.mark.parametrize("views", [1, 2])
def test_completions_are_judged_as_they_were_asked_also_again(tmp_path: Path, views: int) -> None:
    arguments = {"eval_views": views}
    figures = run(tmp_path / "right", right=True, n=4, env_args=arguments)
    assert figures["accuracy"]["value"] == 1.0
    assert (figures["maj"] is None) == (views > 1)
    first = run(tmp_path / "first", right=False, n=4, env_args=arguments)
    assert 0.0 < first["accuracy"]["value"] < 1.0
    for name in ("right", "first"):
        done = rejudge(tmp_path / name)
        assert (done.judged, done.changed, done.unknown) == (80, 0, 0)


def test_each_way_of_asking_is_asked_equally_often(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="no multiple"):
        run(tmp_path / "out", right=True, n=3, env_args={"eval_views": 2})
