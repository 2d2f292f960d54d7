"""One optimizer step on completions that are given: run by one process, or by ranks of torchrun.

`torchrun --nproc-per-node 2 replay.py OUT` writes what rank 0 sees to OUT.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from reasonenv import MathEnv, Problem, Status, Verdict
from reasonenv.models.loading import load_model, load_tokenizer
from reasonenv.models.prompts import PromptFormat
from reasonenv.trainers.batch import plan_batches
from reasonenv.trainers.bridge import Bridge
from reasonenv.trainers.draws import Draws
from reasonenv.trainers.guard import UnscoredGuard
from reasonenv.trainers.launch import world_size
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.session import slots
from reasonenv.trainers.trainer import EnvGRPOTrainer
from reasonenv.trainers.trl_config import grpo_config, lora_config

G = 4
ANSWERS = ("132", "9", "5", "7")
COMPLETIONS = [
    *("132", "57", "13", "boom"),  # a member that cannot be judged, on the first of two ranks
    *("9", "1", "<answer>9</answer>", "81"),
    *("1234", "5", "1", "5 5"),
    *("7", "77", "7 and seven", "81234"),
]
CASES: tuple[dict[str, Any], ...] = (
    {"loss_type": "dapo", "beta": 0.1},
    {"loss_type": "grpo", "beta": 0.1},
    {"loss_type": "dr_grpo", "beta": 0.1},
    {"loss_type": "cispo", "beta": 0.1},
    {"loss_type": "luspo", "beta": 0.1, "importance_sampling_level": "sequence"},
    {"loss_type": "dapo", "beta": 0.0, "scale_rewards": "batch"},
    {"loss_type": "grpo", "beta": 0.0},  # rows without a share are left out
)


@dataclass(frozen=True)
class Judge:
    """Exact answers, in a tag or bare; breaks on "boom"."""

    concurrency: int = 1

    def __call__(self, problem: Problem, completion: str) -> Verdict:
        if completion == "boom":
            raise RuntimeError("the worker died")
        said = completion.removeprefix("<answer>").removesuffix("</answer>")
        right = problem.answer == said
        return Verdict(Status.CORRECT if right else Status.INCORRECT, float(right), said)


class KeepGradients(TrainerCallback):
    """Keeps the gradients of the optimizer step, as all ranks have averaged them."""

    def __init__(self) -> None:
        self.found: list[float] = []

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        gradients = [p.grad for p in kwargs["model"].parameters() if p.grad is not None]
        self.found = torch.cat([g.flatten() for g in gradients]).tolist()


def step(folder: Path, **grpo: Any) -> dict[str, Any]:
    """Make one optimizer step on `COMPLETIONS`; return loss and gradients."""
    env = MathEnv(
        [Problem(f"{a}+0=", a) for a in ANSWERS],
        judge=Judge(),
        reward="Correct() + 0.1 * TagCount('answer')",
        layout={"reasoning": None, "instruction": ""},
    )
    sizes = {"num_generations": G, "max_completion_length": 16, "max_grad_norm": 1e9}
    recipe = Recipe.make(
        {
            "steps": 1,
            "prompts_per_step": 4,
            "rows_per_forward": 4,
            "eval": {"problems": 0},
            "grpo": {**sizes, "report_to": "none", **grpo},
            "lora": {"r": 4, "target_modules": "all-linear", "lora_dropout": 0.0},
        }
    )
    plan = plan_batches(
        processes=world_size(), group_size=G, prompts_per_step=4, rows_per_forward=4
    )
    config = grpo_config(recipe, plan, run=folder, steps=1, evaluate=False, resumed=False)
    tokenizer = load_tokenizer("tiny")
    bridge = Bridge(
        env=env,
        tokenizer=tokenizer,
        prompt=PromptFormat(env, tokenizer),
        train=Draws(env.problems, shuffle=False),
        held_out=None,
        group_size=G,
        eval_samples=1,
        end_ids=frozenset(),
    )
    kept = KeepGradients()
    trainer = EnvGRPOTrainer(
        bridge=bridge,
        guard=UnscoredGuard(limit=1.0),
        rollouts=folder / "rollouts.parquet",
        model=load_model("tiny"),
        args=config,
        train_dataset=slots(4),
        processing_class=tokenizer,
        peft_config=lora_config(recipe.lora),
        callbacks=[kept],
    )
    bridge.end_ids = frozenset(trainer.eos_token_ids)
    ids = [[*tokenizer(text)["input_ids"], tokenizer.eos_token_id] for text in COMPLETIONS]
    size = len(ids) // world_size()
    mine = ids[trainer.accelerator.process_index * size :][:size]
    trainer._generate_single_turn = lambda *args, **kwargs: (mine, None)
    torch.manual_seed(1)
    with torch.no_grad():  # at B = 0 the policy is its own reference, and the KL term has no slope
        for name, parameter in trainer.model.named_parameters():
            if "lora_B" in name:
                parameter.copy_(0.05 * torch.randn_like(parameter))
    trainer.train()
    logged = next(one for one in trainer.state.log_history if "loss" in one)
    wanted = ("loss", "grad_norm", "reward", "masked", "unscored")
    return {
        "ranks": trainer.accelerator.num_processes,
        "gradients": kept.found,
        **{name: logged[name] for name in wanted if name in logged},
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    results = []
    for case in CASES:
        with tempfile.TemporaryDirectory() as temporary:
            results.append(step(Path(temporary), **case))
    if int(torch.distributed.get_rank()) == 0:
        Path(sys.argv[1]).write_text(json.dumps(results))
