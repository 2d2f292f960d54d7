"""The catalogue's terms beside those of `outcome`, `layout`, `length` and `code`."""

from __future__ import annotations

from reasonenv.rewards.base import Term
from reasonenv.rewards.closeness import NumericCloseness
from reasonenv.rewards.diversity import AnswerDiversity, NgramDiversity
from reasonenv.rewards.format_regex import FormatRegex
from reasonenv.rewards.judge_model import JudgeModel
from reasonenv.rewards.language import LanguageConsistency
from reasonenv.rewards.length_targets import CosineLength, L1Exact, L1Max, LazyLength
from reasonenv.rewards.presence import AnswerPresent, ReasoningPresent
from reasonenv.rewards.repetition import Repetition
from reasonenv.rewards.steps import StepCount
from reasonenv.rewards.xml_count import XMLCount

__all__ = ["CATALOGUE_TERMS"]

CATALOGUE_TERMS: tuple[type[Term], ...] = (
    AnswerDiversity,
    AnswerPresent,
    CosineLength,
    FormatRegex,
    JudgeModel,
    L1Exact,
    L1Max,
    LanguageConsistency,
    LazyLength,
    NgramDiversity,
    NumericCloseness,
    ReasoningPresent,
    Repetition,
    StepCount,
    XMLCount,
)
"""The terms of these modules."""
