"""The default back end: warm, locked-down containers of a Docker engine.

Every restriction is named in `restrictions`; the conformance suite tries to break each.
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import socket
import struct
import threading
import time
from typing import Any

from reasonenv.errors import SandboxUnavailableError
from reasonenv.sandbox.base import MIB, SandboxConfig, Tail
from reasonenv.sandbox.engine import check_image, connect, prune, seccomp_profile
from reasonenv.sandbox.owner import owner_labels
from reasonenv.sandbox.pool import Pool

__all__ = ["docker_sandbox", "restrictions"]

_INODES = 16384
_REMOVE_S = 5.0
_OVERHEAD_CPUS = 0.25
"""What the supervisor and the tests' process may use beyond the program's share."""


def restrictions(config: SandboxConfig) -> dict[str, Any]:
    """Return the container's limits, as the engine's SDK names them."""
    scratch = f"rw,nosuid,nodev,size={config.scratch_bytes},nr_inodes={_INODES},mode=1777"
    memory = config.memory_bytes + 256 * MIB
    limits: dict[str, Any] = {
        "network_mode": "none",
        "read_only": True,
        "tmpfs": {
            "/work": scratch,
            "/tmp": scratch,
            "/dev/shm": scratch,
            "/dev/mqueue": "ro,nosuid,nodev,noexec,size=4096,mode=0555",
        },
        "mem_limit": memory,
        "memswap_limit": memory,
        "pids_limit": config.processes + 8,
        "nano_cpus": int((config.cpus + _OVERHEAD_CPUS) * 1e9),
        "cpu_shares": config.cpu_shares,
        "cap_drop": ["ALL"],
        # The supervisor's own: to become the program's user, and to end its processes.
        "cap_add": ["SETUID", "SETGID", "KILL"],
        "security_opt": ["no-new-privileges:true", f"seccomp={seccomp_profile()}"],
        "ipc_mode": "private",
        "user": "0:0",
        "init": True,
        "hostname": "sandbox",
        "log_config": {"Type": "none"},
    }
    if config.runtime is not None:
        limits["runtime"] = config.runtime
    return limits


def _cgroup_parent(client: Any) -> str | None:
    """Return where containers weigh as much as they are told: beside the machine's processes.

    Below the engine's own group all of them together weigh as much as one process.
    """
    with contextlib.suppress(Exception):
        about = client.info()
        rootless = any("rootless" in option for option in about.get("SecurityOptions") or ())
        if about.get("CgroupDriver") == "cgroupfs" and not rootless:
            return "/"
    return None


class _Attached:
    """The standard streams of a container, over the engine's connection."""

    def __init__(self, client: Any, container: Any) -> None:
        self.client, self.container = client, container
        params = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        stream = client.api.attach_socket(container.id, params)
        self.stream = stream  # keeps the connection open
        self.socket: socket.socket = getattr(stream, "_sock", stream)
        self.buffer = bytearray()
        self.errors = Tail()

    def _wait(self, deadline: float) -> None:
        # poll, not select: a trainer may have more descriptors than select can name
        descriptor = self.socket.fileno()
        if descriptor < 0:
            raise EOFError("the connection was closed")
        ready = select.poll()
        ready.register(descriptor, select.POLLIN)
        if not ready.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise TimeoutError("no answer in time")

    def send(self, data: bytes, deadline: float) -> None:
        self.socket.settimeout(max(0.1, deadline - time.monotonic()))
        self.socket.sendall(data)

    def _raw(self, size: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            self._wait(deadline)
            part = self.socket.recv(min(size - len(data), 1 << 20))
            if not part:
                raise EOFError(str(self.errors) or "the container has ended")
            data += part
        return bytes(data)

    def receive(self, size: int, deadline: float) -> bytes:
        while len(self.buffer) < size:
            kind, length = struct.unpack(">B3xI", self._raw(8, deadline))
            part = self._raw(length, deadline)
            if kind == 1:
                self.buffer += part
            else:
                self.errors.add(part)
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        return data

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self.socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(Exception):
            self.stream.close()
        # The SDK's answer, which holds the socket too, is collected some time: not so long.
        with contextlib.suppress(OSError):
            os.close(self.socket.detach())
        # An engine that hangs is not waited for: the container ends with its stream anyway.
        remover = threading.Thread(target=self._remove, daemon=True)
        try:
            remover.start()
        except RuntimeError:  # the interpreter is ending
            self._remove()
        else:
            remover.join(_REMOVE_S)

    def _remove(self) -> None:
        with contextlib.suppress(Exception):
            self.client.api.remove_container(self.container.id, force=True, v=True)


class _Starter:
    """Starts containers; looks for an engine and an image at the first, and sweeps once."""

    def __init__(self, config: SandboxConfig) -> None:
        self.config = config
        self.lock = threading.Lock()
        self.client: Any = None
        self.parent: str | None = None

    def __call__(self) -> _Attached:
        with self.lock:
            if self.client is None:
                client = connect()
                check_image(client, self.config.image)
                with contextlib.suppress(Exception):
                    prune(client)
                self.parent = _cgroup_parent(client)
                self.client = client
            client, parent = self.client, self.parent
        # A uid of its own for each sandbox: the kernel counts a user's processes over all of them.
        uid = random.SystemRandom().randrange(100_000, 900_000_000) * 2
        container = None
        try:
            container = client.containers.create(
                self.config.image,
                stdin_open=True,
                detach=True,
                auto_remove=True,
                labels=owner_labels(),
                environment={"REASONENV_UID": str(uid)},
                cgroup_parent=parent,
                **restrictions(self.config),
            )
            attached = _Attached(client, container)
            container.start()
        except Exception as error:
            if container is not None:
                with contextlib.suppress(Exception):
                    container.remove(force=True)
            with self.lock:
                self.client = None  # the engine may be gone: look again next time
            connect()  # says so, if it is
            raise SandboxUnavailableError(
                f"a sandbox could not be started from {self.config.image}: {str(error)[:400]}"
            ) from error
        return attached


def docker_sandbox(config: SandboxConfig) -> Pool:
    """Return a pool of containers; none is started before the first job."""
    return Pool("docker", _Starter(config), config)
