"""The worker pool: a job that hangs, eats memory or crashes harms nobody else."""

import asyncio
import gc
import math
import os
import signal
import sys
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path

import pytest

from reasonenv.checkers.pool import WorkerPool, child, worker
from reasonenv.errors import PoolUnavailableError, WorkerDied, WorkerTimeout

sys.path.insert(0, str(Path(__file__).parent / "importable"))
import pool_jobs as jobs
from pool_processes import LONG, children, is_running, wait_until


@pytest.fixture
def pool():
    with WorkerPool(workers=2, timeout=LONG) as pool:
        yield pool


@pytest.fixture
def single():
    with WorkerPool(workers=1, timeout=LONG) as pool:
        yield pool


# Deadlines


def test_a_job_that_hangs_is_killed_and_the_next_one_works(single):
    before = single.run(jobs.pid)
    with pytest.raises(WorkerTimeout, match=r"pool_jobs\.spin ran for more than 0\.2 s") as caught:
        single.run(jobs.spin, timeout=0.2)
    assert caught.value.seconds == 0.2
    assert isinstance(caught.value, TimeoutError)
    assert single.run(jobs.pid) != before
    wait_until(lambda: not is_running(before))


def test_a_job_that_never_lets_go_of_the_interpreter_lock_is_killed(single, tmp_path):
    started = tmp_path / "started"
    with pytest.raises(WorkerTimeout):
        single.run(jobs.spin_without_letting_go_of_the_gil, started, timeout=0.3)
    assert single.run(jobs.add, 1, 2) == 3


def test_a_timeout_says_how_much_cpu_the_job_had(single):
    with pytest.raises(WorkerTimeout) as busy:
        single.run(jobs.spin, timeout=0.5)
    with pytest.raises(WorkerTimeout) as idle:
        single.run(jobs.sleep, LONG, timeout=0.5)
    assert busy.value.cpu_seconds > idle.value.cpu_seconds
    assert "of a CPU" in str(busy.value)


def test_waiting_in_the_queue_does_not_count_for_the_deadline(single):
    single.run(jobs.add, 1, 1)
    queued = [single.submit(jobs.sleep, 0.3, i, timeout=1.0) for i in range(5)]
    assert [future.result(LONG) for future in queued] == [0, 1, 2, 3, 4]


def test_importing_the_function_of_a_job_does_not_count_for_the_deadline(
    single, tmp_path, monkeypatch
):
    text = "import time\ntime.sleep(0.6)\ndef job():\n    return 'done'\n"
    (tmp_path / "slow_to_import.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    import slow_to_import

    assert single.run(slow_to_import.job, timeout=0.4) == "done"


def test_one_hanging_job_does_not_hold_up_the_others(pool):
    hanging = pool.submit(jobs.spin)
    assert list(pool.map(jobs.add, range(50), range(50))) == [2 * i for i in range(50)]
    assert not hanging.done()


def test_a_spare_worker_stands_ready_after_the_first_loss(single):
    with pytest.raises(WorkerTimeout):
        single.run(jobs.spin, timeout=0.1)
    for _ in range(3):
        wait_until(lambda: not single._engine.spares.empty())
        with pytest.raises(WorkerTimeout):
            single.run(jobs.spin, timeout=0.1)
        assert single.run(jobs.add, 1, 2) == 3


# Memory and crashes


def test_a_memory_bomb_harms_nobody_else():
    with WorkerPool(workers=1, timeout=LONG, memory_bytes=256 * 2**20) as pool:
        for _ in range(2):
            with pytest.raises((MemoryError, WorkerDied)):
                pool.run(jobs.eat_memory)
            assert pool.run(jobs.add, 1, 2) == 3


def test_a_worker_that_ran_out_of_memory_is_not_used_again():
    with WorkerPool(workers=1, timeout=LONG, memory_bytes=256 * 2**20) as pool:
        before = pool.run(jobs.pid)
        with pytest.raises((MemoryError, WorkerDied)):
            pool.run(jobs.eat_memory)
        assert pool.run(jobs.pid) != before


def test_a_crash_is_tried_once_more_and_then_raised(single, tmp_path):
    marker = tmp_path / "tries"
    with pytest.raises(WorkerDied, match=r"count_and_die, 2 times: exit status 1"):
        single.run(jobs.count_and_die, marker)
    assert marker.read_text() == "xx"
    assert single.run(jobs.add, 1, 2) == 3


def test_a_job_that_works_on_the_second_worker_is_a_success(single, tmp_path):
    assert single.run(jobs.die_unless_second_time, tmp_path / "marker") == "survived"


def test_a_segmentation_fault_is_named_with_the_place_where_it_happened(single):
    with pytest.raises(WorkerDied, match=r"(?s)SIGSEGV.*in segfault"):
        single.run(jobs.segfault)
    assert single.run(jobs.add, 1, 2) == 3


def test_the_last_lines_of_a_dead_worker_are_shown(single):
    with pytest.raises(WorkerDied, match=r"(?s)exit status 7.*these are my last words"):
        single.run(jobs.die_talking)


def test_a_worker_that_dies_while_idle_costs_no_job_its_second_try(single, tmp_path):
    victim = single.run(jobs.pid)
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: not is_running(victim))
    assert single.run(jobs.die_unless_second_time, tmp_path / "marker") == "survived"


def test_a_worker_killed_from_outside_during_a_job_is_replaced(single, tmp_path):
    started = tmp_path / "started"
    future = single.submit(jobs.spin, started)
    for _ in range(2):
        wait_until(lambda: started.exists() and started.read_text())
        victim = int(started.read_text())
        started.unlink()
        os.kill(victim, signal.SIGKILL)
    with pytest.raises(WorkerDied, match="SIGKILL"):
        future.result(LONG)


# What jobs may do, take and return


def test_what_a_job_prints_stays_out_of_the_protocol_and_of_our_output(single, capfd):
    assert single.run(jobs.noise) == "quiet"
    assert single.run(jobs.add, 1, 2) == 3
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_a_job_finds_an_empty_standard_input(single):
    assert single.run(jobs.read_stdin) == ""


def test_exceptions_come_back_as_what_they_are_with_the_worker_s_traceback(single):
    with pytest.raises(ValueError, match="a clear text") as caught:
        single.run(jobs.raise_value_error)
    assert "in raise_value_error" in caught.value.__notes__[0]


def test_an_exception_that_does_not_pickle_comes_back_as_its_text(single):
    with pytest.raises(RuntimeError, match="Picky: this and that"):
        single.run(jobs.raise_picky)
    assert single.run(jobs.add, 1, 2) == 3


def test_a_job_that_exits_does_not_end_its_caller(single):
    before = single.run(jobs.pid)
    with pytest.raises(RuntimeError, match="SystemExit: 3"):
        single.run(jobs.leave)
    assert single.run(jobs.pid) == before


def test_a_result_that_does_not_pickle_is_a_clear_error(single):
    before = single.run(jobs.pid)
    with pytest.raises(Exception, match=r"return_function|lambda"):
        single.run(jobs.return_function)
    assert single.run(jobs.pid) == before


def test_a_result_that_is_too_large_is_a_clear_error(single):
    with pytest.raises(ValueError, match="the result takes"):
        single.run(jobs.return_bytes, child.MAX_REPLY_BYTES + 1)
    assert single.run(jobs.add, 1, 2) == 3


def test_arguments_and_results_of_many_megabytes_pass(single):
    data = bytes(range(256)) * 2**16
    assert single.run(jobs.echo, data) == data


def test_arguments_and_results_keep_any_text(single):
    text = "\ud800 \x00 \U0010ffff é"
    assert single.run(jobs.echo, (text, [text], {text: text})) == (text, [text], {text: text})


@pytest.mark.parametrize(
    ("function", "args"),
    [(jobs.echo, (threading.Lock(),)), (lambda: 1, ()), (jobs.echo, (lambda: 1,))],
    ids=["a lock", "a lambda as job", "a lambda as argument"],
)
def test_what_cannot_be_sent_is_a_clear_error_and_the_pool_lives(single, function, args):
    with pytest.raises(TypeError, match="cannot be sent to a worker process"):
        single.run(function, *args)
    assert single.run(jobs.add, 1, 2) == 3


def test_a_function_of_the_main_script_is_refused_with_the_way_out(single, monkeypatch):
    monkeypatch.setattr(jobs.add, "__module__", "__main__")
    with pytest.raises(TypeError, match=r"add is defined in __main__.*move it to a module"):
        single.run(jobs.add, 1, 2)


def test_a_function_that_workers_cannot_import_is_a_clear_error(single, tmp_path, monkeypatch):
    (tmp_path / "gone.py").write_text("def job():\n    return 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import gone

    (tmp_path / "gone.py").unlink()
    with pytest.raises(ModuleNotFoundError, match="gone") as caught:
        single.run(gone.job)
    assert "could not import gone.job" in caught.value.__notes__[0]
    assert single.run(jobs.add, 1, 2) == 3


def test_functions_of_compiled_modules_are_jobs_too(single):
    assert single.run(math.gcd, 12, 18) == 6


# Many callers


def test_ten_thousand_jobs_from_eight_threads_give_right_results(pool):
    def ask(thread):
        numbers = range(thread * 1250, (thread + 1) * 1250)
        return [pool.run(jobs.add, i, 1) for i in numbers] == [i + 1 for i in numbers]

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(ask, range(8)))


def test_map_keeps_the_order_and_raises_in_its_place(pool):
    assert list(pool.map(jobs.sleep, [0.2, 0.0, 0.1], "abc")) == ["a", "b", "c"]
    results = pool.map(math.sqrt, [4.0, -1.0, 9.0])
    assert next(results) == 2.0
    with pytest.raises(ValueError, match="domain"):
        next(results)


def test_a_pool_works_under_asyncio(pool):
    async def judge():
        futures = [asyncio.wrap_future(pool.submit(jobs.add, i, i)) for i in range(100)]
        with pytest.raises(WorkerTimeout):
            await asyncio.wrap_future(pool.submit(jobs.spin, timeout=0.2))
        return await asyncio.gather(*futures)

    assert asyncio.run(judge()) == [2 * i for i in range(100)]


def test_a_job_that_waits_can_be_cancelled(single, tmp_path):
    started = tmp_path / "started"
    running = single.submit(jobs.spin, started, timeout=0.5)
    wait_until(started.exists)
    waiting = single.submit(jobs.exit_at_once, 1)
    assert waiting.cancel()
    with pytest.raises(WorkerTimeout):
        running.result(LONG)
    with pytest.raises(CancelledError):
        waiting.result(LONG)
    assert single.run(jobs.add, 1, 2) == 3


def test_a_pool_works_in_a_thread_that_is_not_the_main_one(pool):
    results = []
    thread = threading.Thread(target=lambda: results.append(pool.run(jobs.add, 2, 2)))
    thread.start()
    thread.join(LONG)
    assert results == [4]


def test_no_more_workers_are_started_than_have_something_to_do():
    with WorkerPool(workers=8, timeout=LONG) as pool:
        assert len({pool.run(jobs.pid) for _ in range(20)}) == 1


# Starting, recycling, closing


def test_a_worker_is_replaced_after_its_number_of_jobs():
    with WorkerPool(workers=1, timeout=LONG, recycle_after=3) as pool:
        pids = [pool.run(jobs.pid) for _ in range(9)]
    assert [len(set(pids[i : i + 3])) for i in (0, 3, 6)] == [1, 1, 1]
    assert len(set(pids)) == 3


def test_the_initializer_runs_in_every_worker_before_its_first_job():
    with WorkerPool(1, LONG, recycle_after=2, initializer="pool_jobs:get_ready") as pool:
        assert all(pool.run(jobs.is_ready) for _ in range(5))


@pytest.mark.parametrize(
    ("initializer", "says"),
    [
        ("pool_jobs:fail_to_get_ready", "LookupError: no such table"),
        ("pool_jobs:no_such_function", "no_such_function"),
        ("no_such_module:f", "No module named 'no_such_module'"),
    ],
)
def test_an_initializer_that_fails_is_a_clear_error(initializer, says):
    with (
        WorkerPool(1, LONG, initializer=initializer) as pool,
        pytest.raises(PoolUnavailableError, match=says),
    ):
        pool.run(jobs.add, 1, 2)


@pytest.mark.parametrize("executable", ["/nowhere/python", "", None, "/bin/false", "/bin/cat"])
def test_a_worker_that_cannot_be_started_is_a_clear_error(executable, monkeypatch, single):
    monkeypatch.setattr(worker, "START_SECONDS", 2.0)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", executable)
        for _ in range(2):
            with pytest.raises(PoolUnavailableError, match="worker process"):
                single.run(jobs.add, 1, 2)
    assert single.run(jobs.add, 1, 2) == 3


@pytest.mark.parametrize(
    "options",
    [
        {"workers": 0},
        {"workers": 1.5},
        {"timeout": 0},
        {"timeout": math.inf},
        {"memory_bytes": 1024},
        {"recycle_after": 0},
        {"initializer": "no_colon"},
    ],
    ids=str,
)
def test_a_bad_option_is_named_with_what_was_given(options):
    [(name, value)] = options.items()
    with pytest.raises(ValueError, match=name) as caught:
        WorkerPool(**options)
    assert repr(value) in str(caught.value)


def test_a_bad_timeout_of_one_job_is_named(single):
    with pytest.raises(ValueError, match=r"timeout .* got -1"):
        single.run(jobs.add, 1, 2, timeout=-1)


def test_closing_fails_what_runs_and_what_waits_and_leaves_no_process(tmp_path):
    pool = WorkerPool(workers=1, timeout=LONG)
    started = tmp_path / "started"
    running = pool.submit(jobs.spin, started)
    waiting = pool.submit(jobs.add, 1, 2)
    wait_until(lambda: started.exists() and started.read_text())
    pool.close()
    for future in (running, waiting):
        with pytest.raises(PoolUnavailableError, match="closed"):
            future.result(LONG)
    with pytest.raises(PoolUnavailableError, match="closed"):
        pool.run(jobs.add, 1, 2)
    assert int(started.read_text()) not in children()
    pool.close()


def test_closed_pools_leave_no_process_no_thread_and_no_open_file():
    def use():
        with WorkerPool(workers=2, timeout=LONG) as pool:
            list(pool.map(jobs.add, range(10), range(10)))
            with pytest.raises(WorkerTimeout):
                pool.run(jobs.spin, timeout=0.1)
            with pytest.raises(WorkerDied):
                pool.run(jobs.exit_at_once, 1)

    def held():
        gc.collect()
        return len(children()), threading.active_count(), len(os.listdir("/proc/self/fd"))

    use()
    before = held()
    use()
    assert held() == before


def test_a_pool_that_nobody_holds_ends_by_itself():
    before = threading.active_count()
    pool = WorkerPool(workers=1, timeout=LONG)
    pid = pool.run(jobs.pid)
    del pool
    gc.collect()
    wait_until(lambda: not is_running(pid) and threading.active_count() <= before)


def test_a_job_keeps_a_pool_alive_that_nobody_holds():
    future = WorkerPool(workers=1, timeout=LONG).submit(jobs.sleep, 0.2, "done")
    gc.collect()
    assert future.result(LONG) == "done"


def test_every_worker_hashes_text_alike():
    with WorkerPool(1, LONG) as one, WorkerPool(1, LONG) as other:
        assert one.run(jobs.hash_of_text) == other.run(jobs.hash_of_text)
