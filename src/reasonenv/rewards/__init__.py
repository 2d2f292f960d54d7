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
* `outcome`, `layout`, `length`, `code`: the catalogue of terms.
* `custom`, `trl_style`: terms from functions.
* `config`, `formula`: rewards as plain data and as formulas.
* `audit`: what a reward pays for, proved from its ranges or measured on rollouts.
"""

from reasonenv.rewards.base import Range, Reward, RewardContext, Scores, Term
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
from reasonenv.rewards.gates import gate, solved, unsolved, untruncated
from reasonenv.rewards.grouping import comparing, score_groups
from reasonenv.rewards.layout import Format, NumericPresent, TagCount
from reasonenv.rewards.length import KimiLength, Overlong, ShortestCorrect
from reasonenv.rewards.lexicographic import lexicographic
from reasonenv.rewards.normalized import GroupNormalized, gdpo
from reasonenv.rewards.outcome import Correct, Score
from reasonenv.rewards.scheduled import Scheduled
from reasonenv.rewards.schedules import Constant, Cosine, Linear, Step
from reasonenv.rewards.shapers import clip, rescale
from reasonenv.rewards.shaping import PotentialBased, check_turns
from reasonenv.rewards.state import RewardState
from reasonenv.rewards.trl_style import from_trl

__all__ = [
    "TERMS",
    "AllPassed",
    "Complexity",
    "Constant",
    "Correct",
    "Cosine",
    "Curriculum",
    "Format",
    "FractionPassed",
    "GroupNormalized",
    "KimiLength",
    "Linear",
    "NumericPresent",
    "Overlong",
    "PotentialBased",
    "Range",
    "RarityWeightedTests",
    "Reward",
    "RewardContext",
    "RewardState",
    "Scheduled",
    "Score",
    "Scores",
    "ShortestCorrect",
    "Stage",
    "Step",
    "Syntax",
    "TagCount",
    "Term",
    "check_turns",
    "clip",
    "comparing",
    "from_config",
    "from_trl",
    "gate",
    "gdpo",
    "lexicographic",
    "parse",
    "rescale",
    "score_groups",
    "solved",
    "term",
    "unsolved",
    "untruncated",
]
