"""Laws of the algebra: on random trees, and case by case."""

import itertools
import json
import operator
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reasonenv.errors import RewardError
from reasonenv.rewards import (
    Constant,
    Correct,
    Cosine,
    Curriculum,
    Format,
    GroupNormalized,
    KimiLength,
    Linear,
    NumericPresent,
    Overlong,
    Range,
    RewardContext,
    Scheduled,
    Score,
    ShortestCorrect,
    Stage,
    Step,
    TagCount,
    Term,
    clip,
    from_config,
    gate,
    lexicographic,
    parse,
    rescale,
    solved,
    unsolved,
    untruncated,
)
from reasonenv.types import Judged, Problem, Rollout, Status, Verdict

EVIDENCE = [s for s in Status if s.is_evidence]
DRESSES = ["", "", "left", "right", "minus", "gate", "plus", "less"]
DRESSES += ["clip", "rescale", "scheduled", "normalized", "staged"]
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
NUMBER = st.floats(-4, 4, allow_nan=False) | st.integers(-4, 4)
PIECES = ["<a>", "</a>", "<b>", "</b>", "x", "7", " ", "\n"]
TEXT = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


@st.composite
def leaves(draw, index):
    """Draw a term under a name of its own, so that any two stand together."""
    name = f"t{index}"
    value = draw(NUMBER)
    limit = draw(st.integers(1, 40))
    return draw(
        st.sampled_from(
            [
                Correct(value, name=name),
                Score(name=name),
                TagCount("a", "b", name=name),
                Format("a", name=name),
                NumericPresent(name=name),
                Overlong(limit, cache=draw(st.integers(1, limit)), name=name),
                KimiLength(name=name),
                ShortestCorrect(name=name),
            ]
        )
    )


@st.composite
def rewards(draw, size=6):
    """Draw a tree, built as people build it: with operators and gates."""
    numbers = itertools.count()  # two nodes with a state never share a name
    nodes = [draw(leaves(i)) for i in range(draw(st.integers(1, size)))]
    while True:
        for i, node in enumerate(nodes):
            dress = draw(st.sampled_from(DRESSES))
            number = draw(NUMBER)
            if dress == "left":
                nodes[i] = number * node
            elif dress == "right":
                nodes[i] = node * number
            elif dress == "minus":
                nodes[i] = -node
            elif dress == "gate":
                when = draw(st.sampled_from([solved, unsolved, untruncated]))
                nodes[i] = gate(node, when=when)
            elif dress == "plus":
                nodes[i] = node + number
            elif dress == "less":
                nodes[i] = number - node
            elif dress == "clip":
                other = draw(NUMBER)
                nodes[i] = clip(node, min(number, other), max(number, other))
            elif dress == "rescale":
                ends = draw(st.sampled_from([(0, 1), (-2, 5), (0.5, 0.75)]))
                nodes[i] = rescale(node, ends, draw(st.sampled_from([(0, 1), (1, -1)])))
            elif dress == "scheduled":
                nodes[i] = Scheduled(node, draw(schedules()))
            elif dress == "normalized":
                nodes[i] = GroupNormalized(node, draw(st.sampled_from([6, 9])))
            elif dress == "staged":
                leaf = next(node.leaves(), None)
                if leaf is not None:
                    stage = Stage(number * node, leaf.label, patience=draw(st.integers(1, 3)))
                    nodes[i] = Curriculum(stage, node, name=f"c{next(numbers)}")
        if len(nodes) == 1:
            return nodes[0]
        at = draw(st.integers(0, len(nodes) - 2))
        joined = draw(st.sampled_from([*OPERATORS, "lexicographic"]))
        join = OPERATORS.get(joined, lexicographic)
        nodes[at : at + 2] = [join(nodes[at], nodes[at + 1])]


@st.composite
def schedules(draw):
    a, b, steps = draw(NUMBER), draw(NUMBER), draw(st.integers(1, 20))
    return draw(
        st.sampled_from(
            [
                Linear(a, b, steps=steps),
                Cosine(a, b, steps=steps, begin=3),
                Step((a, b, a), at=(steps, steps + 2)),
                Constant(a),
            ]
        )
    )


CONTEXTS = st.builds(RewardContext, st.integers(0, 30), st.just(30))


@st.composite
def members(draw, statuses=EVIDENCE):
    status = draw(st.sampled_from(statuses))
    score = 1.0 if status is Status.CORRECT else draw(st.floats(0, 0.99))
    text = draw(TEXT)
    answer = draw(st.sampled_from([None, "", "7", "x"]))
    rollout = Rollout(
        Problem("p", "a"), text, n_tokens=draw(st.integers(0, 50)), truncated=draw(st.booleans())
    )
    return Judged(rollout, Verdict(status, score, answer))


GROUPS = st.lists(members(), min_size=1, max_size=6)


@settings(max_examples=120, deadline=None)
@given(rewards())
def test_formula_config_and_pickle_give_the_same_reward_back(reward):
    assert parse(repr(reward)) == reward
    assert from_config(json.loads(json.dumps(reward.to_config()))) == reward
    assert from_config(yaml.safe_load(yaml.safe_dump(reward.to_config()))) == reward
    assert pickle.loads(pickle.dumps(reward)) == reward
    assert hash(parse(repr(reward))) == hash(reward)


@settings(max_examples=80, deadline=None)
@given(rewards(), GROUPS, CONTEXTS)
def test_parts_sum_to_the_total_and_values_stay_in_the_range(reward, group, context):
    scores = reward(group, context)
    assert scores.solved.tolist() == [float(one.verdict.status == "correct") for one in group]
    assert scores.total == pytest.approx(sum(scores.parts.values()), abs=1e-9)
    assert set(scores.terms) == {leaf.label for leaf in reward.leaves()}
    for judged, total in zip(group, scores.total, strict=True):
        low, high = reward.range(judged.verdict.status is Status.CORRECT)
        slack = 1e-9 * (1 + abs(low) + abs(high))
        assert low - slack <= total <= high + slack


@settings(max_examples=80, deadline=None)
@given(rewards(), st.lists(members(list(Status)), min_size=1, max_size=6))
def test_an_unscored_member_gets_nan_everywhere_and_changes_nobody_elses_score(reward, group):
    scores = reward(group)
    evidence = np.array([judged.verdict.status.is_evidence for judged in group])
    alone = reward([j for j in group if j.verdict.status.is_evidence])
    for whole, part in (
        (scores.solved, alone.solved),
        (scores.total, alone.total),
        *((scores.terms[name], alone.terms[name]) for name in scores.terms),
        *((scores.parts[name], alone.parts[name]) for name in scores.parts),
    ):
        assert np.isnan(whole[~evidence]).all()
        assert whole[evidence] == pytest.approx(part)
        assert not np.isnan(whole[evidence]).any()
    assert set(scores.terms) == set(alone.terms)


@settings(max_examples=60, deadline=None)
@given(rewards(), GROUPS, st.data())
def test_permuting_a_group_permutes_its_scores(reward, group, data):
    order = data.draw(st.permutations(range(len(group))))
    straight, mixed = reward(group), reward([group[i] for i in order])
    assert mixed.total == pytest.approx(straight.total[order], abs=1e-9)
    assert mixed.solved.tolist() == straight.solved[order].tolist()


@settings(max_examples=60, deadline=None)
@given(rewards(3), NUMBER, GROUPS)
def test_operators_mean_what_they_say(reward, number, group):
    total = reward(group).total
    assert (number * reward)(group).total == pytest.approx(number * total, abs=1e-9)
    assert (reward * number)(group).total == pytest.approx(number * total, abs=1e-9)
    assert (reward + number)(group).total == pytest.approx(total + number, abs=1e-9)
    assert (number + reward)(group).total == pytest.approx(total + number, abs=1e-9)
    assert (reward - number)(group).total == pytest.approx(total - number, abs=1e-9)
    assert (number - reward)(group).total == pytest.approx(number - total, abs=1e-9)
    assert (-reward)(group).total == pytest.approx(-total, abs=1e-9)
    for when in (solved, unsolved, untruncated):
        is_open = np.array([when.holds(judged) for judged in group])
        gated = gate(reward, when=when)(group).total
        assert gated == pytest.approx(np.where(is_open, total, 0.0))


@settings(max_examples=60, deadline=None)
@given(leaves(0), leaves(1), leaves(2), GROUPS)
def test_sums_and_products_are_taken_member_by_member(a, b, c, group):
    x, y, z = (term(group).total for term in (a, b, c))
    assert (a + b)(group).total == pytest.approx(x + y)
    assert (a - b)(group).total == pytest.approx(x - y)
    assert (a * b)(group).total == pytest.approx(x * y)
    assert (a * (b + c))(group).total == pytest.approx(x * (y + z))
    assert (a * (b * c))(group).total == pytest.approx(x * y * z)


def test_each_top_level_addend_is_a_part_and_products_and_gates_are_one(judged):
    reward = Correct(2.0) + 0.5 * (TagCount("a") * Score()) + gate(NumericPresent(), when=solved)
    scores = reward([judged("7"), judged("<a>8</a>", "incorrect")])
    assert {name: list(v) for name, v in scores.parts.items()} == {
        "correct": [2.0, 0.0],
        "tag_count*score": [0.0, 0.0],
        "numeric_present": [1.0, 0.0],
    }
    assert scores.terms["tag_count"].tolist() == [0.0, 1.0]
    assert scores.terms["numeric_present"].tolist() == [1.0, 1.0]
    assert scores.total.tolist() == [3.0, 0.0]
    assert scores.solved.tolist() == [1.0, 0.0]
    assert len(scores) == 2


def test_a_breakdown_shows_a_dash_for_what_was_not_scored(judged):
    table = (Correct() + 0.5 * Format("a"))([judged("<a>x</a>"), judged("", "checker_error")])
    lines = table.table().splitlines()
    assert lines[0].split() == ["solved", "correct", "format", "total"]
    assert lines[1].split() == ["1.000", "1.000", "0.500", "1.500"]
    assert lines[2].split() == ["-", "-", "-", "-"]


def test_an_empty_group_has_empty_scores():
    scores = (Correct() + Format("a"))([])
    assert len(scores) == 0
    assert set(scores.terms) == set(scores.parts) == {"correct", "format"}


def test_sums_are_flat_and_their_numbers_are_added_up():
    assert repr(Correct() + (Score() + 1) + 2 - Format("a")) == (
        "Correct() + Score() + 3.0 - 1.0 * Format('a')"
    )
    assert repr(1 + Correct() - 1) == "Correct()"
    assert sum([Correct(), Score()]) == Correct() + Score()
    assert repr(2 * (3 * Correct())) == "6.0 * Correct()"
    assert (0.5 * Correct()) * Score() == 0.5 * (Correct() * Score())


def test_numbers_of_numpy_are_numbers():
    assert np.float64(0.5) * Correct() == 0.5 * Correct()
    assert np.float32(0.5) + Correct() == 0.5 + Correct()
    assert Correct() * np.int64(2) == Correct() * 2


def test_two_different_terms_of_one_name_are_refused():
    for build in (
        lambda: Format("a") + Format("b"),
        lambda: Format("a") * Format("b"),
        lambda: Correct() + gate(0.5 * Correct(2.0), when=solved),
    ):
        with pytest.raises(RewardError, match="two terms are called"):
            build()
    assert Format("a") + Format("b", name="format_b")


def test_one_part_twice_is_refused():
    with pytest.raises(RewardError, match="the part 'correct' stands twice"):
        Correct() + 0.5 * Correct()


@pytest.mark.parametrize("other", ["Correct()", None, True, float("nan"), float("inf"), [1], abs])
def test_rewards_combine_with_rewards_and_finite_numbers_only(other):
    for build in (
        lambda: Correct() + other,
        lambda: other - Correct(),
        lambda: Correct() * other,
        lambda: gate(other, when=solved),
    ):
        with pytest.raises((RewardError, TypeError)):
            build()


def test_a_weight_that_overflows_is_refused():
    with pytest.raises(RewardError, match="finite"):
        1e308 * (10 * Correct())


def test_an_unknown_condition_is_refused_with_the_nearest():
    for when in ("solvd", 5, None, ["solved"]):
        with pytest.raises(RewardError, match="no condition is called"):
            gate(Correct(), when=when)
    with pytest.raises(RewardError, match="did you mean `solved`"):
        gate(Correct(), when="solvd")


RANGES = [
    (Correct(2.0), (2, 2), (0, 0)),
    (-1 * Correct(2.0), (-2, -2), (0, 0)),
    (Score(), (1, 1), (0, 1)),
    (KimiLength(), (-0.5, 0.5), (-0.5, 0)),
    (ShortestCorrect(), (0, 1), (0, 0)),
    (gate(Format("a"), when=solved), (0, 1), (0, 0)),
    (gate(3.0, when=solved), (3, 3), (0, 0)),
    (gate(3.0, when=unsolved), (0, 0), (3, 3)),
    (gate(3.0, when=untruncated), (0, 3), (0, 3)),
    (Correct() - 0.5 * Overlong(9, cache=3), (0.5, 1), (-0.5, 0)),
    ((Correct() - 2) * (Format("a") - 3), (2, 3), (4, 6)),
]


@pytest.mark.parametrize(("reward", "right", "wrong"), RANGES, ids=[repr(r[0]) for r in RANGES])
def test_ranges(reward, right, wrong):
    assert reward.range(correct=True) == Range(*right)
    assert reward.range(correct=False) == Range(*wrong)


def test_a_wrong_answer_that_can_outscore_a_right_one_is_warned_of():
    assert (Correct() + 0.1 * Format("a")).warnings() == ()
    (warning,) = (Correct() + 1.5 * Format("a")).warnings()
    assert warning.startswith("a wrong answer can earn 1.5 and a right one may earn 1:")
    assert (Correct() + Format("a")).warnings()  # a tie is no dominance
    assert (1 - Correct()).warnings()
    assert not (Correct() + gate(5 * Format("a"), when=solved)).warnings()


def test_a_reward_knows_whether_it_needs_a_group():
    assert not (Correct() + Format("a")).needs_group
    assert (Correct() + gate(0.1 * (Format("a") * KimiLength()), when=solved)).needs_group


def test_rewards_are_frozen():
    reward = Correct(2.0)
    with pytest.raises(AttributeError):
        reward.value = 3.0
    assert {Correct(2.0), Correct(2.0)} == {reward}


@dataclass(frozen=True, repr=False)
class Constantly(Term):
    values_: tuple = ()

    def measure(self, group, context):
        return list(self.values_)

    def range(self, correct):
        return Range(float("-inf"), float("inf"))


@pytest.mark.parametrize(
    "values", [(), (1,), (1, 2, 3), ((1,), (2,)), (float("inf"), 0), (float("nan"), 0), ("a", "b")]
)
def test_a_term_that_misbehaves_is_named(judged, values):
    with pytest.raises(RewardError, match="Constantly"):
        (Correct() + Constantly(values))([judged(), judged()])


def test_a_term_sees_where_in_training_it_is(judged):
    @dataclass(frozen=True, repr=False)
    class Progress(Term):
        def measure(self, group, context):
            return [context.step / context.total_steps] * len(group)

        def range(self, correct):
            return Range(0.0, 1.0)

    assert Progress()([judged()], RewardContext(3, 4)).total.tolist() == [0.75]
