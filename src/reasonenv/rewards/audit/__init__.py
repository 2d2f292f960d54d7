"""What a reward pays for: proved from its ranges, refuted by a witness, or measured on rollouts.

* `audit` (`core`): an `Audit` of a reward, with or without rollouts.
* `dominance`: whether a wrong answer can earn as much as a right one, by interval arithmetic.
* `probes`, `witness`: completions that are tried to refute it.
* `weights`: who is at fault, and the smallest change of a weight that mends it.
* `observe` (`observed`): what stored rollouts show that ranges cannot.
* `text`: an audit in words.
"""

from reasonenv.rewards.audit.core import Audit, audit
from reasonenv.rewards.audit.dominance import Dominance, dominance
from reasonenv.rewards.audit.observed import Observed, TermFacts, observe
from reasonenv.rewards.audit.weights import Change, Fault
from reasonenv.rewards.audit.witness import Side, Witness

__all__ = [
    "Audit",
    "Change",
    "Dominance",
    "Fault",
    "Observed",
    "Side",
    "TermFacts",
    "Witness",
    "audit",
    "dominance",
    "observe",
]
