"""Who a container belongs to, so that what a killed process leaves can be told from live ones."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

__all__ = ["LABEL", "is_orphan", "owner_labels"]

LABEL = "org.reasonenv.sandbox.owner"


def _start_time(pid: int) -> str | None:
    """Return when a process started, in ticks since boot; None where it is gone or a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else fields[19].decode()


def _place() -> str:
    """Return a name of the pid namespace and boot in which pids mean what they say."""
    boot = namespace = ""
    with contextlib.suppress(OSError):
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read().strip()
        namespace = os.readlink("/proc/self/ns/pid")
    return f"{boot}/{namespace}"


def owner_labels() -> dict[str, str]:
    """Return the labels of what the calling process owns."""
    pid = os.getpid()
    return {
        LABEL: str(pid),
        f"{LABEL}-start": _start_time(pid) or "",
        f"{LABEL}-place": _place(),
    }


def is_orphan(labels: Mapping[str, str]) -> bool:
    """Whether these labels name a process of this place that no longer lives."""
    if LABEL not in labels or labels.get(f"{LABEL}-place") != _place():
        return False
    pid = labels[LABEL]
    return not pid.isdigit() or _start_time(int(pid)) != labels.get(f"{LABEL}-start")
