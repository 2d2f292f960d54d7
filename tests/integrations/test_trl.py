"""A reward in plain TRL, and TRL's trainer with it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import reasonenv
from reasonenv import MathEnv, Problem, Status, Verdict
from reasonenv.errors import RewardError
from reasonenv.integrations.trl import prompt_rows, reward_function

TRUE = "<answer>4</answer>"
REWARD = "Correct() + 0.5 * Format('answer')"


@pytest.fixture
def env() -> MathEnv:
    return MathEnv(
        [Problem("2+2=", "4", id="a"), Problem("2+1=", "3", id="b")],
        layout={"reasoning": None, "instruction": ""},
        reward=REWARD,
    )


def test_completions_are_judged_against_their_problem(env: MathEnv) -> None:
    function = reward_function(env)
    found = function(
        completions=[TRUE, TRUE, "4"], problem_id=["a", "b", "a"], prompts=["", "", ""]
    )
    assert found == [1.5, 0.5, 1.0]


def test_messages_are_read_and_what_trl_passes_besides_is_taken(env: MathEnv) -> None:
    logged: dict[str, float] = {}
    found = reward_function(env, "Correct() - 0.5 * Overlong(4, cache=4)")(
        prompts=[[]],
        completions=[[{"role": "assistant", "content": TRUE}]],
        completion_ids=[[1, 2]],
        problem_id=["a"],
        trainer_state=SimpleNamespace(global_step=3, max_steps=9),
        log_extra=None,
        log_metric=logged.__setitem__,
    )
    assert found == [0.75]
    assert logged == {
        "reasonenv/solved": 1.0,
        "reasonenv/correct": 1.0,
        "reasonenv/overlong": -0.25,
    }


def test_the_step_reaches_a_schedule(env: MathEnv) -> None:
    function = reward_function(env, "Scheduled(Correct(), Linear(1.0, 0.0, steps=4))")
    state = SimpleNamespace(global_step=3, max_steps=9)
    assert function(completions=[TRUE], problem_id=["a"], trainer_state=state) == [0.25]


def test_a_failed_checker_is_no_reward_and_no_zero() -> None:
    def fails(problem: Problem, completion: str) -> Verdict:
        return Verdict(Status.CHECKER_ERROR)

    env = MathEnv([Problem("2+2=", "4", id="a")], judge=fails, reward="Correct()")
    assert reward_function(env)(completions=[TRUE], problem_id=["a"]) == [None]


def test_groups_are_rows_that_stand_together(env: MathEnv) -> None:
    function = reward_function(env, "ShortestCorrect()", group_size=2)
    ids = [[1] * n for n in (2, 4, 3, 3)]
    texts = [TRUE, TRUE, "<answer>3</answer>", TRUE]
    found = function(completions=texts, problem_id=["a", "a", "b", "b"], completion_ids=ids)
    assert found == [1.0, 0.5, 1.0, 0.0]
    with pytest.raises(RewardError, match="no whole number of groups of 2"):
        function(completions=texts[:3], problem_id=["a", "b", "b"], completion_ids=ids[:3])


@pytest.mark.parametrize(
    ("reward", "says"),
    [
        ("Correct() + ShortestCorrect()", "give group_size="),
        ("Curriculum(Stage(Format('answer'), until='format'), Correct())", "remembers"),
        ("Correct() + PotentialBased(TagCount('answer'))", "would do nothing"),
    ],
)
def test_what_trl_cannot_give_is_refused_with_the_reason(
    env: MathEnv, reward: str, says: str
) -> None:
    with pytest.raises(RewardError, match=says):
        reward_function(env, reward)


def test_a_data_set_without_ids_is_refused(env: MathEnv) -> None:
    with pytest.raises(RewardError, match="prompt_rows"):
        reward_function(env)(completions=[TRUE])


def test_rows_hold_prompts_and_ids_and_no_gold(env: MathEnv) -> None:
    rows = prompt_rows(env, 1, conversational=False)
    assert rows == [{"prompt": env.prompt_text(env.problems[0]), "problem_id": "a"}]
    [row] = prompt_rows(env, 1)
    assert row["prompt"][-1]["role"] == "user"


@pytest.mark.training
def test_trls_own_trainer_trains_with_it(tmp_path: Path) -> None:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    from reasonenv.models.loading import load_model, load_tokenizer

    env = reasonenv.make("reasonenv/Arithmetic-v0", layout={"reasoning": None, "instruction": ""})
    config = GRPOConfig(
        output_dir=str(tmp_path),
        use_cpu=True,
        bf16=False,
        max_steps=2,
        num_generations=4,
        per_device_train_batch_size=8,
        max_completion_length=8,
        report_to="none",
        logging_steps=1,
        save_strategy="no",
    )
    trainer: Any = GRPOTrainer(
        model=load_model("tiny"),
        args=config,
        reward_funcs=reward_function(
            env, "Correct() + 0.1 * Format('answer') + 0.1 * KimiLength()", group_size=4
        ),
        train_dataset=Dataset.from_list(prompt_rows(env, 8)),
        processing_class=load_tokenizer("tiny"),
    )
    trainer.train()
    logged = [row for row in trainer.state.log_history if "reasonenv/solved" in row]
    assert len(logged) == 2
    for row in logged:
        parts = sum(row[f"reasonenv/{name}"] for name in ("correct", "format", "kimi_length"))
        assert row["reward"] == pytest.approx(parts, abs=1e-5)
