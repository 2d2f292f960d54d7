"""A search over the study's design vector with Optuna, trial by trial, resumable.

Each trial is an arm: it runs with every seed, and its value is the mean outcome over them. The
trials are kept in `search.log` (Optuna's journal): a trial that was cut off goes on by its own
number. The best of many trials looks better than it is, so `confirm.yaml` is left to run best
against base on seeds that the search has not seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from reasonenv.errors import RecipeError, StudyError
from reasonenv.extras import need
from reasonenv.files import write_atomic
from reasonenv.studies.grid import Arm, split_variables
from reasonenv.studies.overrides import flatten
from reasonenv.studies.plan import Plan, PlannedRun, planned_run
from reasonenv.studies.results import outcome, read_result
from reasonenv.studies.running import StudyResult, whole_study
from reasonenv.studies.spec import SearchPlan, StudySpec
from reasonenv.studies.store import StudyDir

__all__ = ["run_search", "suggest"]


@dataclass
class _Trial:
    """A trial under way: Optuna's number, its arm and its runs; no runs where it is not valid."""

    number: int
    arm: Arm
    runs: list[PlannedRun]
    problem: str = ""


def run_search(
    spec: StudySpec, target: StudyDir, folder: Path | None, tell: Callable[[str], None]
) -> StudyResult:
    """Run a search, or go on with it.

    Raises:
        MissingExtraError: Optuna is not installed.
        StudyError: the directory holds another study.
        RecipeError: the base recipe is not valid.
    """
    assert spec.search is not None
    optuna = need("optuna", extra="study", by="search:")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    fields = spec.base_fields(folder)
    planned_run(spec, target.path, fields, Arm("base", {}), spec.seeds[0], ["base"])
    with whole_study(target, spec, fields, tell) as runner:
        study = _open(optuna, spec.search, target)
        under_way = [
            _plan(spec, target, fields, trial.number, _point(trial.params, spec.search.space))
            for trial in study.get_trials(deepcopy=False)
            if trial.state == optuna.trial.TrialState.RUNNING
        ]
        together = max(1, spec.workers // len(spec.seeds))
        while not runner.stopped:
            while len(under_way) < together and len(study.trials) < spec.search.trials:
                trial = study.ask()
                point = suggest(trial, spec.search.space)
                under_way.append(_plan(spec, target, fields, trial.number, point))
            if not under_way:
                break
            for one in under_way:
                if one.problem:
                    tell(f"{one.arm.label} is left out: {one.problem}")
                for run in one.runs:
                    target.prepare(run)
            runner.run([run for one in under_way for run in one.runs])
            if runner.stopped:
                break
            for one in under_way:
                _tell(optuna, study, one, target, spec)
            under_way = []
        return _conclude(optuna, study, spec, target, fields, runner.stopped)


def suggest(trial: Any, space: Mapping[str, Any]) -> dict[str, Any]:
    """Return a point of the space as Optuna suggests it.

    Args:
        trial: Optuna's.
        space: by path, a list of choices (of anything YAML holds) or `low`, `high`, `log`, `step`.
    """
    point: dict[str, Any] = {}
    for path, given in space.items():
        if isinstance(given, list):
            # Optuna keeps numbers, texts and truth values: other choices go by their number.
            point[path] = given[trial.suggest_categorical(path, list(range(len(given))))]
            continue
        low, high = given["low"], given["high"]
        log, step = bool(given.get("log", False)), given.get("step")
        if all(type(x) is int for x in (low, high)):
            whole = {"step": step} if step is not None else {}
            point[path] = trial.suggest_int(path, low, high, log=log, **whole)
        else:
            point[path] = trial.suggest_float(path, low, high, log=log, step=step)
    return point


def _open(optuna: Any, plan: SearchPlan, target: StudyDir) -> Any:
    backend = optuna.storages.journal.JournalFileBackend(str(target.path / "search.log"))
    samplers = {"tpe": optuna.samplers.TPESampler, "random": optuna.samplers.RandomSampler}
    study = optuna.create_study(
        storage=optuna.storages.JournalStorage(backend),
        study_name="search",
        direction=plan.direction,
        sampler=samplers[plan.sampler](seed=plan.seed),
        load_if_exists=True,
    )
    held = study.user_attrs.get("space")
    if held is not None and held != plan.space:
        raise StudyError(f"{target.path} holds a search of another space; give another --out")
    study.set_user_attr("space", plan.space)
    # A seeded sampler begins anew with each call: without this a resumed search repeats itself.
    study.sampler = samplers[plan.sampler](seed=plan.seed + len(study.trials))
    return study


def _point(params: Mapping[str, Any], space: Mapping[str, Any]) -> dict[str, Any]:
    """Return a trial's stored parameters as values of the space."""
    return {
        path: space[path][value] if isinstance(space[path], list) else value
        for path, value in params.items()
    }


def _plan(
    spec: StudySpec,
    target: StudyDir,
    fields: Mapping[str, Any],
    number: int,
    point: Mapping[str, Any],
) -> _Trial:
    assert spec.search is not None
    changes, variables = split_variables(point)
    arm = Arm(f"trial {number}", flatten(changes), point=dict(point), variables=variables)
    try:
        runs = [
            planned_run(spec, target.path, fields, arm, seed, [arm.label]) for seed in spec.seeds
        ]
    except (
        RecipeError,
        StudyError,
    ) as error:  # a point that does not fit together, such as batch and group
        return _Trial(number, arm, [], str(error))
    return _Trial(number, arm, runs)


def _tell(optuna: Any, study: Any, trial: _Trial, target: StudyDir, spec: StudySpec) -> None:
    values = [
        outcome(read_result(run, target), spec.measure)
        for run in trial.runs
        if target.state(run.name) == "finished"
    ]
    known = [value for value in values if value is not None and math.isfinite(value)]
    if len(known) < len(spec.seeds):  # a mean over other seeds would not compare
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
        return
    study.tell(trial.number, fmean(known))


def _conclude(
    optuna: Any,
    study: Any,
    spec: StudySpec,
    target: StudyDir,
    fields: Mapping[str, Any],
    stopped: bool,
) -> StudyResult:
    """Write the report over all trials, `best.yaml` and `confirm.yaml`."""
    from reasonenv.studies.report.search import write_search_report

    assert spec.search is not None
    complete = optuna.trial.TrialState.COMPLETE
    over = [t for t in study.get_trials(deepcopy=False) if t.state.is_finished()]
    done = [t for t in over if t.state == complete]
    planned = [
        _plan(spec, target, fields, t.number, _point(t.params, spec.search.space)) for t in over
    ]
    runs = tuple(run for one in planned for run in one.runs)
    arms = {one.arm.label: one.arm for one in planned}
    plan = Plan(spec, target.path, arms, {}, runs, ())
    finished = tuple(r.name for r in runs if target.state(r.name) == "finished")
    failed = tuple(r.name for r in runs if target.state(r.name) == "failed")
    if not done:
        if stopped:
            return StudyResult(target.path, finished, failed, True, None, "")
        tails = {run.name: target.tail(run.name, 1) for run in runs}
        said = "; ".join(f"{n}: {t[0]}" for n, t in tails.items() if t)
        invalid = "; ".join(one.problem for one in planned if one.problem)
        raise StudyError(f"no trial of {target.path} came to a value: {said or invalid}")
    best = study.best_trial
    chosen = next(one for one in planned if one.number == best.number)
    _write_confirmation(spec, target, chosen)
    problems = {one.arm.label: one.problem for one in planned if one.problem}
    report, finding = write_search_report(
        plan, {f"trial {t.number}": t.value for t in done}, chosen.arm, problems
    )
    return StudyResult(target.path, finished, failed, stopped, report, finding)


def _write_confirmation(spec: StudySpec, target: StudyDir, best: _Trial) -> None:
    seed = max(spec.seeds) + 1
    write_atomic(target.path / "best.yaml", best.runs[0].recipe.to_yaml())
    chosen: dict[str, Any] = {"label": "best", "set": dict(best.arm.changes)}
    if best.arm.variables:  # a formula with variables is written out
        chosen["set"]["reward"] = best.runs[0].recipe.reward
    chosen["factor"] = sorted(chosen["set"])
    study = StudySpec.make(
        {
            "name": f"{spec.name}-confirm",
            "description": "Best of a search against its base, on seeds that the search has not "
            "seen: the best of many trials looks better than it is.",
            "base": "base.yaml",
            "runs": [{"label": "base"}, chosen],
            "hold": spec.hold.model_dump(),
            "seeds": list(range(seed, seed + max(3, len(spec.seeds)))),
            "measure": spec.measure,
            "workers": spec.workers,
        }
    )
    write_atomic(target.path / "confirm.yaml", study.to_yaml())
