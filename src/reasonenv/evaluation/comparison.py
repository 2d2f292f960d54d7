"""`compare`: paired differences between evaluations, problem by problem."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean, stdev

from reasonenv.errors import EvaluationError, RunDirectoryError, StorageError
from reasonenv.evaluation.parts import Row
from reasonenv.evaluation.plan import PLAN, EvaluationPlan, open_plan
from reasonenv.evaluation.resampling import bootstrap_interval, holm, sign_flip_p
from reasonenv.evaluation.results import by_problem, pass_values, tally
from reasonenv.evaluation.runner import completions
from reasonenv.files import write_atomic
from reasonenv.intervals import clustered_interval, paired_interval

__all__ = ["Comparison", "Difference", "Level", "compare", "write_comparison"]

_KS = (1, 3, 5)  # the study's


@dataclass(frozen=True)
class Level:
    """How well one side does on one benchmark.

    Args:
        mean: over its runs; None where a run has too few completions for this k.
        deviation: over its runs (n - 1 in the denominator), None with a single run.
        low, high: a 95 % interval by problem of the mean over these runs.
    """

    benchmark: str
    side: str
    k: int
    mean: float | None
    deviation: float | None
    low: float
    high: float
    runs: int


@dataclass(frozen=True)
class Difference:
    """What one side does better than the first on one benchmark, over the problems both have.

    Args:
        value: mean of the differences by problem, in [-1, 1].
        low, high: a 95 % interval of it (`paired_interval`); unscored completions widen it.
        bootstrap: a percentile bootstrap by problem, as a check.
        p: of a paired sign-flip permutation test by problem.
        p_holm: the same, corrected for the number of benchmarks (Holm 1979).
    """

    benchmark: str
    side: str
    base: str
    k: int
    problems: int
    value: float
    low: float
    high: float
    bootstrap: tuple[float, float]
    p: float
    p_holm: float = math.nan


@dataclass(frozen=True)
class Comparison:
    """Two or more sides on the benchmarks that they share; the first is what others are held to."""

    sides: Mapping[str, Sequence[str]]
    """Names -> run directories, more than one where a side has several seeds."""
    benchmarks: Sequence[str]
    levels: Sequence[Level]
    differences: Sequence[Difference]
    notes: Sequence[str] = ()


@dataclass
class _Side:
    name: str
    paths: list[Path]
    plans: list[EvaluationPlan] = field(default_factory=list)
    rows: list[dict[str, dict[str, list[Row]]]] = field(default_factory=list)  # run, benchmark, id

    def values(self, benchmark: str, k: int, unscored_as: bool) -> dict[str, float]:
        """Return each problem's pass@k, the mean over the side's runs; problems of all runs."""
        each = [pass_values(tally(run[benchmark], unscored_as), k) for run in self.rows]
        shared = [id for id in each[0] if all(id in run for run in each)]
        return {id: fmean(run[id] for run in each) for id in shared}


def compare(sides: Sequence[str]) -> Comparison:
    """Compare evaluations.

    Each problem's value is pass@k over its completions, averaged over the runs of a side; a
    difference is taken problem by problem, so what makes a problem hard for both drops out. The
    interval speaks about other problems of the same kind and these very runs; how much training
    again would change is what `Level.deviation` shows.

    Args:
        sides: at least two; each a run directory, several joined by commas (seeds of one side),
            with `name=` before them or not. The first is what the others are compared with.

    Raises:
        RunDirectoryError: one of them is no evaluation.
        EvaluationError: fewer than two sides, or nothing that they share.
    """
    if len(sides) < 2:
        raise EvaluationError(
            f"compare what? two or more evaluations are needed, got {len(sides)}: "
            "reasonenv eval --compare RUN_A RUN_B"
        )
    read = [_read(side) for side in sides]
    names = [side.name for side in read]
    if len(set(names)) < len(names):
        for number, side in enumerate(read):
            side.name = f"{side.name} ({number + 1})" if names.count(side.name) > 1 else side.name
    notes = [note for side in read for note in _damage(side)]
    shared = _shared_benchmarks(read)
    notes += _unlike(read, shared)
    levels, differences = [], []
    ks = [k for k in _KS if k <= min(plan.n for side in read for plan in side.plans)]
    for k in ks:
        for side in read:
            levels += [_level(side, benchmark, k) for benchmark in shared]
        for side in read[1:]:
            found = [_difference(read[0], side, benchmark, k) for benchmark in shared]
            corrected = holm([one.p for one in found])
            differences += [
                Difference(**{**asdict(one), "bootstrap": one.bootstrap, "p_holm": p})
                for one, p in zip(found, corrected, strict=True)
            ]
    return Comparison(
        {side.name: [str(path) for path in side.paths] for side in read},
        shared,
        levels,
        differences,
        notes,
    )


def write_comparison(comparison: Comparison, out: str | Path) -> list[Path]:
    """Write `compare.json`, `compare.md`, `compare.tex` and `forest.png`; return their paths.

    Raises:
        StorageError: they cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    from reasonenv.evaluation.comparison_tables import comparison_latex, comparison_markdown
    from reasonenv.evaluation.forest import forest

    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{folder}: cannot be made ({error.strerror})") from error
    contents: dict[str, str | bytes] = {
        "compare.json": json.dumps(asdict(comparison), indent=2, ensure_ascii=False) + "\n",
        "compare.md": comparison_markdown(comparison),
        "compare.tex": comparison_latex(comparison),
        "forest.png": forest(comparison),
    }
    for name, content in contents.items():
        write_atomic(folder / name, content)
    return [folder / name for name in contents]


def _read(spec: str) -> _Side:
    name, sign, rest = spec.partition("=")
    if not sign or Path(spec).exists():
        name, rest = "", spec
    paths = [Path(spec)] if Path(spec).exists() else [Path(part) for part in rest.split(",")]
    side = _Side(name.strip() or paths[0].name, paths)
    for path in paths:
        if (path / "recipe.yaml").is_file() and not (path / PLAN).is_file():
            raise RunDirectoryError(
                f"{path}: is a training run; evaluate it first (reasonenv eval --adapter {path}) "
                "and compare the evaluations"
            )
        plan = open_plan(path)
        rows = {}
        for benchmark in plan.benchmarks:
            found = completions(path, benchmark).read().all()
            if found:
                rows[benchmark.name] = by_problem(found)
        if not rows:
            raise EvaluationError(f"{path}: no completion is stored there yet")
        side.plans.append(plan)
        side.rows.append(rows)
    return side


def _damage(side: _Side) -> list[str]:
    """Return what is not whole or not finished in a side's runs, in sentences."""
    notes = []
    for path, plan, rows in zip(side.paths, side.plans, side.rows, strict=True):
        for benchmark in plan.benchmarks:
            notes += [f"{d}." for d in completions(path, benchmark).read().damage]
            short = sum(len(own) < plan.n for own in rows.get(benchmark.name, {}).values())
            if short:
                notes.append(
                    f"{path}: {benchmark.name}: {short} problems have fewer than {plan.n} "
                    "completions; what is there is used."
                )
    return notes


def _shared_benchmarks(sides: Sequence[_Side]) -> list[str]:
    runs = [rows for side in sides for rows in side.rows]
    shared = [name for name in runs[0] if all(name in run for run in runs)]
    if not shared:
        have = "; ".join(
            f"{path} has {', '.join(rows)}"
            for side in sides
            for path, rows in zip(side.paths, side.rows, strict=True)
        )
        raise EvaluationError(f"the evaluations share no benchmark: {have}")
    for name in shared:
        ids = [set(run[name]) for run in runs]
        if not set.intersection(*ids):
            raise EvaluationError(
                f"{name}: the evaluations share no problem, so nothing can be paired: were they "
                "made with the same --data, --split and --seed of the environment?"
            )
    return shared


def _unlike(sides: Sequence[_Side], shared: Sequence[str]) -> list[str]:
    """Return, in sentences, what was not done alike, so that no one takes it for the model's."""
    plans = [plan for side in sides for plan in side.plans]
    notes = []
    for name in ("template", "system", "temperature", "top_p", "top_k", "max_tokens", "n"):
        values = list(dict.fromkeys(repr(getattr(plan, name)) for plan in plans))
        if len(values) > 1:
            notes.append(f"Not alike: {name} ({' / '.join(values)}).")
    for benchmark in shared:
        found = [next(b for b in plan.benchmarks if b.name == benchmark) for plan in plans]
        for name in ("env", "split", "data", "env_args", "max_tokens"):
            values = list(dict.fromkeys(repr(getattr(one, name)) for one in found))
            if len(values) > 1:
                notes.append(f"Not alike: {benchmark}'s {name} ({' / '.join(values)}).")
    return notes


def _level(side: _Side, benchmark: str, k: int) -> Level:
    wrong, right = (side.values(benchmark, k, as_right) for as_right in (False, True))
    if not wrong:
        return Level(benchmark, side.name, k, None, None, 0.0, 1.0, len(side.paths))
    each = [pass_values(tally(run[benchmark], False), k) for run in side.rows]
    means = [fmean(values.values()) for values in each if values]
    total = sum(len(rows) for run in side.rows for rows in run[benchmark].values())
    tries = max(len(wrong), total // k)
    low, _ = clustered_interval(list(wrong.values()), tries)
    _, high = clustered_interval(list(right.values()), tries)
    deviation = stdev(means) if len(means) > 1 else None
    return Level(benchmark, side.name, k, fmean(means), deviation, low, high, len(side.paths))


def _difference(base: _Side, side: _Side, benchmark: str, k: int) -> Difference:
    """Return the paired difference; where completions are unscored, its bounds."""
    found = []
    # Both wrong; then the side's unscored wrong and the base's right, and the other way round.
    for ours, theirs in ((False, False), (False, True), (True, False)):
        a, b = base.values(benchmark, k, theirs), side.values(benchmark, k, ours)
        ids = [id for id in a if id in b]
        if not ids:
            raise EvaluationError(
                f"{benchmark}: no problem has {k} completions on both sides, so pass@{k} cannot be "
                "compared"
            )
        found.append([b[id] - a[id] for id in ids])
    tests = {tuple(values): sign_flip_p(values) for values in found}  # mostly all three are one
    return Difference(
        benchmark=benchmark,
        side=side.name,
        base=base.name,
        k=k,
        problems=len(found[0]),
        value=fmean(found[0]),
        low=min(paired_interval(values)[0] for values in found),
        high=max(paired_interval(values)[1] for values in found),
        bootstrap=(bootstrap_interval(found[1])[0], bootstrap_interval(found[2])[1]),
        p=max(tests.values()),
    )
