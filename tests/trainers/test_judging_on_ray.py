"""A run whose answers are judged on a Ray cluster."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

from reasonenv import GRPOLearner
from reasonenv.errors import LaunchError, RecipeError
from reasonenv.trainers import Recipe, read_rollouts

from .conftest import SMALL, score_again, small

pytestmark = pytest.mark.training

needs_ray = pytest.mark.skipif(
    find_spec("ray") is None, reason="ray is not installed (extra `ray`)"
)


@needs_ray
def test_a_run_on_ray_judges_as_one_without(tmp_path: Path) -> None:
    import ray

    fields = small(steps=1, eval={"problems": 0, "every": None}, judging={"by": "ray"})
    fields["judging"]["address"] = "local"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = GRPOLearner(out=tmp_path / "run", **fields).train()
    finally:
        ray.shutdown()
    rows = list(read_rollouts(result.run))
    assert len(rows) == 16
    assert score_again(rows, SMALL["reward"]) == pytest.approx([row["reward"] for row in rows])


@needs_ray
def test_a_cluster_of_one_process_is_refused_to_several(tmp_path: Path) -> None:
    fields = small(judging={"by": "ray", "address": "local"}, processes=2)
    with pytest.raises(LaunchError, match="ray start --head"):
        GRPOLearner(out=tmp_path / "run", **fields).train()
    assert not (tmp_path / "run").exists()


def test_judging_is_given_by_name_or_in_full() -> None:
    assert Recipe.make(small(judging="ray")).judging.by == "ray"
    assert Recipe.make(small()).judging.by == "local"
    with pytest.raises(RecipeError, match="judging"):
        Recipe.make(small(judging="spark"))
