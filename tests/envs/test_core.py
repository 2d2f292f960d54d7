"""The environment: reset, step, turns, limits, failures of the checker."""

import json
import math
import pickle
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from env_parts import SUMS, RaisesOnBoom, Raising, Sums, Tagged, by_split, words
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env as gymnasium_check_env
from gymnasium.utils.env_checker import data_equivalence

import reasonenv
from reasonenv import ChoiceEnv, MathEnv, Problem, ReasoningEnv, Rollout, Status
from reasonenv.answer_format import AnswerFormat
from reasonenv.envs.builtin import BUILTIN
from reasonenv.errors import (
    CheckerFailedError,
    DataError,
    GroupRequiredError,
    ReasonEnvError,
    RegistrationError,
    RewardError,
)
from reasonenv.types import FrozenDict, Verdict

DATA = Path(__file__).parent.parent / "data"
GSM8K, ARC = str(DATA / "gsm8k_own.jsonl"), str(DATA / "arc_own.jsonl")
BUILT_IN = {
    "reasonenv/Arithmetic-v0": {},
    "reasonenv/Countdown-v0": {},
    "reasonenv/GSM8K-v0": {"data": GSM8K},
    "reasonenv/ARC-Challenge-v0": {"data": ARC},
    "reasonenv/AIME-2024-v0": {"data": GSM8K},
}


def env_of(**kwargs):
    return ReasoningEnv(SUMS, **{"judge": Tagged(), **kwargs})


def right(env):
    return env.gold_completion(env._problem)


def wrong(env):
    return env.layout.render("-1", "x")


# Gymnasium's contract


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("observation", ["text", "messages"])
@pytest.mark.parametrize(("id", "kwargs"), BUILT_IN.items())
def test_gymnasiums_own_checker_passes(id, kwargs, observation):
    env = gymnasium.make(id, observation=observation, render_mode="ansi", **kwargs)
    gymnasium_check_env(env.unwrapped)


@pytest.mark.parametrize(("id", "kwargs"), BUILT_IN.items())
def test_reset_and_step_through_gymnasium_make(id, kwargs):
    env = gymnasium.make(id, **kwargs)
    prompt, info = env.reset(seed=7)
    assert isinstance(prompt, str)
    problem = env.unwrapped.problem
    assert problem.id == env.unwrapped.problems.find(info["problem_id"]).id
    assert env.unwrapped.question(problem) in prompt
    observation, reward, terminated, truncated, info = env.step(
        env.unwrapped.gold_completion(problem)
    )
    assert (observation, terminated, truncated) == ("", True, False)
    assert reward == pytest.approx(1.1)
    assert info["verdict"].status is Status.CORRECT
    assert info["reward_terms"] == {"correct": 1.0, "format": 1.0}
    assert info["problem_id"] == problem.id


def test_the_module_form_works_in_a_fresh_process(fresh):
    code = (
        "import gymnasium, sys;"
        "env = gymnasium.make('reasonenv:reasonenv/Arithmetic-v0');"
        "prompt, info = env.reset(seed=0);"
        "print(prompt.splitlines()[0], *(m for m in ('torch', 'transformers') if m in sys.modules))"
    )
    assert fresh(code).endswith("=")


def test_importing_reasonenv_registers_the_built_in_ids(fresh):
    code = (
        "import reasonenv, gymnasium;"
        "print(*sorted(i for i in gymnasium.registry if i.startswith('reasonenv/')))"
    )
    assert fresh(code).split() == sorted(info.id for info, *_ in BUILTIN)


def test_every_text_is_an_action_and_an_observation():
    env = env_of()
    for text in ("", "\\frac{1}{2}\n", "漢\x00\ud800", "x" * 10_000):
        assert text in env.action_space
        assert text in env.observation_space
    assert 5 not in env.action_space
    assert all(env.action_space.sample() in env.action_space for _ in range(20))
    messages = env_of(observation="messages").observation_space
    assert messages.sample() in messages
    assert () in messages
    assert ({"role": "user"},) not in messages
    assert "text" not in messages


def test_seeded_spaces_sample_the_same():
    for kind in ("text", "messages"):
        one, other = (env_of(observation=kind).observation_space for _ in range(2))
        one.seed(3)
        other.seed(3)
        assert [one.sample() for _ in range(5)] == [other.sample() for _ in range(5)]


def test_a_spec_round_trips_through_json():
    env = gymnasium.make(
        "reasonenv/GSM8K-v0",
        data=GSM8K,
        reward=(reasonenv.rewards.Correct() + 0.5).to_config(),
        layout={"reasoning": None},
    )
    text = env.spec.to_json()
    spec = EnvSpec.from_json(text)
    assert spec == env.spec
    again = gymnasium.make(spec)
    assert repr(again.unwrapped.reward) == "Correct() + 0.5"
    assert again.reset(seed=5) == env.reset(seed=5)


def test_an_environment_pickles_in_the_middle_of_an_episode():
    env = env_of(max_turns=2)
    env.reset(seed=1)
    env.step(wrong(env))
    twin = pickle.loads(pickle.dumps(env))
    answer = right(env)
    assert data_equivalence(twin.step(answer), env.step(answer))
    assert twin.reset()[1] == env.reset()[1]  # the generator came along


def test_the_same_seed_asks_the_same_and_the_draw_goes_on():
    env, twin = env_of(), env_of()
    ids = [env.reset(seed=s)[1]["problem_id"] for s in range(12)]
    assert ids == [twin.reset(seed=s)[1]["problem_id"] for s in range(12)]
    assert len(set(ids)) > 1
    env.reset(seed=1)
    twin.reset(seed=1)
    assert [env.reset()[1] for _ in range(8)] == [twin.reset()[1] for _ in range(8)]


# Prompts


def test_a_prompt_is_system_question_and_instruction():
    env = env_of(system="Be brief.")
    said = env.layout.prompt_instruction("final answer")
    assert env.prompt_text(SUMS[0]) == f"Be brief.\n\n1+1=\n\n{said}"
    assert env.prompt_messages(SUMS[0]) == (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": f"1+1=\n\n{said}"},
    )
    env = env_of(observation="messages", layout=AnswerFormat(instruction=""))
    observation, _ = env.reset(options={"problem_id": SUMS[0].id})
    assert observation == ({"role": "user", "content": "1+1="},)


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        (["user:a"], ["user:a\n\nDo."]),
        (["user:a", "assistant:b"], ["user:a\n\nDo.", "assistant:b"]),
        (["user:a", "assistant:b", "user:c"], ["user:a", "assistant:b", "user:c\n\nDo."]),
        (["system:s"], ["system:s", "user:Do."]),
        ([], ["user:Do."]),
    ],
)
def test_the_instruction_ends_the_last_users_message(prompt, shown):
    def messages(texts):
        return tuple(dict(zip(("role", "content"), t.split(":"), strict=True)) for t in texts)

    env = ReasoningEnv(
        [Problem(messages(prompt), "2")], judge=Tagged(), layout={"instruction": "Do."}
    )
    assert env.prompt_messages(env.problems[0]) == messages(shown)


@pytest.mark.parametrize("as_messages", [False, True])
def test_options_stand_below_the_question_in_text_and_in_messages(as_messages):
    question = "Which?"
    prompt = ({"role": "user", "content": question},) if as_messages else question
    env = ChoiceEnv([Problem(prompt, "B", {"options": ["red", "blue"]})])
    expected = "Which?\n\nA. red\nB. blue\n\n" + env.layout.prompt_instruction(env.answer_is)
    assert env.prompt_text(env.problems[0]) == expected
    assert env.prompt_messages(env.problems[0]) == ({"role": "user", "content": expected},)


# Steps


@pytest.mark.parametrize("call", ["rollout", "step"])
def test_a_step_before_reset_or_after_the_end_is_refused(call):
    env = env_of()
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before"):
        getattr(env, call)("x")
    env.reset(seed=0)
    env.step("x")
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before"):
        getattr(env, call)("x")


@pytest.mark.parametrize("action", [None, 5, b"x", ["x"], np.zeros(3)])
def test_an_action_that_is_no_text_is_refused_and_the_episode_goes_on(action):
    env = env_of()
    env.reset(seed=0)
    with pytest.raises(TypeError, match="an action is the completion's text"):
        env.step(action)
    assert env.step(right(env))[2]


def test_reset_asks_the_problem_that_is_named():
    env = env_of()
    prompt, info = env.reset(options={"problem_id": SUMS[4].id})
    assert info == {"problem_id": SUMS[4].id}
    assert prompt.startswith("5+5=")
    with pytest.raises(DataError, match="no problem has the id 'nope'"):
        env.reset(options={"problem_id": "nope"})
    with pytest.raises(ValueError, match="reset knows the option 'problem_id', got"):
        env.reset(options={"problem": SUMS[0].id})


def test_one_turn_ends_the_episode_whatever_the_answer():
    env = env_of()
    for action, status, paid in (
        (env.layout.render("2", "x"), Status.CORRECT, 1.1),
        (env.layout.render("3", "x"), Status.INCORRECT, 0.1),
        ("", Status.NO_ANSWER, 0.0),
    ):
        env.reset(options={"problem_id": SUMS[0].id})
        observation, reward, terminated, truncated, info = env.step(action)
        assert (observation, terminated, truncated) == ("", True, False)
        assert reward == pytest.approx(paid)
        assert info["verdict"].status is status


@pytest.mark.parametrize("observation", ["text", "messages"])
def test_a_wrong_answer_with_turns_left_brings_feedback(observation):
    env = env_of(max_turns=3, observation=observation)
    env.reset(seed=0)
    said, reward, terminated, truncated, info = env.step(wrong(env))
    assert said in env.observation_space
    assert "not right" in (said if observation == "text" else said[0]["content"])
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert "reward_terms" not in info
    said, *_ = env.step("I do not know")
    assert "No answer was found" in (said if observation == "text" else said[0]["content"])
    said, reward, terminated, truncated, info = env.step(right(env))
    assert said == ("" if observation == "text" else ())
    assert (terminated, truncated) == (True, False)
    assert reward == pytest.approx(1.1)
    assert set(info["reward_terms"]) == {"correct", "format"}


def test_the_turns_before_stand_in_the_rollout():
    env = env_of(max_turns=3)
    env.reset(seed=0)
    env.step("one")
    env.step(wrong(env))
    rollout = env.rollout("three")
    assert [turn[0] for turn in rollout.turns] == ["one", wrong(env)]
    env.reset(seed=0)
    assert env.rollout("again").turns == ()


@pytest.mark.parametrize(
    ("last", "ends"),
    [("right", (True, False)), ("wrong", (True, False)), ("nothing", (False, True))],
)
def test_the_last_turn_terminates_with_an_answer_and_truncates_without(last, ends):
    env = env_of(max_turns=2)
    env.reset(seed=0)
    env.step(wrong(env))
    action = {"right": right(env), "wrong": wrong(env), "nothing": "hm"}[last]
    assert env.step(action)[2:4] == ends


def test_a_completion_over_the_limit_in_characters_is_cut_and_truncates():
    env = env_of(max_completion_chars=30, max_turns=5)
    env.reset(seed=0)
    assert not env.rollout("x" * 30).truncated
    cut = env.rollout("x" * 31)
    assert cut.truncated
    assert cut.completion == "x" * 30
    *_, terminated, truncated, info = env.step("x" * 40 + right(env))
    assert (terminated, truncated) == (False, True)
    assert info["verdict"].status is Status.NO_ANSWER


def test_a_completion_over_the_limit_in_tokens_truncates():
    env = env_of(max_completion_tokens=4, count_tokens=words)
    env.reset(seed=0)
    assert env.rollout("a b c d").n_tokens == 4
    assert not env.rollout("a b c d").truncated
    assert env.rollout("a b c d e").truncated
    assert env.step("a b c d e")[2:4] == (False, True)


@pytest.mark.parametrize(
    ("kwargs", "says"),
    [
        ({"observation": "tokens"}, "observation='tokens'"),
        ({"on_unscored": "zero"}, "on_unscored='zero'"),
        ({"render_mode": "human"}, "render_mode='human'"),
        ({"max_turns": 0}, "max_turns=0"),
        ({"max_completion_chars": 0}, "max_completion_chars=0"),
        ({"max_completion_chars": -5}, "max_completion_chars=-5"),
        ({"max_completion_tokens": 0, "count_tokens": words}, "max_completion_tokens=0"),
        ({"max_completion_tokens": 5}, "needs count_tokens"),
        ({"layout": {"tag": "x"}}, "its fields are"),
        ({"layout": {"answer": "a b"}}, "a tag is a name"),
    ],
)
def test_options_that_cannot_be_are_refused(kwargs, says):
    with pytest.raises(ValueError, match=says):
        env_of(**kwargs)


def test_an_environment_without_problems_or_judge_says_what_to_give():
    with pytest.raises(DataError, match="give problems= or data=, or override load_problems"):
        ReasoningEnv(judge=Tagged())
    with pytest.raises(RegistrationError, match="give judge=, or override make_judge"):
        ReasoningEnv(SUMS)
    with pytest.raises(DataError):
        ReasoningEnv([], judge=Tagged())
    with pytest.raises(RewardError, match="did you mean `Correct`"):
        env_of(reward="Corect()")


# A checker that fails


@pytest.mark.parametrize("max_turns", [1, 3])
def test_a_failed_checker_raises_and_the_episode_stays_as_it_was(max_turns):
    env = env_of(judge=RaisesOnBoom(), render_mode="ansi", max_turns=max_turns)
    env.reset(seed=0)
    before = env.render()
    with pytest.raises(
        CheckerFailedError, match=r"checker failed.*OSError: boom.*on_unscored='nan'"
    ):
        env.step("boom")
    assert env.render() == before
    assert env.step(right(env))[2]


@pytest.mark.parametrize(("max_turns", "ends"), [(1, (True, False)), (3, (False, True))])
def test_a_failed_checker_may_give_nan_and_end_the_episode_without_feedback(max_turns, ends):
    env = env_of(judge=Raising(), on_unscored="nan", max_turns=max_turns)
    env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step("x")
    assert observation == ""
    assert math.isnan(reward)
    assert (terminated, truncated) == ends
    assert info["verdict"].status is Status.CHECKER_ERROR
    assert "reward_terms" not in info


@pytest.mark.parametrize("judge", [Tagged(), Raising()])
def test_info_holds_no_nan_and_is_the_same_at_every_call(judge):
    def infos():
        env = env_of(judge=judge, on_unscored="nan", max_turns=2)
        yield env.reset(seed=3)[1]
        for action in ("hm", "<answer>7</answer>"):
            yield env.step(action)[4]
            if env._problem is None:
                return

    def leaves(value):
        if isinstance(value, dict | FrozenDict):
            for inner in value.values():
                yield from leaves(inner)
        elif isinstance(value, Verdict):
            yield value.score
            yield from leaves(value.detail)
        else:
            yield value

    first, second = list(infos()), list(infos())
    assert data_equivalence(first, second)
    numbers = [x for info in first for x in leaves(info) if isinstance(x, float)]
    assert not any(math.isnan(number) for number in numbers)
    assert not any("second" in key or "time" in key for info in first for key in info)


@pytest.mark.parametrize("term", ["KimiLength()", "ShortestCorrect()"])
def test_a_term_that_compares_makes_step_raise_naming_it(term):
    env = env_of(reward=f"Correct() + 0.1 * {term}", count_tokens=words)
    env.reset(seed=0)
    name = {"KimiLength()": "kimi_length", "ShortestCorrect()": "shortest_correct"}[term]
    with pytest.raises(GroupRequiredError, match=f"'{name}' .* compares the members"):
        env.step(right(env))


def test_a_length_term_says_that_step_needs_count_tokens():
    env = env_of(reward="Correct() - 0.1 * Overlong(10, cache=5)")
    env.reset(seed=0)
    with pytest.raises(ReasonEnvError, match="count_tokens="):
        env.step(right(env))


# Batched calls


def test_judging_and_scoring_in_batches_agrees_with_step():
    env = env_of()
    completions = [env.layout.render("2", "x"), env.layout.render("3", "x"), ""]
    rollouts = [Rollout(SUMS[0], text) for text in completions]
    judged, scores = env.judge_and_score(rollouts)
    assert [j.verdict.status for j in judged] == ["correct", "incorrect", "no_answer"]
    for text, total in zip(completions, scores.total, strict=True):
        env.reset(options={"problem_id": SUMS[0].id})
        assert env.step(text)[1] == pytest.approx(total)
    assert env.score(judged).total.tolist() == scores.total.tolist()
    assert env.judge([]) == []


def test_a_judge_that_raises_is_a_status_in_a_batch():
    env = env_of(judge=RaisesOnBoom())
    judged, scores = env.judge_and_score(
        [Rollout(SUMS[0], t) for t in ("boom", "<answer>2</answer>")]
    )
    assert judged[0].verdict.status is Status.CHECKER_ERROR
    assert judged[0].verdict.cost.seconds >= 0
    assert math.isnan(scores.total[0])
    assert scores.solved[1] == 1.0


def test_a_judge_reads_the_prefill_too():
    (judged,) = env_of().judge([Rollout(SUMS[0], "2</answer>", prefill="<answer>")])
    assert judged.verdict.correct


# Kinds, splits, data


def test_splits_and_data():
    assert len(Sums().problems) == 20
    assert len(Sums(split="test").problems) == 10
    mine = MathEnv(data=GSM8K)
    assert len(mine.problems) == 24
    assert MathEnv("gsm8k", data=GSM8K, size=5).problems[0].answer
    assert len(MathEnv("gsm8k", data=GSM8K, size=5).problems) == 5
    train, test = (MathEnv("arithmetic", split=s, size=50).problems for s in ("train", "test"))
    assert not {p.id for p in train} & {p.id for p in test}
    assert MathEnv("arithmetic", seed=1).problems[0] != MathEnv("arithmetic").problems[0]
    assert "*" in MathEnv("arithmetic", options={"operators": "*"}).problems[0].prompt
    with pytest.raises(DataError, match="did you mean `gsm8k`"):
        MathEnv("gsm8")


def test_rendering_shows_the_exchange():
    env = env_of(render_mode="ansi", max_turns=2)
    assert env.render() == ""
    env.reset(options={"problem_id": SUMS[0].id})
    env.step("hm")
    env.step(env.layout.render("2", "x"))
    shown = env.render()
    for part in ("[prompt] 1+1=", "[completion] hm", "[feedback] No answer", "[verdict] correct"):
        assert part in shown
    assert shown.endswith("(reward 1.100)")
    assert env_of().render() is None


def test_a_boxed_layout_pays_for_correctness_alone():
    env = env_of(layout={"answer": None, "boxed": True}, judge=None or Tagged())
    assert repr(env.default_reward()) == "Correct()"


def test_reward_configs_survive_json():
    config = json.loads(json.dumps(env_of().reward.to_config()))
    assert env_of(reward=config).reward == env_of().reward
    assert by_split("test")[0] == SUMS[20]
