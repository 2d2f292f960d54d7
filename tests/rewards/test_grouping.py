"""Several groups at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonenv.errors import RewardError
from reasonenv.rewards import Correct, ShortestCorrect, score_groups
from reasonenv.types import Judged, Problem, Rollout, Verdict

REWARD = Correct() + 0.5 * ShortestCorrect()


def one(group, status, n_tokens):
    rollout = Rollout(Problem(f"p{group}", "a"), "", f"g{group}", n_tokens=n_tokens)
    return Judged(rollout, Verdict(status, float(status == "correct")))


MEMBER = st.builds(
    one,
    st.integers(0, 3),
    st.sampled_from(["correct", "incorrect", "checker_timeout"]),
    st.integers(1, 50),
)


@given(st.lists(MEMBER, max_size=16))
def test_groups_wherever_they_stand_are_scored_as_each_alone(judged):
    scores = score_groups(REWARD, judged)
    assert len(scores) == len(judged)
    for name in {j.rollout.group_id for j in judged}:
        places = [i for i, j in enumerate(judged) if j.rollout.group_id == name]
        alone = REWARD([judged[i] for i in places])
        for whole, part in (
            (scores.total, alone.total),
            (scores.solved, alone.solved),
            *((scores.parts[n], alone.parts[n]) for n in alone.parts),
            *((scores.terms[n], alone.terms[n]) for n in alone.terms),
        ):
            assert np.array_equal(whole[places], part, equal_nan=True)


def test_interleaved_groups_keep_their_order():
    judged = [
        one(0, "correct", 10),
        one(1, "correct", 8),
        one(0, "correct", 20),
        one(1, "checker_error", 1),
        one(1, "incorrect", 2),
    ]
    totals = score_groups(REWARD, judged).total
    assert totals[[0, 1, 2, 4]].tolist() == [1.5, 1.5, 1.25, 0.0]
    assert np.isnan(totals[3])


def test_a_term_that_compares_refuses_a_group_of_several_problems():
    judged = [
        Judged(Rollout(Problem(p, "a"), "", n_tokens=3), Verdict("correct", 1.0)) for p in "xy"
    ]
    with pytest.raises(RewardError, match="the group '' holds rollouts of 2 problems"):
        score_groups(REWARD, judged)
    assert score_groups(Correct(), judged).total.tolist() == [1.0, 1.0]
