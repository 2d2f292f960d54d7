from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from reasonenv.errors import ReasonEnvError
from reasonenv.sandbox import Pool, SandboxConfig
from reasonenv.sandbox.docker_backend import docker_sandbox


def unavailable(reason: object) -> None:
    """Skip a test that needs an engine; in CI that is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI has no sandbox: {reason}")
    pytest.skip(f"no sandbox here: {reason}")


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    made = docker_sandbox(SandboxConfig(size=1))
    try:
        made.warm()
    except ReasonEnvError as error:
        unavailable(error)
    yield made
    made.close()
