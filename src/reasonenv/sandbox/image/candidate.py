"""The untrusted side: runs the program, then answers calls with plain data.

Nothing that this process sends is believed to be more than a value or a name. It never holds a
test or an expected value: it is forked by a process that never read any.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import os
import socket
import sys
import threading
import types
from typing import Any

from .codec import (
    MAX_VALUE_BYTES,
    NotPlainError,
    TooLargeError,
    decode,
    encode,
    read_frame,
    write_frame,
)

__all__ = ["prepare", "run_functions", "run_script"]

_MAX_MESSAGE = 2000


def _module(name: str) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__dict__["__builtins__"] = builtins
    module.__dict__["__file__"] = None
    sys.modules[name] = module
    return module


def prepare() -> None:
    """Make text streams on descriptors 0, 1 and 2: those of whoever is forked from here.

    Done once, by the supervisor, which uses none of them, so that their buffers stay empty.
    """
    for fd, name, mode, errors in (
        (0, "stdin", "r", "surrogateescape"),
        (1, "stdout", "w", "surrogateescape"),
        (2, "stderr", "w", "backslashreplace"),
    ):
        buffering = 1 if fd == 2 else -1
        stream = open(  # noqa: SIM115 - it stays open as long as the process lives
            fd, mode, buffering, encoding="utf-8", errors=errors, newline="\n", closefd=False
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _compiled(program: bytes) -> types.CodeType:
    return compile(program.decode("utf-8"), "<program>", "exec", dont_inherit=True)


def _name(error: BaseException) -> str:
    return str(type.__dict__["__name__"].__get__(type(error)))[:100]


def _message(error: BaseException) -> str:
    try:
        return str(error)[:_MAX_MESSAGE]
    except BaseException:
        return ""


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()


def run_script(program: bytes, report: int) -> int:
    """Run `program` as `__main__` to its end and return the exit code.

    Args:
        program: the source.
        report: where the class name of what it raised is written, for the outcome's name alone.
    """
    module = _module("__main__")
    code = 0
    try:
        exec(_compiled(program), module.__dict__)
    except SystemExit as error:
        value = error.code
        code = 0 if value is None else value & 255 if type(value) is int else 1
        if code == 1 and type(value) is str:
            with contextlib.suppress(BaseException):
                print(value[:_MAX_MESSAGE], file=sys.stderr)
    except BaseException as error:
        code = 1
        _report(error, report)
    with contextlib.suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except BaseException as error:
        if code == 0 and not isinstance(error, BrokenPipeError | ValueError | AttributeError):
            code = 1
    _flush()
    return code


def _report(error: BaseException, report: int) -> None:
    with contextlib.suppress(BaseException):
        os.write(report, _name(error).encode("utf-8", "replace"))
    with contextlib.suppress(BaseException):
        import traceback

        tail = traceback.format_exception(type(error), error, error.__traceback__, limit=-8)
        os.write(2, "".join(tail)[-4000:].encode("utf-8", "replace"))


def run_functions(program: bytes, channel: int, prefix: bytes = b"") -> None:
    """Run `program` as a module, then answer calls on `channel` until it closes.

    Args:
        program: the source.
        channel: a stream socket; frames in: `[name, args, kwargs]`; frames out: `["r", value]`,
            `["R", value, args]` where the call changed its arguments, `["x", class, message]`,
            `["n", why]` for a value that is not plain, `["b"]` for one too large, `["m"]` for a
            name that the program does not define.
        prefix: a source to run first, the problem's setup.
    """
    module = _module("solution")
    try:
        if prefix:
            exec(compile(prefix, "<setup>", "exec", dont_inherit=True), module.__dict__)
        exec(_compiled(program), module.__dict__)
    except BaseException as error:
        _report(error, 2)
        answer = encode(["x", _name(error), _message(error)])
    else:
        answer = encode(["r", None])
    names = module.__dict__
    while True:
        _flush()
        write_frame(channel, answer)
        try:
            request = read_frame(channel)
        except (EOFError, OSError, ValueError):
            return
        answer = _answer(names, request)


def _answer(names: dict[str, Any], request: bytes) -> bytes:
    try:
        name, args, kwargs = decode(request)
        head, _, method = name.partition(".")
        if head not in names:
            return encode(["m"])
        value = names[head]
        if method:
            value = getattr(value(), method)
        result = value(*args, **kwargs)
        tag = ["r", result]
        if b'{"i":' not in request:  # encoding draws from an iterator
            with contextlib.suppress(BaseException):
                after = encode([name, args, kwargs])
                if after != request and len(after) < MAX_VALUE_BYTES // 2:
                    tag = ["R", result, args]
        return encode(tag)
    except NotPlainError as error:
        return encode(["n", _message(error)])
    except TooLargeError:
        return encode(["b"])
    except BaseException as error:
        return encode(["x", _name(error), _message(error)])


def rehearse() -> None:
    """Go through what each process will do, so that it finds caches filled and code specialised.

    A process that is forked copies each page that it writes to: what is written beforehand, it
    need not copy. Called by the supervisor, once, on calls of our own.
    """
    ours, its = socket.socketpair()
    with ours, its:
        for arguments in ([[0]], [0]) * 20:
            write_frame(ours.fileno(), encode(["f", arguments, {}]))
        ours.shutdown(socket.SHUT_WR)
        run_functions(b"def f(x):\n    x.append(1)\n    return (x, {1: 'a'}, 0.5)\n", its.fileno())
    del sys.modules["solution"]
