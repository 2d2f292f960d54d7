"""The study's rewards by name, with its weights (arXiv 2609.39321, table 6)."""

import pytest

from reasonenv.errors import RewardError
from reasonenv.rewards import NAMED_REWARDS, from_config, ours, parse, study

WEIGHTS = {
    "gsm8k": {
        "correct": 2.0,
        "xml_count": 0.5,
        "numeric_present": 0.5,
        "format": 0.5,
        "reasoning_present": 0.1,
        "answer_present": 0.1,
    },
    "arc": {"correct": 2.0, "valid_option": 0.5, "xml_count": 0.5, "format": 0.5},
    "opencoder": {
        "all_passed": 1.0,
        "complexity": 1.0,
        "xml_count": 0.5,
        "syntax": 0.5,
        "reasoning_present": 0.1,
    },
    "opencoder_refined": {
        "all_passed": 2.0,
        "complexity": 1.0,
        "xml_count": 0.5,
        "syntax": 0.5,
        "reasoning_present": 0.1,
    },
}
"""What each addend can earn at most: its weight, as every term pays at most 1 (correctness 2)."""


@pytest.mark.parametrize("name", WEIGHTS)
def test_a_studys_reward_has_exactly_its_weights(name):
    reward = parse(f"study.{name}()")
    assert {part.label: part.range(True).high for part in reward.addends()} == WEIGHTS[name]
    assert reward == getattr(study, name)()


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("study.gsm8k", 1.7, 2.1),
        ("study.arc", 1.5, 2.5),
        ("study.opencoder", 2.1, 1.5),
        ("study.opencoder_refined", 2.1, 2.5),
        ("ours.gsm8k_gated", 1.0, 2.1),
        ("ours.arc_gated", 1.0, 2.5),
        ("ours.opencoder_gated", 1.0, 2.5),
    ],
)
def test_what_a_wrong_answer_can_earn_and_a_right_one_must(name, wrong, right):
    reward = parse(f"{name}()")
    assert reward.range(correct=False).high == pytest.approx(wrong)
    assert reward.range(correct=True).low == pytest.approx(right)
    assert bool(reward.warnings()) == (wrong >= right)


def test_a_gated_reward_pays_a_right_answer_as_the_study_does():
    assert ours.gsm8k_gated().range(True) == pytest.approx(study.gsm8k().range(True))
    assert ours.opencoder_gated().range(True) == pytest.approx(
        study.opencoder_refined().range(True)
    )


@pytest.mark.parametrize("name", sorted(NAMED_REWARDS))
def test_a_named_reward_stands_in_formulas_and_configs(name):
    reward = parse(f"{name}()")
    assert from_config(reward.to_config()) == reward
    assert parse(repr(reward)) == reward
    assert parse(f"{name}() - 0.2 * Repetition()").addends()[:-1] == reward.addends()


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("study.gsm()", "no reward is called 'study.gsm'; did you mean `study.gsm8k`"),
        ("studies.arc()", "did you mean `study.arc`"),
        ("os.getcwd()", "no reward is called 'os.getcwd'"),
        ("study.gsm8k(2)", "cannot read"),
        ("study.gsm8k", "cannot read"),
        ("study.gsm8k.x()", "cannot read"),
    ],
)
def test_a_name_that_is_none_is_refused_with_the_nearest(formula, said):
    with pytest.raises(RewardError, match=said):
        parse(formula)
