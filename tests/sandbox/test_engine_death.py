"""An engine that dies under its jobs: no verdict from it, no hang, and it is used again when back.

A second, private engine is started for this; the machine's own is left alone.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reasonenv.checkers.code import judge_program
from reasonenv.errors import SandboxUnavailableError
from reasonenv.sandbox import SandboxConfig
from reasonenv.sandbox.docker_backend import docker_sandbox
from reasonenv.sandbox.engine import connect, orphans, prune
from reasonenv.types import Status, Verdict
from tests.sandbox.conftest import unavailable

SCRIPT = Path(__file__).parents[2] / ".ci" / "docker.sh"
SLOW = "import time\ndef f(x):\n    time.sleep(0.25)\n    return x"


class Engine:
    """A Docker engine of this test's own."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.host = f"unix://{place}/docker.sock"
        names = {"SOCK": "docker.sock", "DATA_ROOT": "data", "EXEC_ROOT": "run"}
        names |= {"PIDFILE": "docker.pid", "LOG": "docker.log", "LOCK": "lock"}
        paths = {f"CI_DOCKER_{name}": str(place / file) for name, file in names.items()}
        self.environment = os.environ | paths

    def start(self) -> None:
        done = subprocess.run(
            ["bash", str(SCRIPT)], env=self.environment, capture_output=True, text=True, timeout=120
        )
        if done.returncode:
            unavailable(f"no second engine can be started: {done.stderr[-500:]}")

    def end(self, number: int, name: str = "docker.pid") -> None:
        pid = int((self.place / name).read_text())
        os.kill(pid, number)
        for _ in range(300):
            try:
                state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                return
            if state in "ZX":
                return
            time.sleep(0.05)
        raise AssertionError("the engine does not end")

    def remove(self) -> None:
        self.end(signal.SIGKILL)
        self.end(signal.SIGKILL, "run/containerd/containerd.pid")
        mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        for mount in reversed([m for m in mounts if m.startswith(f"{self.place}/")]):
            subprocess.run(["umount", "-l", mount], check=False)
        shutil.rmtree(self.place, ignore_errors=True)


@pytest.fixture(scope="module")
def engine(pool, tmp_path_factory) -> Iterator[Engine]:
    if os.geteuid() != 0 or shutil.which("dockerd") is None or not SCRIPT.is_file():
        # `pool` has found an engine, so one is there: not one that this user may start, though
        pytest.skip("only root can start an engine, where dockerd is installed")
    name = SandboxConfig().image
    image = connect().images.get(name)
    made = Engine(tmp_path_factory.mktemp("engine"))
    made.start()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DOCKER_HOST", made.host)
            connect().images.load(b"".join(image.save(named=name)))
            yield made
    finally:
        made.remove()


def test_jobs_of_a_killed_engine_get_a_status_and_the_pool_works_again_after_its_restart(engine):
    with docker_sandbox(SandboxConfig(size=2)) as box:
        box.warm()

        def judge(_: int) -> Verdict:
            return judge_program(SLOW, ["assert f(1) == 1"], "assert", "f", sandbox=box)

        with ThreadPoolExecutor(4) as executor:
            futures = [executor.submit(judge, number) for number in range(24)]
            assert futures[1].result(30).correct
            engine.end(signal.SIGKILL)
            verdicts = [future.result(60) for future in futures]
        statuses = {verdict.status for verdict in verdicts}
        assert statuses == {Status.CORRECT, Status.SANDBOX_UNAVAILABLE}
        assert not any(v.status.is_evidence for v in verdicts if v.status is not Status.CORRECT)
        with pytest.raises(SandboxUnavailableError, match="no Docker engine answers"):
            connect()

        engine.start()
        assert [judge(number).status for number in range(4)] == [Status.CORRECT] * 4
        assert box.open_slots <= 2
        running = len(connect().containers.list())
        assert running == box.open_slots
    prune(connect())
    assert orphans(connect(), everything=True) == []


def test_an_engine_that_is_stopped_in_order_is_no_verdict_either(engine):
    with docker_sandbox(SandboxConfig(size=1)) as box:
        box.warm()
        with ThreadPoolExecutor(2) as executor:
            tests = ["assert f(1) == 1"] * 8
            future = executor.submit(judge_program, SLOW, tests, "assert", "f", sandbox=box)
            time.sleep(0.3)
            engine.end(signal.SIGTERM)
            assert future.result(60).status is Status.SANDBOX_UNAVAILABLE
        engine.start()
        assert judge_program(SLOW, tests[:1], "assert", "f", sandbox=box).correct
    prune(connect())
    assert orphans(connect(), everything=True) == []
