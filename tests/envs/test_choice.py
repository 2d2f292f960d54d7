"""`ChoiceEnv`: each draw asks anew, identities and judging stay with what was asked."""

import copy
import json
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env as gymnasium_check_env

import reasonenv
from reasonenv import ChoiceEnv, Problem, Rollout, Status
from reasonenv.envs import check_env
from reasonenv.errors import DataError
from reasonenv.problems import load, overlap

STARS = [
    Problem(
        f"Which star is number {i}?",
        "B",
        {"options": (f"Mars {i}", f"Sirius {i}", f"Venus {i}", f"Moon {i}")},
        id=f"star{i}",
    )
    for i in range(12)
]
PLAIN = {"layout": {"reasoning": None}}


def test_a_reset_shuffles_the_options_and_the_same_seed_asks_the_same():
    env = ChoiceEnv(STARS)
    prompts = {env.reset(seed=s, options={"problem_id": "star3"})[0] for s in range(40)}
    assert len(prompts) > 15  # of 24 orders
    assert env.reset(seed=5) == ChoiceEnv(STARS).reset(seed=5)
    assert env.reset(seed=5) == copy.copy(env).reset(seed=5)


def test_the_episode_has_the_id_of_the_question_behind_it_and_its_own_gold():
    env = ChoiceEnv(STARS)
    for seed in range(20):
        prompt, info = env.reset(seed=seed)
        asked = env.problem
        assert info["problem_id"] == asked.id == env.problems.find(asked.id).id
        [line] = [line for line in prompt.splitlines() if "Sirius" in line]
        assert line.startswith(f"{asked.answer}. ")
        *_, info = env.step(env.layout.render(asked.answer))
        assert info["verdict"].status is Status.CORRECT


def test_problems_hold_the_questions_as_their_source_has_them():
    env = ChoiceEnv(STARS)
    env.reset(seed=1)
    assert list(env.problems) == STARS
    assert overlap(env.problems, STARS) == {problem.id for problem in STARS}


def test_equal_completions_under_different_orders_are_judged_apart():
    env = ChoiceEnv(STARS, **PLAIN)
    views = env.variants(STARS[0], np.random.default_rng(0), 4)
    assert {view.answer for view in views} == {"A", "B", "C", "D"}
    judged = env.judge([Rollout(view, "<answer>B</answer>") for view in views * 2])
    right = [one.verdict.status is Status.CORRECT for one in judged]
    assert right == [view.answer == "B" for view in views * 2]


def test_members_of_one_group_may_be_asked_under_several_views():
    env = ChoiceEnv(STARS, views=4, reward="Correct() + PermutationConsistency()", **PLAIN)
    views = env.variants(STARS[0], np.random.default_rng(0), 4)
    rollouts = [Rollout(v, f"<answer>{v.answer}</answer>", "g") for v in views]
    _, scores = env.judge_and_score(rollouts)
    assert scores.total.tolist() == [2.0] * 4
    same_letter = [Rollout(view, "<answer>A</answer>", "g") for view in views]
    _, scores = env.judge_and_score(same_letter)
    assert scores.terms["permutation_consistency"].tolist() == [0.0] * 4


@pytest.mark.parametrize(
    ("style", "says"),
    [
        ("letters", "Put only the letter of the right option inside"),
        ("numbers", "Put only the number of the right option inside"),
        ("roman", "Put only the roman numeral of the right option inside"),
    ],
)
def test_the_prompt_asks_for_the_labels_that_this_draw_has(style, says):
    env = ChoiceEnv(STARS, labels=style)
    first = {"letters": "A", "numbers": "1", "roman": "I"}[style]
    prompt = env.reset(seed=0)[0]
    assert says in prompt
    assert f"\n{first}. " in prompt
    assert (
        says
        in ChoiceEnv(STARS, labels=style, observation="messages").reset(seed=0)[0][-1]["content"]
    )


def test_random_labels_are_asked_for_by_their_name():
    env = ChoiceEnv(STARS, labels="random")
    for seed in range(20):
        prompt = env.reset(seed=seed)[0]
        name = {"A": "letter", "1": "number", "I": "roman numeral"}[
            env.problem.metadata["labels"][0]
        ]
        assert f"Put only the {name} of" in prompt


def test_words_of_ones_own_for_an_answer_win():
    assert "Put only the symbol inside" in ChoiceEnv(STARS, answer_is="symbol").reset(seed=0)[0]


def test_an_option_line_may_be_written_otherwise():
    env = ChoiceEnv(STARS, option_line="({label}) {text}", shuffle=False)
    assert "\n(B) Sirius" in env.reset(seed=0)[0]


def test_abstaining_is_offered_where_it_is_asked_for():
    assert 'put "I don\'t know" there instead' in ChoiceEnv(STARS, abstain=True).reset(seed=0)[0]
    assert "I don't know" not in ChoiceEnv(STARS).reset(seed=0)[0]
    silent = ChoiceEnv(STARS, abstain=True, layout={"instruction": ""})
    assert "I don't know" not in silent.reset(seed=0)[0]


def test_several_right_options_are_asked_for_in_the_plural():
    problem = Problem("Even?", ("A", "B"), {"options": ("2", "4", "5"), "multiple": True})
    env = ChoiceEnv([problem])
    prompt = env.reset(seed=3)[0]
    assert "letters of all right options, with commas between, inside" in prompt
    assert env.gold_completion(env.problem).endswith(
        f"<answer>{', '.join(env.problem.answer)}</answer>"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": "greek"}, "labels='greek' is not one of"),
        ({"keep": (1, 2)}, "keep="),
        ({"views": 0}, "views=0: a whole number"),
        ({"eval_views": 1.5}, "eval_views=1.5: a whole number"),
        ({"views": 2, "shuffle": False}, "views=2 asks under several orders"),
        ({"option_line": "{label}"}, "option_line='{label}': a text with"),
        ({"option_line": "{label} {txt}"}, "option_line=.*no other field"),
        ({"option_line": "{0} {text}"}, "option_line="),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        ChoiceEnv(STARS, **arguments)


def test_an_unusable_question_is_refused_when_the_environment_is_made():
    bad = Problem("?", "A", {"options": ("x", "x")}, id="twins")
    with pytest.raises(DataError, match=r"^problem twins: the options A and B have the same text"):
        ChoiceEnv([*STARS, bad])
    with pytest.raises(DataError, match=r"^problem none: it has no options"):
        ChoiceEnv([Problem("?", "A", id="none")])


def test_problems_of_a_generator_are_checked_as_they_are_asked():
    env = reasonenv.make("reasonenv/Quiz-v0", labels="random", keep=[2, 4], none_of_the_above=0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(30):
            env.reset(seed=seed)
            assert 2 <= len(env.problem.metadata["options"]) <= 5


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"keep": [2, 3], "none_of_the_above": 0.3},
        {"views": 4},
        {"options": {"kinds": ["sum"], "level": 3, "brief": True}},
        {"options": {"options": 8, "level": 2}, "observation": "messages"},
        {"abstain": True, "option_line": "({label}) {text}"},
    ],
)
def test_the_quiz_holds_to_every_environments_contract(arguments):
    report = check_env("reasonenv/Quiz-v0", problems=40, **arguments)
    assert report.ok, report.findings
    assert report.golds == 40


@pytest.mark.parametrize("style", ["letters", "numbers", "roman", "random"])
def test_golds_are_right_and_junk_is_not_under_all_labels(style):
    report = check_env("reasonenv/Quiz-v0", problems=40, labels=style, keep=[2, 4])
    assert report.ok, report.findings


@pytest.mark.parametrize("style", ["letters", "numbers"])
def test_several_right_options_are_judged_as_asked(style):
    problem = Problem(
        "Which are even?", ("A", "B"), {"options": ("six", "ten", "one", "five"), "multiple": True}
    )
    env = ChoiceEnv([problem], labels=style, **PLAIN)
    for seed in range(5):
        env.reset(seed=seed)
        *_, info = env.step(env.gold_completion(env.problem))
        assert info["verdict"].status is Status.CORRECT
        env.reset(seed=seed)
        *_, info = env.step(env.layout.render(env.problem.answer[0]))
        assert info["verdict"].status is Status.INCORRECT


@pytest.mark.filterwarnings("error")
def test_gymnasiums_checker_spec_and_vector_environment():
    env = gymnasium.make("reasonenv/Quiz-v0", keep=[2, 4], views=2, render_mode="ansi")
    gymnasium_check_env(env.unwrapped)
    assert EnvSpec.from_json(env.spec.to_json()) == env.spec
    json.loads(env.spec.to_json())
    vector = gymnasium.make_vec("reasonenv/Quiz-v0", num_envs=3)
    prompts, info = vector.reset(seed=4)
    assert prompts == vector.reset(seed=4)[0]
    answers = [one.layout.render(one.problem.answer, "because") for one in vector.envs]
    assert info["problem_id"] == [one.problem.id for one in vector.envs]
    assert vector.step(answers)[1].tolist() == pytest.approx([1.1] * 3)


def test_a_file_in_the_place_of_a_set_is_asked_anew_too(tmp_path):
    path = tmp_path / "own.jsonl"
    rows = [{"id": f"r{i}", "question": f"{i}?", "options": ["x", "y", "z"], "answer": "A"}
            for i in range(20)]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    env = reasonenv.make("reasonenv/ARC-Challenge-v0", data=str(path))
    golds = {env.reset(seed=seed) and env.problem.answer for seed in range(40)}
    assert golds == {"A", "B", "C"}
    assert [p.answer for p in load("arc_challenge", data=str(path))] == ["A"] * 20
