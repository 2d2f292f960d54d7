"""Gated versions of the study's rewards. They are this library's, not the study's.

The study adds everything up. Here layout stays open, so that it can be learnt before anything is
solved; what only imitates an answer (a number, an option, complicated code, some reasoning) is paid
on success alone. Weights are the study's, with correctness at 2.0 throughout.
"""

from __future__ import annotations

from reasonenv.rewards.base import Reward
from reasonenv.rewards.choice import ValidOption
from reasonenv.rewards.code import AllPassed, Complexity, Syntax
from reasonenv.rewards.gates import gate, solved
from reasonenv.rewards.layout import Format, NumericPresent
from reasonenv.rewards.outcome import Correct
from reasonenv.rewards.presence import AnswerPresent, ReasoningPresent
from reasonenv.rewards.xml_count import XMLCount

__all__ = ["arc_gated", "gsm8k_gated", "opencoder_gated"]

_TAGS = ("reasoning", "answer")


def gsm8k_gated() -> Reward:
    """Return this library's gated reward for GSM8K: a wrong answer earns for its layout only.

    >>> gsm8k_gated().range(correct=False)
    Range(low=0.0, high=1.0)
    """
    return (
        Correct(2.0)
        + 0.5 * XMLCount(*_TAGS)
        + 0.5 * Format(*_TAGS)
        + gate(0.5 * NumericPresent(), when=solved)
        + gate(0.1 * ReasoningPresent(), when=solved)
        + gate(0.1 * AnswerPresent(), when=solved)
    )


def arc_gated() -> Reward:
    """Return this library's gated reward for ARC: naming an option pays when it is the right one.

    A wrong answer earns at most 1.0, for its layout.

    >>> arc_gated().range(correct=False)
    Range(low=0.0, high=1.0)
    """
    return (
        Correct(2.0)
        + 0.5 * XMLCount(*_TAGS)
        + 0.5 * Format(*_TAGS)
        + gate(0.5 * ValidOption(), when=solved)
    )


def opencoder_gated() -> Reward:
    """Return this library's gated reward for OpenCoder: complexity is paid for right programs.

    Parsing stays open: it is a step on the way, and a wrong program earns at most 1.0.

    >>> opencoder_gated().range(correct=False)
    Range(low=0.0, high=1.0)
    """
    return (
        2.0 * AllPassed()
        + 0.5 * XMLCount(*_TAGS)
        + 0.5 * Syntax()
        + gate(Complexity(), when=solved)
        + gate(0.1 * ReasoningPresent(), when=solved)
    )
