"""An environment of one's own, in one class: `reasonenv check examples/sums.py:acme/Sums-v0`."""

import reasonenv
from reasonenv import MathEnv, Problem


class Sums(MathEnv):
    """Sums of two small numbers."""

    def load_problems(self, split, data):
        start = 0 if split == "train" else 50
        return [
            Problem(f"What is {i} + {i + 3}?", str(2 * i + 3)) for i in range(start, start + 50)
        ]


reasonenv.register("acme/Sums-v0", Sums)
