"""N questions at once."""

import json

import gymnasium
import numpy as np
import pytest
from env_parts import SUMS, Counting, Meeting, RaisesOnBoom, Sums, Tagged, by_split
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import reasonenv
from reasonenv import ReasoningEnv, ReasoningVectorEnv, Rollout
from reasonenv.errors import CheckerFailedError, DataError, GroupRequiredError

RIGHT = [f"<answer>{2 * i}</answer>" for i in range(1, 31)]


def vector_of(n, **kwargs):
    return ReasoningVectorEnv(ReasoningEnv, n, problems=SUMS, **{"judge": Tagged(), **kwargs})


def golds(env, info):
    first = env.envs[0]
    return [first.gold_completion(first.problems.find(id)) for id in info["problem_id"]]


@pytest.mark.filterwarnings("error")
def test_make_vec_gives_our_vector_environment_by_default():
    env = gymnasium.make_vec("reasonenv/Arithmetic-v0", num_envs=4)
    assert isinstance(env, ReasoningVectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    prompts, info = env.reset(seed=3)
    assert prompts in env.observation_space
    assert len(prompts) == len(info["problem_id"]) == env.num_envs == 4
    observations, rewards, terminated, truncated, info = env.step(golds(env, info))
    assert observations == ("",) * 4
    assert rewards.tolist() == pytest.approx([1.1] * 4)
    assert rewards.dtype == np.float64
    assert terminated.tolist() == [True] * 4
    assert truncated.tolist() == [False] * 4
    assert terminated.dtype == truncated.dtype == np.bool_
    assert [v.status for v in info["verdict"]] == ["correct"] * 4
    env.close()


def test_the_module_form_and_the_spec_work_for_vectors_too(fresh):
    code = (
        "import gymnasium;"
        "env = gymnasium.make_vec('reasonenv:reasonenv/Arithmetic-v0', num_envs=2);"
        "print(type(env).__name__, len(env.reset(seed=0)[0]))"
    )
    assert fresh(code) == "ReasoningVectorEnv 2"
    env = gymnasium.make_vec("reasonenv/Arithmetic-v0", num_envs=2)
    spec = EnvSpec.from_json(env.spec.to_json())
    assert gymnasium.make_vec(spec).reset(seed=1)[0] == env.reset(seed=1)[0]


def test_gymnasiums_own_vectorizer_agrees_with_ours():
    ours = gymnasium.make_vec("reasonenv/Arithmetic-v0", num_envs=3)
    theirs = gymnasium.make_vec(
        "reasonenv/Arithmetic-v0",
        num_envs=3,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.DISABLED},
    )
    assert isinstance(theirs, SyncVectorEnv)
    (mine, info), (other, _) = ours.reset(seed=5), theirs.reset(seed=5)
    assert tuple(other) == mine
    actions = golds(ours, info)
    actions[1] = "no"
    one, two = ours.step(actions), theirs.step(tuple(actions))
    assert tuple(two[0]) == one[0]
    for left, right in zip(one[1:4], two[1:4], strict=True):
        assert left.tolist() == right.tolist()


def test_member_i_is_seeded_with_seed_plus_i():
    env = vector_of(4)
    _, info = env.reset(seed=10)
    single = ReasoningEnv(SUMS, judge=Tagged())
    expected = [single.reset(seed=10 + i)[1]["problem_id"] for i in range(4)]
    assert info["problem_id"] == expected
    for seeds in ([13, 12, 11, 10], (13, 12, 11, 10), np.array([13, 12, 11, 10])):
        seeds = seeds if not isinstance(seeds, np.ndarray) else seeds.tolist()
        assert env.reset(seed=seeds)[1]["problem_id"] == expected[::-1]
    assert env.reset(seed=np.int64(10))[1]["problem_id"] == expected
    with pytest.raises(ValueError, match="4 seeds are needed, got 2"):
        env.reset(seed=[1, 2])


def test_members_draw_on_by_themselves():
    env = vector_of(6)
    env.reset(seed=0)
    drawn = [env.reset()[1]["problem_id"] for _ in range(4)]
    assert len({tuple(ids) for ids in drawn}) > 1
    assert any(len(set(ids)) > 1 for ids in drawn)


def test_autoreset_is_off_and_a_mask_resets_some():
    env = vector_of(3, max_turns=2)
    prompts, info = env.reset(seed=0)
    actions = golds(env, info)
    env.step([actions[0], "hm", "hm"])
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(["x"] * 3)
    again, reset = env.reset(seed=20, options={"reset_mask": np.array([True, False, False])})
    assert reset["problem_id"][1:] == [None, None]
    assert reset["problem_id"][0]
    assert again[0] != ""
    assert "No answer was found" in again[1]
    _, rewards, terminated, truncated, info = env.step(["hm", actions[1], "hm"])
    assert terminated.tolist() == [False, True, False]
    assert truncated.tolist() == [False, False, True]
    assert rewards.tolist() == pytest.approx([0.0, 1.1, 0.0])
    assert info["reward_terms"] == [
        None,
        {"correct": 1.0, "format": 1.0},
        {"correct": 0.0, "format": 0.0},
    ]
    assert prompts[1] != again[1]


@pytest.mark.parametrize("mask", [[True], [[True, True, True]], [1, 0, 1], [], "abc"])
def test_a_mask_that_is_none_is_refused(mask):
    env = vector_of(3)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="reset_mask holds 3 booleans"):
        env.reset(options={"reset_mask": mask})


def test_a_mask_may_be_a_list_and_options_reach_the_members():
    env = vector_of(2)
    env.reset(seed=0)
    _, info = env.reset(options={"reset_mask": [False, True], "problem_id": SUMS[3].id})
    assert info["problem_id"] == [None, SUMS[3].id]
    with pytest.raises(ValueError, match="reset knows the option"):
        env.reset(options={"mask": [True, True]})
    with pytest.raises(DataError):
        env.reset(options={"problem_id": "nope"})


def test_a_step_before_reset_is_refused():
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before"):
        vector_of(2).step(["a", "b"])


@pytest.mark.parametrize("actions", [["a"], ["a"] * 3, [], "ab"])
def test_another_number_of_completions_is_refused(actions):
    env = vector_of(2)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="2 completions are needed"):
        env.step(actions)
    with pytest.raises(TypeError, match="an action is the completion's text"):
        env.step(["a", 5])
    env.step(["a", "b"])


def test_at_least_one_member_is_needed():
    with pytest.raises(ValueError, match="num_envs=0"):
        vector_of(0)


def test_all_answers_are_judged_at_once():
    env = vector_of(8, judge=Meeting(8))
    env.reset(seed=0)
    *_, info = env.step([f"x{i}" for i in range(8)])
    # One call after the other would never meet: each would fail after its time limit.
    assert [v.status for v in info["verdict"]] == ["correct"] * 8


@pytest.mark.parametrize("limit", [1, 3])
def test_a_judge_says_how_many_of_its_calls_may_run_at_once(limit):
    judge = Counting(limit)
    env = vector_of(8, judge=judge)
    env.reset(seed=0)
    env.step([f"x{i}" for i in range(8)])
    assert judge.most <= limit
    assert limit == 1 or judge.most > 1


def test_the_same_answer_to_the_same_problem_is_judged_once():
    judge = Counting(1)
    env = vector_of(1, judge=judge).envs[0]
    same, other = env.problems[0], env.problems[1]
    rollouts = [Rollout(same, "x"), Rollout(same, "x"), Rollout(same, "y"), Rollout(other, "x")]
    judged = env.judge(rollouts)
    assert judge.calls == 3
    assert [one.rollout for one in judged] == rollouts


def test_a_failed_checker_leaves_every_member_as_it_was():
    env = vector_of(3, judge=RaisesOnBoom())
    _, info = env.reset(seed=0)
    actions = golds(env, info)
    with pytest.raises(CheckerFailedError, match="boom"):
        env.step([actions[0], "boom", actions[2]])
    assert env.step(actions)[2].all()


def test_a_failed_checker_may_give_nan_for_its_member_alone():
    env = vector_of(3, judge=RaisesOnBoom(), on_unscored="nan")
    _, info = env.reset(seed=0)
    actions = golds(env, info)
    _, rewards, _, _, info = env.step([actions[0], "boom", "hm"])
    assert np.isnan(rewards).tolist() == [False, True, False]
    assert info["reward_terms"][1] is None


def test_a_term_that_compares_is_refused_by_name():
    env = vector_of(2, reward="Correct() + 0.1 * ShortestCorrect()")
    env.reset(seed=0)
    with pytest.raises(GroupRequiredError, match="shortest_correct"):
        env.step(["a", "b"])


def test_rendering_shows_each_exchange():
    env = vector_of(2, render_mode="ansi")
    env.reset(seed=0)
    env.step(["a", "b"])
    first, second = env.render()
    assert "[completion] a" in first
    assert "[completion] b" in second


@pytest.mark.parametrize("how", ["class", "string", "call"])
def test_what_is_registered_makes_vectors_too(how):
    if how == "class":
        reasonenv.register("acme/V-v0", Sums)
    elif how == "string":
        reasonenv.register("acme/V-v0", "env_parts:Sums")
    else:
        reasonenv.register("acme/V-v0", problems=by_split, judge=Tagged())
    env = gymnasium.make_vec("acme/V-v0", num_envs=3, split="test")
    _, info = env.reset(seed=0)
    assert set(info["problem_id"]) <= {p.id for p in SUMS[20:]}
    assert env.step(golds(env, info))[1].tolist() == pytest.approx([1.1] * 3)
    if how == "string":
        json.loads(env.spec.to_json())
