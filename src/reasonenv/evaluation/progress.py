"""How an evaluation goes: a bar on a terminal, a line now and then elsewhere, or nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console

__all__ = ["Progress", "ShowProgress", "Silent"]

_SECONDS = 15.0  # between two lines where there is no terminal


class Progress(Protocol):
    """Is told how an evaluation goes."""

    @contextmanager
    def showing(self, total: int, done: int) -> Iterator[None]:
        """Show the progress of `total` completions, `done` of which are stored."""
        yield

    def advance(self, benchmark: str, count: int, right: int) -> None:
        """Hear that `count` more are stored, `right` of them right; called from one thread."""
        ...


class Silent:
    """Shows nothing."""

    @contextmanager
    def showing(self, total: int, done: int) -> Iterator[None]:
        """Show nothing."""
        yield

    def advance(self, benchmark: str, count: int, right: int) -> None:
        """Show nothing."""


class ShowProgress:
    """Shows completions done, the share that is right so far, and the time left."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar: object = None
        self._done = self._total = self._stored = self._right = 0
        self._started = self._said = 0.0

    @contextmanager
    def showing(self, total: int, done: int) -> Iterator[None]:
        """Show a bar, or lines, while the block runs."""
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._done, self._total = done, total
        self._started = self._said = time.monotonic()
        if done:
            self._console.print(f"{done:,} of {total:,} completions are there already")
        if not self._console.is_terminal:
            yield
            return
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Bar(*columns, console=self._console, transient=True) as bar:
            self._bar, self._task = bar, bar.add_task("", total=total, completed=done)
            try:
                yield
            finally:
                self._bar = None

    def advance(self, benchmark: str, count: int, right: int) -> None:
        """Move the bar, or say a line where the last one is some time ago."""
        self._done += count
        self._stored += count
        self._right += right
        share = f"{benchmark}: {self._right / self._stored:.1%} of {self._stored:,} right"
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, description=share)  # type: ignore[attr-defined]
            return
        now = time.monotonic()
        if now - self._said >= _SECONDS:
            self._said = now
            left = (now - self._started) / self._stored * (self._total - self._done)
            self._console.print(
                f"{self._done:,}/{self._total:,}  {share}, about {left:.0f} s left", markup=False
            )
