"""Rewards as an algebra of small frozen nodes.

>>> reward = Correct(2.0) + 0.5 * TagCount("reasoning", "answer")
>>> reward
Correct(value=2.0) + 0.5 * TagCount('reasoning', 'answer')
>>> reward.range(correct=False)
Range(low=0.0, high=0.5)

* `base`: `Reward`, `Term`, `Scores`, `Range`, `RewardContext`.
* `algebra`: sums, products, weights and gates.
* `outcome`, `layout`, `length`, `choice`, `code`, and what `catalogue` gathers: the terms.
* `study`, `ours`: whole rewards by name, `study.gsm8k()`.
* `custom`: `@term`, a term from a function.
* `config`: rewards as formulas and as plain data.
"""

from reasonenv.rewards import ours, study
from reasonenv.rewards.algebra import gate, solved, unsolved, untruncated
from reasonenv.rewards.base import Range, Reward, RewardContext, Scores, Term
from reasonenv.rewards.choice import (
    Abstention,
    ChanceCorrected,
    ExplanationPresent,
    LetterTextAgree,
    PermutationConsistency,
    ValidOption,
)
from reasonenv.rewards.closeness import NumericCloseness
from reasonenv.rewards.code import (
    AllPassed,
    Complexity,
    FractionPassed,
    RarityWeightedTests,
    Syntax,
)
from reasonenv.rewards.config import TERMS, from_config, parse
from reasonenv.rewards.custom import term
from reasonenv.rewards.diversity import AnswerDiversity, NgramDiversity
from reasonenv.rewards.format_regex import FormatRegex
from reasonenv.rewards.grouping import score_groups
from reasonenv.rewards.judge_model import JudgeModel
from reasonenv.rewards.language import LanguageConsistency
from reasonenv.rewards.layout import Format, NumericPresent, TagCount
from reasonenv.rewards.length import KimiLength, Overlong, ShortestCorrect
from reasonenv.rewards.length_targets import CosineLength, L1Exact, L1Max, LazyLength
from reasonenv.rewards.named import NAMED_REWARDS
from reasonenv.rewards.outcome import Correct, Score
from reasonenv.rewards.presence import AnswerPresent, ReasoningPresent
from reasonenv.rewards.repetition import Repetition
from reasonenv.rewards.steps import StepCount
from reasonenv.rewards.xml_count import XMLCount

__all__ = [
    "NAMED_REWARDS",
    "TERMS",
    "Abstention",
    "AllPassed",
    "AnswerDiversity",
    "AnswerPresent",
    "ChanceCorrected",
    "Complexity",
    "Correct",
    "CosineLength",
    "ExplanationPresent",
    "Format",
    "FormatRegex",
    "FractionPassed",
    "JudgeModel",
    "KimiLength",
    "L1Exact",
    "L1Max",
    "LanguageConsistency",
    "LazyLength",
    "LetterTextAgree",
    "NgramDiversity",
    "NumericCloseness",
    "NumericPresent",
    "Overlong",
    "PermutationConsistency",
    "Range",
    "RarityWeightedTests",
    "ReasoningPresent",
    "Repetition",
    "Reward",
    "RewardContext",
    "Score",
    "Scores",
    "ShortestCorrect",
    "StepCount",
    "Syntax",
    "TagCount",
    "Term",
    "ValidOption",
    "XMLCount",
    "from_config",
    "gate",
    "ours",
    "parse",
    "score_groups",
    "solved",
    "study",
    "term",
    "unsolved",
    "untruncated",
]
