"""The study's three rewards by name, with exactly its weights (arXiv 2609.39321, table 6).

>>> from reasonenv.rewards import parse
>>> round(parse("study.gsm8k()").range(correct=False).high, 6)
1.7

The study's text gives names and weights. What XML-count, format, the presence of a number and code
complexity compute is this library's definition, said in the docstrings of the terms.

`study.opencoder_refined()` is the study's own refinement: correctness at weight 2.0. For GSM8K and
ARC the study refines layers, modules, the KL weight and the clip, and leaves the reward as it is.
Gated versions, which are not the study's, are in `reasonenv.rewards.ours`.
"""

from __future__ import annotations

from reasonenv.rewards.base import Reward
from reasonenv.rewards.choice import ValidOption
from reasonenv.rewards.code import AllPassed, Complexity, Syntax
from reasonenv.rewards.layout import Format, NumericPresent
from reasonenv.rewards.outcome import Correct
from reasonenv.rewards.presence import AnswerPresent, ReasoningPresent
from reasonenv.rewards.xml_count import XMLCount

__all__ = ["arc", "gsm8k", "opencoder", "opencoder_refined"]

_TAGS = ("reasoning", "answer")


def gsm8k() -> Reward:
    """Return the study's reward for GSM8K.

    Correctness 2.0, XML-count 0.5, a number in the answer 0.5, format 0.5, reasoning non-empty 0.1,
    answer non-empty 0.1. Right: [2.1, 3.7]; wrong: [0, 1.7]: correctness dominates.

    >>> [round(end, 6) for end in gsm8k().range(correct=True)]
    [2.1, 3.7]
    """
    return (
        Correct(2.0)
        + 0.5 * XMLCount(*_TAGS)
        + 0.5 * NumericPresent()
        + 0.5 * Format(*_TAGS)
        + 0.1 * ReasoningPresent()
        + 0.1 * AnswerPresent()
    )


def arc() -> Reward:
    """Return the study's reward for ARC-Challenge.

    Correctness 2.0, valid option 0.5, XML-count 0.5, format 0.5. Right: [2.5, 3.5], as a right
    answer is a valid option; wrong: [0, 1.5]: correctness dominates.

    >>> [round(end, 6) for end in arc().range(correct=True)]
    [2.5, 3.5]
    """
    return Correct(2.0) + 0.5 * ValidOption() + 0.5 * XMLCount(*_TAGS) + 0.5 * Format(*_TAGS)


def opencoder() -> Reward:
    """Return the study's reward for OpenCoder.

    Correctness (all tests pass) 1.0, complexity 1.0, XML-count 0.5, syntax 0.5, reasoning non-empty
    0.1. Right: [1.5, 3.1]; wrong: [0, 2.1]: correctness does *not* dominate.

    >>> [round(end, 6) for end in opencoder().range(correct=False)]
    [0.0, 2.1]
    """
    return _opencoder(AllPassed())


def opencoder_refined() -> Reward:
    """Return the study's refined reward for OpenCoder: correctness 2.0, all else as it was.

    Right: [2.5, 4.1]; wrong: [0, 2.1]: correctness dominates, as a right program parses.

    >>> [round(end, 6) for end in opencoder_refined().range(correct=True)]
    [2.5, 4.1]
    """
    return _opencoder(2.0 * AllPassed())


def _opencoder(correctness: Reward) -> Reward:
    return (
        correctness
        + Complexity()
        + 0.5 * XMLCount(*_TAGS)
        + 0.5 * Syntax()
        + 0.1 * ReasoningPresent()
    )
