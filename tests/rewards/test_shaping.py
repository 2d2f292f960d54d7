"""Potential-based per-turn rewards: small decision processes solved with and without them."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasonenv import MathEnv
from reasonenv.errors import RewardError
from reasonenv.rewards import (
    AnswerPresent,
    Correct,
    Curriculum,
    Format,
    GroupNormalized,
    KimiLength,
    Linear,
    Overlong,
    PotentialBased,
    Range,
    Scheduled,
    Stage,
    TagCount,
    Term,
    check_turns,
    clip,
    gate,
    lexicographic,
    parse,
    rescale,
    score_groups,
    solved,
)
from reasonenv.types import Judged, Problem, Rollout, Verdict

ACTIONS, TURNS = "ab", 3
EPISODES = ["".join(said) for said in itertools.product(ACTIONS, repeat=TURNS)]


@dataclass(frozen=True, repr=False)
class Worth(Term):
    """A potential by table: of the whole episode so far, which it reads from the state."""

    table: tuple[float, ...] = ()

    def measure(self, group, context):
        states = [_said(one.rollout) for one in group]
        return [self.table[_STATES.index(state)] for state in states]

    def range(self, correct):
        return Range(min(self.table), max(self.table))


_STATES = ["".join(said) for n in range(TURNS) for said in itertools.product(ACTIONS, repeat=n)]


def _said(rollout):
    return "".join(said for said, _ in rollout.turns) + rollout.completion


GO = Problem("go", "x")


def episode(said, right):
    *earlier, last = said
    rollout = Rollout(GO, last, "g", turns=tuple((text, "go on") for text in earlier))
    return Judged(rollout, Verdict("correct" if right else "incorrect", float(right)))


def solve(pay, gamma):
    """Return the best actions and the value of each state, by backward induction."""
    values, best = {}, {}
    for state in sorted(_STATES, key=len, reverse=True):
        worth = {
            a: pay[state + a] + (gamma * values[state + a] if len(state) < TURNS - 1 else 0.0)
            for a in ACTIONS
        }
        values[state] = max(worth.values())
        best[state] = {a for a in ACTIONS if worth[a] > values[state] - 1e-9}
    return best, values


PAYS = st.lists(st.booleans(), min_size=len(EPISODES), max_size=len(EPISODES))
TABLES = st.lists(
    st.floats(-3, 3, allow_nan=False), min_size=len(_STATES), max_size=len(_STATES)
).map(tuple)


@settings(max_examples=60, deadline=None)
@given(PAYS, TABLES, st.sampled_from([0.5, 0.9, 1.0]), st.sampled_from([-2.0, 0.3, 5.0]))
def test_shaped_and_unshaped_process_have_the_same_best_actions(rights, table, gamma, weight):
    reward = Correct() + weight * PotentialBased(Worth(table), gamma=gamma)
    group = [episode(said, right) for said, right in zip(EPISODES, rights, strict=True)]
    scores = reward(group)
    task, shaped = {}, {}
    for said, right, turns in zip(EPISODES, rights, scores.turns, strict=True):
        assert len(turns) == TURNS
        for t, extra in enumerate(turns):
            pay = float(right) if t == TURNS - 1 else 0.0
            task[said[: t + 1]] = pay
            # What a turn earns depends on the state and the action alone: it is a reward function.
            assert shaped.setdefault(said[: t + 1], pay + extra) == pytest.approx(pay + extra)
    best, values = solve(task, gamma)
    shaped_best, shaped_values = solve(shaped, gamma)
    assert shaped_best == best
    for state in _STATES:
        expected = values[state] - weight * table[_STATES.index(state)]
        assert shaped_values[state] == pytest.approx(expected)


def test_a_bonus_at_the_end_is_not_potential_based_and_can_change_what_is_best():
    rights = [said == "abb" for said in EPISODES]
    task = {
        said: 0.0
        for n in range(1, TURNS)
        for said in map("".join, itertools.product(ACTIONS, repeat=n))
    }
    bonus = dict(task)
    for said, right in zip(EPISODES, rights, strict=True):
        task[said] = float(right)
        bonus[said] = float(right) + 2.0 * (said[-1] == "a")
    assert solve(task, 1.0)[0]["ab"] == {"b"}
    assert solve(bonus, 1.0)[0]["ab"] == {"a"}


@settings(max_examples=40, deadline=None)
@given(TABLES, st.sampled_from([0.5, 1.0]), st.floats(-2, 2))
def test_discounted_they_sum_to_the_part_which_is_the_same_for_the_whole_group(
    table, gamma, weight
):
    reward = Correct() + weight * PotentialBased(Worth(table), gamma=gamma)
    group = [episode(said, said == "aab") for said in (*EPISODES, "a", "ba")]
    scores = reward(group)
    part = scores.parts["potential(worth)"]
    for turns, value in zip(scores.turns, part, strict=True):
        discounts = gamma ** np.arange(len(turns))
        assert float((discounts * turns).sum()) == pytest.approx(value)
    assert part == pytest.approx(-weight * table[0])
    low, high = reward.range(correct=True)
    right = scores.total[scores.solved == 1]
    assert (low - 1e-9 <= right).all()
    assert (right <= high + 1e-9).all()


def test_a_member_that_is_not_scored_has_no_turns():
    failed = Judged(episode("aa", False).rollout, Verdict("checker_error"))
    reward = PotentialBased(TagCount("a"))
    scores = reward([episode("ab", True), failed, episode("b", False)])
    assert [len(turns) for turns in scores.turns] == [2, 0, 1]
    assert np.isnan(scores.total[1])
    assert score_groups(reward, [failed]).turns == ((),)


def test_the_weighted_sum_of_two_potentials_and_their_schedule():
    first = PotentialBased(TagCount("a"), gamma=0.5)
    second = PotentialBased(Format("a"))
    both = Correct() + 2.0 * first + Scheduled(second, Linear(1.0, 0.0, steps=2))
    group = [episode(["<a>x</a>", "no"], True)]
    alone = [node(group).turns[0] for node in (first, second)]
    assert both(group).turns[0] == pytest.approx(2 * np.array(alone[0]) + np.array(alone[1]))
    assert alone[0] == pytest.approx([0.5, -1.0])
    assert parse(repr(both)) == both
    assert Correct()(group).turns == ()


@pytest.mark.parametrize(
    "build",
    [
        lambda node: gate(node, when=solved),
        lambda node: clip(node, 0, 1),
        lambda node: rescale(node, (0, 1)),
        lambda node: Correct() * node,
        lambda node: lexicographic(Correct(), node),
        lambda node: GroupNormalized(node, 4),
        lambda node: clip(Correct() + node, 0, 1),
    ],
)
def test_inside_what_is_no_weighted_sum_it_is_refused(build):
    with pytest.raises(RewardError, match="cannot stand inside"):
        build(PotentialBased(TagCount("a")))


@pytest.mark.parametrize(
    ("phi", "says"),
    [
        (Correct(), "needs verdict"),
        (AnswerPresent(), "needs verdict"),
        (Overlong(9, cache=2), "needs tokens"),
        (KimiLength(), "needs group, tokens"),
        (0.5 * TagCount("a"), "0.5 \\* PotentialBased"),
        (2, "a single term"),
    ],
)
def test_a_potential_is_a_term_that_reads_a_state(phi, says):
    with pytest.raises(RewardError, match=says):
        PotentialBased(phi)


@pytest.mark.parametrize("gamma", [0, -1, 1.5, True, "1", float("nan")])
def test_gamma_is_a_discount(gamma):
    with pytest.raises(RewardError, match="0 < gamma <= 1"):
        PotentialBased(TagCount("a"), gamma=gamma)


def test_where_it_would_do_nothing_it_is_an_error_that_says_why():
    reward = Correct() + 0.5 * PotentialBased(TagCount("a"))
    problems = [Problem("1+1=", "2")]
    with pytest.raises(RewardError, match=r"would do nothing .* each episode has one turn"):
        MathEnv(problems, reward=reward)
    assert MathEnv(problems, reward=reward, max_turns=2).reward == reward
    with pytest.raises(RewardError, match=r"one advantage is shared .* cancels"):
        check_turns(reward, max_turns=2, turn_level=False)
    check_turns(reward, max_turns=2)
    check_turns(Correct(), max_turns=1, turn_level=False)
    staged = Curriculum(Stage(reward, until="tag_count"), Correct())
    with pytest.raises(RewardError, match="would do nothing"):
        check_turns(staged, max_turns=1)


def test_an_environments_steps_pay_each_turn_for_the_potential_that_it_gains():
    reward = Correct() + 0.5 * PotentialBased(TagCount("answer"), gamma=0.5)
    env = MathEnv(
        [Problem("1+1=", "2")],
        reward=reward,
        max_turns=3,
        layout={"reasoning": None, "instruction": ""},
    )
    env.reset(seed=0)
    paid = [env.step(said)[1] for said in ("<answer>4", "<answer>3</answer>", "<answer>2</answer>")]
    assert paid == pytest.approx([0.5 * 0.25, 0.5 * (0.5 - 0.5), 1.0 - 0.5 * 1.0])
    env.reset(seed=0)
    assert env.step("<answer>2</answer>")[1] == 1.0
