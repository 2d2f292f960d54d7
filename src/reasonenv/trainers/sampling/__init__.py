"""Which problems are asked, by what is expected of them.

* `estimates`: `Estimates`, how probable a group of right and wrong answers is, problem by problem.
* `expected`: `ExpectedSignal`, draws by that probability.
"""

from reasonenv.trainers.sampling.estimates import Estimates, Outcome
from reasonenv.trainers.sampling.expected import ExpectedSignal, level_of

__all__ = ["Estimates", "ExpectedSignal", "Outcome", "level_of"]
