"""The Docker engine: reaching it, images, containers, and what dead processes left behind.

* `connect`: an SDK client, or an error that says what was tried and how to start an engine.
* `build_image`, `check_image`, `fingerprint`: the image and whether it fits this package.
* `prune`: removes containers whose owner is gone (or all of them).
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import tarfile
import time
from collections.abc import Callable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from reasonenv.errors import SandboxUnavailableError
from reasonenv.extras import need
from reasonenv.sandbox.owner import LABEL, is_orphan

__all__ = [
    "DEFAULT_BASE",
    "build_image",
    "check_image",
    "connect",
    "fingerprint",
    "image_files",
    "image_folder",
    "orphans",
    "prune",
    "seccomp_profile",
]

DEFAULT_BASE = "python:3.12-slim"
FINGERPRINT_LABEL = "org.reasonenv.fingerprint"
_IN_IMAGE = (
    "__init__.py",
    "candidate.py",
    "clocks.py",
    "codec.py",
    "functions.py",
    "job.py",
    "scripts.py",
    "supervisor.py",
    "tester.py",
    "words.py",
)
_PING_S = 0.9
_BUILD = "build it with `reasonenv sandbox build`"


def image_folder() -> str:
    """Return where the image's files are: Dockerfile, seccomp.json, make_rootfs.sh."""
    return str(resources.files("reasonenv.sandbox") / "image")


def image_files() -> dict[str, bytes]:
    """Return the build context: file name -> content."""
    folder = resources.files("reasonenv.sandbox") / "image"
    return {name: (folder / name).read_bytes() for name in (*_IN_IMAGE, "Dockerfile")}


def seccomp_profile() -> str:
    """Return the system call filter as the JSON text that the engine's API takes."""
    text = (resources.files("reasonenv.sandbox") / "image" / "seccomp.json").read_text("utf-8")
    return json.dumps(json.loads(text))


@cache
def fingerprint() -> str:
    """Return a hash of all that the package puts into the image."""
    digest = hashlib.sha256()
    for name, content in sorted(image_files().items()):
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]


def _endpoint() -> str:
    return os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"


def connect(timeout_s: float = 120) -> Any:
    """Return a client of the Docker engine that DOCKER_HOST names, or of the local one.

    Raises:
        SandboxUnavailableError: no engine answers within a second.
        MissingExtraError: the SDK is not installed.
    """
    docker = need("docker", extra="docker", by="the docker sandbox")
    began = time.monotonic()
    for patience in (_PING_S, 10.0):
        try:
            client = docker.DockerClient.from_env(timeout=patience, version="1.41")
            client.ping()
        except Exception as error:
            # An engine that accepts and is slow is busy, not absent: it gets one longer try.
            slow = "Read timed out" in str(error) and patience == _PING_S
            if slow:
                continue
            raise SandboxUnavailableError(
                f"no Docker engine answers at {_endpoint()} ({type(error).__name__}: "
                f"{str(error)[:200]}; tried {time.monotonic() - began:.1f} s). Start one "
                "(`systemctl start docker`, or `dockerd &` as root, or a rootless one), or name "
                "another in DOCKER_HOST; on a machine where none may run, see docs/sandbox.md"
            ) from error
        client.api.timeout = timeout_s
        return client
    raise AssertionError


def check_image(client: Any, image: str) -> None:
    """Check that `image` is there and was built by this version of the package.

    Raises:
        SandboxUnavailableError: it is not; the message says which command builds it.
    """
    docker = need("docker", extra="docker", by="the docker sandbox")
    try:
        labels = client.images.get(image).labels
    except docker.errors.ImageNotFound:
        raise SandboxUnavailableError(
            f"the engine at {_endpoint()} has no image {image}: {_BUILD}"
        ) from None
    except Exception as error:
        raise SandboxUnavailableError(f"the engine cannot be asked for {image}: {error}") from error
    if labels.get(FINGERPRINT_LABEL) != fingerprint():
        raise SandboxUnavailableError(
            f"image {image} was built by another version of reasonenv: {_BUILD}"
        )


def build_image(
    image: str,
    base: str | None = None,
    rootfs: str | Path | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> str:
    """Build the sandbox's image and return its name.

    Args:
        image: the name to give it.
        base: an image with Python 3.11 or later; it is pulled if the engine lacks it.
        rootfs: instead of a base, a tar of a root file system with Python, where no registry can
            be reached (`make_rootfs.sh` in `image_folder()` makes one from Debian packages).
        say: is told what happens, a line at a time.

    Raises:
        SandboxUnavailableError: no engine, or the build fails; the message says why.
    """
    client = connect(600)
    if rootfs is not None:
        base = f"{image.partition(':')[0]}-base:local"
        say(f"importing {rootfs} as {base}")
        try:
            name, _, tag = base.partition(":")
            answer = client.api.import_image_from_file(str(rootfs), repository=name, tag=tag)
        except Exception as error:
            raise SandboxUnavailableError(f"{rootfs} cannot be imported: {error}") from error
        if '"error"' in answer:
            raise SandboxUnavailableError(f"{rootfs} cannot be imported: {answer.strip()[-300:]}")
    base = base or DEFAULT_BASE
    say(f"building {image} on {base}")
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as tar:
        for name, content in image_files().items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))
    context.seek(0)
    try:
        client.images.build(
            fileobj=context,
            custom_context=True,
            tag=image,
            buildargs={"BASE": base, "FINGERPRINT": fingerprint()},
            rm=True,
            forcerm=True,
        )
    except Exception as error:
        raise SandboxUnavailableError(
            f"the image could not be built on {base}: {str(error)[:400]}. Name an image that the "
            "engine has with --base IMAGE, or, where no registry can be reached, give a root "
            "file system with --rootfs TAR (make_rootfs.sh, where `reasonenv sandbox status` says, "
            "makes one)"
        ) from error
    return image


def orphans(client: Any, everything: bool = False) -> list[Any]:
    """Return the containers of this package whose owner is gone, or all of them."""
    found = client.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True)
    return [box for box in found if everything or is_orphan(box.labels)]


def prune(client: Any, everything: bool = False) -> int:
    """Remove containers whose owner is gone, or all of this package's; return how many."""
    removed = 0
    for box in orphans(client, everything):
        with contextlib.suppress(Exception):
            box.remove(force=True, v=True)
            removed += 1
    return removed
