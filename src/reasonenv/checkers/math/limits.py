"""Every limit of the math checker, named. Beyond one, an answer is refused, never evaluated."""

from __future__ import annotations

__all__ = [
    "CACHED_TEXT_CHARS",
    "DECIDING_SECONDS",
    "EXTRACT_CHARS",
    "FLOAT_DIGITS",
    "MAX_ANSWER_CHARS",
    "MAX_BITS",
    "MAX_DEPTH",
    "MAX_DIGITS",
    "MAX_EXPANSIONS",
    "MAX_FACTORIAL",
    "MAX_GOLD_CHARS",
    "MAX_LOG2",
    "MAX_MEMBERS",
    "MAX_POWER_BITS",
    "MAX_PRECISION_BITS",
    "MAX_SHOWN_CHARS",
    "MAX_TOKENS",
    "MIN_SIGNIFICANT_DIGITS",
]

MAX_ANSWER_CHARS = 10_000
"""A longer extracted answer is MALFORMED."""
MAX_GOLD_CHARS = 10_000
"""A longer gold is a CHECKER_ERROR."""
EXTRACT_CHARS = 100_000
"""Of a completion, from its end: what is searched for the final answer."""
MAX_TOKENS = 2_500
"""Of one answer; one with more is unreadable."""
MAX_DEPTH = 100
"""Of brackets, powers and functions inside one another, two levels for each bracket or so; a deeper
answer is unreadable."""
MAX_DIGITS = 4_000
"""Of one number as written; below Python's own limit of 4,300 for text."""
MAX_BITS = 13_000
"""Of a numerator or denominator that is worked out exactly: about 3,900 digits."""
MAX_POWER_BITS = 20_000
"""Of an exponent for modular powers: a tower's exponent is worked out no further than this."""
MAX_FACTORIAL = 10_000
"""The largest n whose n! is multiplied out."""
MAX_LOG2 = 1 << 40
"""Of the binary exponent of a floating value: a larger value is never formed."""
MAX_PRECISION_BITS = 12_000
"""Of one numeric evaluation."""
MAX_MEMBERS = 64
"""Of a list, set, tuple or matrix whose members are compared one by one."""
MAX_EXPANSIONS = 16
"""Values that one expression with plus-minus signs may stand for."""
MAX_SHOWN_CHARS = 200
"""Of a normal form in `Verdict.detail`."""
MIN_SIGNIFICANT_DIGITS = 6
"""A decimal stands for a value that it does not equal only from so many right digits on (P3)."""
FLOAT_DIGITS = (17, 18)
"""A decimal of so many digits was printed by a float, and its last two digits are noise."""
CACHED_TEXT_CHARS = 600
"""Only shorter texts are remembered with their trees."""
DECIDING_SECONDS = 2.0
"""For the computer algebra rung, from the start of the work in a worker."""
