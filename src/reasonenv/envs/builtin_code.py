"""The built-in environments of programming tasks: ids and strings only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reasonenv.envs.registration import EnvInfo

__all__ = ["BUILTIN_CODE"]

_CODE = "reasonenv.envs.code:CodeEnv"

BUILTIN_CODE: tuple[tuple[EnvInfo, str, Mapping[str, Any]], ...] = (
    (
        EnvInfo(
            "reasonenv/OpenCoder-v0",
            "Small Python functions with asserts (educational instruct).",
            "code",
            "OpenCoder-LLM/opc-sft-stage2",
            "MIT",
            "licence",
        ),
        _CODE,
        {"problems": "opencoder"},
    ),
    (
        EnvInfo(
            "reasonenv/MBPP-v0",
            "Entry-level Python functions with three asserts each.",
            "code",
            "google-research-datasets/mbpp",
            "CC BY 4.0",
        ),
        _CODE,
        {"problems": "mbpp"},
    ),
    (
        EnvInfo(
            "reasonenv/MBPP-Plus-v0",
            "MBPP with some hundred tests a task, for evaluation.",
            "code",
            "evalplus/mbppplus",
            "Apache-2.0",
            "licence",
        ),
        _CODE,
        {"problems": "mbpp_plus", "split": "test"},
    ),
    (
        EnvInfo(
            "reasonenv/HumanEval-v0",
            "164 Python functions to complete, for evaluation.",
            "code",
            "openai/openai_humaneval",
            "MIT",
        ),
        _CODE,
        {"problems": "humaneval", "split": "test"},
    ),
    (
        EnvInfo(
            "reasonenv/HumanEval-Plus-v0",
            "HumanEval with some hundred tests a task, for evaluation.",
            "code",
            "evalplus/humanevalplus",
            "Apache-2.0",
            "licence",
        ),
        _CODE,
        {"problems": "humaneval_plus", "split": "test"},
    ),
    (
        EnvInfo(
            "reasonenv/APPS-Introductory-v0",
            "Introductory contest and interview tasks.",
            "code",
            "metr-evals/apps",
            "MIT",
        ),
        _CODE,
        {"problems": "apps", "only": {"difficulty": "introductory"}},
    ),
    (
        EnvInfo(
            "reasonenv/Codeforces-v0",
            "Contest tasks, read from stdin, that a comparison can judge.",
            "code",
            "open-r1/codeforces",
            "CC BY 4.0",
        ),
        _CODE,
        {"problems": "codeforces"},
    ),
    (
        EnvInfo(
            "reasonenv/LiveCodeBench-v0",
            "Contest tasks by date, for evaluation.",
            "code",
            "lighteval/code_generation_lite",
            "none found (problems: their contests')",
            "config, licence",
        ),
        _CODE,
        {"problems": "livecodebench", "split": "test"},
    ),
    (
        EnvInfo(
            "reasonenv/OneLiners-v0",
            "Small Python functions that one expression solves, made on demand.",
            "code",
            "procedural",
            "none needed",
        ),
        _CODE,
        {"problems": "one_liners"},
    ),
)
