"""The built-in environments: ids and strings only, so that registering them imports nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reasonenv.envs.builtin_code import BUILTIN_CODE
from reasonenv.envs.registration import EnvInfo

__all__ = ["BUILTIN"]

_MATH = "reasonenv.envs.kinds:MathEnv"
_CHOICE = "reasonenv.envs.kinds:ChoiceEnv"
_COUNTDOWN = "reasonenv.envs.kinds:CountdownEnv"

BUILTIN: tuple[tuple[EnvInfo, str, Mapping[str, Any]], ...] = (
    *BUILTIN_CODE,
    (
        EnvInfo(
            "reasonenv/GSM8K-v0",
            "Grade-school word problems with an integer answer.",
            "math",
            "openai/gsm8k",
            "MIT",
        ),
        _MATH,
        {"problems": "gsm8k"},
    ),
    (
        EnvInfo(
            "reasonenv/ARC-Challenge-v0",
            "Grade-school science questions with four options, closed book.",
            "choice",
            "allenai/ai2_arc",
            "CC BY-SA 4.0",
        ),
        _CHOICE,
        {"problems": "arc_challenge"},
    ),
    (
        EnvInfo(
            "reasonenv/Arithmetic-v0",
            "Sums of two integers, made on demand.",
            "math",
            "procedural",
            "none needed",
        ),
        _MATH,
        {"problems": "arithmetic"},
    ),
    (
        EnvInfo(
            "reasonenv/Countdown-v0",
            "Reach a target with given numbers and + - * /, made on demand.",
            "countdown",
            "procedural",
            "none needed",
        ),
        _COUNTDOWN,
        {"problems": "countdown"},
    ),
)
