"""The recipe's `grpo:` and `lora:` sections as TRL's and PEFT's own config objects.

Any key that `trl.GRPOConfig` or `peft.LoraConfig` knows may stand there, except those that the
learner sets itself: these are refused with the reason, since they would silently do nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from reasonenv.errors import RecipeError, did_you_mean
from reasonenv.extras import need
from reasonenv.trainers.batch import BatchPlan, plan_batches
from reasonenv.trainers.placement import OWN_KEYS, check_layers
from reasonenv.trainers.recipe import Recipe
from reasonenv.trainers.sharding import check_sharding, sharding

__all__ = ["OWNED", "batch_plan", "check_sections", "grpo_config", "lora_config"]

_ONE_REWARD = "one composed reward reaches TRL; weigh its terms in the recipe's `reward:`"
_STEPS = "set the recipe's `steps:` or `epochs:`"
_EVAL = "set the recipe's `eval:` section"
_SAVE = "set the recipe's `checkpoint:` section"
_LOGS = "every step is logged to metrics.jsonl and every completion to rollouts.parquet"
_SLOTS = "problems are drawn by the learner from (seed, slot), not by TRL's data loader"

OWNED: dict[str, str] = {
    "reward_weights": _ONE_REWARD,
    "multi_objective_aggregation": _ONE_REWARD,
    "remove_unused_columns": "the rows that TRL sees hold slots and nothing else",
    "shuffle_dataset": _SLOTS,
    "data_seed": _SLOTS,
    "dataloader_drop_last": _SLOTS,
    "output_dir": "give --out, or GRPOLearner(out=...)",
    "max_steps": _STEPS,
    "num_train_epochs": _STEPS,
    "seed": "set the recipe's `seed:`",
    "generation_batch_size": "set prompts_per_step, or per_device_train_batch_size and "
    "steps_per_generation",
    "num_generations_eval": "set eval.samples",
    "do_eval": _EVAL,
    "eval_strategy": _EVAL,
    "eval_steps": _EVAL,
    "eval_on_start": _EVAL,
    "eval_delay": _EVAL,
    "save_strategy": _SAVE,
    "save_steps": _SAVE,
    "save_total_limit": _SAVE,
    "load_best_model_at_end": _SAVE,
    "resume_from_checkpoint": "give --resume RUN",
    "logging_steps": _LOGS,
    "logging_strategy": _LOGS,
    "logging_first_step": _LOGS,
    "logging_dir": _LOGS,
    "log_completions": _LOGS,
    "log_completions_hub_repo": _LOGS,
    "log_multimodal": _LOGS,
    "log_unique_prompts": _LOGS,
    "num_completions_to_print": _LOGS,
    "disable_tqdm": "the learner shows its own progress",
    "model_init_kwargs": "the learner loads the model: set `model:` and `dtype:`",
    "use_cpu": "torch's device decides",
    "ddp_backend": "nccl on GPUs, gloo on CPUs",
    "auto_find_batch_size": "halving a batch would break groups; set prompts_per_step",
    "push_to_hub": "push the run's adapter folder yourself, once you have looked at it",
}
"""Keys of `trl.GRPOConfig` that the learner sets, each with what to do instead."""


_CHOICES: dict[str, tuple[str, ...]] = {
    # TRL looks at these at the first step only, after a model was loaded.
    "loss_type": ("grpo", "dapo", "dr_grpo", "bnpo", "cispo", "sapo", "luspo", "vespo"),
    "importance_sampling_level": ("token", "sequence"),
}


def check_sections(recipe: Recipe) -> None:
    """Check keys and values of `grpo:` and `lora:`.

    Raises:
        RecipeError: a key that TRL or PEFT does not know (the nearest is named), one that the
            learner owns (the reason is given), or a value of another type than theirs.
        MissingExtraError: TRL or PEFT is not installed.
    """
    config = need("trl", extra="train", by="reasonenv.trainers").GRPOConfig
    known = {field.name for field in dataclasses.fields(config) if field.init}
    for key in recipe.grpo:
        if key in OWNED:
            raise RecipeError(f"grpo.{key} is set by the learner: {OWNED[key]}")
        if key not in known:
            nearest = did_you_mean(key, known - set(OWNED))
            raise RecipeError(f"grpo.{key}: trl.GRPOConfig has no such key; {nearest}")
        if key in _CHOICES and recipe.grpo[key] not in _CHOICES[key]:
            nearest = did_you_mean(str(recipe.grpo[key]), _CHOICES[key])
            raise RecipeError(f"grpo.{key}={recipe.grpo[key]!r} is not valid; {nearest}")
    _check_types("grpo", recipe.grpo, config)
    _check_trackers(recipe.grpo.get("report_to"))
    if recipe.advantage == "gdpo" and recipe.grpo.get("scale_rewards", "batch") != "batch":
        raise RecipeError(
            f"grpo.scale_rewards={recipe.grpo['scale_rewards']!r} does not go with `advantage: "
            "gdpo`, whose sum is scaled over the batch: leave it out, or set it to batch"
        )
    scaled_by_batch = recipe.advantage == "gdpo" or recipe.grpo.get("scale_rewards") == "batch"
    if recipe.sampling.resample and scaled_by_batch:
        raise RecipeError(
            "sampling.resample with grpo.scale_rewards=batch or `advantage: gdpo`: each try would "
            "be scaled by its own deviation; scale by group or not at all, or set resample to 0"
        )
    check_sharding(recipe.shard, recipe.grpo)
    if recipe.lora is not None:
        config = need("peft", extra="train", by="reasonenv.trainers").LoraConfig
        known = {field.name for field in dataclasses.fields(config) if field.init}
        for key in recipe.lora:
            if key not in known | OWN_KEYS:
                nearest = did_you_mean(key, known | OWN_KEYS)
                raise RecipeError(f"lora.{key}: peft.LoraConfig has no such key; {nearest}")
        _check_types("lora", recipe.lora, config)
        _check_own_keys(recipe.lora)


def _check_trackers(names: str | list[str] | None) -> None:
    """Check `grpo.report_to`; TRL would look at it only after the model was loaded."""
    if names in (None, "none", "all"):
        return
    library = need(
        "transformers.integrations.integration_utils", extra="train", by="reasonenv.trainers"
    )
    known = set(library.INTEGRATION_TO_CALLBACK)
    there = set(library.get_available_reporting_integrations())
    for name in [names] if isinstance(names, str) else names or []:
        if name not in known and name != "none":
            nearest = did_you_mean(name, known)
            raise RecipeError(f"grpo.report_to={name!r}: transformers knows no such one; {nearest}")
        if name in known and name not in there | {"flyte", "codecarbon"}:
            raise RecipeError(
                f"grpo.report_to={name!r}: its package is not installed; installed are "
                f"{', '.join(sorted(there)) or 'none'}, and metrics.jsonl is written in any case"
            )


def _check_own_keys(lora: Mapping[str, Any]) -> None:
    """Check the keys of the `lora:` section that are not PEFT's."""
    check_layers(lora.get("layers", "all"))
    ratio, wanted = lora.get("loraplus_lr_ratio"), lora.get("match_parameters")
    if ratio is not None and (not isinstance(ratio, int | float) or not ratio >= 1):
        raise RecipeError(
            f"lora.loraplus_lr_ratio={ratio!r}: a number of at least 1, such as 16, or null"
        )
    number = isinstance(wanted, int) and not isinstance(wanted, bool) and wanted >= 1
    if wanted is not None and not isinstance(wanted, str) and not number:
        raise RecipeError(
            f"lora.match_parameters={wanted!r}: a number of parameters, the directory of a "
            "finished run, or null"
        )


def _check_types(section: str, values: Mapping[str, Any], config: type) -> None:
    """Check values against the annotations of a config class; what has no usable one passes."""
    hints = get_type_hints(config)
    for key, value in values.items():
        try:
            adapter = TypeAdapter(hints[key], config=ConfigDict(arbitrary_types_allowed=True))
        except (KeyError, PydanticUserError, PydanticSchemaGenerationError):
            continue
        try:
            adapter.validate_python(value)
        except ValidationError as error:
            wanted = "; ".join(dict.fromkeys(finding["msg"] for finding in error.errors()))
            raise RecipeError(f"{section}.{key}={value!r}: {wanted}") from error


def batch_plan(recipe: Recipe, processes: int) -> BatchPlan:
    """Return the recipe's batch arithmetic on this many ranks.

    Raises:
        BatchArithmeticError: the sizes do not fit.
    """
    grpo = recipe.grpo
    return plan_batches(
        processes=processes,
        group_size=int(grpo.get("num_generations", 8)),
        prompts_per_step=recipe.prompts_per_step,
        rows_per_forward=recipe.rows_per_forward,
        per_device=grpo.get("per_device_train_batch_size"),
        accumulation=grpo.get("gradient_accumulation_steps"),
        steps_per_generation=grpo.get("steps_per_generation"),
        iterations=int(grpo.get("num_iterations", 1)),
        eval_samples=recipe.eval.samples,
        eval_problems=recipe.eval.problems,
        eval_per_device=grpo.get("per_device_eval_batch_size"),
    )


def grpo_config(
    recipe: Recipe, plan: BatchPlan, *, run: Path, steps: int, evaluate: bool, resumed: bool
) -> Any:
    """Return the `trl.GRPOConfig` of a run.

    Args:
        recipe: checked by `check_sections`.
        plan: its batch arithmetic.
        run: the run directory.
        steps: optimizer steps.
        evaluate: whether there are problems to evaluate on.
        resumed: whether a checkpoint is continued (then nothing is evaluated at the start).

    Raises:
        RecipeError: TRL refuses a value.
    """
    torch = need("torch", extra="train", by="reasonenv.trainers")
    trl = need("trl", extra="train", by="reasonenv.trainers")
    on_gpu = torch.cuda.is_available()
    defaults: dict[str, Any] = {
        "bf16": on_gpu and torch.cuda.is_bf16_supported(),
        "gradient_checkpointing": on_gpu,  # trades time for memory, which a CPU has enough of
        "report_to": "tensorboard",
    }
    cycle = plan.steps_per_cycle
    owned: dict[str, Any] = {
        "output_dir": str(run / "checkpoints"),
        "max_steps": steps,
        "seed": recipe.seed,
        "num_generations": plan.group_size,
        "num_generations_eval": recipe.eval.samples,
        "per_device_train_batch_size": plan.per_device,
        "per_device_eval_batch_size": plan.eval_per_device,
        "gradient_accumulation_steps": plan.accumulation,
        "steps_per_generation": plan.steps_per_generation,
        "shuffle_dataset": False,
        "remove_unused_columns": False,
        "eval_strategy": "steps" if evaluate and recipe.eval.every else "no",
        "eval_steps": recipe.eval.every,
        "eval_on_start": evaluate and not resumed,
        "save_strategy": "steps",
        # A checkpoint inside a generation's cycle could not be resumed exactly.
        "save_steps": _round_up(min(recipe.checkpoint.every or steps, steps), cycle),
        "save_total_limit": recipe.checkpoint.keep,
        "logging_steps": 1,
        "log_completions": False,
        "disable_tqdm": True,
        "use_cpu": not on_gpu,
        "ddp_backend": None if on_gpu or plan.processes == 1 else "gloo",
        **sharding(recipe.shard, checkpointing=recipe.grpo.get("gradient_checkpointing", True)),
    }
    if recipe.shard == "fsdp":
        owned["gradient_checkpointing"] = False  # FSDP has its own
    if recipe.advantage == "gdpo":
        owned["scale_rewards"] = "batch"
    try:
        return trl.GRPOConfig(**{**defaults, **recipe.grpo, **owned})
    except (TypeError, ValueError) as error:
        raise RecipeError(f"grpo: trl.GRPOConfig refuses this section: {error}") from error


def lora_config(section: Mapping[str, Any] | None) -> Any:
    """Return the `peft.LoraConfig` of a placed `lora:` section, None for full fine-tuning.

    Raises:
        RecipeError: PEFT refuses a value.
    """
    if section is None:
        return None
    peft = need("peft", extra="train", by="reasonenv.trainers")
    try:
        own = {key: value for key, value in section.items() if key not in OWN_KEYS}
        return peft.LoraConfig(**{"task_type": "CAUSAL_LM", **own})
    except (TypeError, ValueError) as error:
        raise RecipeError(f"lora: peft.LoraConfig refuses this section: {error}") from error


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
