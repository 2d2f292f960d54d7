"""Comparisons: paired differences of evaluations that are written by hand, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from reasonenv.errors import EvaluationError, RunDirectoryError
from reasonenv.evaluation import Benchmark, EvaluationPlan, compare, write_comparison
from reasonenv.evaluation.comparison_tables import comparison_latex, comparison_markdown
from reasonenv.evaluation.parts import PartFolder
from reasonenv.evaluation.plan import store_plan
from reasonenv.evaluation.runner import completions


def written(path: Path, n: int = 4, **right: Sequence[int | None]) -> str:
    """Write an evaluation: for each benchmark how many of n are right; None is all unscored."""
    benchmarks = [Benchmark(name=name, env="reasonenv/Arithmetic-v0") for name in right]
    plan = EvaluationPlan.make(model="m", n=n, temperature=1.0, benchmarks=benchmarks)
    store_plan(path, plan)
    for benchmark in benchmarks:
        rows = [
            {
                "problem_id": f"p{i}",
                "sample": s,
                "completion": "",
                "status": "checker_error" if c is None else "correct" if s < c else "incorrect",
                "score": 1.0 if c is not None and s < c else 0.0,
            }
            for i, c in enumerate(right[benchmark.name])
            for s in range(n)
        ]
        PartFolder(completions(path, benchmark).path).write(0, rows)
    return str(path)


def test_differences_are_paired_by_problem(tmp_path: Path) -> None:
    a = written(tmp_path / "a", x=[0, 3] * 30)
    b = written(tmp_path / "b", x=[1, 4] * 30)
    found = compare([a, b])
    [one] = [d for d in found.differences if d.k == 1]
    assert one.value == pytest.approx(0.25)
    # Every problem gains a quarter: between problems the spread is large, of the differences none.
    assert 0.2 < one.low < 0.25 < one.high < 0.3
    assert one.p < 0.001
    [level, _] = [x for x in found.levels if x.k == 1]
    assert level.high - level.low > 0.15
    assert one.problems == 60


def test_several_benchmarks_are_corrected_together(tmp_path: Path) -> None:
    a = written(tmp_path / "a", x=[1] * 8, y=[2] * 8, z=[2, 1] * 4)
    b = written(tmp_path / "b", x=[3] * 8, y=[2] * 8, z=[1, 2] * 4)
    found = {d.benchmark: d for d in compare([a, b]).differences if d.k == 1}
    assert found["x"].p == pytest.approx(2 / 2**8)
    assert found["x"].p_holm == pytest.approx(3 * 2 / 2**8)
    assert found["y"].p == found["y"].p_holm == 1.0
    assert found["z"].value == pytest.approx(0.0)
    assert found["y"].low < 0 < found["y"].high  # no difference seen is not none there


def test_seeds_of_one_side_give_a_mean_and_a_deviation(tmp_path: Path) -> None:
    base = [written(tmp_path / f"base{s}", x=[s, s + 1, 2, 2]) for s in (0, 1, 2)]
    tuned = [written(tmp_path / f"tuned{s}", x=[3, 3, 3, 3 + s]) for s in (0, 1)]
    found = compare([f"before={','.join(base)}", f"after={','.join(tuned)}"])
    before, after = (x for x in found.levels if x.k == 1)
    assert before.mean == pytest.approx((5 + 7 + 9) / 48)
    assert before.deviation == pytest.approx(2 / 16)
    assert (before.runs, after.runs) == (3, 2)
    text = comparison_markdown(found)
    assert "43.75 ± 12.50" in text
    assert "**78.12 ± 4.42**" in text
    assert "before: " in text
    latex = comparison_latex(found)
    assert r"43.75 $\pm$ 12.50 & \textbf{78.12 $\pm$ 4.42}" in latex
    assert [x.k for x in found.levels if x.side == "before"] == [1, 3]


def test_the_files_of_a_comparison_are_whole(tmp_path: Path) -> None:
    a = written(tmp_path / "a", x_1=[1, 2], y=[1, 2])
    b = written(tmp_path / "b_$%", x_1=[2, 2], y=[1, 1])
    paths = write_comparison(compare([a, b]), tmp_path / "out")
    assert [path.name for path in paths] == [
        "compare.json", "compare.md", "compare.tex", "forest.png",
    ]  # fmt: skip
    plain = json.loads(paths[0].read_text())
    assert {d["benchmark"] for d in plain["differences"]} == {"x_1", "y"}
    latex = paths[2].read_text()
    assert r"x\_1" in latex
    assert r"b\_\$\%" in latex
    assert not re.search(r"(?<!\\)[_$%](?!\\pm|\\)", latex.replace(r"$\pm$", ""))
    png = paths[3].read_bytes()
    assert png.startswith(b"\x89PNG")
    assert len(png) > 5000


def test_unscored_completions_widen_a_difference_to_its_bounds(tmp_path: Path) -> None:
    a = written(tmp_path / "a", x=[2] * 20)
    b = written(tmp_path / "b", x=[2] * 18 + [None] * 2)
    [one] = [d for d in compare([a, b]).differences if d.k == 1]
    assert one.value == pytest.approx(-0.05)
    assert one.low < -0.05 < 0.05 < one.high
    assert one.p == pytest.approx(0.5)


def test_only_problems_that_both_sides_have_are_compared(tmp_path: Path) -> None:
    a = written(tmp_path / "a", x=[1, 2, 3, 4])
    b = written(tmp_path / "b", x=[2, 3])
    [one] = [d for d in compare([a, b]).differences if d.k == 1]
    assert (one.problems, one.value) == (2, pytest.approx(0.25))


def test_what_was_not_done_alike_is_said(tmp_path: Path) -> None:
    a = written(tmp_path / "a", n=4, x=[1, 2])
    b = written(tmp_path / "b", n=6, x=[1, 2])
    found = compare([a, b])
    assert "Not alike: n (4 / 6)." in found.notes
    assert {d.k for d in found.differences} == {1, 3}


def test_a_damaged_part_is_told_and_the_rest_is_compared(tmp_path: Path) -> None:
    a, b = written(tmp_path / "a", x=[1, 2, 3]), written(tmp_path / "b", x=[2, 3, 4])
    [part] = Path(b).glob("completions/x/part-*")
    part.write_bytes(part.read_bytes()[:-30])
    found = compare([a, b])
    assert any("damaged" in note for note in found.notes)
    assert any("fewer than 4" in note for note in found.notes)
    assert {d.problems for d in found.differences if d.k == 1} == {3}


def test_what_cannot_be_compared_is_told(tmp_path: Path) -> None:
    a, b = written(tmp_path / "a", x=[1]), written(tmp_path / "b", y=[1])
    with pytest.raises(EvaluationError, match=r"share no benchmark.*has x.*has y"):
        compare([a, b])
    with pytest.raises(EvaluationError, match="two or more"):
        compare([a])
    with pytest.raises(RunDirectoryError, match="no evaluation is there"):
        compare([a, str(tmp_path)])
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "recipe.yaml").write_text("env: x\n")
    with pytest.raises(RunDirectoryError, match=r"training run.*reasonenv eval --adapter"):
        compare([a, str(tmp_path / "run")])
