"""Many runs that answer one question: grids, searches, reports with intervals, refinements.

* `spec`, `overrides`: the study file, checked; `plan`: the runs that it asks for.
* `running`, `job`, `executors/`: runs as processes of their own, bounded, resumable, isolated.
* `search`: Optuna over the study's design vector.
* `results`, `statistics`, `comparison`: figures of the runs, intervals, paired tests.
* `report/`: Markdown, one HTML page, pictures.
* `refining/`: what a finished run suggests to try next, as a study file.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reasonenv.studies.plan import Plan
    from reasonenv.studies.refining.write import RefineLimits, refine
    from reasonenv.studies.report.write import write_study_report
    from reasonenv.studies.running import StudyResult, run_study
    from reasonenv.studies.spec import StudySpec

_HOME = {
    "Plan": "plan",
    "RefineLimits": "refining.write",
    "StudyResult": "running",
    "StudySpec": "spec",
    "refine": "refining.write",
    "run_study": "running",
    "write_study_report": "report.write",
}

__all__ = [
    "Plan",
    "RefineLimits",
    "StudyResult",
    "StudySpec",
    "refine",
    "run_study",
    "write_study_report",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first asked for."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
