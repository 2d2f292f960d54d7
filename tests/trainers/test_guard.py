"""When a run halts because its rollouts cannot be scored."""

import pytest

from reasonenv.errors import TooManyUnscoredError
from reasonenv.trainers.guard import UnscoredGuard


def row(status="correct", solved=1.0):
    return {"status": status, "solved": solved, "problem_id": "p1", "detail": "{}"}


FAILED = row("checker_error", None)
UNVALUED = row("correct", None)


@pytest.mark.parametrize("failure", [FAILED, UNVALUED])
def test_too_many_unscored_rollouts_in_a_row_halt_the_run(failure):
    guard = UnscoredGuard(limit=0.5, patience=2)
    guard.see([failure, failure, row()], 1)
    guard.see([failure, row()], 2)  # half is not more than half
    guard.see([failure, failure, row()], 3)
    with pytest.raises(TooManyUnscoredError, match="step 4: for 2 generations in a row"):
        guard.see([failure], 4)


def test_the_message_says_what_to_mend():
    guard = UnscoredGuard(patience=1)
    with pytest.raises(TooManyUnscoredError, match=r"checker_error.*checker or the sandbox"):
        guard.see([FAILED], 1)
    with pytest.raises(TooManyUnscoredError, match=r"no value from the reward.*the reward's judge"):
        guard.see([UNVALUED], 1)
