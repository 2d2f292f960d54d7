"""Terms that read lengths."""

import pytest

from reasonenv.errors import RewardError
from reasonenv.rewards import Correct, KimiLength, Overlong, ShortestCorrect, gate, solved


def group(judged, *members):
    return [judged(status=status, n_tokens=n) for status, n in members]


def test_overlong_grows_through_the_cache(judged):
    members = group(judged, *(("correct", n) for n in (0, 384, 448, 512, 900)))
    assert Overlong(512, cache=128)(members).total.tolist() == [0, 0, 0.5, 1, 1]


def test_kimi_length_pays_short_right_answers_and_no_wrong_one(judged):
    members = group(judged, ("correct", 10), ("correct", 30), ("incorrect", 10), ("incorrect", 20))
    assert KimiLength()(members).total.tolist() == [0.5, -0.5, 0.0, 0.0]
    alike = group(judged, ("correct", 10), ("incorrect", 10))
    assert KimiLength()(alike).total.tolist() == [0.0, 0.0]


def test_the_shortest_right_answer_sets_the_measure(judged):
    members = group(judged, ("incorrect", 1), ("correct", 40), ("correct", 20), ("correct", 0))
    assert ShortestCorrect()(members[:3]).total.tolist() == [0.0, 0.5, 1.0]
    assert ShortestCorrect()(members).total.tolist() == [0.0, 1 / 40, 1 / 20, 1.0]
    assert ShortestCorrect()(members[:1]).total.tolist() == [0.0]


def test_a_member_whose_checker_failed_sets_no_measure(judged):
    members = group(judged, ("checker_error", 1), ("correct", 40), ("correct", 20))
    assert ShortestCorrect()(members).total[1:].tolist() == [0.5, 1.0]
    assert KimiLength()(members).total[1:].tolist() == [-0.5, 0.5]


def test_without_lengths_in_tokens_the_term_says_what_to_give(judged):
    for term in (Overlong(10, cache=2), KimiLength(), ShortestCorrect()):
        with pytest.raises(RewardError, match="give the environment a count_tokens="):
            (Correct() + gate(term, when=solved))([judged(n_tokens=None)])


@pytest.mark.parametrize("sizes", [(10, 11), (0, 1), (10, 0), (-5, 1), (float("inf"), 1)])
def test_an_impossible_overlong_is_refused(sizes):
    with pytest.raises(RewardError, match="0 < cache <= limit"):
        Overlong(*sizes)
