"""Starting the processes of a run: torchrun, one rank for each GPU, or as many as are asked for."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from reasonenv.errors import LaunchError
from reasonenv.extras import need
from reasonenv.trainers import failures
from reasonenv.trainers.cluster import Cluster
from reasonenv.trainers.run import Run

__all__ = ["command", "launch", "process_count", "rank", "world_size"]

_GRACE = 20.0
"""Seconds that the ranks of this machine get to fail by themselves after another's have."""


def world_size() -> int:
    """Return how many ranks torchrun started; 1 where it started none."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def rank() -> int:
    """Return this process' rank; 0 where torchrun started none."""
    return int(os.environ.get("RANK", "0"))


def process_count(processes: int | Literal["auto"]) -> int:
    """Return how many ranks a machine takes: what was asked for, or one for each GPU.

    Raises:
        LaunchError: more processes than there are GPUs, where there is any.
    """
    torch = need("torch", extra="train", by="reasonenv.trainers")
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if processes == "auto":
        return max(1, gpus)
    if gpus and processes > gpus:
        raise LaunchError(
            f"{processes} processes were asked for and {gpus} GPU{'s are' if gpus > 1 else ' is'} "
            f"there: valid: --processes 1 to {gpus}, or auto; or more machines (--nodes), each "
            "with its share"
        )
    return int(processes)


def command(
    run: Path | str,
    processes: int,
    steps: int | None = None,
    cluster: Cluster = Cluster(),  # noqa: B008 (frozen)
) -> list[str]:
    """Return the command that starts the ranks of a run on one machine."""
    more = ["--steps", str(steps)] if steps is not None else []
    return [
        *(sys.executable, "-m", "reasonenv.trainers.agent", *cluster.options()),
        *("--nproc-per-node", str(processes)),
        *("-m", "reasonenv.trainers.worker", str(run), *more),
    ]


def launch(
    run: Path,
    processes: int,
    *,
    steps: int | None = None,
    cluster: Cluster = Cluster(),  # noqa: B008 (frozen)
) -> None:
    """Start the ranks of a run on this machine and wait for them.

    Ctrl-C and SIGTERM ask all ranks of all machines to stop, by a file in the run directory.

    Raises:
        LaunchError: a rank failed, here or on another machine; all are stopped then.
    """
    cluster.check_port()
    environment = dict(os.environ)
    if "OMP_NUM_THREADS" not in environment:  # torchrun would warn, and take 1 for each
        environment["OMP_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // processes))
    before = _nodes_failed(run)
    with _asking(run) as holder:
        # A session of its own: a Ctrl-C reaches this process alone, which asks in its own way.
        child = subprocess.Popen(
            command(run, processes, steps, cluster), env=environment, start_new_session=True
        )
        holder.append(child)
        code = _wait(child, run, before, cluster)
    if not code:
        return
    if cluster.nodes > 1:
        time.sleep(3.0)  # the other machines write down what happened there
    saved = run.is_dir() and Run(run).checkpoint() is not None
    first = failures.first_failure(run)
    raise LaunchError(
        f"{first or f'the ranks of {run} failed (exit status {code}), and an error stands above'}. "
        + (
            f"All ranks were stopped; everything up to the last checkpoint is safe: go on with "
            f"--resume {run}"
            if saved
            else "All ranks were stopped, before the first checkpoint: start anew once it is mended"
        )
    )


def _wait(child: Any, run: Path, before: dict[Path, float], cluster: Cluster) -> int:
    """Wait for the ranks of this machine; end them some time after another machine's failed."""
    deadline: float | None = None
    while True:
        try:
            return int(child.wait(timeout=None if cluster.nodes == 1 else 1.0))
        except subprocess.TimeoutExpired:
            new = any(before.get(file) != when for file, when in _nodes_failed(run).items())
            # The first machine takes a run away whose ranks failed at once.
            if deadline is None and (new or not (run / "recipe.yaml").exists()):
                deadline = time.monotonic() + _GRACE
            if deadline is not None and time.monotonic() > deadline:
                child.terminate()
                return int(child.wait()) or 1


def _nodes_failed(run: Path) -> dict[Path, float]:
    """Return the notes of machines whose ranks failed, with their times."""
    found = {}
    for file in (run / failures.FOLDER).glob("node-*.json"):
        with contextlib.suppress(OSError):
            found[file] = file.stat().st_mtime
    return found


@contextlib.contextmanager
def _asking(run: Path) -> Iterator[list[Any]]:
    """Turn signals to this process into a request to the ranks; a second Ctrl-C ends them."""
    children: list[Any] = []

    def ask(number: int, frame: FrameType | None) -> None:
        if (run / "stop").exists() and number == signal.SIGINT:
            for child in children:
                child.terminate()
        (run / "stop").write_text(signal.Signals(number).name + "\n")

    previous = {n: signal.signal(n, ask) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield children
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
