"""`unsafe-local`: the same supervisor as an ordinary process, for development only.

It isolates nothing: programs run as you, with your files and your network. It exists so that
environments can be written where no engine is; it has to be asked for by name, and warns.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from importlib import resources

from reasonenv.sandbox.base import SandboxConfig
from reasonenv.sandbox.pool import Pool

__all__ = ["LACKS", "UnsafeSandboxWarning", "local_sandbox"]

LACKS = frozenset(
    {"network", "files", "users", "memory", "processes", "scratch", "capabilities", "hostile"}
)
"""The groups of the conformance suite that this back end does not promise."""


class UnsafeSandboxWarning(UserWarning):
    """Programs are about to run with all the rights of this process."""


class _Child:
    def __init__(self) -> None:
        self.place = tempfile.mkdtemp(prefix="reasonenv-unsafe-")
        package = str(resources.files("reasonenv.sandbox"))
        start = (
            f"import sys; sys.path.insert(0, {package!r}); from image.supervisor import main; "
            "del sys.path[0]; sys.exit(main(['--local']))"
        )
        env = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "REASONENV_WORKDIR": self.place,
            "PYTHONHASHSEED": "0",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-B", "-s", "-P", "-c", start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            cwd=self.place,
            bufsize=0,
            start_new_session=True,
        )

    def send(self, data: bytes, deadline: float) -> None:
        assert self.process.stdin is not None
        view = memoryview(data)
        while view:
            view = view[self.process.stdin.write(view) or 0 :]

    def receive(self, size: int, deadline: float) -> bytes:
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        ready = select.poll()
        ready.register(fd, select.POLLIN)
        data = bytearray()
        while len(data) < size:
            if not ready.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise TimeoutError("no answer in time")
            part = os.read(fd, min(size - len(data), 1 << 20))
            if not part:
                raise EOFError("the supervisor has ended")
            data += part
        return bytes(data)

    def close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(2)
        if self.process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(5)
        shutil.rmtree(self.place, ignore_errors=True)


def local_sandbox(config: SandboxConfig) -> Pool:
    """Return a pool of local supervisors, and warn."""
    warnings.warn(
        "the unsafe-local sandbox isolates nothing: programs run with all the rights of this "
        "process; use it for development, with programs that you trust",
        UnsafeSandboxWarning,
        stacklevel=3,
    )
    return Pool("unsafe-local", _Child, config, LACKS)
