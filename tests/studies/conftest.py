"""Study directories as runs leave them, written file by file."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from reasonenv.studies.plan import Plan
from reasonenv.studies.store import FINISHED, StudyDir

Curve = Callable[[Any, int], float]


def leave(
    plan: Plan,
    accuracy: Curve,
    *,
    steps: int = 10,
    every: int = 2,
    rollouts: bool = True,
    only: Sequence[str] | None = None,
) -> None:
    """Write what finished runs leave: metrics of `steps` steps, accuracy by (run, step)."""
    study = StudyDir(plan.out)
    for run in plan.runs:
        if only is not None and run.name not in only:
            continue
        study.prepare(run)
        folder = study.run(run.name)
        folder.mkdir(parents=True)
        (folder / "recipe.yaml").write_text(run.recipe.to_yaml())
        lines = []
        for step in range(steps + 1):
            if step % every == 0:
                lines.append({"step": step, "kind": "eval", "eval_accuracy": accuracy(run, step)})
            if step:
                line = {"step": step, "kind": "train", "reward": accuracy(run, step)}
                if rollouts:
                    line["rollouts"] = run.completions_per_step
                lines.append(line)
        (folder / "metrics.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines))
        (folder / FINISHED).write_text("{}")


@pytest.fixture
def planned(tmp_path: Path) -> Callable[..., Plan]:
    """Return a function that plans a study of the quickstart recipe in a new directory."""
    from reasonenv.studies.spec import StudySpec

    def make(**fields: Any) -> Plan:
        spec = StudySpec.make({"name": "s", "base": "quickstart", **fields})
        return Plan.make(spec, tmp_path / "study", tmp_path)

    return make
