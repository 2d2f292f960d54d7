"""From what a person gives to a plan, and from a plan to its back end."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reasonenv.errors import EvaluationError
from reasonenv.evaluation.backends.base import Backend
from reasonenv.evaluation.plan import EvaluationPlan
from reasonenv.evaluation.stored import RECIPE, read_recipe_fields
from reasonenv.evaluation.suites import Benchmark, load_suite
from reasonenv.models.adapters import check_base, fingerprint, trained_folder
from reasonenv.models.loading import resolve_model

__all__ = ["make_backend", "plan_evaluation"]


def plan_evaluation(
    *,
    model: str | None = None,
    adapter: str | None = None,
    prompts_of: str | None = None,
    envs: Sequence[str] = (),
    suite: str | None = None,
    split: str | None = None,
    data: str | None = None,
    problems: int | None = None,
    env_args: Mapping[str, Any] | None = None,
    **fields: Any,
) -> EvaluationPlan:
    """Return the plan of an evaluation; nothing is loaded.

    With `adapter` (or `prompts_of`) of a training run, what is not given is the run's own: model,
    environment and its arguments, prompt template, temperature and length limit. So a trained
    model meets the prompts that it was trained on, and `prompts_of` alone evaluates its base.

    Args:
        model: a local folder, a hub id, `tiny`, or a served name.
        adapter: a run, a checkpoint, or an adapter's folder.
        prompts_of: a training run to take the prompts of.
        envs: ENV arguments.
        suite: the name or file of a suite, instead of `envs`.
        split: of the problems; "test" unless given, or the suite's own.
        data: a JSONL file of problems; goes with one environment.
        problems: how many of each benchmark.
        env_args: further arguments of every environment.
        fields: other fields of `EvaluationPlan`; None leaves the default.

    Raises:
        EvaluationError: what is given does not fit together.
        ModelError: model or adapter is not there, or they do not belong together.
    """
    if adapter is not None and fields.get("server") is None:
        folder = trained_folder(adapter)
        fields["adapter_digest"] = fingerprint(folder)
    run = _recipe_of(prompts_of, required=True) or _recipe_of(adapter, required=False) or {}
    grpo = run.get("grpo") or {}
    prompt = run.get("prompt") or {}
    model = model or run.get("model")
    if model is None:
        raise EvaluationError(
            "which model? give --model (a folder, a hub id, tiny, or a served name), or a run "
            "with --adapter or --prompts-of"
        )
    inherited: dict[str, Any] = {
        "template": prompt.get("template"),
        "system": prompt.get("system"),
        "chat_args": grpo.get("chat_template_kwargs"),
        "temperature": grpo.get("temperature", 1.0 if run else None),
        "max_tokens": grpo.get("max_completion_length", 256 if run else None),
    }
    own_args = dict(run.get("env_args") or {})
    layout = {"layout": own_args["layout"]} if "layout" in own_args else {}
    if suite is not None:
        if envs or data is not None:
            raise EvaluationError("a suite names its environments: give --suite or --env, not both")
        loaded = load_suite(suite)
        inherited |= {
            key: value
            for key in ("n", "temperature", "max_tokens")
            if (value := getattr(loaded, key)) is not None
        }
        benchmarks = [
            _changed(one, split, problems, {**layout, **one.env_args, **(env_args or {})})
            for one in loaded.benchmarks
        ]
    else:
        names = list(envs) or ([run["env"]] if run else [])
        if not names:
            raise EvaluationError("on what? give --env ENV, or --suite NAME")
        if data is not None and len(names) > 1:
            raise EvaluationError("--data holds the problems of one environment: give one --env")
        short = [Benchmark(env=name).name for name in names]
        benchmarks = [
            _changed(
                Benchmark(env=name, data=data, name=name if short.count(own) > 1 else own),
                split,
                problems,
                {**(own_args if name == run.get("env") else layout), **(env_args or {})},
            )
            for name, own in zip(names, short, strict=True)
        ]
    given = {key: value for key, value in fields.items() if value is not None}
    inherited = {key: value for key, value in inherited.items() if value is not None}
    plan = EvaluationPlan.make(
        model=model, adapter=adapter, benchmarks=benchmarks, **{**inherited, **given}
    )
    if plan.backend != "server":
        resolve_model(plan.model)
        if plan.adapter is not None and not plan.other_base:
            check_base(trained_folder(plan.adapter), plan.model)
    return plan


def _changed(
    benchmark: Benchmark, split: str | None, problems: int | None, env_args: Mapping[str, Any]
) -> Benchmark:
    given = {"split": split, "problems": problems, "env_args": dict(env_args)}
    kept = {key: value for key, value in given.items() if value is not None}
    return Benchmark.model_validate({**benchmark.model_dump(), **kept})


def _recipe_of(run: str | None, *, required: bool) -> Mapping[str, Any] | None:
    """Return the recipe of a training run, or of the run above a checkpoint or an adapter."""
    if run is None:
        return None
    path = Path(run).expanduser()
    for folder in (path, path.parent, path.parent.parent):
        if (folder / RECIPE).is_file():
            return read_recipe_fields(folder)
    if required:
        raise EvaluationError(f"{run}: no training run is there (it would hold a {RECIPE})")
    return None


def make_backend(
    plan: EvaluationPlan, *, concurrency: int = 8, api_key_env: str = "OPENAI_API_KEY"
) -> Backend:
    """Return what samples the completions of a plan.

    Args:
        plan: says which, and which model.
        concurrency: requests to a server at once.
        api_key_env: the environment variable that holds the key of a server.

    Raises:
        ReasonEnvError: the back end, or its model, cannot be had.
    """
    if plan.backend == "server":
        from reasonenv.evaluation.backends.server import ServerBackend

        assert plan.server is not None
        return ServerBackend(
            plan.server,
            plan.model,
            template=plan.template,
            api_key=os.environ.get(api_key_env),
            concurrency=concurrency,
            chat_args=plan.chat_args,
        )
    adapter = trained_folder(plan.adapter) if plan.adapter is not None else None
    shared: dict[str, Any] = {
        "adapter": adapter,
        "dtype": plan.dtype,
        "template": plan.template,
        "chat_args": plan.chat_args,
    }
    if plan.backend == "vllm":
        from reasonenv.evaluation.backends.vllm_engine import VLLMBackend

        return VLLMBackend(plan.model, engine=plan.engine, **shared)
    from reasonenv.evaluation.backends.hf import TransformersBackend

    return TransformersBackend(plan.model, **shared)
