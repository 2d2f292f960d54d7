"""`evaluate`: draws, judges and stores what is missing of an evaluation, then sums it up."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reasonenv.envs.core import ReasoningEnv
from reasonenv.errors import EvaluationError
from reasonenv.evaluation.answers import same_answer
from reasonenv.evaluation.asking import as_drawn, rollout_of
from reasonenv.evaluation.backends.base import Asked, Backend, Sample
from reasonenv.evaluation.parts import PartFolder, Row, judged_fields, row_of
from reasonenv.evaluation.plan import EvaluationPlan, store_plan
from reasonenv.evaluation.progress import Progress, Silent
from reasonenv.evaluation.results import summarise
from reasonenv.evaluation.sampling import Sampling, seed_of
from reasonenv.evaluation.suites import Benchmark, ids_digest
from reasonenv.files import write_atomic
from reasonenv.problems import ProblemList
from reasonenv.types import Problem, Rollout, Status, thaw

__all__ = ["PROMPTS", "RESULTS", "completions", "evaluate"]

RESULTS = "results.json"
PROMPTS = "prompts.jsonl"
_GOLD = 1000  # characters of a gold that is kept beside the prompt
_JUDGED_AGAIN = 2  # times that completions whose checker failed are judged anew

MakeBackend = Callable[[EvaluationPlan], Backend]


@dataclass
class _Task:
    """One benchmark of an evaluation, with what is stored of it."""

    benchmark: Benchmark
    env: ReasoningEnv
    problems: ProblemList
    sampling: Sampling
    batch_size: int
    folder: PartFolder
    rows: dict[int, list[Row]] = field(default_factory=dict)
    missing: list[int] = field(default_factory=list)

    def members(self, part: int) -> list[tuple[int, int]]:
        """Return (position of the problem, number of its completion) of each row of a part."""
        n, total = self.sampling.n, len(self.problems) * self.sampling.n
        start = part * self.batch_size
        return [divmod(i, n) for i in range(start, min(start + self.batch_size, total))]

    @property
    def parts(self) -> int:
        return math.ceil(len(self.problems) * self.sampling.n / self.batch_size)

    def all(self) -> list[Row]:
        """Return the stored rows in order."""
        return [row for part in sorted(self.rows) for row in self.rows[part]]


def completions(path: Path, benchmark: Benchmark) -> PartFolder:
    """Return where an evaluation keeps a benchmark's completions."""
    return PartFolder(path / "completions" / benchmark.folder)


def evaluate(
    plan: EvaluationPlan,
    out: str | Path,
    *,
    make_backend: MakeBackend,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Draw, judge and store the completions of a plan, and return its results.

    Whatever is stored in `out` already is kept, so a call that was cut short is simply repeated.
    A part is drawn from seeds of its own (of plan, benchmark and part alone): an evaluation that
    was killed and went on holds the same completions as an unbroken one.

    Args:
        plan: what to do.
        out: the evaluation's directory; new, or holding an evaluation by the same plan.
        make_backend: called once, and only if a completion is missing.
        progress: told how it goes.

    Returns:
        What `results.json` holds: `plan`, `backend`, `benchmarks` (figures by name, see
        `summarise`, with an example `prompt`), `notes` (what a reader must know).

    Raises:
        ReasonEnvError: what is asked cannot be done; all that was stored stays.
    """
    out, progress = Path(out), progress or Silent()
    tasks = [_prepare(plan, benchmark, out) for benchmark in plan.benchmarks]
    digests = {task.benchmark.name: ids_digest(task.problems) for task in tasks}
    store_plan(out, plan.model_copy(update={"problem_sets": digests}))
    notes = [note for task in tasks for note in _look(task)]
    facts = _stored_facts(out)
    if any(task.missing for task in tasks):
        backend = make_backend(plan)
        try:
            facts = _describe(backend, tasks)
            write_atomic(out / "backend.json", json.dumps(facts, indent=2) + "\n")
            with progress.showing(tasks_total(tasks), tasks_done(tasks)):
                for task in tasks:
                    _fill(task, backend, progress)
        finally:
            backend.close()
    for task in tasks:
        _judge_again(task)
    results = {
        "plan": plan.model_dump(mode="json"),
        "backend": facts.get("backend", {}),
        "benchmarks": {
            task.benchmark.name: {
                **summarise(task.all(), task.sampling.n, same_answer(task.env)),
                "env": task.benchmark.env,
                "max_tokens": task.sampling.max_tokens,
                "note": task.benchmark.note,
                "prompt": facts.get("prompts", {}).get(task.benchmark.name),
            }
            for task in tasks
        },
        "notes": notes,
    }
    write_atomic(out / RESULTS, json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    return results


def tasks_total(tasks: Sequence[_Task]) -> int:
    """Return how many completions an evaluation takes."""
    return sum(len(task.problems) * task.sampling.n for task in tasks)


def tasks_done(tasks: Sequence[_Task]) -> int:
    """Return how many of them are stored."""
    return sum(len(rows) for task in tasks for rows in task.rows.values())


def _prepare(plan: EvaluationPlan, benchmark: Benchmark, out: Path) -> _Task:
    env = benchmark.make_env()
    env.system = plan.system or env.system
    if env.max_turns > 1:
        warnings.warn(
            f"{benchmark.name} has {env.max_turns} turns: only the first answer is evaluated",
            stacklevel=3,
        )
    if plan.n % env.eval_views:
        raise EvaluationError(
            f"{benchmark.name} asks each problem in {env.eval_views} ways (eval_views), and n="
            f"{plan.n} is no multiple of that: some would be asked more often than others"
        )
    return _Task(
        benchmark,
        env,
        benchmark.select(env),
        plan.sampling(benchmark),
        plan.batch_size,
        completions(out, benchmark),
    )


def _look(task: _Task) -> Iterator[str]:
    """Read what is stored of a task; a part counts only where it is whole."""
    stored = task.folder.read()
    for part in range(task.parts):
        expected = [(task.problems[p].id, sample) for p, sample in task.members(part)]
        rows = stored.rows.get(part, [])
        if [(row["problem_id"], row["sample"]) for row in rows] == expected:
            task.rows[part] = rows
        else:
            task.missing.append(part)
    for other, how in getattr(task.env, "overlaps", {}).items():
        yield f"{task.benchmark.name} and {other}: {how}."
    for damage in stored.damage:
        yield f"{damage}; that part is drawn anew"


def _describe(backend: Backend, tasks: Sequence[_Task]) -> dict[str, Any]:
    """Return what a result states of the back end and the prompts, by an example of each."""
    asked = {
        task.benchmark.name: backend.ask(task.env, as_drawn(task.env, task.problems[0])[0]).text
        for task in tasks
    }
    return {"backend": {"name": backend.name, **backend.facts()}, "prompts": asked}


def _stored_facts(out: Path) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = json.loads((out / "backend.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return facts


def _fill(task: _Task, backend: Backend, progress: Progress) -> None:
    """Draw the missing parts; one is judged and stored while the next is drawn."""
    prompts: dict[tuple[int, int], Asked] = {}

    _store_prompts(task, backend)

    def asked(position: int, sample: int) -> Asked:
        key = position, sample % task.env.eval_views
        if key not in prompts:
            prompts.clear()  # a problem's completions stand together
            views = as_drawn(task.env, task.problems[position])
            prompts.update({(position, v): backend.ask(task.env, p) for v, p in enumerate(views)})
        return prompts[key]

    with _one_thread() as submit:
        for part in task.missing:
            members = task.members(part)
            batch = [asked(position, sample) for position, sample in members]
            salt = (task.sampling.seed, task.benchmark.name)
            seeds = [seed_of(*salt, task.problems[p].id, sample) for p, sample in members]
            drawn = backend.sample(batch, task.sampling, seeds)
            submit(_judge_and_store, task, part, batch, drawn, progress)
    task.missing.clear()


def _store_prompts(task: _Task, backend: Backend) -> None:
    """Write each problem's prompt and gold beside its completions, once: for looking at them."""
    file = task.folder.path / PROMPTS
    if file.is_file():
        return
    task.folder.path.mkdir(parents=True, exist_ok=True)
    shown = (as_drawn(task.env, problem)[0] for problem in task.problems)
    lines = [
        json.dumps({"problem_id": p.id, "prompt": backend.ask(task.env, p).text, "gold": _gold(p)})
        for p in shown
    ]
    write_atomic(file, "".join(f"{line}\n" for line in lines))


def _gold(problem: Problem) -> Any:
    """Return a gold that is short enough to look at; tests of programs are not."""
    short = isinstance(problem.answer, str | int | float) and len(str(problem.answer)) <= _GOLD
    return problem.answer if short else None


@contextmanager
def _one_thread() -> Iterator[Callable[..., None]]:
    """Run calls one after another in a thread beside this one, at most one ahead."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="store")
    waiting: list[Future[None]] = []

    def submit(call: Callable[..., None], *args: Any) -> None:
        while waiting:
            waiting.pop().result()
        waiting.append(pool.submit(call, *args))

    try:
        yield submit
    finally:  # also after an error: what was drawn is not lost
        pool.shutdown(wait=True)
        while waiting:
            waiting.pop().result()


def _judge_and_store(
    task: _Task, part: int, asked: Sequence[Asked], drawn: Sequence[Sample], progress: Progress
) -> None:
    rollouts = [
        Rollout(
            one.problem,
            sample.text,
            prefill=one.prefill,
            n_tokens=sample.n_tokens,
            truncated=sample.truncated,
        )
        for one, sample in zip(asked, drawn, strict=True)
    ]
    judged = task.env.judge(rollouts)
    numbers = [sample for _, sample in task.members(part)]
    rows = [row_of(*each) for each in zip(judged, numbers, drawn, strict=True)]
    task.folder.write(part, rows)
    task.rows[part] = [thaw(row) for row in rows]
    right = sum(row["status"] == Status.CORRECT for row in rows)
    progress.advance(task.benchmark.name, len(rows), right)


def _judge_again(task: _Task) -> None:
    """Judge the completions whose checker failed anew: most such failures pass."""
    problems: dict[str, Problem] = {problem.id: problem for problem in task.problems}
    for _ in range(_JUDGED_AGAIN):
        changed: set[int] = set()
        failed = [
            (part, i)
            for part, rows in task.rows.items()
            for i, row in enumerate(rows)
            if not Status(row["status"]).is_evidence
        ]
        if not failed:
            return
        rows = [task.rows[part][i] for part, i in failed]
        rollouts = [rollout_of(task.env, problems[row["problem_id"]], row) for row in rows]
        for (part, i), judged in zip(failed, task.env.judge(rollouts), strict=True):
            task.rows[part][i] |= judged_fields(judged)
            changed.add(part)
        for part in sorted(changed):
            task.folder.write(part, task.rows[part])
