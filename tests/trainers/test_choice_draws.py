"""What training slots ask: chosen at generation time, the same on every rank."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reasonenv
from reasonenv import ChoiceEnv, GRPOLearner, Problem, Recipe
from reasonenv.envs.core import ReasoningEnv
from reasonenv.errors import RecipeError
from reasonenv.models.loading import load_tokenizer
from reasonenv.models.prompts import PromptFormat
from reasonenv.problems.choices import golds_of
from reasonenv.trainers import read_rollouts
from reasonenv.trainers.bridge import Bridge
from reasonenv.trainers.draws import Draws
from reasonenv.trainers.views import check_views

OPTIONS = ("red", "blue", "green", "black")
COLOURS = [Problem(f"{i}?", "A", {"options": OPTIONS}, id=f"q{i}") for i in range(10)]


def bridge(env: ReasoningEnv, group_size: int = 8, eval_samples: int = 1, seed: int = 3) -> Bridge:
    tokenizer = load_tokenizer("tiny")
    return Bridge(
        env=env,
        tokenizer=tokenizer,
        prompt=PromptFormat(env, tokenizer),
        train=Draws(env.problems, seed),
        held_out=Draws(env.problems, shuffle=False),
        group_size=group_size,
        eval_samples=eval_samples,
        end_ids=frozenset(),
    )


def rows_of(slots: list[int], size: int) -> list[dict[str, Any]]:
    return [{"slot": slot} for slot in slots for _ in range(size)]


@pytest.mark.parametrize("views", [1, 4])
def test_two_ranks_ask_what_one_would(views: int) -> None:
    make = lambda: bridge(ChoiceEnv(COLOURS, views=views, keep=(2, 4), labels="random"))  # noqa: E731
    whole = make().resolve(rows_of([0, 1, 2, 3], 8))
    first, second = make(), make()
    first.resolve(rows_of([7], 8))  # what a rank asked before makes no difference
    halves = first.resolve(rows_of([0, 1], 8)) + second.resolve(rows_of([2, 3], 8))
    assert halves == whole


def test_the_members_of_a_group_ask_the_views_in_turn() -> None:
    rows = bridge(ChoiceEnv(COLOURS, views=4)).resolve(rows_of([5, 6], 8))
    assert [row["view"] for row in rows] == [0, 1, 2, 3, 0, 1, 2, 3] * 2
    for group in (rows[:8], rows[8:]):
        prompts = [json.dumps(row["prompt"]) for row in group]
        assert len(set(prompts)) == 4
        assert prompts[:4] == prompts[4:]
        assert len({row["problem_id"] for row in group}) == 1
    assert {frozenset(row) for row in rows} == {frozenset(("prompt", "problem_id", "slot", "view"))}


def test_one_view_asks_one_prompt_for_the_whole_group() -> None:
    rows = bridge(ChoiceEnv(COLOURS)).resolve(rows_of([5], 8))
    assert len({json.dumps(row["prompt"]) for row in rows}) == 1


def test_each_draw_of_a_problem_asks_it_anew_and_another_seed_otherwise() -> None:
    env = ChoiceEnv(COLOURS[:1])
    orders = [Draws(env.problems, 0).asked(slot, env)[0] for slot in range(60)]
    assert len({one.metadata["rendering"]["order"] for one in orders}) > 15  # of 24
    others = [Draws(env.problems, 1).asked(slot, env)[0] for slot in range(60)]
    assert orders != others
    places = Counter(golds_of(one)[0] for one in orders + others)
    assert set(places) == {0, 1, 2, 3}


def test_an_evaluation_asks_each_problem_in_one_way_wherever_it_stands() -> None:
    env = ChoiceEnv(COLOURS)
    whole, part = Draws(env.problems, shuffle=False), Draws(env.problems[4:], shuffle=False)
    for slot in range(6):
        assert part.asked(slot, env) == whole.asked(slot + 4, env)
    assert len({whole.asked(s, env)[0].metadata["rendering"]["order"] for s in range(10)}) > 4


def test_an_evaluation_may_ask_several_views() -> None:
    asks = bridge(ChoiceEnv(COLOURS, eval_views=2), eval_samples=4)
    asks.mode = "eval"
    rows = asks.resolve(rows_of([0, 1], 4))
    assert [row["view"] for row in rows] == [0, 1, 0, 1] * 2
    assert rows[0]["prompt"] != rows[1]["prompt"]


def test_other_environments_ask_their_problems_as_they_are() -> None:
    env = reasonenv.make("reasonenv/Arithmetic-v0")
    draws = Draws(env.problems, 1)
    assert draws.asked(4, env, 3) == (draws[4],) * 3
    assert env.variants(draws[0], np.random.default_rng(0)) == (draws[0],)


@pytest.mark.parametrize(
    ("env_args", "fields", "message"),
    [
        ({"views": 3}, {"grpo": {"num_generations": 8}}, r"views=3 does not .*=8.*: 1, 2, 4, 8"),
        ({"views": 16}, {"grpo": {"num_generations": 8}}, "valid: 1, 2, 4, 8"),
        ({"eval_views": 2}, {}, r"eval_views=2 does not divide eval.samples=1.*valid: 1"),
    ],
)
def test_views_that_do_not_fit_the_recipe_are_refused(
    env_args: dict[str, Any], fields: dict[str, Any], message: str
) -> None:
    recipe = Recipe.make({"steps": 1, **fields})
    with pytest.raises(RecipeError, match=message):
        check_views(recipe, ChoiceEnv(COLOURS, **env_args))


def test_the_learner_refuses_views_before_it_loads_a_model(tmp_path: Path) -> None:
    learner = GRPOLearner(
        "tiny",
        env="reasonenv/Quiz-v0",
        env_args={"views": 3},
        steps=1,
        out=tmp_path / "run",
        grpo={"num_generations": 8},
    )
    with pytest.raises(RecipeError, match="views=3 does not divide"):
        learner.train()
    assert not (tmp_path / "run").exists()


@pytest.mark.training
def test_a_run_stores_the_prompts_that_were_asked_and_how(tmp_path: Path) -> None:
    env_args = {
        "options": {"kinds": ["sum"], "brief": True},
        "layout": {"reasoning": None, "instruction": ""},
        "views": 2,
    }
    reward = "Correct() + 0.1 * ValidOption() + gate(0.1 * PermutationConsistency(), when=solved)"
    GRPOLearner(
        env="reasonenv/Quiz-v0",
        env_args=env_args,
        reward=reward,
        steps=2,
        prompts_per_step=4,
        rows_per_forward=16,
        cpu_threads=1,
        grpo={"num_generations": 4, "max_completion_length": 8},
        lora={"r": 4, "target_modules": "all-linear"},
        eval={"problems": 4},
        seed=9,
        out=tmp_path / "run",
    ).train()
    env = reasonenv.make("reasonenv/Quiz-v0", **env_args)
    draws = Draws(env.problems, 9)
    rows = [row for row in read_rollouts(tmp_path / "run") if row["kind"] == "train"]
    assert len(rows) == 2 * 16
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["group_id"], []).append(row)
    assert len(groups) == 8
    for group_id, members in groups.items():
        slot = int(group_id.split("-")[2])
        views = draws.asked(slot, env, 2)
        assert {row["problem_id"] for row in members} == {views[0].id}
        for row in members:
            rendering = json.loads(row["rendering"])
            asked = views[rendering["view"]]
            assert env.as_asked(env.problems.find(row["problem_id"]), rendering) == asked
            assert env.prompt_text(asked) == json.loads(row["prompt"])[0]["content"]
        assert [json.loads(row["rendering"])["view"] for row in members] == [0, 1, 0, 1]
    [evaluated, *_] = [row for row in read_rollouts(tmp_path / "run") if row["kind"] == "eval"]
    assert json.loads(evaluated["rendering"])["labels"] == "letters"
