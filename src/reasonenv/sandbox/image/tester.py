"""The trusted side: evaluates the tests; the program is reachable only as calls with plain data.

The process reads the tests itself, from the host's stream, so that no process that a program
descends from has ever held them.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import json
import reprlib
import select
import socket
import struct
from collections.abc import Callable
from typing import Any

from .codec import (
    MAX_VALUE_BYTES,
    NotPlainError,
    TooLargeError,
    decode,
    encode,
    read_exact,
    write_all,
    write_frame,
)
from .words import words_of

__all__ = ["run_tests"]

_SHOWN_TESTS = 8
_SHOWN_CHARS = 300
_REPR = reprlib.Repr()
_REPR.maxlevel, _REPR.maxstring, _REPR.maxother, _REPR.maxlong = 4, 200, 200, 100
_REPR.maxlist = _REPR.maxtuple = _REPR.maxset = _REPR.maxfrozenset = _REPR.maxdict = 20
_REPR.maxdeque = _REPR.maxarray = 20
_DUMPS = json.JSONEncoder(separators=(",", ":")).encode


class CandidateError(Exception):
    """What a program raised, where it was no exception that Python itself defines."""


class CandidateGoneError(BaseException):
    """The program's process is gone, or does not speak the protocol: no test may catch it."""


class CandidateOutcomeError(BaseException):
    """The call decides the test by itself (a value that is not plain, say)."""

    def __init__(self, outcome: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class Candidate:
    """The program, over a socket: the first is there from the start, others are asked for."""

    def __init__(self, control: socket.socket, link: socket.socket, entry: str) -> None:
        self.control, self.entry = control, entry
        self.link: socket.socket | None = link
        self.raised: BaseException | None = None
        self.decided: str | None = None
        self.answered = b""

    def start(self) -> list[Any]:
        """Ask for a fresh process, if this one is gone, and return how the program loaded."""
        if self.link is not None:
            return self.receive()
        self.control.send(b"need")
        fds: list[int] = []
        while not fds:  # a late word about the process before may come first
            data, fds, _, _ = socket.recv_fds(self.control, 64, 1)
            if not data:
                raise CandidateGoneError
        self.link = socket.socket(fileno=fds[0])
        return self.receive()

    def close(self) -> None:
        if self.link is not None:
            self.link.close()
            self.link = None

    def receive(self) -> list[Any]:
        """Return the next answer.

        Raises:
            CandidateGoneError: the process is gone, was killed, or sent something else.
        """
        link = self.link
        if link is None:
            raise CandidateGoneError
        ready, _, _ = select.select([link, self.control], [], [])
        if link not in ready:
            self.control.recv(64)
            raise CandidateGoneError
        try:
            head = self._exact(4)
            (size,) = struct.unpack(">I", head)
            if size > MAX_VALUE_BYTES + 1024:
                raise CandidateGoneError
            self.answered = self._exact(size)
            answer = decode(self.answered)
        except (EOFError, OSError, NotPlainError):
            raise CandidateGoneError from None
        if type(answer) is not list or not answer or type(answer[0]) is not str:
            raise CandidateGoneError
        return answer

    def _exact(self, size: int) -> bytes:
        assert self.link is not None
        data = bytearray()
        while len(data) < size:
            ready, _, _ = select.select([self.link, self.control], [], [])
            if self.link not in ready:
                self.control.recv(64)
                raise CandidateGoneError
            part = self.link.recv(min(size - len(data), 1 << 20))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call `name` in the program and return its value, or raise what it raised.

        What is more than a value or an exception decides the test, even where the test's own
        `except:` swallows it.
        """
        try:
            return self._call(name, args, kwargs)
        except CandidateGoneError:
            self.decided = "gone"
            self.close()
            raise
        except CandidateOutcomeError as error:
            self.decided = error.outcome
            raise

    def _call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = list(args)
        try:
            message = encode([name, given, kwargs])
        except TooLargeError:
            raise CandidateOutcomeError("output_limit") from None
        except NotPlainError as error:
            deep = "deeply" in str(error)  # only what a program returned can be that deep
            raise CandidateOutcomeError("wrong_answer" if deep else "test_error") from None
        if self.link is None:
            raise CandidateGoneError
        try:
            self.link.sendall(struct.pack(">I", len(message)) + message)
        except OSError:
            raise CandidateGoneError from None
        before = self.answered
        answer = self.receive()
        if name != self.entry:  # another function may have been told what is expected
            self.answered = before
        match answer:
            case ["r", value]:
                return value
            case ["R", value, list(after)]:
                for old, new in zip(given, after, strict=False):
                    _mutate(old, new)
                return value
            case ["n", _]:
                raise CandidateOutcomeError("wrong_answer")
            case ["m"]:
                raise CandidateOutcomeError("entry_point_missing")
            case ["b"]:
                raise CandidateOutcomeError("output_limit")
            case ["x", str(kind), str(message_text)]:
                self.raised = _exception(kind, message_text)
                raise self.raised
        raise CandidateGoneError


def _exception(kind: str, message: str) -> Exception:
    known = getattr(builtins, kind, None)
    if isinstance(known, type) and issubclass(known, Exception) and known is not AssertionError:
        try:
            return known(message)
        except TypeError:  # UnicodeDecodeError and its like want more arguments
            pass
    name = kind if kind.isidentifier() else "Exception"
    return type(name, (CandidateError,), {})(message)  # type: ignore[no-any-return]


def _mutate(old: Any, new: Any) -> None:
    """Make `old` equal to `new` in place, keeping inner objects where they match in type."""
    if type(old) is not type(new) or type(old) not in (list, dict, set, bytearray):
        return
    if isinstance(old, list):
        if len(old) == len(new):
            for index, (left, right) in enumerate(zip(old, new, strict=True)):
                if type(left) is type(right) and type(left) in (list, dict, set, bytearray):
                    _mutate(left, right)
                else:
                    old[index] = right
        else:
            old[:] = new
    elif isinstance(old, bytearray):
        old[:] = new
    else:
        old.clear()
        old.update(new)


def _proxy(candidate: Candidate, name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return candidate.call(name, args, kwargs)

    call.__name__ = call.__qualname__ = name
    return call


def _class(candidate: Candidate, name: str) -> type:
    """Return a class whose fresh objects have the methods of the program's class `name`."""

    def method(_: object, attribute: str) -> Callable[..., Any]:
        return _proxy(candidate, f"{name}.{attribute}")

    return type(name, (), {"__getattr__": method})


def _plain_lists(value: Any) -> Any:
    """Return `value` with tuples as lists, since JSON tests cannot tell the two apart."""
    if isinstance(value, list | tuple):
        return [_plain_lists(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain_lists(item) for key, item in value.items()}
    return value


def _same(left: Any, right: Any, tol: float | None) -> bool:
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(lambda a, b: _same(a, b, tol), left, right))
    if tol is not None and isinstance(left, int | float) and isinstance(right, int | float):
        return abs(left - right) <= tol * max(1.0, abs(right))
    return bool(left == right)


Run = Callable[[dict[str, Any]], None]


def _statement(source: str) -> Run:
    code = compile(source, "<test>", "exec", dont_inherit=True)

    def run(names: dict[str, Any]) -> None:
        exec(code, names)

    return run


def _check(source: str, entry: str) -> Run:
    run = _statement(source)

    def checked(space: dict[str, Any]) -> None:
        run(space)
        space["check"](space[entry])

    return checked


def _call(test: dict[str, Any], entry: str, tol: float | None) -> Run:
    expected = _plain_lists(test["output"])

    def run(names: dict[str, Any]) -> None:
        result = names[entry](*test.get("input", []), **test.get("kwargs", {}))
        if not _same(_plain_lists(result), expected, tol):
            raise AssertionError

    return run


def run_tests(
    stream: int,
    control: socket.socket,
    says: int,
    link: socket.socket,
    drop: Callable[[], None],
) -> None:
    """Read the tests from `stream`, run them in turn, and report each.

    Lines on `says`: `["read"]`, `["loads"]`, `["load", outcome]`, `["loading", i]`, `["start", i]`,
    `["end", i, outcome, shown]`, `["bad", i, why]`, `["done"]`. On `control` the supervisor is
    woken: `done`, or `need`, which asks for another process of the program and is answered with a
    socket.
    """
    (size,) = struct.unpack(">I", read_exact(stream, 4))
    spec = json.loads(read_exact(stream, size))
    drop()

    def say(*message: Any) -> None:
        write_all(says, _DUMPS(message).encode() + b"\n")

    say("read")
    _run(spec, Candidate(control, link, spec["entry_point"] or ""), say)
    control.send(b"done")


def _run(spec: dict[str, Any], candidate: Candidate, say: Callable[..., None]) -> None:
    entry, tol = spec["entry_point"] or "", spec.get("tol")
    compiled: list[Run] = []
    space: dict[str, Any] = {"__name__": "tests"}
    number = -1
    try:
        for source in (spec.get("helpers"), spec["setup"]):
            if source:
                exec(compile(source, "<setup>", "exec", dont_inherit=True), space)
        for number, test in enumerate(spec["tests"]):  # noqa: B007 - read where it stops
            if isinstance(test, dict):
                compiled.append(_call(test, entry, tol))
            elif spec["kind"] == "check":
                compiled.append(_check(test, entry))
            else:
                compiled.append(_statement(test))
    except BaseException as error:
        return say("bad", number, f"{type(error).__name__}: {str(error)[:200]}")
    names_used: list[list[str]] = []
    modules: dict[str, Any] = {}
    for test, words in zip(spec["tests"], spec["words"], strict=True):
        if isinstance(test, str):
            names, libraries = words or words_of(test)
            names_used.append([*names, entry] if spec["kind"] == "check" else names)
            for name in libraries:
                with contextlib.suppress(ImportError):
                    modules[name] = importlib.import_module(name)
        else:
            names_used.append([entry])
    say("loads")
    loaded = _load(candidate)
    say("load", loaded)
    if loaded != "passed":
        return None
    space.pop(entry, None)
    shown = 0
    for index, (run, free) in enumerate(zip(compiled, names_used, strict=True)):
        if candidate.link is None:
            say("loading", index)
            if (loaded := _load(candidate)) != "passed":
                say("end", index, loaded, None)
                continue
        names = dict(space)
        for name in free:
            if name not in names:
                names[name] = modules.get(name) or _proxy(candidate, name)
        if entry:
            names[entry] = names["candidate"] = _proxy(candidate, entry)
            head, _, method = entry.partition(".")
            if method:
                names[head] = _class(candidate, head)
        say("start", index)
        outcome = _outcome(candidate, run, names)
        returned = None
        if outcome == "wrong_answer" and candidate.answered and shown < _SHOWN_TESTS:
            returned, shown = _shown(candidate.answered), shown + 1
        say("end", index, outcome, returned)
        if outcome != "passed" and spec.get("stop_at_first"):
            break
    say("done")
    return None


def _shown(answer: bytes) -> str | None:
    """Return a short text of what the program returned last, for people; nothing believes it.

    It is read from the answer again, since a test may have changed the value that it was given.
    """
    try:
        match decode(answer):
            case ["r" | "R", value, *_]:
                return _REPR.repr(value)[:_SHOWN_CHARS]
    except Exception:  # an integer of too many digits, say
        return "a value that cannot be shown"
    return None


def _load(candidate: Candidate) -> str:
    try:
        match candidate.start():
            case ["r", None]:
                return "passed"
            case ["x", str(kind), _]:
                return kind[:100] if kind.isidentifier() else "Exception"
    except (CandidateGoneError, OSError, ValueError):
        pass
    candidate.close()
    return "gone"


def _outcome(candidate: Candidate, run: Run, names: dict[str, Any]) -> str:
    candidate.raised = candidate.decided = None
    candidate.answered = b""
    outcome = "passed"
    try:
        run(names)
    except MemoryError:
        outcome = "memory"
    except AssertionError as error:
        outcome = "wrong_answer" if error is not candidate.raised else "AssertionError"
    except BaseException as error:
        name = type(error).__name__
        outcome = name[:100] if name.isidentifier() else "Exception"
    return candidate.decided or outcome


def rehearse() -> None:
    """Go through what each process will do; see `candidate.rehearse`."""
    ours, its = socket.socketpair()
    control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, its, control, theirs:
        for answer in (["r", None], *[["r", {"a": (1, [2.5])}], ["R", 1, [[1]]]] * 10):
            write_frame(ours.fileno(), encode(answer))
        tests = ["assert f([1]) == {'a': (1, [2.5])}", "assert f([1]) == 2"] * 10
        words: list[tuple[list[str], list[str]]] = [(["f"], [])] * len(tests)
        spec = {"kind": "assert", "setup": "", "entry_point": "f", "tests": tests, "words": words}

        def say(*message: Any) -> None:
            _DUMPS(message)

        _run(spec, Candidate(control, its, "f"), say)
