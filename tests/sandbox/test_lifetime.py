"""Containers: who they belong to, what replaces them, and that nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from reasonenv.errors import SandboxUnavailableError
from reasonenv.sandbox import Job, SandboxConfig, get_sandbox
from reasonenv.sandbox.docker_backend import docker_sandbox
from reasonenv.sandbox.engine import connect, orphans, prune
from reasonenv.sandbox.owner import LABEL, is_orphan, owner_labels

GOOD = Job("def f(x): return x + 1", "assert", ("assert f(1) == 2",), "f")


def mine(client, pid):
    found = client.containers.list(all=True, filters={"label": f"{LABEL}={pid}"})
    return [box for box in found if box.attrs["State"]["Status"] != "removing"]


def wait_for(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False


def test_a_dead_container_costs_one_retry_and_no_verdict(pool):
    client = connect()
    assert pool.run(GOOD).outcomes == ("passed",)
    for box in mine(client, os.getpid()):
        box.kill()
    assert pool.run(GOOD).outcomes == ("passed",)


def test_a_container_that_dies_under_a_job_is_replaced(pool):
    client = connect()
    slow = Job(
        "import time\ndef f(x): time.sleep(1.5); return x", "assert", ("assert f(1) == 1",), "f"
    )
    before = {box.id for box in mine(client, os.getpid())}
    threading.Timer(0.5, lambda: [b.kill() for b in mine(client, os.getpid())]).start()
    assert pool.run(slow).outcomes == ("passed",)
    assert before.isdisjoint({box.id for box in mine(client, os.getpid())})


def test_sandboxes_are_recycled_after_their_jobs(pool):
    box = docker_sandbox(SandboxConfig(size=1, recycle_after=2))
    client = connect()
    with box:
        seen = set()
        for _ in range(4):
            assert box.run(GOOD).outcomes == ("passed",)
            seen |= {c.id for c in mine(client, os.getpid())}
    assert len(seen) >= 3  # the shared pool's own is among them


def test_jobs_of_many_threads_share_few_containers(pool):
    outcomes = []
    threads = [
        threading.Thread(target=lambda: outcomes.append(pool.run(GOOD).outcomes)) for _ in range(24)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert outcomes == [("passed",)] * 24
    assert pool.open_slots == 1


def test_nobody_overtakes_who_waits(pool):
    order = []
    start = threading.Barrier(3)

    def many(name):
        start.wait(60)
        for _ in range(8):
            assert pool.run(GOOD).outcomes == ("passed",)
            order.append(name)

    threads = [threading.Thread(target=many, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(order) == 24
    # As long as all three want more, each gets every third.
    assert all(len(set(order[i : i + 3])) == 3 for i in range(2, 15))


def test_an_interrupted_waiter_gives_its_turn_to_the_next(pool):
    slow = Job("import time\ndef f(x): time.sleep(0.5)", "assert", ("f(1)",), "f")
    busy = threading.Thread(target=pool.run, args=(slow,))
    busy.start()
    timer = threading.Timer(0.2, signal.raise_signal, (signal.SIGINT,))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            pool.run(slow)
    finally:
        signal.signal(signal.SIGINT, before)
    busy.join(30)
    assert pool.run(GOOD).outcomes == ("passed",)
    assert pool.open_slots == 1


def test_closing_leaves_no_container(pool):
    client = connect()
    before = {box.id for box in mine(client, os.getpid())}
    with docker_sandbox(SandboxConfig(size=2)) as box:
        box.warm()
        assert len({b.id for b in mine(client, os.getpid())} - before) == 2
    assert wait_for(lambda: {b.id for b in mine(client, os.getpid())} <= before)
    with pytest.raises(SandboxUnavailableError, match="closed"):
        box.run(GOOD)


def test_a_job_of_a_pool_that_is_closed_under_it_says_so(pool):
    slow = Job("import time\ndef f(x): time.sleep(3)", "assert", ("f(1)",), "f")
    box = docker_sandbox(SandboxConfig(size=1))
    box.warm()
    threading.Timer(0.3, box.close).start()
    with pytest.raises(SandboxUnavailableError, match="closed"):
        box.run(slow)
    assert wait_for(lambda: box.open_slots == 0)


def test_nothing_is_left_after_kill_9_of_the_owner_and_one_prune(pool):
    code = textwrap.dedent(
        """
        from reasonenv.sandbox import SandboxConfig, get_sandbox
        import time
        box = get_sandbox("docker", SandboxConfig(size=2)); box.warm()
        print("warm", flush=True); time.sleep(600)
        """
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline().strip() == "warm"
    client = connect()
    assert len(mine(client, child.pid)) == 2
    child.send_signal(signal.SIGKILL)
    child.wait()
    prune(client)
    assert wait_for(lambda: mine(client, child.pid) == [])
    assert not [box for box in orphans(client) if box.labels[LABEL] == str(child.pid)]


def test_only_dead_owners_make_orphans():
    labels = owner_labels()
    assert not is_orphan(labels)
    assert is_orphan(labels | {f"{LABEL}-start": "1"})
    assert not is_orphan(labels | {f"{LABEL}-start": "1", f"{LABEL}-place": "elsewhere"})
    assert not is_orphan({})


def test_without_an_engine_the_error_comes_within_a_second_and_says_what_to_do(monkeypatch):
    pytest.importorskip("docker")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    box = docker_sandbox(SandboxConfig(size=1))
    began = time.monotonic()
    with pytest.raises(SandboxUnavailableError, match=r"/nowhere/docker\.sock.*Start one"):
        box.run(GOOD)
    assert time.monotonic() - began < 2.0


def test_a_missing_image_names_the_command_that_builds_it(pool):
    with pytest.raises(SandboxUnavailableError, match="reasonenv sandbox build"):
        docker_sandbox(SandboxConfig(size=1, image="reasonenv-nowhere:0")).run(GOOD)


def test_an_image_of_another_version_is_refused(pool):
    with pytest.raises(SandboxUnavailableError, match=r"another version.*sandbox build"):
        docker_sandbox(SandboxConfig(size=1, image="reasonenv-sandbox-base:local")).run(GOOD)


def test_an_unknown_back_end_is_named():
    with pytest.raises(SandboxUnavailableError, match="did you mean `docker`"):
        get_sandbox("dokcer")
