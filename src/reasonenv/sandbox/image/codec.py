"""Frames on pipes, and the only data that crosses between a program and its tests.

* `encode`, `decode`: plain values <-> JSON text. Decoding yields exact built-in types and nothing
  else, whatever the other side sends; no class of the sender is ever looked up.
* `read_exact`, `read_frame`, `write_frame`: 4-byte big-endian lengths, then the bytes.
"""

from __future__ import annotations

import collections
import decimal
import fractions
import json
import math
import os
import struct
import types
from collections.abc import Callable
from typing import Any

__all__ = [
    "MAX_ITEMS",
    "MAX_VALUE_BYTES",
    "NotPlainError",
    "TooLargeError",
    "decode",
    "encode",
    "read_exact",
    "read_frame",
    "write_all",
    "write_frame",
]

MAX_VALUE_BYTES = 32 << 20
"""The largest encoded value that crosses in one call."""

MAX_ITEMS = 200_000
"""How many items are drawn from an iterator that a program returns."""

_BIG_INT = 1 << 63
_DUMPS = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode
_LOADS = json.JSONDecoder().decode


class NotPlainError(ValueError):
    """Raised when a value is not plain data, or a message is not one of ours."""


class TooLargeError(ValueError):
    """Raised when a value or a frame is larger than may cross."""


_ITERATORS: tuple[type, ...] = (
    types.GeneratorType,
    map,
    filter,
    zip,
    enumerate,
    reversed,
    type(iter([])),
    type(iter(())),
    type(iter({})),
    type(iter({}.values())),
    type(iter({}.items())),
    type(iter(set())),
    type(iter(range(0))),
    type(iter("")),
    type(reversed([])),
)
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()), collections.deque)
_DICTS: tuple[type, ...] = (
    dict,
    collections.OrderedDict,
    collections.defaultdict,
    collections.Counter,
)


def encode(value: Any) -> bytes:
    """Return `value` as ASCII JSON.

    Subclasses of built-in types are not plain, apart from those of `collections`; named tuples
    cross as tuples, iterators as the items that they yield.

    Raises:
        NotPlainError: something in it is not plain data, holds itself, or nests too deeply.
        TooLargeError: more than `MAX_VALUE_BYTES`.
    """
    try:
        text = _DUMPS(_to_json(value, 0))
    except RecursionError:
        raise NotPlainError("nests too deeply") from None
    if len(text) > MAX_VALUE_BYTES:
        raise TooLargeError(f"a value of {len(text)} bytes")
    return text.encode("ascii")


def _to_json(value: Any, depth: int) -> Any:
    kind = type(value)
    if value is None or kind is bool or kind is float or kind is str:
        return value
    if kind is int:
        return value if -_BIG_INT < value < _BIG_INT else {"h": hex(value)}
    if depth > 200:
        raise NotPlainError("nests too deeply")
    depth += 1
    if kind is list:
        return [_to_json(item, depth) for item in value]
    if kind is tuple or (
        tuple in kind.__mro__ and isinstance(getattr(kind, "_fields", None), tuple)
    ):
        return {"t": [_to_json(item, depth) for item in tuple.__iter__(value)]}
    if kind in _DICTS:
        pairs = [[_to_json(k, depth), _to_json(v, depth)] for k, v in dict.items(value)]
        return {"d": pairs}
    if kind is set:
        return {"e": [_to_json(item, depth) for item in value]}
    if kind is frozenset:
        return {"z": [_to_json(item, depth) for item in value]}
    if kind is bytes:
        return {"y": value.hex()}
    if kind is bytearray:
        return {"Y": value.hex()}
    if kind is complex:
        return {"c": [value.real, value.imag]}
    if kind is range:
        parts = (value.start, value.stop, value.step)
        return {"r": [_to_json(part, depth) for part in parts]}
    if kind is decimal.Decimal:
        return {"D": str(value)}
    if kind is fractions.Fraction:
        return {"F": [hex(value.numerator), hex(value.denominator)]}
    if kind in _VIEWS:
        tag = "q" if kind is collections.deque else "l"
        return {tag: [_to_json(item, depth) for item in value]}
    if kind in _ITERATORS:
        return {"i": [_to_json(item, depth) for item in _drawn(value)]}
    if kind.__module__ == "numpy" and hasattr(value, "tolist"):
        return _to_json(value.tolist(), depth)
    raise NotPlainError(f"a value of type {str(kind.__name__)[:60]}")


def _drawn(iterator: Any) -> list[Any]:
    items: list[Any] = []
    for item in iterator:
        if len(items) == MAX_ITEMS:
            raise TooLargeError(f"an iterator of more than {MAX_ITEMS} items")
        items.append(item)
    return items


def decode(data: bytes) -> Any:
    """Return the value that `encode` made `data` of.

    Raises:
        NotPlainError: `data` is anything else.
    """
    try:
        return _from_json(_LOADS(data.decode("ascii")))
    except (ValueError, TypeError, RecursionError, ArithmeticError, KeyError, IndexError) as error:
        raise NotPlainError(f"no plain value ({type(error).__name__})") from None


def _items(content: Any) -> list[Any]:
    if type(content) is not list:
        raise NotPlainError("no list of items")
    return [_from_json(item) for item in content]


def _number(text: Any) -> float:
    if type(text) not in (int, float):
        raise NotPlainError("no number")
    return float(text)


_TAGS: dict[str, Callable[[Any], Any]] = {
    "t": lambda v: tuple(_items(v)),
    "l": _items,
    "q": lambda v: collections.deque(_items(v)),
    "i": lambda v: iter(_items(v)),
    "e": lambda v: set(_items(v)),
    "z": lambda v: frozenset(_items(v)),
    "d": lambda v: {_from_json(key): _from_json(item) for key, item in v},
    "h": lambda v: int(v, 16),
    "y": bytes.fromhex,
    "Y": bytearray.fromhex,
    "c": lambda v: complex(_number(v[0]), _number(v[1])),
    "r": lambda v: range(*_items(v)),
    "D": lambda v: decimal.Decimal(v) if type(v) is str and len(v) < 10_000 else math.nan,
    "F": lambda v: fractions.Fraction(int(v[0], 16), int(v[1], 16)),
}


def _from_json(value: Any) -> Any:
    kind = type(value)
    if kind is list:
        return [_from_json(item) for item in value]
    if kind is dict:
        if len(value) != 1:
            raise NotPlainError("not one tag")
        ((tag, content),) = value.items()
        return _TAGS[tag](content)
    return value


def read_exact(fd: int, size: int) -> bytes:
    """Return `size` bytes of `fd`.

    Raises:
        EOFError: it ended before.
    """
    parts: list[bytes] = []
    while size:
        part = os.read(fd, min(size, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts) if len(parts) != 1 else parts[0]


def read_frame(fd: int, limit: int = 1 << 30) -> bytes:
    """Return the next frame of `fd`.

    Raises:
        EOFError: there is none.
        TooLargeError: it announces more than `limit` bytes.
    """
    (size,) = struct.unpack(">I", read_exact(fd, 4))
    if size > limit:
        raise TooLargeError(f"a frame of {size} bytes")
    return read_exact(fd, size) if size else b""


def write_frame(fd: int, data: bytes) -> None:
    """Write one frame to `fd`, all of it.

    Raises:
        OSError: the other end is gone.
    """
    write_all(fd, struct.pack(">I", len(data)) + data)


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data` to `fd`."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
