"""Live progress of a run: step, reward and its parts, accuracy, mixed groups, seconds a step."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from transformers import TrainerCallback

from reasonenv.trainers.callbacks import kind_of

__all__ = ["ShowProgress", "describe_evaluation", "describe_step"]

_LINES = 20  # lines that a run prints where there is no terminal to draw a bar on
_SECONDS_OF_SILENCE = 10.0  # after which an evaluation says there how far it is


def describe_step(logs: Mapping[str, Any], seconds: float) -> str:
    """Return a training step in one line: reward, each part, accuracy, mixed groups, time."""
    shown = [f"reward {logs['reward']:.3f}"] if logs.get("reward") is not None else []
    for name, value in logs.items():
        if name.startswith("parts/") and value is not None:
            shown.append(f"{name.removeprefix('parts/')} {value:.3f}")
    for name, title in (("accuracy", "accuracy"), ("mixed_groups", "mixed groups")):
        if logs.get(name) is not None:
            shown.append(f"{title} {logs[name]:.0%}")
    if logs.get("unscored"):
        shown.append(f"UNSCORED {logs['unscored']:.0%}")
    return "  ".join([*shown, f"{seconds:.2f} s/step"])


def describe_evaluation(logs: Mapping[str, Any], step: int) -> str:
    """Return an evaluation in one line, with its interval."""
    if logs.get("eval_accuracy") is None:
        return f"step {step}: held-out problems could not be judged"
    low, high = logs["eval_accuracy_low"], logs["eval_accuracy_high"]
    return (
        f"step {step}: held-out accuracy {logs['eval_accuracy']:.1%} "
        f"(95 % interval {low:.1%} to {high:.1%}, {logs['eval_problems']:.0f} problems)"
    )


class ShowProgress(TrainerCallback):
    """Draws a bar on a terminal, prints some twenty lines elsewhere; on the main process."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False, soft_wrap=True)
        self._bar: Progress | None = None
        self._task: Any = None
        self._last = self._said = time.perf_counter()
        self._batch = 0

    def on_prediction_step(
        self, args: Any, state: Any, control: Any, eval_dataloader: Any = None, **_: Any
    ) -> None:
        """Show how far an evaluation is."""
        if not state.is_world_process_zero or eval_dataloader is None:
            return
        self._batch += 1
        text = f"evaluating: batch {self._batch} of {len(eval_dataloader)}"
        if self._bar is not None:
            self._bar.update(self._task, description=text)
        elif time.perf_counter() - self._said > _SECONDS_OF_SILENCE:
            self._print(text)

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start the bar."""
        self._last = time.perf_counter()
        if not state.is_world_process_zero or not self.console.is_terminal:
            return
        self._bar = Progress(
            TextColumn("step"),
            MofNCompleteColumn(),
            BarColumn(bar_width=20),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=self.console,
        )
        self._task = self._bar.add_task(
            "generating the first completions", total=state.max_steps, completed=state.global_step
        )
        self._bar.start()

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start the step's clock: an evaluation before it is not part of it."""
        self._last = time.perf_counter()

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Show a step or an evaluation."""
        if not state.is_world_process_zero or not logs:
            return
        kind = kind_of(logs)
        if kind == "eval":
            self._batch = 0
            self._print(describe_evaluation(logs, state.global_step))
        elif kind == "train":
            text = describe_step(logs, time.perf_counter() - self._last)
            if self._bar is not None:
                self._bar.update(self._task, completed=state.global_step, description=text)
            elif self._is_due(state.global_step, state.max_steps):
                self._print(f"step {state.global_step}/{state.max_steps}  {text}")

    def _is_due(self, step: int, steps: int) -> bool:
        return step == 1 or step % max(1, steps // _LINES) == 0

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """End the bar."""
        self.close()

    def close(self) -> None:
        """Leave the terminal as it was found, also where training ended in an error."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _print(self, text: str) -> None:
        self._said = time.perf_counter()
        (self._bar.console if self._bar is not None else self.console).print(text)
