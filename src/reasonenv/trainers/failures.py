"""Why a run of several processes ended: what its ranks said, and how they died.

Each rank that fails writes `failures/rank-R.json` into the run directory; the agent of each machine
(`trainers.agent`) writes `failures/node-N.json`, which also knows of ranks that died without a
word. `first_failure` puts both together: when one rank dies, the others fail a moment later, with
errors about a lost peer that say nothing about the cause.
"""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reasonenv.files import write_atomic

__all__ = ["FOLDER", "clear", "first_failure", "note_node", "note_rank"]

FOLDER = "failures"
"""The folder of a run directory that holds them; empty in a run that went well."""


def clear(run: Path) -> None:
    """Forget the failures of an earlier start."""
    shutil.rmtree(run / FOLDER, ignore_errors=True)


def note_rank(run: Path, rank: int, says: str) -> None:
    """Write down a rank's error; where even that fails, the agent still knows its exit status."""
    _write(run / FOLDER / f"rank-{rank}.json", {"time": time.time(), "says": says})


def note_node(run: Path, node: int, exits: Mapping[int, int]) -> None:
    """Write down how ranks of one machine ended: exit statuses, negative for a signal."""
    _write(run / FOLDER / f"node-{node}.json", {"exits": {str(k): v for k, v in exits.items()}})


def _write(path: Path, content: Mapping[str, Any]) -> None:
    try:
        path.parent.mkdir(exist_ok=True)
        write_atomic(path, json.dumps(content) + "\n")
    except Exception:  # a full disk may be what ended the rank: its own error counts
        return


def first_failure(run: Path) -> str | None:
    """Return which rank failed first and why, in words; None where nothing was written down.

    A rank that a signal ended comes first: no rank is so ended by another's failure but through
    torchrun's SIGTERM. Then the earliest error counts.
    """
    exits: dict[int, int] = {}
    for file in sorted((run / FOLDER).glob("node-*.json")):
        exits |= {int(rank): code for rank, code in json.loads(file.read_text())["exits"].items()}
    said: dict[int, tuple[float, str]] = {}
    for file in (run / FOLDER).glob("rank-*.json"):
        content = json.loads(file.read_text())
        said[int(file.stem.rpartition("-")[2])] = content["time"], content["says"]
    for rank, code in sorted(exits.items()):
        if code < 0 and code != -signal.SIGTERM:
            return f"rank {rank} {_died(code)}"
    if said:
        rank = min(said, key=lambda one: said[one][0])
        return f"rank {rank} failed: {said[rank][1]}"
    for rank, code in sorted(exits.items()):
        return f"rank {rank} ended with exit status {code}, and its error stands above"
    return None


def _died(code: int) -> str:
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = " (the kernel does that when memory runs out)" if name == "SIGKILL" else ""
    return f"was killed by {name}{hint}"
