"""`max_prompt_tokens`: long prompts are dropped and counted, wherever the limit is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reasonenv import GRPOLearner, MathEnv, Problem
from reasonenv.errors import RecipeError
from reasonenv.models.loading import load_tokenizer
from reasonenv.models.prompts import PromptFormat
from reasonenv.problems import ProblemList
from reasonenv.trainers import read_rollouts
from reasonenv.trainers.prompt_lengths import within_limit

from .conftest import SMALL, small

SUMS = [Problem(f"{'0' * n}{n}+{n}=", str(2 * n), id=str(n)) for n in range(1, 31)]
LAYOUT = {"reasoning": None, "instruction": ""}


@pytest.mark.filterwarnings("ignore:max_prompt_tokens")
@pytest.mark.parametrize("template", ["chat", "plain"])
@pytest.mark.parametrize("limit", [12, 13, 20, 33, 100])
def test_what_is_kept_is_what_the_tokenizer_counts_up_to_the_limit(
    template: str, limit: int
) -> None:
    env = MathEnv(SUMS, layout=LAYOUT)
    prompt = PromptFormat(env, load_tokenizer("tiny"), template)
    kept, dropped = within_limit(env.problems, prompt, limit)
    short = [one.id for one in SUMS if len(prompt.ids(prompt.text(one))) <= limit]
    assert [one.id for one in kept] == short
    assert dropped == len(SUMS) - len(short)


def test_a_limit_below_every_prompt_names_the_shortest() -> None:
    env = MathEnv(SUMS[20:], layout=LAYOUT)
    prompt = PromptFormat(env, load_tokenizer("tiny"))
    shortest = min(len(prompt.ids(prompt.text(one))) for one in SUMS[20:])
    with pytest.raises(RecipeError, match=rf"every prompt is longer.* {shortest} tokens"):
        within_limit(env.problems, prompt, 3)


@pytest.mark.training
@pytest.mark.filterwarnings("ignore:max_prompt_tokens")
def test_a_run_trains_on_what_is_left_and_tells_what_is_not(tmp_path: Path) -> None:
    fields = small(steps=2, eval={"problems": 0}, max_prompt_tokens=14, report=True)
    env = MathEnv(ProblemList(SUMS), layout=LAYOUT)
    prompt = PromptFormat(env, load_tokenizer("tiny"))
    short = {one.id for one in within_limit(env.problems, prompt, 14)[0]}
    del fields["env"], fields["env_args"]
    run = GRPOLearner(env=env, out=tmp_path / "run", **fields).train().run
    assert {row["problem_id"] for row in read_rollouts(run)} <= short
    assert json.loads((run / "run.json").read_text())["dropped_problems"] == 30 - len(short)
    assert "left out, their prompts too long" in (run / "report.md").read_text()


def test_problems_made_on_demand_have_no_list_to_drop_from(tmp_path: Path) -> None:
    learner = GRPOLearner(out=tmp_path / "run", **{**SMALL, "max_prompt_tokens": 64})
    with pytest.raises(RecipeError, match=r"made on demand.*env_args\.options"):
        learner.train()
    assert not (tmp_path / "run").exists()
