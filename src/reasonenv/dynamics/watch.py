"""`HealthWatch`: the checks of `health` while a run trains."""

from __future__ import annotations

import json
import warnings
from collections import deque
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from reasonenv.dynamics.health import Finding, HealthLimits, check_health
from reasonenv.dynamics.runs import read_lines
from reasonenv.files import append_jsonl, write_atomic

__all__ = ["HealthWatch"]

_KEPT = 5000  # lines; a longer run is judged by its start and its last lines


class HealthWatch(TrainerCallback):
    """Warns when a run looks unhealthy, in words that say what to try; in any Trainer.

    Each check warns once, and again only after it was quiet for `every` steps in between.

    Args:
        limits: thresholds.
        every: steps between looks.
        log: a file that takes each finding as a JSON line; None writes none.
    """

    def __init__(
        self,
        limits: HealthLimits | None = None,
        *,
        every: int = 10,
        log: str | Path | None = None,
    ) -> None:
        self.limits, self.every = limits or HealthLimits(), every
        self.log = Path(log) if log is not None else None
        self.findings: list[Finding] = []
        self._first: list[dict[str, Any]] = []
        self._rows: deque[dict[str, Any]] = deque(maxlen=_KEPT)
        self._last_seen: dict[str, int] = {}

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Forget an earlier run; of a resumed one, what was said after its checkpoint."""
        self._first, self.findings, self._last_seen = [], [], {}
        self._rows.clear()
        if self.log is not None and self.log.is_file() and state.is_world_process_zero:
            kept = [row for row in read_lines(self.log)[0] if row["step"] <= state.global_step]
            write_atomic(self.log, "".join(json.dumps(row) + "\n" for row in kept))

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Take a line of metrics into account, and look, where it is time to."""
        if not logs or not state.is_world_process_zero:
            return
        kind = "eval" if any(name.startswith("eval_") for name in logs) else "train"
        numbers = {k: v for k, v in logs.items() if isinstance(v, int | float)}
        row = {"step": int(state.global_step), "kind": kind, **numbers}
        if len(self._first) < 4 * self.limits.window:
            self._first.append(row)
        else:
            self._rows.append(row)
        if kind == "train" and state.global_step % self.every == 0:
            self._look(int(state.global_step))

    def _look(self, step: int) -> None:
        for finding in check_health([*self._first, *self._rows], limits=self.limits):
            quiet = step - self._last_seen.get(finding.check, -(10**9))
            self._last_seen[finding.check] = step
            if quiet <= 2 * self.every:
                continue
            self.findings.append(finding)
            warnings.warn(f"training looks unhealthy: {finding}", stacklevel=2)
            if self.log is not None:
                self.log.parent.mkdir(parents=True, exist_ok=True)
                line = {"check": finding.check, "step": finding.step, "message": finding.message,
                        "advice": finding.advice, "figures": dict(finding.figures)}  # fmt: skip
                append_jsonl(self.log, [line])
