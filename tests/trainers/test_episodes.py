"""Episodes of several turns: masks, ids as they were sampled, and gradients on own tokens alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import reasonenv
from reasonenv import GRPOLearner, Recipe
from reasonenv.errors import RecipeError, RewardError
from reasonenv.models.loading import load_model, load_tokenizer
from reasonenv.models.prompts import PromptFormat
from reasonenv.trainers import read_metrics, read_rollouts
from reasonenv.trainers.batch import plan_batches
from reasonenv.trainers.bridge import Bridge
from reasonenv.trainers.draws import Draws
from reasonenv.trainers.guard import UnscoredGuard
from reasonenv.trainers.session import slots
from reasonenv.trainers.storage import earlier_turns
from reasonenv.trainers.trainer import EnvGRPOTrainer
from reasonenv.trainers.trl_config import grpo_config, lora_config

from .conftest import small

pytestmark = pytest.mark.training

G = 4
GUESS = f"{Path(__file__).parents[2] / 'examples' / 'guess.py'}:acme/Guess-v0"
NUMBER = "6"
PLANS = [["6"], ["2", "9", "6"], ["?", "7", "1"], ["1", "3", "9"]]
"""What each member of the one group says, turn by turn; three turns at most."""
BARE = {"layout": {"reasoning": None, "instruction": ""}}
POTENTIAL = "Correct() + 0.5 * PotentialBased(TagCount('answer'))"


def make_trainer(
    tmp_path: Path,
    env: Any,
    *,
    turns: int | None = None,
    template: str = "chat",
    **grpo: Any,
) -> EnvGRPOTrainer:
    sizes = {"num_generations": G, "max_completion_length": 32, "report_to": "none"}
    recipe = Recipe.make(
        {
            "steps": 1,
            "prompts_per_step": 1,
            "eval": {"problems": 0},
            "grpo": {**sizes, **grpo},
            "lora": {"r": 4, "target_modules": "all-linear"},
        }
    )
    plan = plan_batches(processes=1, group_size=G, prompts_per_step=1)
    config = grpo_config(recipe, plan, run=tmp_path, steps=1, evaluate=False, resumed=False)
    tokenizer = load_tokenizer("tiny")
    bridge = Bridge(
        env=env,
        tokenizer=tokenizer,
        prompt=PromptFormat(env, tokenizer, template),
        train=Draws(env.problems, shuffle=False),
        held_out=None,
        group_size=G,
        eval_samples=1,
        end_ids=frozenset(),
    )
    trainer = EnvGRPOTrainer(
        bridge=bridge,
        guard=UnscoredGuard(limit=1.0),
        rollouts=tmp_path / "rollouts.parquet",
        episode_tokens=turns,
        model=load_model("tiny"),
        args=config,
        train_dataset=slots(1),
        processing_class=tokenizer,
        peft_config=lora_config(recipe.lora),
    )
    bridge.end_ids = frozenset(trainer.eos_token_ids)
    trainer.current_gradient_accumulation_steps = 1
    trainer.model.train()
    return trainer


class Script:
    """Says what was planned, and keeps what it was asked to go on from."""

    def __init__(self, trainer: EnvGRPOTrainer, plans: list[list[str]]) -> None:
        self.tokenizer, self.plans = trainer.bridge.tokenizer, plans
        self.contexts: list[list[list[int]]] = []
        self.histories: dict[int, list[int]] = {i: [] for i in range(len(plans))}
        trainer._generate_single_turn = self

    def __call__(self, contexts: list[list[int]], *_: Any) -> tuple[list[list[int]], None]:
        turn = len(self.contexts)
        self.contexts.append([list(one) for one in contexts])
        rows = iter(list(self.histories))
        written = []
        for context in contexts:  # in order, without the episodes that have ended
            row = next(i for i in rows if self._goes_on(i, context))
            said = self.tokenizer(self.plans[row][turn])["input_ids"]
            written.append([*said, self.tokenizer.eos_token_id])
            self.histories[row] = [*context, *written[-1]]
        return written, None

    def _goes_on(self, row: int, context: list[int]) -> bool:
        history = self.histories[row]
        return context[: len(history)] == history


def guess_env(**given: Any) -> Any:
    problem = reasonenv.Problem("2+4=", NUMBER)
    return reasonenv.make(GUESS, problems=[problem], max_turns=3, **{**BARE, **given})


def batch() -> list[dict[str, int]]:
    return [{"slot": 0}] * G


def own_tokens(trainer: EnvGRPOTrainer, output: dict[str, Any], row: int) -> list[str]:
    """Return the stretches of unmasked tokens of a row, decoded."""
    mask = (output["completion_mask"] * output["tool_mask"])[row].tolist()
    ids = output["completion_ids"][row].tolist()
    stretches: list[list[int]] = [[]]
    for token, own in zip(ids, mask, strict=True):
        if own:
            stretches[-1].append(token)
        elif stretches[-1]:
            stretches.append([])
    return [trainer.bridge.tokenizer.decode(one) for one in stretches if one]


def test_only_what_the_model_said_is_in_the_loss(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, guess_env())
    script = Script(trainer, PLANS)
    output = trainer._generate_and_score_completions(batch())
    for row, said in enumerate(PLANS):
        assert own_tokens(trainer, output, row) == [f"{text}<|end|>" for text in said]
    assert [len(turn) for turn in script.contexts] == [4, 3, 3]
    assert output["num_items_in_batch"] == sum(len(said) * 2 for said in PLANS)


def test_feedback_stands_where_the_chat_template_puts_it(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, guess_env())
    script = Script(trainer, PLANS)
    trainer._generate_and_score_completions(batch())
    tokenizer = trainer.bridge.tokenizer
    messages = [
        {"role": "user", "content": "2+4="},
        {"role": "assistant", "content": "2"},
        {"role": "user", "content": "too low"},
        {"role": "assistant", "content": "9"},
        {"role": "user", "content": "too high"},
    ]
    expected = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert tokenizer.decode(script.contexts[2][0]) == expected


CHATML = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] | trim + '<|end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' + opened }}{% endif %}"
)


@pytest.mark.parametrize("opened", ["", "<think>\n"])
def test_feedback_fits_templates_that_end_messages_and_open_answers(
    tmp_path: Path, opened: str
) -> None:
    env = guess_env()
    trainer = make_trainer(tmp_path, env)
    tokenizer = trainer.bridge.tokenizer
    tokenizer.chat_template = CHATML
    trainer.chat_template_kwargs = {"opened": opened}
    trainer.bridge.prompt = PromptFormat(env, tokenizer, chat_args={"opened": opened})
    assert trainer.bridge.prompt.prefill == opened
    script = Script(trainer, PLANS)
    trainer._generate_and_score_completions(batch())
    expected = (
        f"<|user|>2+4=<|end|>\n<|assistant|>{opened}2<|end|>\n"
        f"<|user|>too low<|end|>\n<|assistant|>{opened}"
    )
    assert tokenizer.decode(script.contexts[1][0]) == expected


def test_without_a_chat_template_feedback_stands_on_lines_of_its_own(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, guess_env(), template="plain")
    script = Script(trainer, PLANS)
    trainer._generate_and_score_completions(batch())
    said = trainer.bridge.tokenizer.decode(script.contexts[1][0])
    assert said == "2+4=\n2<|end|>\ntoo low\n"


def test_what_was_sampled_is_never_tokenised_again(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, guess_env())
    tokenizer = trainer.bridge.tokenizer
    (tag,) = tokenizer("<answer>")["input_ids"]
    spelled = [token for letter in "<answer>" for token in tokenizer(letter)["input_ids"]]
    assert tokenizer.decode(spelled) == tokenizer.decode([tag])
    script = Script(trainer, [["2", "6"]] * G)
    trainer._generate_single_turn = lambda contexts, *_: (
        script.contexts.append(contexts),
        ([[*spelled, tokenizer.eos_token_id]] * len(contexts), None),
    )[1]
    output = trainer._generate_and_score_completions(batch())
    width = len(spelled)
    prompt = output["prompt_ids"][0][output["prompt_mask"][0].bool()].tolist()
    assert output["completion_ids"][0, :width].tolist() == spelled
    assert script.contexts[1][0][: len(prompt) + width] == prompt + spelled
    assert script.contexts[2][0][: len(script.contexts[1][0])] == script.contexts[1][0]


def test_episodes_end_as_those_of_env_step(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, guess_env())
    Script(trainer, PLANS)
    trainer._generate_and_score_completions(batch())
    for row, said in zip(trainer.bridge.rows, PLANS, strict=True):
        env = guess_env(observation="messages")
        env.reset(seed=0)
        for text in said:
            observation, reward, terminated, truncated, info = env.step(text)
        assert terminated or truncated
        assert observation == ()
        assert row["reward"] == reward
        assert row["status"] == info["verdict"].status
        assert [text for text, _ in earlier_turns(row)] == said[:-1]


def test_an_episode_without_room_for_feedback_ends(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, guess_env(), turns=16)
    script = Script(trainer, PLANS)
    output = trainer._generate_and_score_completions(batch())
    assert output["completion_ids"].size(1) <= 16
    assert [len(turn) for turn in script.contexts] == [4, 2]  # after "?" comes a long feedback
    assert trainer.bridge.rows[2]["turns"] is None


def test_gradients_are_those_of_the_own_tokens(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, guess_env(), loss_type="dapo")
    Script(trainer, PLANS)
    output = trainer._generate_and_score_completions(batch())
    trainer._compute_loss(trainer.model, output).backward()
    named = [(n, p) for n, p in trainer.model.named_parameters() if p.grad is not None]
    got = torch.cat([p.grad.flatten() for _, p in named]).clone()
    trainer.model.zero_grad()
    loss = torch.zeros(())
    tokens = int(output["num_items_in_batch"])
    for row in range(G):
        prompt = output["prompt_ids"][row][output["prompt_mask"][row].bool()]
        said = output["completion_ids"][row][output["completion_mask"][row].bool()]
        ids = torch.cat([prompt, said]).unsqueeze(0)
        logits = trainer.model(ids).logits[0, :-1] / trainer.temperature
        logps = logits.log_softmax(-1).gather(1, ids[0, 1:, None])[len(prompt) - 1 :, 0]
        own = output["tool_mask"][row][: len(said)].bool()
        loss = loss - output["advantages"][row] * logps[own].sum() / tokens
    loss.backward()
    expected = torch.cat([p.grad.flatten() for _, p in named])
    assert expected.norm() > 1e-4
    torch.testing.assert_close(got, expected, rtol=1e-3, atol=1e-6)


TAGGED = [
    ["<answer>6"],
    ["<answer>2</answer>", "9", "6"],
    ["2", "7</answer>", "1"],
    ["1", "3", "9"],
]


def test_turns_have_their_own_advantages_where_the_reward_pays_by_turn(tmp_path: Path) -> None:
    env = guess_env(reward=POTENTIAL)
    trainer = make_trainer(tmp_path, env)
    Script(trainer, TAGGED)
    output = trainer._generate_and_score_completions(batch())
    phi = [[0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.5], [0.0, 0.0, 0.0]]
    outcome = [1.0, 1.0, 0.0, 0.0]
    returns = [[o - 0.5 * value for value in one] for o, one in zip(outcome, phi, strict=True)]
    flat = np.concatenate(returns)
    for row, one in enumerate(returns):
        expected = (np.array(one) - flat.mean()) / (flat.std(ddof=1) + 1e-4)
        assert trainer.bridge.rows[row]["turn_advantages"] == pytest.approx(expected)
        own = output["tool_mask"][row].bool() & output["completion_mask"][row].bool()
        found = torch.unique_consecutive(output["advantages"][row][own]).tolist()
        changes = [v for i, v in enumerate(expected) if i == 0 or v != expected[i - 1]]
        assert found == pytest.approx(changes)
        assert not output["advantages"][row][~own].any()
    trainer._compute_loss(trainer.model, output).backward()


def test_a_group_whose_turns_all_returned_the_same_is_silent(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, guess_env(reward=POTENTIAL))
    Script(trainer, [["1", "3", "9"]] * G)
    output = trainer._generate_and_score_completions(batch())
    assert not output["advantages"].any()


def test_a_turn_that_cannot_be_judged_ends_the_episode_and_leaves_the_loss(tmp_path: Path) -> None:
    def breaks(problem: Any, completion: str) -> Any:
        if completion == "9":
            raise RuntimeError("the worker died")
        return guess.judge_one(problem, completion)

    guess = guess_env()
    trainer = make_trainer(tmp_path, guess_env(judge=breaks), beta=0.1)
    Script(trainer, PLANS)
    output = trainer._generate_and_score_completions(batch())
    rows = trainer.bridge.rows
    assert [row["status"] for row in rows] == [
        "correct",
        "checker_error",
        "incorrect",
        "checker_error",
    ]
    mask = output["completion_mask"] * output["tool_mask"]
    assert mask.sum(1).tolist() == [2, 0, 6, 0]


def test_code_is_tried_again_after_its_tests_were_told(tmp_path: Path) -> None:
    wrong, right = "def f(n):\n    return n", "def f(n):\n    return n + 1"
    problem = reasonenv.Problem(
        "f(n) is n + 1.", ("assert f(1) == 2", "assert f(0) == 1"), {"entry_point": "f"}
    )
    env = reasonenv.CodeEnv(
        [problem], feedback="tests", max_turns=2, judge_options={"backend": "unsafe-local"}
    )
    trainer = make_trainer(tmp_path, env, max_completion_length=400)
    said = [[f"```python\n{one}\n```" for one in (wrong, end)] for end in (right, wrong)] * 2
    script = Script(trainer, said)
    output = trainer._generate_and_score_completions(batch())
    heard = trainer.bridge.tokenizer.decode(script.contexts[1][0])
    assert "0 of 2 tests passed" in heard
    rows = trainer.bridge.rows
    assert [row["status"] for row in rows] == ["correct", "incorrect"] * 2
    for row in range(G):
        assert own_tokens(trainer, output, row) == [f"{text}<|end|>" for text in said[row]]
    assert output["advantages"][0] > 0 > output["advantages"][1]


@pytest.mark.parametrize("reward", ["Correct()", POTENTIAL])
def test_a_run_of_the_guessing_game_trains_evaluates_and_stores_its_turns(
    tmp_path: Path, reward: str
) -> None:
    # Sums, since the tiny model answers those within its few tokens; wrong ones are told which way.
    sums = [reasonenv.Problem(f"{i}+{i + 7}=", str(2 * i + 7)) for i in range(20, 40)]
    env = reasonenv.make(GUESS, problems=sums, max_turns=3, **BARE)
    fields = small(reward=reward, steps=2, eval={"problems": 4, "every": None})
    del fields["env"], fields["env_args"]
    result = GRPOLearner(env=env, out=tmp_path / "run", **fields).train()
    assert result.step == 2
    rows = list(read_rollouts(result.run))
    several = [row for row in rows if row["turns"]]
    assert several
    for row in rows:
        turns = earlier_turns(row)
        assert len(turns) <= 2
        assert all(re.match(r"too low|too high|No answer", heard) for _, heard in turns)
        assert row["episode_tokens"] >= row["n_tokens"]
        if row["kind"] == "train" and "Potential" in reward:
            assert len(row["turn_advantages"]) == len(turns) + 1
    for row in read_metrics(result.run, "train"):
        assert 1.0 <= row["turns"] <= 3.0
        assert row["masked"] == pytest.approx(0.0)
    assert json.loads(several[0]["turns"])[0][1]


def test_one_advantage_for_an_episode_refuses_a_reward_by_turn(tmp_path: Path) -> None:
    fields = small(env=GUESS, reward=POTENTIAL, turns={"advantages": "episode"})
    fields["env_args"] = {"max_turns": 3, **BARE}
    with pytest.raises(RewardError, match="turn-level"):
        GRPOLearner(out=tmp_path / "run", **fields).train()
    fields |= {"turns": {}, "advantage": "gdpo"}
    with pytest.raises(RecipeError, match="gdpo"):
        GRPOLearner(out=tmp_path / "run", **fields).train()
    assert not (tmp_path / "run").exists()
