"""Members that a term cannot value."""

from dataclasses import dataclass

import numpy as np
import pytest

from reasonenv.envs import MathEnv
from reasonenv.errors import CheckerFailedError
from reasonenv.rewards import Correct, KimiLength, Range, Term, gate, score_groups, solved
from reasonenv.types import Problem


@dataclass(frozen=True, repr=False)
class Oracle(Term):
    """1, and no value for a completion that says so."""

    can_fail = True

    def unscored(self, group, context):
        return [judged.rollout.completion == "no value" for judged in group]

    def measure(self, group, context):
        assert all(judged.rollout.completion != "no value" for judged in group)
        return [1.0] * len(group)

    def range(self, correct):
        return Range(1.0, 1.0)


def test_a_member_that_a_term_cannot_value_is_not_scored_by_the_whole_reward(judged):
    group = [
        judged("a"),
        judged("no value"),
        judged("b", "incorrect"),
        judged("c", "checker_error"),
    ]
    scores = (Correct() + gate(0.5 * Oracle(), when=solved))(group)
    assert np.isnan(scores.total).tolist() == [False, True, False, True]
    assert scores.total[[0, 2]].tolist() == [1.5, 0.0]
    for column in (scores.solved, *scores.terms.values(), *scores.parts.values()):
        assert np.isnan(column).tolist() == [False, True, False, True]


def test_it_changes_no_other_members_score(judged):
    others = [judged("a", n_tokens=10), judged("b", n_tokens=30)]
    reward = Correct() + 0.5 * KimiLength() + Oracle()
    alone = reward(others).total.tolist()
    assert reward([judged("no value", n_tokens=1), *others]).total[1:].tolist() == alone


def test_where_no_member_has_a_value_nothing_is_scored(judged):
    scores = score_groups(Correct() + Oracle(), [judged("no value"), judged("no value")])
    assert np.isnan(scores.total).all()
    assert set(scores.terms) == {"correct", "oracle"}


def test_an_episode_whose_answer_has_no_value_is_refused_and_can_go_on():
    env = MathEnv([Problem("1+1=", "2")], reward=Correct() + Oracle(), layout={"reasoning": None})
    env.reset(seed=0)
    with pytest.raises(CheckerFailedError, match=r"Oracle\(\) could not value"):
        env.step("no value")
    assert env.step("<answer>2</answer>")[1] == 2.0


def test_an_episode_whose_answer_has_no_value_earns_nan_where_that_is_wanted():
    env = MathEnv([Problem("1+1=", "2")], reward=Correct() + Oracle(), on_unscored="nan")
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step("no value")
    assert np.isnan(reward)
    assert (terminated, truncated) == (True, False)
    assert "reward_terms" not in info
