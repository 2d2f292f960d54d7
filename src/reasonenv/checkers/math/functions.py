"""Named functions on libmp values: real kernels, and complex ones where they exist."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd, lcm

from mpmath import libmp  # type: ignore[import-untyped]
from mpmath.libmp import fone, fzero, round_nearest  # type: ignore[import-untyped]

from reasonenv.checkers.math.kernels import (
    MAX_GAMMA_LOG2,
    MAX_TURNS_LOG2,
    Evaluator,
    NoValueError,
    TooLargeError,
    Value,
    magnitude,
)
from reasonenv.checkers.math.limits import MAX_LOG2

__all__ = ["COMPLEX", "REAL"]

Function = Callable[..., Value]


def _limited(value: Value, limit: int) -> Value:
    size = magnitude(value)
    if size is not None and size > limit:
        raise TooLargeError
    return value


def _real(kernel: Callable[..., Value], limit: int) -> Function:
    return lambda e, x: kernel(_limited(x, limit), e.bits, round_nearest)


def _inverted(function: Function) -> Function:
    """Return 1 / function: a secant from a cosine."""

    def apply(e: Evaluator, x: Value) -> Value:
        value = function(e, x)
        if magnitude(value) is None:
            raise NoValueError
        if len(value) == 2:
            return libmp.mpc_div((fone, fzero), value, e.bits, round_nearest)  # type: ignore[no-any-return]
        return libmp.mpf_div(fone, value, e.bits, round_nearest)  # type: ignore[no-any-return]

    return apply


def _of_inverse(function: Function) -> Function:
    """Return function(1 / x): an inverse secant from an inverse cosine."""

    def apply(e: Evaluator, x: Value) -> Value:
        if magnitude(x) is None:
            raise NoValueError
        return function(e, libmp.mpf_div(fone, x, e.bits, round_nearest))

    return apply


def _arccot(e: Evaluator, x: Value) -> Value:
    half = libmp.mpf_shift(libmp.mpf_pi(e.bits), -1)
    return libmp.mpf_sub(half, libmp.mpf_atan(x, e.bits, round_nearest), e.bits, round_nearest)  # type: ignore[no-any-return]


def _ln(e: Evaluator, x: Value) -> Value:
    if magnitude(x) is None:
        raise NoValueError
    return libmp.mpf_log(x, e.bits, round_nearest)  # type: ignore[no-any-return]


def _abs(e: Evaluator, x: Value) -> Value:
    return libmp.mpf_abs(x)  # type: ignore[no-any-return]


def _sign_of(e: Evaluator, x: Value) -> Value:
    return libmp.mpf_pi(e.bits) if x[0] else fzero  # type: ignore[no-any-return]


def _factorial(e: Evaluator, x: Value) -> Value:
    return libmp.mpf_factorial(_limited(x, MAX_GAMMA_LOG2), e.bits, round_nearest)  # type: ignore[no-any-return]


def _binomial(e: Evaluator, n: Value, k: Value) -> Value:
    rest = libmp.mpf_sub(n, k, e.bits, round_nearest)
    below = libmp.mpf_mul(_factorial(e, k), _factorial(e, rest), e.bits, round_nearest)
    return libmp.mpf_div(_factorial(e, n), below, e.bits, round_nearest)  # type: ignore[no-any-return]


def _integer(x: Value) -> int:
    size = magnitude(x)
    if size is None:
        return 0
    if x[2] < 0 or size > 4000:
        raise NoValueError
    return int(libmp.to_int(x))


def _mod(e: Evaluator, x: Value, m: Value) -> Value:
    modulus = _integer(m)
    if modulus == 0:
        raise NoValueError
    return libmp.from_int(_integer(x) % modulus)  # type: ignore[no-any-return]


def _gcd(e: Evaluator, *values: Value) -> Value:
    return libmp.from_int(gcd(*map(_integer, values)))  # type: ignore[no-any-return]


def _lcm(e: Evaluator, *values: Value) -> Value:
    return libmp.from_int(lcm(*map(_integer, values)))  # type: ignore[no-any-return]


def _largest(e: Evaluator, *values: Value) -> Value:
    best = values[0]
    for value in values[1:]:
        best = value if libmp.mpf_cmp(value, best) > 0 else best
    return best


def _smallest(e: Evaluator, *values: Value) -> Value:
    best = values[0]
    for value in values[1:]:
        best = value if libmp.mpf_cmp(value, best) < 0 else best
    return best


def _degree(e: Evaluator, x: Value) -> Value:
    turn = libmp.mpf_div(libmp.mpf_pi(e.bits), libmp.from_int(180), e.bits, round_nearest)
    return libmp.mpf_mul(x, turn, e.bits, round_nearest)  # type: ignore[no-any-return]


def _percent(e: Evaluator, x: Value) -> Value:
    return libmp.mpf_div(x, libmp.from_int(100), e.bits, round_nearest)  # type: ignore[no-any-return]


def _acosh(e: Evaluator, x: Value) -> Value:
    return libmp.mpf_acosh(x, e.bits, round_nearest)  # type: ignore[no-any-return]


_GROWING = 40
"""Binary exponent of the largest argument of an exponential."""

REAL: dict[str, Function] = {
    "sin": _real(libmp.mpf_sin, MAX_TURNS_LOG2),
    "cos": _real(libmp.mpf_cos, MAX_TURNS_LOG2),
    "tan": _real(libmp.mpf_tan, MAX_TURNS_LOG2),
    "sinh": _real(libmp.mpf_sinh, _GROWING),
    "cosh": _real(libmp.mpf_cosh, _GROWING),
    "tanh": _real(libmp.mpf_tanh, _GROWING),
    "arcsin": _real(libmp.mpf_asin, MAX_LOG2),
    "arccos": _real(libmp.mpf_acos, MAX_LOG2),
    "arctan": _real(libmp.mpf_atan, MAX_LOG2),
    "arcsinh": _real(libmp.mpf_asinh, MAX_LOG2),
    "arccosh": _acosh,
    "arctanh": _real(libmp.mpf_atanh, MAX_LOG2),
    "arccot": _arccot,
    "ln": _ln,
    "abs": _abs,
    "norm": _abs,
    "arg": _sign_of,
    "floor": lambda e, x: libmp.mpf_floor(x, e.bits, round_nearest),
    "ceil": lambda e, x: libmp.mpf_ceil(x, e.bits, round_nearest),
    "factorial": _factorial,
    "binomial": _binomial,
    "mod": _mod,
    "gcd": _gcd,
    "lcm": _lcm,
    "max": _largest,
    "min": _smallest,
    "degree": _degree,
    "percent": _percent,
}
for _name, _base in {
    "cot": "tan",
    "sec": "cos",
    "csc": "sin",
    "sech": "cosh",
    "csch": "sinh",
    "coth": "tanh",
}.items():
    REAL[_name] = _inverted(REAL[_base])
REAL["arcsec"] = _of_inverse(REAL["arccos"])
REAL["arccsc"] = _of_inverse(REAL["arcsin"])


def _complex(kernel: Callable[..., Value]) -> Function:
    return lambda e, x: kernel(_limited(x, _GROWING), e.bits, round_nearest)


def _modulus(e: Evaluator, x: Value) -> Value:
    return libmp.mpc_abs(x, e.bits, round_nearest)  # type: ignore[no-any-return]


def _argument(e: Evaluator, x: Value) -> Value:
    return libmp.mpc_arg(x, e.bits, round_nearest)  # type: ignore[no-any-return]


COMPLEX: dict[str, Function] = {
    "sin": _complex(libmp.mpc_sin),
    "cos": _complex(libmp.mpc_cos),
    "tan": _complex(libmp.mpc_tan),
    "sinh": _complex(libmp.mpc_sinh),
    "cosh": _complex(libmp.mpc_cosh),
    "tanh": _complex(libmp.mpc_tanh),
    "arcsin": _complex(libmp.mpc_asin),
    "arccos": _complex(libmp.mpc_acos),
    "arctan": _complex(libmp.mpc_atan),
    "ln": lambda e, x: libmp.mpc_log(x, e.bits, round_nearest),
    "abs": _modulus,
    "norm": _modulus,
    "arg": _argument,
}
for _name, _base in {"cot": "tan", "sec": "cos", "csc": "sin"}.items():
    COMPLEX[_name] = _inverted(COMPLEX[_base])
