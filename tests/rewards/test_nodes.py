"""Schedules, normalisation, tie-breakers and curricula, case by case; and what they refuse."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasonenv.errors import GroupRequiredError, RewardError
from reasonenv.rewards import (
    Constant,
    Correct,
    Cosine,
    Curriculum,
    Format,
    GroupNormalized,
    Linear,
    Range,
    RewardContext,
    RewardState,
    Scheduled,
    Score,
    ShortestCorrect,
    Stage,
    Step,
    TagCount,
    clip,
    from_config,
    gate,
    gdpo,
    lexicographic,
    parse,
    rescale,
    score_groups,
    solved,
)
from reasonenv.types import Judged, Problem, Rollout, Verdict

DATA = Path(__file__).parent.parent / "data" / "rewards"


def one(score, text="", group="g", status=None):
    status = status or ("correct" if score == 1 else "incorrect")
    return Judged(Rollout(Problem("p", "a"), text, group), Verdict(status, score))


def table(name):
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


@pytest.mark.parametrize("case", table("bad_nodes.jsonl"), ids=lambda case: case["formula"][:50])
def test_what_the_algebra_refuses_it_refuses_with_the_reason(case):
    with pytest.raises(RewardError) as caught:
        parse(case["formula"])
    assert case["says"] in str(caught.value)


@pytest.mark.parametrize("case", table("bad_node_configs.jsonl"), ids=lambda c: str(c["config"]))
def test_what_is_no_config_of_a_node_is_refused_with_the_reason(case):
    with pytest.raises(RewardError) as caught:
        from_config(case["config"])
    assert case["says"] in str(caught.value)


def test_schedules_reach_their_ends_and_stay_there():
    assert [Linear(1.0, 0.0, steps=4, begin=2).at_step(t) for t in (0, 2, 3, 6, 99)] == [
        1.0,
        1.0,
        0.75,
        0.0,
        0.0,
    ]
    cosine = Cosine(0.0, 1.0, steps=4)
    assert [round(cosine.at_step(t), 4) for t in range(6)] == [0.0, 0.1464, 0.5, 0.8536, 1.0, 1.0]
    assert [Step((3, 2, 1), at=(2, 4)).at_step(t) for t in range(6)] == [3, 3, 2, 2, 1, 1]
    assert Constant(2).at_step(7) == 2


def test_a_scheduled_node_is_worth_its_node_times_the_step():
    reward = Correct() + Scheduled(0.5 * Score(name="s"), Linear(1.0, 0.0, steps=10))
    totals = [reward([one(0.5)], RewardContext(step)).total[0] for step in (0, 5, 50)]
    assert totals == pytest.approx([0.25, 0.125, 0.0])
    assert reward.range(correct=False) == Range(0.0, 0.5)  # the union over the schedule


SCORES = st.lists(st.floats(0, 0.99) | st.just(1.0), min_size=1, max_size=9)


@settings(max_examples=80, deadline=None)
@given(SCORES)
def test_normalised_values_are_deviations_that_stay_in_the_proved_range(scores):
    group = [one(score) for score in scores]
    node = GroupNormalized(Score(), group_size=len(group))
    values = node(group).total
    spread = np.std(scores, ddof=1) if len(scores) > 1 else 0.0
    expected = (np.array(scores) - np.mean(scores)) / (spread + 1e-4) if spread else 0.0 * values
    assert values == pytest.approx(expected, abs=1e-9)
    low, high = node.range(correct=True).union(node.range(correct=False))
    assert (low - 1e-9 <= values).all()
    assert (values <= high + 1e-9).all()


def test_the_outermost_deviation_is_reached_up_to_the_epsilon():
    group = [one(1.0)] + [one(0.0)] * 15
    assert GroupNormalized(Correct())(group).total[0] == pytest.approx(15 / 4, rel=1e-3)
    node = GroupNormalized(Correct(), group_size=16)
    assert node.range(correct=True) == Range(0.0, 3.75)
    assert node.range(correct=False) == Range(-3.75, 0.0)
    assert GroupNormalized(Format("a")).range(correct=True) == Range(-np.inf, np.inf)
    with pytest.raises(RewardError, match="got a group of 17"):
        node([*group, one(0.0)])


def test_a_member_that_is_not_scored_is_in_neither_statistic():
    group = [one(1.0), one(0.0), one(0.0)]
    failed = one(0.0, status="checker_timeout")
    alone = GroupNormalized(Correct())(group).total
    among = GroupNormalized(Correct())([group[0], failed, *group[1:]]).total
    assert among[[0, 2, 3]].tolist() == alone.tolist()
    assert np.isnan(among[1])


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.3, 0.31, 1.0]), st.text("<a>/", max_size=8)),
        min_size=2,
        max_size=8,
    ),
    st.sampled_from([0.1, 0.5, 0.9]),
)
def test_a_tie_breaker_never_overturns_the_task(members, share):
    group = [one(score, text) for score, text in members]
    tie = 100 * TagCount("a") - 7
    for task in (Score(), Correct(), -3 * Score()):
        values = task(group).total
        totals = lexicographic(task, tie, share)(group).total
        ties = tie(group).total
        for i, j in zip(*np.triu_indices(len(group)), strict=True):
            order = np.sign(values[i] - values[j]) or np.sign(ties[i] - ties[j])
            assert np.sign(round(totals[i] - totals[j], 12)) == order


def test_a_curriculum_moves_on_when_the_deviation_within_groups_vanishes():
    reward = Curriculum(
        Stage(Format("a"), until="format", below=0.1, patience=2, at_least=0.9), 2.0 * Correct()
    )
    good, bad = "<a>x</a>", "x"
    mixed = [one(0, good), one(0, bad), one(1, good, "h"), one(1, good, "h")]
    never = [one(0, bad), one(0, bad)]
    always = [one(0, good), one(1, good), one(0, good, "h"), one(0, bad, "h", "checker_error")]
    state = RewardState.first(reward)
    seen = []
    for generation in (mixed, never, always, mixed, always, always, mixed):
        scores = score_groups(reward, generation, RewardContext(state=state.values))
        seen.append((float(scores.total[0]), state.version))
        before, state = state, state.after(reward, scores)
        assert before is state or before.version + 1 == state.version
    assert [total for total, _ in seen] == [1, 0, 1, 1, 1, 1, 0]  # from then on: 2 x correct
    assert state.values["curriculum"]["stage"] == 1
    assert RewardState.from_json(json.loads(json.dumps(state.to_json())), reward).values == (
        state.values
    )
    assert reward.update({}, scores) == reward.update(reward.init_state(), scores)


def test_two_curricula_keep_their_own_state_and_need_their_own_names():
    first = Curriculum(Stage(Format("a"), until="format"), Correct(), name="one")
    second = Curriculum(Stage(Score(), until="score"), Correct(2.0, name="two"), name="two")
    assert set((first + second).init_state()) == {"one", "two"}
    with pytest.raises(RewardError, match="two stateful nodes are called 'one'"):
        first + Curriculum(Stage(Score(), until="score"), Correct(), name="one")


def test_gdpo_keeps_weights_schedules_and_stages_outside_the_normalisation():
    made = gdpo(
        Correct(2.0)
        - 0.5 * Score()
        + 3
        + gate(0.3 * ShortestCorrect(), when=solved)
        + Scheduled(TagCount("a"), Linear(1, 0, steps=5))
        + GroupNormalized(Format("a")),
        4,
    )
    assert repr(made) == (
        "GroupNormalized(Correct(value=2.0), group_size=4) "
        "- 0.5 * GroupNormalized(Score(), group_size=4) "
        "+ 0.3 * GroupNormalized(gate(ShortestCorrect(), when=solved), group_size=4) "
        "+ Scheduled(GroupNormalized(TagCount('a'), group_size=4), "
        "Linear(start=1, end=0, steps=5, begin=0)) + GroupNormalized(Format('a'))"
    )
    staged = gdpo(Curriculum(Stage(Format("a"), until="format"), Correct() + Score()), 2)
    assert repr(staged).count("GroupNormalized") == 3


def test_clip_and_rescale():
    group = [one(1.0), one(0.25)]
    assert clip(Score() + 0.5, 0, 1)(group).total.tolist() == [1.0, 0.75]
    assert rescale(Score(), to=(-1, 1))(group).total.tolist() == [1.0, -0.5]
    assert rescale(Score(), to=(1, 0)).range(correct=True) == Range(0.0, 0.0)
    assert clip(gate(Score(), when=solved), 0.5, 2).range(correct=False) == Range(0.5, 0.5)


def test_needs_say_what_scoring_takes():
    cases = {
        "Format('a')": set(),
        "Correct()": {"verdict"},
        "Overlong(9, cache=2)": {"tokens"},
        "gate(0.3 * ShortestCorrect(), when=solved)": {"group", "tokens", "verdict"},
        "lexicographic(Correct(), Format('a'))": {"verdict"},
        "lexicographic(Score(), Format('a'))": {"group", "verdict"},
        "GroupNormalized(Format('a'))": {"group"},
        "0.5 * PotentialBased(Format('a'))": {"turns"},
    }
    for formula, needs in cases.items():
        assert parse(formula).needs == needs, formula


def test_a_node_that_compares_is_named_with_its_place_where_there_is_no_group():
    import reasonenv

    for formula, says in (
        (
            "Correct() + gate(0.3 * ShortestCorrect(), when=solved)",
            r"the term 'shortest_correct' \(in `gate.*`, part 2 of 2 of the reward\) compares",
        ),
        ("GroupNormalized(Correct())", r"`GroupNormalized\(Correct\(\)\)` .* compares"),
    ):
        env = reasonenv.make("reasonenv/Arithmetic-v0", reward=formula)
        env.reset(seed=0)
        with pytest.raises(GroupRequiredError, match=says):
            env.step("<answer>1</answer>")


def test_an_error_of_a_term_says_where_in_the_formula_it_stands():
    reward = Correct() + gate(0.5 * ShortestCorrect(), when=solved)
    for score in (reward, lambda group: score_groups(reward, group)):
        with pytest.raises(RewardError, match=r"in `gate\(.*`, part 2 of 2 of the reward `Correct"):
            score([one(1.0)])
