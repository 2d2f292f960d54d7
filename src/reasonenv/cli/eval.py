"""`reasonenv eval`: evaluates a model on environments, or compares evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["eval_"]


def eval_(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...", help="An evaluation to go on with; with --compare two or more."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="M", help="A folder, a hub id, tiny, or a served name.")
    ] = None,
    adapter: Annotated[
        str | None, typer.Option(metavar="RUN", help="A trained run, a checkpoint or an adapter.")
    ] = None,
    prompts_of: Annotated[
        str | None,
        typer.Option(
            metavar="RUN", help="Take model, environment and prompts of this run; not its adapter."
        ),
    ] = None,
    env: Annotated[
        list[str] | None, typer.Option(metavar="ENV", help="What to evaluate on; repeatable.")
    ] = None,
    suite: Annotated[
        str | None, typer.Option(metavar="NAME", help="A suite's name or file: study, local ...")
    ] = None,
    n: Annotated[
        int | None, typer.Option(help="Completions of each problem; 1 by default.")
    ] = None,
    problems: Annotated[
        int | None, typer.Option(min=1, help="How many problems of each; all by default.")
    ] = None,
    split: Annotated[str | None, typer.Option(metavar="NAME", help="test by default.")] = None,
    data: Annotated[
        str | None, typer.Option(metavar="FILE", help="A JSONL file to take the problems from.")
    ] = None,
    env_args: Annotated[
        str | None,
        typer.Option(metavar="YAML", help="Such as '{layout: {reasoning: null}}'."),
    ] = None,
    temperature: Annotated[float | None, typer.Option(help="0.8 by default; 0: greedy.")] = None,
    top_p: Annotated[float | None, typer.Option(help="1 by default.")] = None,
    top_k: Annotated[int | None, typer.Option(help="0, no limit, by default.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="512 by default.")] = None,
    seed: Annotated[int | None, typer.Option()] = None,
    template: Annotated[
        str | None, typer.Option(metavar="T", help="chat (the model's own), plain or raw.")
    ] = None,
    system: Annotated[str | None, typer.Option(help="A system message.")] = None,
    backend: Annotated[
        str | None, typer.Option(metavar="B", help="transformers (default), vllm or server.")
    ] = None,
    server: Annotated[
        str | None, typer.Option(metavar="URL", help="Of an OpenAI-compatible API, to .../v1.")
    ] = None,
    concurrency: Annotated[int, typer.Option(help="Requests to a server at once.")] = 8,
    api_key_env: Annotated[
        str, typer.Option(metavar="NAME", help="The environment variable with a server's key.")
    ] = "OPENAI_API_KEY",
    batch_size: Annotated[
        int | None, typer.Option(min=1, help="Completions drawn and stored together; 32.")
    ] = None,
    dtype: Annotated[str | None, typer.Option(help="auto, float32, bfloat16 or float16.")] = None,
    engine: Annotated[
        str | None, typer.Option(metavar="YAML", help="Further arguments of vLLM's engine.")
    ] = None,
    other_base: Annotated[
        bool, typer.Option("--other-base", help="The adapter's base has another name here.")
    ] = False,
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare RUNs: A,B are seeds of one side.")
    ] = False,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where to write; made from the plan.")
    ] = None,
) -> None:
    """Evaluate a model: pass@k for all k up to n, maj@k, intervals by problem, every completion.

    Cut short, it goes on where it was when the same command is given again, or `reasonenv eval
    RUN`. `reasonenv eval --compare RUN_A RUN_B` gives paired differences; `RUN_A1,RUN_A2` are
    seeds of one side, `name=RUN` names it; with --out also LaTeX and a forest plot.

    Python: reasonenv.evaluation.evaluate(plan, OUT, ...); .compare([A, B])
    """
    from reasonenv.cli.output import out as console
    from reasonenv.errors import EvaluationError

    runs = list(runs or ())
    if runs and runs[0] == "compare" and not Path("compare").is_dir():
        compare, runs = True, runs[1:]
    if compare:
        _compare(runs, out)
        return
    options: dict[str, Any] = {
        "model": model,
        "adapter": adapter,
        "prompts_of": prompts_of,
        "envs": env or None,
        "suite": suite,
        "split": split,
        "data": data,
        "problems": problems,
        "env_args": _mapping("--env-args", env_args),
        "n": n,
        "temperature": temperature,
        "top_p": top_p,
        "top_k": top_k,
        "max_tokens": max_tokens,
        "seed": seed,
        "template": template,
        "system": system,
        "backend": backend or ("server" if server else None),
        "server": server,
        "batch_size": batch_size,
        "dtype": dtype,
        "engine": _mapping("--engine", engine),
        "other_base": other_base or None,
    }
    given = {key: value for key, value in options.items() if value is not None}
    if runs:
        if len(runs) > 1 or given or out:
            raise EvaluationError(
                "`reasonenv eval RUN` goes on with one evaluation by its own plan; to compare "
                "several give --compare"
            )
        _run(None, runs[0], concurrency, api_key_env, console)
        return
    from reasonenv.evaluation.setup import plan_evaluation

    _run(plan_evaluation(**given), out, concurrency, api_key_env, console)


def _run(plan: Any, out: str | None, concurrency: int, api_key_env: str, console: Any) -> None:
    from functools import partial

    from reasonenv.cli.output import err
    from reasonenv.evaluation.plan import default_out, open_plan
    from reasonenv.evaluation.progress import ShowProgress
    from reasonenv.evaluation.runner import evaluate
    from reasonenv.evaluation.setup import make_backend
    from reasonenv.evaluation.tables import results_markdown
    from reasonenv.files import write_atomic

    path = Path(out) if out is not None else default_out(plan)
    plan = plan or open_plan(path)
    err.print(f"evaluation: {path}", markup=False)
    maker = partial(make_backend, concurrency=concurrency, api_key_env=api_key_env)
    try:
        results = evaluate(plan, path, make_backend=maker, progress=ShowProgress(err))
    except KeyboardInterrupt:
        err.print(f"stopped; go on with: reasonenv eval {path}", markup=False)
        raise
    text = results_markdown(results)
    write_atomic(path / "report.md", text)
    console.print(text, markup=False, end="")


def _compare(runs: list[str], out: str | None) -> None:
    from reasonenv.cli.output import out as console
    from reasonenv.evaluation.comparison import compare, write_comparison
    from reasonenv.evaluation.comparison_tables import comparison_markdown

    comparison = compare(runs)
    console.print(comparison_markdown(comparison), markup=False, end="")
    if out is not None:
        for path in write_comparison(comparison, out):
            console.print(f"wrote {path}", markup=False)


def _mapping(option: str, text: str | None) -> dict[str, Any] | None:
    import yaml

    from reasonenv.errors import EvaluationError

    if text is None:
        return None
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise EvaluationError(f"{option} {text!r}: not valid YAML ({error})") from error
    if not isinstance(value, dict):
        raise EvaluationError(f"{option} {text!r}: write a mapping such as '{{key: value}}'")
    return value
