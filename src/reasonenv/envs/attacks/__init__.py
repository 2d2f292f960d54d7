"""The hack suite: what cheap completions earn beside a right answer.

* `suite`: `attack`, which feeds them through an environment and its reward.
* `completions`: the hacks of any environment; `programs`: those of programming tasks.
* `results`: what came out, as plain data.
"""

from reasonenv.envs.attacks.completions import Hack, hacks_for
from reasonenv.envs.attacks.results import AttackReport, Attempt, HackResult
from reasonenv.envs.attacks.suite import attack

__all__ = ["AttackReport", "Attempt", "Hack", "HackResult", "attack", "hacks_for"]
