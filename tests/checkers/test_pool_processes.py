"""The worker pool in forked, daemonic and dying processes: own workers, and no orphans."""

import contextlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import reasonenv
from reasonenv.checkers.pool import WorkerPool, child, default_pool
from reasonenv.errors import WorkerTimeout

IMPORTABLE = str(Path(__file__).parent / "importable")
SOURCE = str(Path(reasonenv.__file__).parents[1])
sys.path.insert(0, IMPORTABLE)
import pool_jobs as jobs  # noqa: E402
from pool_processes import LONG, is_running, wait_until  # noqa: E402


@pytest.fixture
def pool():
    with WorkerPool(workers=2, timeout=LONG) as pool:
        yield pool


def script(tmp_path, text, *args, **options):
    """Start a user's script that can import the library and the jobs."""
    path = tmp_path / "script.py"
    path.write_text(text)
    env = os.environ | {"PYTHONPATH": os.pathsep.join([SOURCE, IMPORTABLE])}
    command = [sys.executable, str(path), *map(str, args)]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True, **options)


def test_a_forked_process_gets_workers_of_its_own_and_exits_cleanly(pool, tmp_path):
    default, mine = default_pool(), pool.run(jobs.pid)
    assert default.run(jobs.parent_pid) == os.getpid()
    busy = pool.submit(jobs.sleep, 0.5, "undisturbed")
    path = tmp_path / "result"
    forked = os.fork()
    if forked == 0:  # in the child: no assertion may reach pytest
        code = 1
        with contextlib.suppress(BaseException):
            jobs.run_in_default_pool(path)
            own = pool.run(jobs.parent_pid) == os.getpid()
            pool.close()
            code = 0 if own and default_pool() is default else 2
        os._exit(code)
    _, status = os.waitpid(forked, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert json.loads(path.read_text()) == [5, forked, forked]
    assert busy.result(LONG) == "undisturbed"
    assert is_running(mine)


def test_forking_in_one_thread_while_others_start_workers_hangs_nobody(tmp_path):
    stop = threading.Event()

    def restart():
        while not stop.is_set():
            with WorkerPool(workers=1, timeout=LONG) as pool:
                assert pool.run(jobs.add, 1, 2) == 3

    with ThreadPoolExecutor(2) as threads:
        restarting = [threads.submit(restart) for _ in range(2)]
        try:
            for i in range(5):
                forked = os.fork()
                if forked == 0:
                    code = 1
                    with contextlib.suppress(BaseException):
                        jobs.run_in_default_pool(tmp_path / str(i))
                        code = 0
                    os._exit(code)
                assert os.waitpid(forked, 0)[1] == 0
        finally:
            stop.set()
        for future in restarting:
            future.result(LONG)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_pool_works_in_a_daemonic_process(method, tmp_path):
    path = tmp_path / "result"
    context = multiprocessing.get_context(method)
    process = context.Process(target=jobs.run_in_default_pool, args=(path,), daemon=True)
    process.start()
    process.join(LONG)
    assert process.exitcode == 0
    assert json.loads(path.read_text()) == [5, process.pid, process.pid]


HOLDS_WORKERS = """
import os, sys, time
import pool_jobs as jobs
from pathlib import Path
from reasonenv.checkers.pool import WorkerPool
pool = WorkerPool(workers=4, timeout=1000)
busy = [pool.submit(jobs.spin, sys.argv[1]),
        pool.submit(jobs.spin_without_letting_go_of_the_gil, sys.argv[2])]
while not all(Path(p).exists() and Path(p).read_text() for p in sys.argv[1:3]):
    time.sleep(0.01)
print(pool.run(jobs.pid), *[Path(p).read_text() for p in sys.argv[1:3]], flush=True)
"""


def test_a_parent_killed_with_sigkill_leaves_no_worker_busy_or_idle(tmp_path):
    text = HOLDS_WORKERS + "time.sleep(1000)"
    with script(tmp_path, text, tmp_path / "a", tmp_path / "b") as process:
        workers = [int(pid) for pid in process.stdout.readline().split()]
        assert len(workers) == 3
        assert all(map(is_running, workers))
        process.kill()
    wait_until(lambda: not any(map(is_running, workers)))


@pytest.mark.parametrize("ending", ["", "del pool"])
def test_an_interpreter_exits_at_once_with_busy_workers_and_leaves_none(ending, tmp_path):
    text = HOLDS_WORKERS + ending
    with script(tmp_path, text, tmp_path / "a", tmp_path / "b", stderr=subprocess.PIPE) as process:
        out, err = process.communicate(timeout=LONG)
    assert (process.returncode, err) == (0, "")
    wait_until(lambda: not any(is_running(int(pid)) for pid in out.split()))


def test_ctrl_c_reaches_the_script_and_not_the_workers(tmp_path):
    # A shell's background job ignores SIGINT, and its children inherit that: as a terminal has it.
    handled = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    text = handled + HOLDS_WORKERS + "busy[0].result()"
    options = {"stderr": subprocess.PIPE, "start_new_session": True}
    with script(tmp_path, text, tmp_path / "a", tmp_path / "b", **options) as process:
        workers = [int(pid) for pid in process.stdout.readline().split()]
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=LONG)
    assert err.count("KeyboardInterrupt") == 1
    wait_until(lambda: not any(map(is_running, workers)))


def test_a_script_without_a_main_guard_is_run_once(tmp_path):
    text = """
import operator
from reasonenv.checkers.pool import default_pool
print("run", flush=True)
print(default_pool().run(operator.add, 1, 2))
def own(): pass
try:
    default_pool().run(own)
except TypeError as error:
    print(error)
"""
    with script(tmp_path, text) as process:
        out, _ = process.communicate(timeout=LONG)
    assert process.returncode == 0
    lines = out.splitlines()
    assert lines[:2] == ["run", "3"]
    assert lines[2].startswith("own is defined in __main__")


def test_workers_run_nothing_but_their_own_script(pool):
    assert pool.run(jobs.main_file) == child.__file__


def test_a_worker_without_help_of_the_kernel_notices_that_its_parent_is_gone(tmp_path):
    """macOS has no signal for it: a thread of the worker looks."""
    text = """
import os, sys
from reasonenv.checkers.pool import child
child._kernel_kills_orphan = lambda: False
child.WATCH_SECONDS = 0.05
parent = os.getpid()
if os.fork() == 0:
    child._die_with(parent)
    print(os.getpid(), flush=True)
    while True:
        pass
import time
time.sleep(1000)
"""
    with script(tmp_path, text) as process:
        orphan = int(process.stdout.readline())
        process.kill()
    wait_until(lambda: not is_running(orphan))


def test_a_pool_works_in_a_ray_worker():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=1, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": SOURCE}})
    try:

        @ray.remote
        def judge():
            import operator

            from reasonenv.checkers.pool import default_pool

            with contextlib.suppress(WorkerTimeout):
                default_pool().run(time.sleep, 60, timeout=0.2)
            return default_pool().run(operator.add, 1, 2)

        assert ray.get(judge.remote(), timeout=LONG) == 3
    finally:
        ray.shutdown()
