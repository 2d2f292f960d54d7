"""The seam to the last rung: computer algebra, in a worker that can be killed.

An answer that a worker cannot decide before the deadline is the policy's doing and is not paid; a
worker that dies twice is the checker's failure.
"""

from __future__ import annotations

from reasonenv.checkers.math.limits import DECIDING_SECONDS
from reasonenv.checkers.math.tree import Node

__all__ = ["WorkerFailedError", "decide_in_worker"]

ATTEMPTS = 2


class WorkerFailedError(Exception):
    """Raised when the worker of the algebra rung died at every attempt."""


def decide_in_worker(gold: Node, answer: Node) -> bool | None:
    """Return whether two scalars are equal by computer algebra; None: not before the deadline.

    Raises:
        WorkerFailedError: the worker died twice.
    """
    from reasonenv.checkers.math.symbolic import decide_slowly
    from reasonenv.checkers.pool import default_pool
    from reasonenv.errors import WorkerDied, WorkerTimeout

    for _ in range(ATTEMPTS):
        try:
            decided: bool | None = default_pool().run(
                decide_slowly, gold, answer, timeout=DECIDING_SECONDS
            )
            return decided
        except WorkerTimeout:
            return None
        except WorkerDied:
            continue
    raise WorkerFailedError(f"the worker of the algebra rung died {ATTEMPTS} times")
