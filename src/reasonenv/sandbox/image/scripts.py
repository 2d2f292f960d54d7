"""Jobs whose programs read and print, run by a process that dies with the job."""

from __future__ import annotations

import contextlib
import json
import os
import select
from typing import Any

from .codec import read_frame
from .job import HEAD_BYTES, Box, Job, Stream, named, text_of

__all__ = ["run_scripts"]


def _script(job: Job, program: bytes, data: bytes, limit: int) -> dict[str, Any]:
    """Run the program once with `data` on its standard input."""
    (in_r, in_w), (out_r, out_w), (err_r, err_w), (rep_r, rep_w) = job.pipes(4)
    job.launch(True, lambda: program, (in_r, out_w, err_w), rep_w)
    job.close(in_r, out_w, err_w, rep_w)
    for fd in (in_w, out_r, err_r, rep_r):
        os.set_blocking(fd, False)
    out = Stream(out_r, limit, limit)
    err = Stream(err_r, HEAD_BYTES, 64 << 20)
    job.out = [out, err]
    job.clock.pids = job.job_clock.pids = (job.pid,)
    job.clock.restart()
    ended = os.pidfd_open(job.pid)
    view, writing = memoryview(data), bool(data)
    if not writing:
        job.close(in_w)
    while True:
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        for stream in job.out:
            if stream.open:
                poll.register(stream.fd, select.POLLIN)
        if writing:
            poll.register(in_w, select.POLLOUT)
        ready = {fd for fd, _ in poll.poll(job.wait_ms())}
        for stream in job.out:
            if stream.fd in ready:
                stream.drain()
        if writing and in_w in ready:
            try:
                view = view[os.write(in_w, view[: 1 << 16]) :]
            except BlockingIOError:
                pass
            except OSError:
                view = view[:0]
            if not view:
                job.close(in_w)
                writing = False
        if ended in ready:
            break
        job.check()
    os.close(ended)
    cpu = job.clock.cpu() - job.clock.cpu0
    job.end()
    outcome = job.reap()
    job.kill_strays()
    for stream in job.out:
        if stream.open:
            stream.drain(1 << 16)
    if outcome == "exited" and out.seen > limit:
        outcome = "output_limit"
    name = ""
    with contextlib.suppress(OSError):
        name = os.read(rep_r, 200).decode("utf-8", "replace")
    if outcome == "exit:1" and name.isidentifier():
        outcome = named(name)
    job.close()
    return {
        "outcome": "finished" if outcome == "exited" else outcome,
        "stdout": text_of(out.head),
        "stderr": text_of(err.head),
        "cpu": cpu,
    }


def run_scripts(box: Box, header: dict[str, Any], stream: int) -> dict[str, Any]:
    """Run the job whose program and inputs follow on `stream`, and return its result."""
    program = read_frame(stream)
    inputs = json.loads(read_frame(stream))
    job = Job(box, header)
    runs: list[dict[str, Any]] = []
    for text, limit in zip(inputs, header["outputs"], strict=True):
        run = _script(job, program, text.encode("utf-8", "surrogateescape"), limit)
        if run["outcome"] == "output_limit":
            run["stdout"] = run["stdout"][:HEAD_BYTES]
        runs.append(run)
        if job.exhausted or (header.get("stop_at_first") and run["outcome"] != "finished"):
            break
    return job.result(runs=runs)
