"""What an audit proves, refutes and leaves open; and what it reads from rollouts."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasonenv.errors import RewardError
from reasonenv.rewards import (
    Correct,
    Curriculum,
    Format,
    GroupNormalized,
    KimiLength,
    Linear,
    PotentialBased,
    Range,
    Scheduled,
    Score,
    ShortestCorrect,
    Stage,
    TagCount,
    Term,
    gate,
    gdpo,
    lexicographic,
    parse,
    solved,
    study,
)
from reasonenv.rewards.audit import audit, observe
from reasonenv.types import Judged, Problem, Rollout, Status, Verdict

from .test_algebra import GROUPS, rewards

P = Problem("p", "a", id="p")


def one(text, right, group="g", status=None):
    status = status or (Status.CORRECT if right else Status.INCORRECT)
    return Judged(Rollout(P, text, group), Verdict(status, float(right)))


# The study's recipes (arXiv 2609.39321, table 6)


def test_the_studys_gsm8k_reward_lets_correctness_dominate():
    found = study.gsm8k().audit()
    assert found.verdict == "proved"
    assert found
    assert (found.right_low, found.wrong_high) == (pytest.approx(2.1), pytest.approx(1.7))
    # Without the promise that a right answer is there at all, it still does.
    [assumption] = found.assumptions
    assert (assumption.term, assumption.needed) == ("answer_present", False)
    assert "PROVED" in str(found)


def test_the_studys_arc_reward_lets_correctness_dominate():
    found = study.arc().audit()
    assert found.verdict == "proved"
    assert (found.right_low, found.wrong_high) == (2.5, 1.5)
    [valid] = found.assumptions  # without the promise that a right option is one, it still does
    assert (valid.term, valid.right_low, valid.needed) == ("valid_option", 2.0, False)


def test_the_studys_opencoder_reward_is_refuted_at_weight_one_with_a_witness():
    reward = study.opencoder()
    found = reward.audit()
    assert found.verdict == "refuted"
    assert (found.right_low, found.wrong_high) == (pytest.approx(1.5), pytest.approx(2.1))
    [syntax] = found.assumptions  # right from 1.5 only if a right program parses
    assert (syntax.term, syntax.right_low) == ("syntax", pytest.approx(1.0))
    assert found.witness.wrong.total == pytest.approx(2.1)
    assert found.witness.right.total < found.witness.wrong.total
    assert {fault.part for fault in found.faults} == {
        "complexity",
        "xml_count",
        "reasoning_present",
    }
    first = found.changes[0]
    assert (first.part, first.way, first.bound) == ("all_passed", "above", pytest.approx(1.6))
    assert parse(repr(reward).replace("AllPassed()", "1.61 * AllPassed()")).audit()
    assert not parse(repr(reward).replace("AllPassed()", "1.6 * AllPassed()")).audit()


def test_at_the_refined_weight_dominance_follows_from_a_right_program_parsing():
    found = study.opencoder_refined().audit()
    assert found.verdict == "proved"
    [syntax] = found.assumptions
    assert syntax.needed
    assert (syntax.right_low, syntax.wrong_high) == (pytest.approx(2.0), pytest.approx(2.1))
    assert "syntax being 1 for every right answer" in str(found)
    assert "and nothing is proved" in str(found)


# Proof, refutation, and neither


VERDICTS = {
    "Correct() + 0.1 * Format('a')": "proved",
    "Correct() + Format('a')": "refuted",  # a tie is no dominance
    "Correct() + 1.5 * Format('a')": "refuted",
    "Correct() + gate(5 * Format('a'), when=solved)": "proved",
    "Correct() - 2 * gate(Format('a'), when=solved)": "refuted",
    "1 - Correct()": "refuted",
    "lexicographic(Correct(), 100 * Format('a'))": "proved",
    "Correct() + 0.9 * ShortestCorrect() + 0.4 * KimiLength()": "proved",
    # Each may be 1, but no completion has both layouts: the ranges alone would refute it.
    "Correct() + 0.6 * Format('a') + 0.6 * Format('b', name='b')": "not proved",
    "GroupNormalized(Correct(), 4) + GroupNormalized(Format('a'), 4)": "refuted",
    "GroupNormalized(Correct(), 4) + 0.5 * GroupNormalized(Format('a'), 4)": "not proved",
    "Format('a')": "refuted",
}


@pytest.mark.parametrize(("formula", "verdict"), VERDICTS.items(), ids=VERDICTS)
def test_verdicts(formula, verdict):
    reward = parse(formula)
    found = audit(reward)
    assert found.verdict == verdict
    assert bool(reward.warnings()) == (verdict != "proved")
    assert json.loads(json.dumps(found.to_json()))["verdict"] == verdict
    assert str(found).startswith(repr(reward))
    if found.witness:  # its completions really earn that, in the reward's own parts
        for side in (found.witness.wrong, found.witness.right):
            assert side.total == pytest.approx(sum(side.parts.values()))
        assert found.witness.wrong.total >= found.witness.right.total


@settings(max_examples=40, deadline=None)
@given(rewards(4), GROUPS)
def test_a_proof_holds_in_every_group(reward, group):
    if reward.warnings():
        return
    scores = reward(group)
    right, wrong = scores.total[scores.solved == 1], scores.total[scores.solved == 0]
    if len(right) and len(wrong):
        assert right.min() > wrong.max()


@settings(max_examples=40, deadline=None)
@given(st.tuples(*[st.floats(0.1, 3)] * 3))
def test_a_suggested_change_of_a_weight_restores_dominance_and_no_smaller_one_does(weights):
    a, b, c = weights

    def build(a, b, c):
        return a * Correct() + b * Format("x") + c * TagCount("x")

    names = ("correct", "format", "tag_count")
    for change in build(a, b, c).audit().changes:
        for slack, proved in ((1e-6, True), (-1e-6, False)):
            passed = change.bound + (slack if change.way == "above" else -slack)
            new = dict(zip(names, weights, strict=True)) | {change.part: passed}
            assert (not build(*new.values()).warnings()) == proved


def test_a_schedule_is_compared_with_itself_at_each_step():
    # From step to step the whole reward doubles: no single step lets a wrong answer win.
    growing = Scheduled(2 * Correct() + 1.5 * Format("a"), Linear(1.0, 3.0, steps=9))
    assert growing.range(correct=False).high > growing.range(correct=True).low
    assert growing.audit().verdict == "proved"
    fading = Correct() + Scheduled(2 * Format("a"), Linear(1.0, 0.0, steps=9))
    found = fading.audit()
    assert (found.verdict, found.step) == ("refuted", 0)
    assert "at step 0" in str(found)


def test_of_a_very_long_schedule_its_ends_are_tried():
    growing = Correct() + Scheduled(2 * Format("a"), Linear(0.0, 1.0, steps=1_000_000))
    found = growing.audit()
    assert (found.verdict, found.step) == ("refuted", 1_000_000)
    assert (Correct() + Scheduled(0.5 * Format("a"), Linear(0.0, 1.0, steps=10**6))).audit()


def test_a_curriculum_is_compared_with_itself_in_each_stage():
    reward = Curriculum(Stage(0.1 * Correct() + 0.05 * Format("a"), until="format"), Correct())
    assert reward.audit().verdict == "proved"
    found = Curriculum(Stage(Format("a"), until="format"), Correct()).audit()
    assert (found.verdict, dict(found.stages)) == ("refuted", {"curriculum": 0})


def test_what_is_the_same_for_a_whole_group_moves_nobody_past_anybody():
    reward = Correct() + 9 * PotentialBased(TagCount("a")) + 5
    assert reward.audit().verdict == "proved"


def test_group_scaling_makes_shaping_the_whole_advantage_in_groups_of_one_outcome():
    for reward in (
        Correct() + 1e-6 * Format("a"),
        lexicographic(Correct(), Format("a")),
        gdpo(Correct() + Format("a"), 4),
    ):
        found = reward.audit()
        assert found.shaping
        assert "under group scaling their whole advantage is shaping, at any weight" in str(found)
    assert Correct().audit().shaping == ()


@dataclass(frozen=True, repr=False)
class AsksAServer(Term):
    can_fail = True

    def measure(self, group, context):
        raise AssertionError("an audit asks no server")

    def range(self, correct):
        return Range(0.0, 2.0)


def test_a_term_that_asks_somebody_is_not_asked():
    assert (Correct() + AsksAServer()).audit().verdict == "not proved"


# Rollouts


def test_shares_correlations_and_deviations_within_groups():
    rng = np.random.default_rng(0)
    group = [
        one("<a>x</a>" if rng.random() < 0.7 else "x", rng.random() < 0.4, f"g{i // 8}")
        for i in range(160)
    ]
    reward = Correct(2.0) + 0.5 * Format("a")
    found = observe(reward, group)
    solved = np.array([one.verdict.status is Status.CORRECT for one in group], dtype=float)
    layout = np.array(["<a>" in one.rollout.text for one in group], dtype=float)
    centred = [
        (v.reshape(20, 8) - v.reshape(20, 8).mean(axis=1, keepdims=True)).ravel()
        for v in (2 * solved, 0.5 * layout)
    ]
    total = centred[0] + centred[1]
    shares = [float((part * total).sum() / (total**2).sum()) for part in centred]
    assert [part.share for part in found.parts] == pytest.approx(shares)
    assert sum(part.share for part in found.parts) == pytest.approx(1.0)
    assert found.terms[1].mean == pytest.approx(layout.mean())
    assert found.terms[1].deviation == pytest.approx(layout.reshape(20, 8).std(axis=1).mean())
    expected = np.corrcoef(layout, solved)[0, 1]
    assert found.terms[1].outcome_correlation == pytest.approx(expected)
    assert found.terms[0].outcome_correlation == pytest.approx(1.0)
    assert (found.rollouts, found.groups, found.unscored) == (160, 20, 0)


def test_groups_that_shaping_turns_round_are_found_and_shown_as_witness():
    reward = Correct() + 1.5 * Format("a")
    group = [
        one("<a>x</a>", False, "turned"),
        one("x", True, "turned"),
        one("x", False, "straight"),
        one("<a>x</a>", True, "straight"),
        one("<a>x</a>", False, "all wrong"),
        one("x", False, "all wrong"),
        one("x", False, "silent"),
        one("x", False, "silent"),
        one("", False, "silent", Status.CHECKER_ERROR),
    ]
    found = reward.audit(group)
    seen = found.observed
    assert (seen.groups, seen.mixed, seen.unscored) == (4, 2, 1)
    [flip] = seen.flips
    assert (flip.wrong_best, flip.right_least) == (1.5, 1.0)
    assert seen.shaped_alone == 0.5
    assert seen.suspects[0].completion == "<a>x</a>"
    assert seen.witness.wrong.completion == "<a>x</a>"
    text = str(found)
    assert "measured on 9 rollouts in 4 groups, 2 of them mixed (1 rollouts not scored)" in text
    assert "groups whose order the shaping turns round: 1 of 2" in text


def test_rollouts_refute_what_no_probe_does():
    @dataclass(frozen=True, repr=False)
    class Odd(Term):
        def measure(self, group, context):
            return [float("xyzzy" in one.rollout.text) for one in group]

        def range(self, correct):
            return Range(0.0, 1.0)

    reward = Correct() + 2 * Odd()
    assert reward.audit().verdict == "not proved"
    found = reward.audit([one("xyzzy", False), one("4", True)])
    assert found.verdict == "refuted"
    assert found.witness.source == "rollouts"


def test_dead_and_saturated_terms_are_marked():
    group = [one("<a>x</a>", i % 2 == 0) for i in range(4)]
    reward = Correct() + Format("a") + Format("b", name="b") + 0.5 * Score()
    states = {term.name: term.state for term in observe(reward, group).terms}
    assert states == {"correct": "", "format": "saturated", "b": "dead", "score": ""}


def test_stored_rows_are_read_as_they_were_scored():
    rows = [
        {
            "step": 0,
            "group_id": "g",
            "problem_id": "p",
            "prefill": "",
            "completion": text,
            "solved": right,
            "terms": {"correct": right},
            "parts": {"correct": right},
        }
        for text, right in (("a", 1.0), ("b", 0.0), ("c", None))
    ]
    found = observe(None, rows)
    assert (found.rollouts, found.unscored, found.parts[0].share) == (3, 1, pytest.approx(1.0))
    with pytest.raises(RewardError, match="Judged rollouts, or the stored rows"):
        Correct().audit([{"completion": "a"}])
    with pytest.raises(RewardError, match="none of the 1 rollouts was scored"):
        Correct().audit(rows[2:])
    with pytest.raises(RewardError, match="none of the 0"):
        Correct().audit([])


def test_normalised_and_group_relative_rewards_are_audited_on_rollouts_too():
    members = [
        Judged(Rollout(P, "<a>x</a>", "g", n_tokens=n), Verdict("correct" if r else "incorrect", r))
        for n, r in ((3, 1.0), (5, 0.0), (9, 1.0))
    ]
    reward = GroupNormalized(Correct()) + gate(ShortestCorrect(), when=solved) + KimiLength()
    found = observe(reward, members)
    assert sum(part.share for part in found.parts) == pytest.approx(1.0)
