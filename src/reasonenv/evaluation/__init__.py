"""Evaluation: what a model can do, how sure that is, and what a run's completions look like.

* `setup`, `plan`, `suites`, `sampling`: what is evaluated, and how completions are drawn.
* `runner`, `parts`, `progress`: drawing, judging and storing them, resumable at any point.
* `backends/`: transformers, vLLM, or a server.
* `asking`: how a problem is asked, and a stored completion judged as it was.
* `passk`, `majority`, `answers`, `resampling`: the statistics, with `reasonenv.intervals`.
* `results`, `tables`, `comparison`, `comparison_tables`, `forest`: what they say.
* `stored`, `rejudging`, `browse/`, `sample`: runs on disk judged again and looked at, and a problem
  asked by hand.

Nothing here imports torch before a model is loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reasonenv.evaluation.comparison import Comparison, compare, write_comparison
    from reasonenv.evaluation.majority import maj_at_k
    from reasonenv.evaluation.passk import pass_at_k
    from reasonenv.evaluation.plan import EvaluationPlan
    from reasonenv.evaluation.rejudging import Rejudged, rejudge
    from reasonenv.evaluation.runner import evaluate
    from reasonenv.evaluation.sample import sample_problem
    from reasonenv.evaluation.sampling import Sampling
    from reasonenv.evaluation.setup import make_backend, plan_evaluation
    from reasonenv.evaluation.stored import StoredRun, open_run
    from reasonenv.evaluation.suites import Benchmark, Suite, load_suite
    from reasonenv.intervals import accuracy_interval, clustered_interval, wilson

_HOME = {
    "Benchmark": "suites",
    "Comparison": "comparison",
    "EvaluationPlan": "plan",
    "Rejudged": "rejudging",
    "Sampling": "sampling",
    "StoredRun": "stored",
    "Suite": "suites",
    "accuracy_interval": ".intervals",
    "clustered_interval": ".intervals",
    "compare": "comparison",
    "evaluate": "runner",
    "load_suite": "suites",
    "maj_at_k": "majority",
    "make_backend": "setup",
    "open_run": "stored",
    "pass_at_k": "passk",
    "plan_evaluation": "setup",
    "rejudge": "rejudging",
    "sample_problem": "sample",
    "wilson": ".intervals",
    "write_comparison": "comparison",
}

__all__ = [
    "Benchmark",
    "Comparison",
    "EvaluationPlan",
    "Rejudged",
    "Sampling",
    "StoredRun",
    "Suite",
    "accuracy_interval",
    "clustered_interval",
    "compare",
    "evaluate",
    "load_suite",
    "maj_at_k",
    "make_backend",
    "open_run",
    "pass_at_k",
    "plan_evaluation",
    "rejudge",
    "sample_problem",
    "wilson",
    "write_comparison",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first asked for."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)
