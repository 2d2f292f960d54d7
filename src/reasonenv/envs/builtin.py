"""The built-in environments: ids and strings only, so that registering them imports nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reasonenv.envs.builtin_choice import BUILTIN_CHOICE
from reasonenv.envs.builtin_code import BUILTIN_CODE
from reasonenv.envs.registration import EnvInfo

__all__ = ["BUILTIN"]

_MATH = "reasonenv.envs.kinds:MathEnv"
_COUNTDOWN = "reasonenv.envs.kinds:CountdownEnv"

BUILTIN: tuple[tuple[EnvInfo, str, Mapping[str, Any]], ...] = (
    *BUILTIN_CODE,
    *BUILTIN_CHOICE,
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
            "reasonenv/GSM-Plus-v0",
            "GSM8K's test questions in eight variations, for evaluation.",
            "math",
            "qintongli/GSM-Plus",
            "CC BY-SA 4.0",
        ),
        _MATH,
        {"problems": "gsm_plus", "split": "test"},
    ),
    (
        EnvInfo(
            "reasonenv/MATH-500-v0",
            "500 problems of the MATH test set, for evaluation.",
            "math",
            "HuggingFaceH4/MATH-500",
            "none on its card (MATH, PRM800K: MIT)",
        ),
        _MATH,
        {"problems": "math500", "split": "test"},
    ),
    (
        EnvInfo(
            "reasonenv/AIME-2024-v0",
            "The 30 problems of AIME 2024; integer answers.",
            "math",
            "HuggingFaceH4/aime_2024",
            "none on its card (problems: MAA)",
        ),
        _MATH,
        {"problems": "aime_2024", "split": "test"},
    ),
    (
        EnvInfo(
            "reasonenv/AIME-2026-v0",
            "The 30 problems of AIME 2026; integer answers.",
            "math",
            "MathArena/aime_2026",
            "CC BY-NC-SA 4.0 (problems: MAA)",
        ),
        _MATH,
        {"problems": "aime_2026", "split": "test"},
    ),
    (
        EnvInfo(
            "reasonenv/AMC23-v0",
            "40 problems of AMC 12 2023; numeric answers.",
            "math",
            "math-ai/amc23",
            "none found (problems: MAA)",
            "licence",
        ),
        _MATH,
        {"problems": "amc23", "split": "test"},
    ),
    (
        EnvInfo(
            "reasonenv/MetaMathQA-v0",
            "Questions rewritten from GSM8K's and MATH's training sets.",
            "math",
            "meta-math/MetaMathQA",
            "MIT",
        ),
        _MATH,
        {"problems": "metamathqa"},
    ),
    (
        EnvInfo(
            "reasonenv/NuminaMath-v0",
            "Contest problems with numeric answers, 99 for testing.",
            "math",
            "AI-MO/NuminaMath-TIR",
            "Apache-2.0",
        ),
        _MATH,
        {"problems": "numinamath"},
    ),
    (
        EnvInfo(
            "reasonenv/NuminaMath-CoT-v0",
            "School exercises to olympiads; holds MATH, AMC and AIME.",
            "math",
            "AI-MO/NuminaMath-CoT",
            "Apache-2.0",
        ),
        _MATH,
        {"problems": "numinamath_cot"},
    ),
    (
        EnvInfo(
            "reasonenv/OpenMath2-v0",
            "Problems written by a model from MATH's and GSM8K's training sets.",
            "math",
            "nvidia/OpenMathInstruct-2",
            "CC BY 4.0",
        ),
        _MATH,
        {"problems": "openmath2"},
    ),
    (
        EnvInfo(
            "reasonenv/IMO-Bench-v0",
            "400 olympiad problems with short answers (IMO-AnswerBench).",
            "math",
            "Hwilner/imo-answerbench",
            "CC BY 4.0",
        ),
        _MATH,
        {"problems": "imo_bench", "split": "test"},
    ),
    (
        EnvInfo(
            "reasonenv/HMMT-2025-v0",
            "The 30 problems of HMMT February 2025; exact answers.",
            "math",
            "MathArena/hmmt_feb_2025",
            "CC BY-NC-SA 4.0 (problems: HMMT)",
        ),
        _MATH,
        {"problems": "hmmt_2025", "split": "test"},
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
