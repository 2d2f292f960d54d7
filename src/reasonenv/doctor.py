"""What this machine has: versions against the tested ones, devices, engine, hub."""

from __future__ import annotations

import os
import platform
import re
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from reasonenv.hub import why_unreachable

__all__ = ["TESTED", "TOGETHER", "Finding", "examine", "refusal"]

TESTED: dict[str, tuple[str, str, str, str]] = {
    # package: (extra, least version, first version that is not tested, version tested)
    "gymnasium": ("", "1.2", "2", "1.4.0"),
    "numpy": ("", "1.26", "3", "2.4.6"),
    "pyarrow": ("data", "21", "27", "26.0.1"),
    "datasets": ("data", "4.7", "6", "5.2.0"),
    "torch": ("train", "2.6", "2.15", "2.13.0"),
    "transformers": ("train", "5.10.4", "6", "5.24.0"),
    "trl": ("train", "1.16", "1.17", "1.16.0"),
    "peft": ("train", "0.18", "0.22", "0.21.2"),
    "accelerate": ("train", "1.10.1", "2", "1.15.0"),
    "vllm": ("vllm", "0.22", "0.32", "0.31.0"),
}
"""The tested matrix: within it a version is expected to work, outside it is refused."""

TOGETHER: tuple[tuple[str, str, str, str, str, str, str], ...] = (
    # with this package from this version to below that one, another lies from here to below there;
    # the version to install
    ("vllm", "0.31", "0.32", "torch", "2.13.0", "2.13.1", "2.13.0"),
    ("vllm", "0.31", "0.32", "transformers", "5.10.4", "5.18", "5.17.0"),
    ("vllm", "0.22", "0.23", "torch", "2.11.0", "2.11.1", "2.11.0"),
    ("vllm", "0.24", "0.25", "torch", "2.11.0", "2.11.1", "2.11.0"),
)
"""Versions that go together only, from the packages' own metadata."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the examination: level "ok", "missing" or "broken".

    `pin` is the requirement, such as `trl==1.16.0`, that brings a refused version into the matrix.
    """

    level: str
    name: str
    says: str
    fix: str = ""
    pin: str = ""


def examine() -> list[Finding]:
    """Examine this machine; nothing is changed, and a hub is waited for 3 seconds at most."""
    findings = [_python()]
    findings += [_package(name, *bounds) for name, bounds in TESTED.items()]
    findings += [*_together(), *_devices(), _engine(), _hub()]
    return findings


def refusal(findings: list[Finding]) -> str | None:
    """Return why these versions are refused and the one line that mends them; None if none is."""
    refused = {finding.pin: finding.name for finding in findings if finding.pin}
    if not refused:
        return None
    line = " ".join(f'"{pin}"' for pin in refused)
    names = ", ".join(dict.fromkeys(refused.values()))
    return f"refused: outside the tested versions: {names}; mend it: pip install {line}"


def _python() -> Finding:
    says = f"Python {platform.python_version()} on {platform.machine()}, {os.cpu_count()} cores"
    if sys.version_info >= (3, 14):
        return Finding("missing", "python", f"{says}: not tested", "use Python 3.11, 3.12 or 3.13")
    return Finding("ok", "python", says)


def _package(name: str, extra: str, least: str, below: str, tested: str) -> Finding:
    try:
        found = version(name)
    except PackageNotFoundError:
        fix = f'pip install "reasonenv[{extra}]"' if extra else "pip install reasonenv"
        return Finding("missing" if extra else "broken", name, "not installed", fix)
    if not found:  # the metadata of a broken installation
        return Finding("broken", name, "its version is unknown", f"reinstall {name}")
    if _parts(least) <= _parts(found) < _parts(below):
        return Finding("ok", name, f"{found} (tested with {tested})")
    pin = f"{name}=={tested}"
    says = f"{found} is outside {least} to {below} (not included)"
    return Finding("broken", name, says, f'pip install "{pin}"', pin)


def _together() -> Iterator[Finding]:
    """Find versions that are tested each, and do not go together."""
    for name, start, end, other, least, below, install in TOGETHER:
        try:
            found, beside = version(name), version(other)
        except PackageNotFoundError:
            continue
        inside = _parts(start) <= _parts(found or "") < _parts(end)
        if inside and not _parts(least) <= _parts(beside or "") < _parts(below):
            pin = f"{other}=={install}"
            says = f"{name} {found} needs {other} {least} to below {below}, found {beside}"
            yield Finding("broken", f"{name}+{other}", says, f'pip install "{pin}"', pin)


def _parts(text: str) -> tuple[int, ...]:
    """Return three numbers: "2.13.0+cpu" -> (2, 13, 0), "1.16rc1" -> (1, 16, 0)."""
    release = re.match(r"\d+(?:\.\d+)*", text)
    numbers = [int(part) for part in release[0].split(".")] if release else []
    return tuple([*numbers, 0, 0, 0][:3])


def _devices() -> Iterator[Finding]:
    if find_spec("torch") is None:
        return
    try:
        import torch
    except Exception as error:  # a missing system library is an OSError
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        yield Finding("broken", "gpu", f"torch cannot be imported ({reason})", "reinstall torch")
        return
    if torch.cuda.is_available():
        names = {torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())}
        says = f"{torch.cuda.device_count()} x {', '.join(sorted(names))}"
        bf16 = "bfloat16" if torch.cuda.is_bf16_supported() else "no bfloat16"
        yield Finding("ok", "gpu", f"{says}, {bf16}")
    elif Path("/proc/driver/nvidia/version").exists():
        says = f"an NVIDIA driver is there, and torch {torch.__version__} is built without CUDA"
        yield Finding("broken", "gpu", says, "reinstall torch for your CUDA version")
    else:
        yield Finding("missing", "gpu", f"none; torch {torch.__version__} trains on the CPU")


def _engine() -> Finding:
    """Ask the Docker engine's socket directly: no client needs to be installed for that."""
    host = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    fix = "start a Docker engine (only the code environments need one)"
    if not host.startswith("unix://"):
        return Finding("missing", "docker engine", f"DOCKER_HOST={host} was not asked", "")
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(2)
            client.connect(host.removeprefix("unix://"))
            client.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
            answer = client.recv(64)
    except OSError as error:
        reason = error.strerror or str(error)
        return Finding("missing", "docker engine", f"{host}: {reason}", fix)
    if b" 200 " not in answer:
        return Finding("missing", "docker engine", f"{host} gives no Docker answer", fix)
    return Finding("ok", "docker engine", f"answers at {host}")


def _hub() -> Finding:
    if find_spec("huggingface_hub") is None:
        return Finding("missing", "hub", "not asked", 'pip install "reasonenv[data]"')
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return Finding("missing", "hub", "HF_HUB_OFFLINE is set: only the cache is used")
    reason = why_unreachable()
    fix = "give local files: --model FOLDER and --data FILE.jsonl"
    return Finding("missing", "hub", reason, fix) if reason else Finding("ok", "hub", "answers")
