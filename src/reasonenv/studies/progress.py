"""How far the runs of a study are: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from reasonenv.studies.plan import PlannedRun
from reasonenv.studies.store import StudyDir

__all__ = ["Progress"]

_EVERY = 10  # looks between readings of the metrics


class Progress:
    """Shows the steps done of all runs together, those of runs that need none among them."""

    def __init__(self, study: StudyDir, runs: Sequence[PlannedRun]) -> None:
        self._study, self._runs = study, runs
        self._console = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)
        self._looks = 0
        self._bars: Bars | None = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        if self._console.is_terminal:
            self._bars = Bars(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=self._console,
            )
            total = sum(run.recipe.steps or 0 for run in self._runs) or None
            self._task = self._bars.add_task("steps of all runs", total=total)
            self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def print(self, line: str) -> None:
        """Print a line above the bar, with how many runs are done."""
        done = sum(self._study.state(run.name) == "finished" for run in self._runs)
        self._console.print(f"[{done}/{len(self._runs)}] {line}", markup=False)

    def refresh(self) -> None:
        """Bring the bar up to date, now and then."""
        self._looks += 1
        if self._bars is not None and self._looks % _EVERY == 1:
            steps = sum(self._study.step(run.name) for run in self._runs)
            self._bars.update(self._task, completed=steps)
