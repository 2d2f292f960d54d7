"""Every limit of the math checker, named. Beyond one, an answer is refused, never evaluated."""

from __future__ import annotations

__all__ = [
    "MAX_ANSWER_CHARS",
    "MAX_BITS",
    "MAX_DEPTH",
    "MAX_FACTORIAL",
    "MAX_GOLD_CHARS",
    "MAX_LITERAL_CHARS",
    "MAX_MEMBERS",
    "MAX_SHOWN_CHARS",
    "MAX_TOKENS",
    "MIN_FLOAT_DIGITS",
    "MIN_SIGNIFICANT_DIGITS",
]

MAX_ANSWER_CHARS = 10_000
"""A longer extracted answer is MALFORMED."""
MAX_GOLD_CHARS = 10_000
"""A longer gold is a CHECKER_ERROR."""
MAX_BITS = 13_000
"""Of a numerator or denominator: about 3,900 digits, below Python's own limit of 4,300 for text."""
MAX_LITERAL_CHARS = 3_900
"""Of one number as written."""
MAX_TOKENS = 1_000
"""Of one arithmetic expression."""
MAX_DEPTH = 40
"""Of brackets in one arithmetic expression."""
MAX_FACTORIAL = 500
"""The largest n whose n! is worked out."""
MAX_MEMBERS = 64
"""Of a list, set or tuple whose members are compared one by one."""
MAX_SHOWN_CHARS = 200
"""Of a normal form in `Verdict.detail`."""
MIN_SIGNIFICANT_DIGITS = 6
"""A decimal stands for a value that it does not equal only from so many right digits on (P3)."""
MIN_FLOAT_DIGITS = 16
"""From so many digits on a decimal was printed by a float, and its last two digits are noise."""
