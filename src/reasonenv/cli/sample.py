"""`reasonenv sample RUN [ENV]`: asks a model a problem and shows verdict and reward."""

from __future__ import annotations

from typing import Annotated, Any

import typer

__all__ = ["sample"]


def sample(
    run: Annotated[
        str | None,
        typer.Argument(metavar="[RUN]", help="A run, a checkpoint or an adapter; or give --model."),
    ] = None,
    env: Annotated[
        str | None, typer.Argument(metavar="[ENV]", help="The run's own if not given.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="M", help="The base, or a model alone.")
    ] = None,
    problem_id: Annotated[
        str | None, typer.Option(metavar="ID", help="Which problem; else one is drawn.")
    ] = None,
    index: Annotated[int | None, typer.Option(min=0, help="Which problem, by number.")] = None,
    n: Annotated[int | None, typer.Option(min=1, help="Completions; 1 if not given.")] = None,
    split: Annotated[str | None, typer.Option(metavar="NAME", help="test by default.")] = None,
    data: Annotated[str | None, typer.Option(metavar="FILE")] = None,
    temperature: Annotated[float | None, typer.Option()] = None,
    max_tokens: Annotated[int | None, typer.Option()] = None,
    seed: Annotated[int, typer.Option()] = 0,
    template: Annotated[str | None, typer.Option(metavar="T", help="chat, plain or raw.")] = None,
    server: Annotated[str | None, typer.Option(metavar="URL")] = None,
    other_base: Annotated[bool, typer.Option("--other-base")] = False,
) -> None:
    """Ask a trained model a problem: prompt, completion, verdict, reward with its parts.

    `reasonenv sample ENV --model M` asks a model that was not trained here.
    On a terminal without --problem-id, --index or --n it goes on with one problem after another,
    until q. Python: reasonenv.evaluation.sample_problem(backend, env, problem, sampling)
    """
    import sys
    from pathlib import Path

    from reasonenv.cli.options import given
    from reasonenv.evaluation.setup import make_backend, plan_evaluation

    if model is not None and env is None and run is not None and not Path(run).is_dir():
        run, env = None, run  # `sample ENV --model M`
    plan = plan_evaluation(
        **given(
            adapter=run,
            model=model,
            split=split,
            data=data,
            n=n,
            temperature=temperature,
            max_tokens=max_tokens,
            seed=seed,
            template=template,
            server=server,
            backend="server" if server else None,
            other_base=other_base or None,
        ),
        envs=[env] if env else [],
    )
    benchmark = plan.benchmarks[0]
    made = benchmark.make_env()
    made.system = plan.system or made.system
    backend = make_backend(plan)
    fixed = problem_id is not None or index is not None or n is not None
    try:
        for number in range(sys.maxsize):
            problem = _choose(made, problem_id, index, seed + number)
            _show(backend, made, problem, plan.sampling(benchmark))
            if fixed or not sys.stdin.isatty() or _stop():
                return
    finally:
        backend.close()


def _choose(env: Any, problem_id: str | None, index: int | None, seed: int) -> Any:
    import numpy as np

    from reasonenv.errors import DataError

    if problem_id is not None:
        return env.problems.find(problem_id)
    count = len(env.problems)
    if index is None:
        return env.problems[int(np.random.default_rng(seed).integers(count))]
    if index >= count:
        raise DataError(f"there is no problem {index}: --index goes from 0 to {count - 1}")
    return env.problems[index]


def _show(backend: Any, env: Any, problem: Any, sampling: Any) -> None:
    from reasonenv.cli.output import out
    from reasonenv.evaluation.browse.groups import readable
    from reasonenv.evaluation.sample import sample_problem

    sampled = sample_problem(backend, env, problem, sampling)
    out.print(f"problem {problem.id}", style="bold", markup=False)
    out.print(readable(sampled.asked.text) + "\n", markup=False)
    for number, one in enumerate(sampled.judged, 1):
        length = f", {one.rollout.n_tokens} tokens" if one.rollout.n_tokens is not None else ""
        cut = ", cut off" if one.rollout.truncated else ""
        out.print(f"completion {number}{length}{cut}", style="bold", markup=False)
        out.print(one.rollout.text, markup=False)
        style = {True: "bold green", False: "bold red", None: "bold magenta"}[one.verdict.correct]
        answer = "" if one.verdict.answer is None else f", answer {one.verdict.answer!r:.200}"
        out.print(f"{one.verdict.status}{answer}\n", style=style, markup=False)
    out.print(f"gold {str(sampled.asked.problem.answer)[:300]}", markup=False)
    out.print(f"reward {env.reward!r}", markup=False)
    out.print(sampled.scores.table(), markup=False)


def _stop() -> bool:
    said = typer.prompt("\nanother problem? (Enter, or q)", default="", show_default=False)
    return str(said).strip().lower().startswith("q")
