"""Jobs for the tests of the worker pool: workers import them by name."""

import ctypes
import json
import os
import sys
import time
from pathlib import Path

READY = False


def get_ready():
    global READY
    READY = True


def fail_to_get_ready():
    print("about to fail", flush=True)
    raise LookupError("no such table")


def is_ready():
    return READY


def add(a, b):
    return a + b


def sleep(seconds, value=None):
    time.sleep(seconds)
    return value


def spin(started=None):
    if started:
        Path(started).write_text(str(os.getpid()))
    while True:
        pass


def spin_without_letting_go_of_the_gil(started):
    Path(started).write_text(str(os.getpid()))
    return 3 ** (10**9)


def eat_memory():
    hoard = []
    while True:
        hoard.append(bytearray(2**24))


def exit_at_once(code):
    os._exit(code)


def die_talking():
    print("these are my last words", file=sys.stderr)
    os._exit(7)


def segfault():
    ctypes.string_at(0)


def die_unless_second_time(marker):
    if Path(marker).exists():
        return "survived"
    Path(marker).touch()
    os._exit(1)


def count_and_die(marker):
    with open(marker, "a") as file:
        file.write("x")
    os._exit(1)


def noise():
    print("x" * 300_000)
    print("y" * 300_000, file=sys.stderr)
    os.write(1, b'{"not": "a reply"}' * 1000)
    return "quiet"


def read_stdin():
    return sys.stdin.read()


def pid():
    return os.getpid()


def main_file():
    return sys.modules["__main__"].__file__


def parent_pid():
    return os.getppid()


def echo(value):
    return value


def raise_value_error():
    raise ValueError("a clear text")


class Picky(Exception):
    """Pickles, but cannot be unpickled: it wants two arguments."""

    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")


def raise_picky():
    raise Picky("this", "that")


def leave():
    raise SystemExit(3)


def return_function():
    return lambda: 1


def return_bytes(n):
    return bytes(n)


def hash_of_text():
    return hash("text")


def run_in_default_pool(path):
    """Use this process's own pool; for processes that were started or forked."""
    from reasonenv.checkers.pool import default_pool

    pool = default_pool()
    Path(path).write_text(json.dumps([pool.run(add, 2, 3), pool.run(parent_pid), os.getpid()]))
