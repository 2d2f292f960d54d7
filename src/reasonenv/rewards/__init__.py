"""Rewards as an algebra of small frozen nodes.

>>> reward = Correct(2.0) + 0.5 * TagCount("reasoning", "answer")
>>> reward
Correct(value=2.0) + 0.5 * TagCount('reasoning', 'answer')
>>> reward.range(correct=False)
Range(low=0.0, high=0.5)

* `base`: `Reward`, `Term`, `Scores`, `Range`, `RewardContext`.
* `algebra`: sums, products, weights and gates.
* `outcome`, `layout`, `length`, `choice`, `code`: the catalogue of terms.
* `custom`: `@term`, a term from a function.
* `config`: rewards as formulas and as plain data.
"""

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
from reasonenv.rewards.code import (
    AllPassed,
    Complexity,
    FractionPassed,
    RarityWeightedTests,
    Syntax,
)
from reasonenv.rewards.config import TERMS, from_config, parse
from reasonenv.rewards.custom import term
from reasonenv.rewards.grouping import score_groups
from reasonenv.rewards.layout import Format, NumericPresent, TagCount
from reasonenv.rewards.length import KimiLength, Overlong, ShortestCorrect
from reasonenv.rewards.outcome import Correct, Score

__all__ = [
    "TERMS",
    "Abstention",
    "AllPassed",
    "ChanceCorrected",
    "Complexity",
    "Correct",
    "ExplanationPresent",
    "Format",
    "FractionPassed",
    "KimiLength",
    "LetterTextAgree",
    "NumericPresent",
    "Overlong",
    "PermutationConsistency",
    "Range",
    "RarityWeightedTests",
    "Reward",
    "RewardContext",
    "Score",
    "Scores",
    "ShortestCorrect",
    "Syntax",
    "TagCount",
    "Term",
    "ValidOption",
    "from_config",
    "gate",
    "parse",
    "score_groups",
    "solved",
    "term",
    "unsolved",
    "untruncated",
]
