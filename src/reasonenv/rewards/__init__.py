"""Rewards as an algebra of small frozen nodes.

>>> reward = Correct(2.0) + 0.5 * TagCount("reasoning", "answer")
>>> reward
Correct(value=2.0) + 0.5 * TagCount('reasoning', 'answer')
>>> reward.range(correct=False)
Range(low=0.0, high=0.5)

* `base`: `Reward`, `Term`; `scores`, `ranges`: what scoring returns, and what it can.
* `algebra`, `gates`, `shapers`: sums, products, weights, gates, `clip` and `rescale`.
* `scheduled`, `schedules`, `curriculum`: what changes over a run.
* `normalized`, `lexicographic`, `shaping`: per-component normalisation (GDPO), tie-breakers,
  potential-based per-turn rewards.
* `outcome`, `layout`, `length`, `choice`, `code`, and what `catalogue` gathers: the terms.
* `study`, `ours`: whole rewards by name, `study.gsm8k()`.
* `custom`, `trl_style`: terms from functions.
* `config`, `formula`: rewards as plain data and as formulas.
* `audit`: what a reward pays for, proved from its ranges or measured on rollouts.
"""

from reasonenv.rewards import ours, study
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
from reasonenv.rewards.curriculum import Curriculum, Stage
from reasonenv.rewards.custom import term
from reasonenv.rewards.diversity import AnswerDiversity, NgramDiversity
from reasonenv.rewards.format_regex import FormatRegex
from reasonenv.rewards.gates import gate, solved, unsolved, untruncated
from reasonenv.rewards.grouping import comparing, score_groups
from reasonenv.rewards.judge_model import JudgeModel
from reasonenv.rewards.language import LanguageConsistency
from reasonenv.rewards.layout import Format, NumericPresent, TagCount
from reasonenv.rewards.length import KimiLength, Overlong, ShortestCorrect
from reasonenv.rewards.length_targets import CosineLength, L1Exact, L1Max, LazyLength
from reasonenv.rewards.lexicographic import lexicographic
from reasonenv.rewards.named import NAMED_REWARDS
from reasonenv.rewards.normalized import GroupNormalized, gdpo
from reasonenv.rewards.outcome import Correct, Score
from reasonenv.rewards.presence import AnswerPresent, ReasoningPresent
from reasonenv.rewards.repetition import Repetition
from reasonenv.rewards.scheduled import Scheduled
from reasonenv.rewards.schedules import Constant, Cosine, Linear, Step
from reasonenv.rewards.shapers import clip, rescale
from reasonenv.rewards.shaping import PotentialBased, check_turns, step_reward
from reasonenv.rewards.state import RewardState
from reasonenv.rewards.steps import StepCount
from reasonenv.rewards.trl_style import from_trl
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
    "Constant",
    "Correct",
    "Cosine",
    "CosineLength",
    "Curriculum",
    "ExplanationPresent",
    "Format",
    "FormatRegex",
    "FractionPassed",
    "GroupNormalized",
    "JudgeModel",
    "KimiLength",
    "L1Exact",
    "L1Max",
    "LanguageConsistency",
    "LazyLength",
    "LetterTextAgree",
    "Linear",
    "NgramDiversity",
    "NumericCloseness",
    "NumericPresent",
    "Overlong",
    "PermutationConsistency",
    "PotentialBased",
    "Range",
    "RarityWeightedTests",
    "ReasoningPresent",
    "Repetition",
    "Reward",
    "RewardContext",
    "RewardState",
    "Scheduled",
    "Score",
    "Scores",
    "ShortestCorrect",
    "Stage",
    "Step",
    "StepCount",
    "Syntax",
    "TagCount",
    "Term",
    "ValidOption",
    "XMLCount",
    "check_turns",
    "clip",
    "comparing",
    "from_config",
    "from_trl",
    "gate",
    "gdpo",
    "lexicographic",
    "ours",
    "parse",
    "rescale",
    "score_groups",
    "solved",
    "step_reward",
    "study",
    "term",
    "unsolved",
    "untruncated",
]
