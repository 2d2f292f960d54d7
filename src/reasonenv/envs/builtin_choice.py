"""The built-in environments of multiple choice: ids and strings only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reasonenv.envs.registration import EnvInfo

__all__ = ["BUILTIN_CHOICE"]

_CHOICE = "reasonenv.envs.choice:ChoiceEnv"

BUILTIN_CHOICE: tuple[tuple[EnvInfo, str, Mapping[str, Any]], ...] = (
    (
        EnvInfo(
            "reasonenv/ARC-Challenge-v0",
            "Grade-school science questions with three to five options, closed book.",
            "choice",
            "allenai/ai2_arc",
            "CC BY-SA 4.0",
        ),
        _CHOICE,
        {"problems": "arc_challenge"},
    ),
    (
        EnvInfo(
            "reasonenv/ARC-Easy-v0",
            "The grade-school science questions that simple look-up answers.",
            "choice",
            "allenai/ai2_arc",
            "CC BY-SA 4.0",
        ),
        _CHOICE,
        {"problems": "arc_easy"},
    ),
    (
        EnvInfo(
            "reasonenv/MMLU-STEM-v0",
            "The 18 STEM subjects of MMLU, for evaluation.",
            "choice",
            "cais/mmlu",
            "MIT",
        ),
        _CHOICE,
        {"problems": "mmlu_stem", "split": "test"},
    ),
    (
        EnvInfo(
            "reasonenv/BBH-v0",
            "Four tasks of BIG-Bench Hard with lettered options, for evaluation.",
            "choice",
            "SaylorTwift/bbh",
            "MIT",
            "config (which four tasks the study took)",
        ),
        _CHOICE,
        {"problems": "bbh", "split": "test"},
    ),
    (
        EnvInfo(
            "reasonenv/LogiQA-v0",
            "Logic questions with a passage and four options.",
            "choice",
            "lucasmccabe/logiqa",
            "none found",
            "licence",
        ),
        _CHOICE,
        {"problems": "logiqa"},
    ),
    (
        EnvInfo(
            "reasonenv/GPQA-Main-v0",
            "448 graduate-level science questions, for evaluation; gated.",
            "choice",
            "Idavidrein/gpqa",
            "CC BY 4.0",
        ),
        _CHOICE,
        {"problems": "gpqa_main", "split": "test"},
    ),
    (
        EnvInfo(
            "reasonenv/GPQA-Diamond-v0",
            "The 198 questions of GPQA that experts agree on, for evaluation; gated.",
            "choice",
            "Idavidrein/gpqa",
            "CC BY 4.0",
        ),
        _CHOICE,
        {"problems": "gpqa_diamond", "split": "test"},
    ),
    (
        EnvInfo(
            "reasonenv/OpenBookQA-v0",
            "Elementary science questions with four options, without the book.",
            "choice",
            "allenai/openbookqa",
            "unknown on its card",
            "licence",
        ),
        _CHOICE,
        {"problems": "openbookqa"},
    ),
    (
        EnvInfo(
            "reasonenv/SciQ-v0",
            "Crowdsourced science exam questions, closed book.",
            "choice",
            "allenai/sciq",
            "CC BY-NC 3.0",
        ),
        _CHOICE,
        {"problems": "sciq"},
    ),
    (
        EnvInfo(
            "reasonenv/MMLU-Pro-v0",
            "Harder MMLU questions with up to ten options, for evaluation.",
            "choice",
            "TIGER-Lab/MMLU-Pro",
            "MIT",
        ),
        _CHOICE,
        {"problems": "mmlu_pro", "split": "test"},
    ),
    (
        EnvInfo(
            "reasonenv/Quiz-v0",
            "Sums, orders, odd ones out and letters in words, with options, made on demand.",
            "choice",
            "procedural",
            "none needed",
        ),
        _CHOICE,
        {"problems": "quiz"},
    ),
)
