"""Starting the processes of a run: torchrun, one rank for each GPU, or as many as are asked for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Literal

from reasonenv.errors import LaunchError
from reasonenv.extras import need

__all__ = ["command", "launch", "process_count", "rank", "world_size"]


def world_size() -> int:
    """Return how many ranks torchrun started; 1 where it started none."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def rank() -> int:
    """Return this process' rank; 0 where torchrun started none."""
    return int(os.environ.get("RANK", "0"))


def process_count(processes: int | Literal["auto"]) -> int:
    """Return how many ranks a run takes: what was asked for, or one for each GPU.

    Raises:
        LaunchError: more processes than there are GPUs, where there is any.
    """
    if world_size() > 1:
        return world_size()
    torch = need("torch", extra="train", by="reasonenv.trainers")
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if processes == "auto":
        return max(1, gpus)
    if gpus and processes > gpus:
        raise LaunchError(
            f"{processes} processes were asked for and {gpus} GPU{'s are' * (gpus > 1)} there: "
            f"valid: 1 to {gpus}, or auto"
        )
    return int(processes)


def command(run: Path | str, processes: int, steps: int | None = None) -> list[str]:
    """Return the command that starts the ranks of a run."""
    more = ["--steps", str(steps)] if steps is not None else []
    rendezvous = ["--standalone"]  # a free port each, so that two runs do not meet
    return [
        *(sys.executable, "-m", "torch.distributed.run", *rendezvous),
        *("--nproc-per-node", str(processes)),
        *("-m", "reasonenv.trainers.worker", str(run), *more),
    ]


def launch(run: Path, processes: int, *, steps: int | None = None) -> None:
    """Start the ranks of a run and wait for them; Ctrl-C and SIGTERM ask all of them to stop.

    Raises:
        LaunchError: a rank failed; torchrun has stopped the others.
    """
    environment = dict(os.environ)
    if "OMP_NUM_THREADS" not in environment:  # torchrun would warn, and take 1 for each
        environment["OMP_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // processes))

    def ask(number: int, frame: FrameType | None) -> None:
        if (run / "stop").exists() and number == signal.SIGINT:
            child.terminate()
        (run / "stop").write_text(signal.Signals(number).name + "\n")

    previous = {n: signal.signal(n, ask) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        # A session of its own: a Ctrl-C reaches this process alone, which asks in its own way.
        child = subprocess.Popen(
            command(run, processes, steps), env=environment, start_new_session=True
        )
        code = child.wait()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    if code:
        raise LaunchError(
            f"a rank of {run} failed (exit status {code}); its error stands above. Everything up "
            f"to the last checkpoint is safe: go on with --resume {run}"
        )
