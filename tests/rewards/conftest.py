"""Groups of judged rollouts, made by hand or drawn by hypothesis."""

import pytest

from reasonenv.types import Judged, Problem, Rollout, Status, Verdict

SUM = Problem("1+1=", "2")


def judged(text="", status="correct", *, n_tokens=10, truncated=False, group="", problem=SUM):
    """Return a judged rollout; an evidence status with a digit in the text extracts the text."""
    status = Status(status)
    score = 1.0 if status is Status.CORRECT else 0.0
    answer = text if status.is_evidence and text else None
    rollout = Rollout(problem, text, group, n_tokens=n_tokens, truncated=truncated)
    return Judged(rollout, Verdict(status, score, answer))


@pytest.fixture(name="judged")
def judged_fixture():
    return judged
