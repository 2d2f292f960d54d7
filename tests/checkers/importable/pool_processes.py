"""What the tests of the worker pool ask about processes."""

import contextlib
import os
import time
from pathlib import Path

LONG = 60.0
"""Far more than anything here takes: a guard against hanging, not a measurement."""


def wait_until(condition):
    """Wait for what happens in another process; a test that waits too long fails."""
    deadline = time.monotonic() + LONG / 2
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


def is_running(pid):
    """Whether a process runs: one that has ended and waits for its parent does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def children():
    """Return the processes that this one has started and not reaped."""
    here = str(os.getpid())
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdecimal():
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if fields[1] == here:
                    found.append(int(entry.name))
    return found
