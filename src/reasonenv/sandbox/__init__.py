"""Running untrusted programs: one interface, its back ends, and a suite that every one passes.

* `get_sandbox`: the process' one sandbox of a back end and a configuration.
* `Sandbox`, `SandboxConfig`, `Job`, `JobResult`: the interface.
* `reasonenv.sandbox.conformance`: the cases that a back end passes, or declares what it lacks.

Back ends: `docker` (the default) and `unsafe-local` (isolates nothing, for development).
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from reasonenv.errors import SandboxUnavailableError, did_you_mean
from reasonenv.sandbox.base import (
    Job,
    JobResult,
    Sandbox,
    SandboxConfig,
    SandboxFailedError,
    ScriptRun,
)
from reasonenv.sandbox.docker_backend import docker_sandbox
from reasonenv.sandbox.local import UnsafeSandboxWarning, local_sandbox
from reasonenv.sandbox.pool import Pool

__all__ = [
    "BACKENDS",
    "Job",
    "JobResult",
    "Pool",
    "Sandbox",
    "SandboxConfig",
    "SandboxFailedError",
    "ScriptRun",
    "UnsafeSandboxWarning",
    "get_sandbox",
]

BACKENDS: dict[str, Callable[[SandboxConfig], Sandbox]] = {
    "docker": docker_sandbox,
    "unsafe-local": local_sandbox,
}
"""Name -> what makes a sandbox of it; add your own to use it by name."""

_OPEN: dict[tuple[str, SandboxConfig], Sandbox] = {}
_LOCK = threading.Lock()


def get_sandbox(backend: str = "docker", config: SandboxConfig | None = None) -> Sandbox:
    """Return this process' sandbox of `backend`, the same at every call; nothing starts yet.

    Args:
        backend: "docker", or "unsafe-local", which isolates nothing.
        config: limits and sizes; None takes the defaults.

    Raises:
        SandboxUnavailableError: no back end has this name.
    """
    if backend not in BACKENDS:
        raise SandboxUnavailableError(
            f"there is no sandbox back end {backend!r}: {did_you_mean(backend, BACKENDS)}"
        )
    key = (backend, config or SandboxConfig())
    with _LOCK:
        found = _OPEN.get(key)
        if found is None or getattr(found, "closed", False):
            found = _OPEN[key] = BACKENDS[backend](key[1])
        return found
