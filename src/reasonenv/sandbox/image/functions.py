"""Jobs whose tests call functions. The supervisor itself looks on.

The program is read by the process that runs it and the tests by the one that evaluates them, so
that the supervisor, which all later programs descend from, never holds either.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
from collections.abc import Callable
from typing import Any

from . import tester
from .codec import read_frame, write_all
from .job import HEAD_BYTES, Box, Job, Stream, gone, named, text_of

__all__ = ["run_functions"]


class _Functions:
    """One job whose tests call functions, seen from the supervisor.

    The tester writes what it does to a pipe, which is read once a tick, and knocks on its socket
    only where it needs an answer or is done: a job costs two turns of the supervisor, not two for
    each test.
    """

    def __init__(self, job: Job, stream: int) -> None:
        self.job, self.stream = job, stream
        self.count = job.header["n_tests"]
        self.outcomes = ["not_run"] * self.count
        self.returned: list[str | None] = [None] * self.count
        self.bad: list[Any] | None = None
        self.current = -1
        self.was_read = self.loaded = self.done = False
        self.restarts = 0
        self.null = os.open(os.devnull, os.O_RDWR)
        self.program = os.memfd_create("program")
        job.own(self.null, self.program)
        readers, self.writers = zip(*job.pipes(2), strict=True)
        job.out = [Stream(fd, HEAD_BYTES, job.header["output"]) for fd in readers]
        self.said, says = job.own(*os.pipe())
        self.unread = b""
        for fd in (*readers, self.said):
            os.set_blocking(fd, False)
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ready, taken = job.own(*os.pipe())

        def read_program() -> bytes:
            program = read_frame(stream)
            write_all(self.program, program)
            os.write(taken, b".")
            return program

        def wait_for_turn() -> bytes:
            os.close(taken)
            return os.read(ready, 1)

        link = self.start(read_program)
        job.tester_pid = job.fork(
            wait_for_turn,
            self.test,
            (stream, self.null, self.null),
            (theirs.fileno(), says, link.fileno()),
            None,
            False,
        )
        # Only now: each page that is written between the two forks is copied twice.
        for end in (theirs, link):
            end.close()
        job.close(ready, taken, says)
        job.clock.pids = job.pids()

    def start(self, prepare: Callable[[], bytes]) -> socket.socket:
        """Start the program's process and return our end of its socket."""
        ours, its = socket.socketpair()
        try:
            self.job.launch(False, prepare, (self.null, *self.writers), its.fileno())
        finally:
            its.close()
        return ours

    def again(self) -> bytes:
        return os.pread(self.program, os.fstat(self.program).st_size, 0)

    def test(self, turn: bytes) -> int:
        """Be the tester: read the tests, give up all rights, run them."""

        def drop() -> None:
            os.dup2(1, 0)
            self.job.confine(self.job.box.tester_uid)
            os.chdir("/")

        if turn:
            with contextlib.suppress(BrokenPipeError, EOFError):
                tester.run_tests(0, socket.socket(fileno=3), 4, socket.socket(fileno=5), drop)
        return 0

    def run(self) -> dict[str, Any]:
        job, control = self.job, self.control
        while not self.done:
            poll = select.poll()
            poll.register(control, select.POLLIN)
            for stream in job.out:
                if stream.open:
                    poll.register(stream.fd, select.POLLIN)
            ready = {fd for fd, _ in poll.poll(job.wait_ms())}
            for stream in job.out:
                if stream.fd in ready:
                    stream.drain(4)
            self.listen()
            job.clock.pids = job.pids()
            job.job_clock.pids = (*job.pids(), os.getpid())
            was = job.reason
            job.check()
            if job.reason is not None and was is None:
                with contextlib.suppress(OSError):
                    control.send(b"dead")
            if control.fileno() in ready:
                self.answer()
            elif job.exhausted:
                self.give_up()
        # Who is left is killed with the place, in a moment: nobody has to be looked for here.
        job.reason = job.reason or "exited"
        job.leave()
        if job.tester_pid:
            os.kill(job.tester_pid, signal.SIGKILL)
        for stream in job.out:
            stream.drain(4)
        if not self.was_read:
            raise RuntimeError("the job was not read to its end")
        heads = [text_of(stream.head) for stream in job.out]
        return job.result(
            outcomes=self.outcomes,
            returned=self.returned,
            bad=self.bad,
            stdout=heads[0],
            stderr=heads[1],
        )

    def give_up(self) -> None:
        """The job's time is over; the tester may be what takes it: the test that runs fails."""
        self.listen()
        self.done = True
        reason = self.job.reason or "timeout"
        if self.current >= 0:
            self.outcomes[self.current] = reason
        elif self.loaded:
            self.outcomes = [reason] * self.count
        else:
            self.bad = [-1, "the setup of the tests takes too long"]

    def listen(self) -> None:
        """Take what the tester wrote."""
        while True:
            try:
                data = os.read(self.said, 1 << 16)
            except BlockingIOError:
                return
            if not data:
                return
            *lines, self.unread = (self.unread + data).split(b"\n")
            for line in lines:
                self.hear(json.loads(line))

    def answer(self) -> None:
        """Do what the tester waits for; what it wrote before is taken first."""
        try:
            knock = self.control.recv(64)
        except ConnectionResetError:  # it left without hearing us
            knock = b""
        self.listen()
        if knock == b"need":
            self.hand_over()
        elif not knock and not self.done:
            self.bad, self.done = [self.current, "the tests' own process ended early"], True

    def hear(self, message: list[Any]) -> None:
        """Take one message of the tester."""
        job = self.job
        match message:
            case ["read"]:
                self.was_read = True
            case ["loads"]:
                self.loaded = True
            case ["load", outcome]:
                if outcome != "passed":
                    outcome = gone(job) if outcome == "gone" else named(outcome)
                    self.outcomes, self.done = [outcome] * self.count, True
            case ["loading", index]:
                self.current = index
            case ["start", index]:
                self.current = index
                job.clock.restart()
            case ["end", index, outcome, shown]:
                if outcome == "gone":
                    outcome = gone(job)
                    self.done = self.restarts > 16 or job.exhausted
                self.outcomes[index] = named(outcome)
                self.returned[index] = shown
            case ["bad", index, why]:
                self.bad, self.done = [index, why], True
            case ["done"]:
                self.done = True

    def hand_over(self) -> None:
        """Give the tester the socket of a fresh process of the program."""
        job = self.job
        if job.pid:
            job.kill("exited")
            job.reap()
        self.restarts += 1
        try:
            link = self.start(self.again)
        except RuntimeError:  # it holds every process there may be, and makes more
            self.outcomes[self.current], self.done = "processes", True
            return
        job.clock.pids = job.pids()
        job.clock.restart()
        socket.send_fds(self.control, [b"link"], [link.fileno()])
        link.close()


def run_functions(box: Box, header: dict[str, Any], stream: int) -> dict[str, Any]:
    """Run the job whose program and tests follow on `stream`, and return its result.

    Raises:
        RuntimeError: the stream was not read to the job's end; nothing more can be read from it.
    """
    job = Job(box, header)
    functions = _Functions(job, stream)
    try:
        return functions.run()
    finally:
        functions.control.close()
        job.close()
