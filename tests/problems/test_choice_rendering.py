"""How draws ask a question: what changes, what must not, and that no place can be learnt."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonenv.errors import DataError
from reasonenv.problems.choice_rendering import (
    ADDED,
    LABEL_STYLES,
    NONE_OF_THE_ABOVE,
    Rendering,
    as_asked,
    roman,
)
from reasonenv.problems.choices import UnusableChoiceError, golds_of, labels_of
from reasonenv.types import Problem, canonical_json

OPTIONS = ("red", "blue", "green", "black", "white")
COLOUR = Problem("Which?", "C", {"options": OPTIONS, "level": 2}, id="q1")
CHI_SQUARE = {2: 13.8, 3: 16.3, 4: 18.5}
"""Upper 0.1 % points by degrees of freedom."""


def ask(problem=COLOUR, seed=0, count=1, **plan):
    return Rendering(**plan).views(problem, np.random.default_rng(seed), count)


def text_of_gold(problem):
    return tuple(problem.metadata["options"][place] for place in golds_of(problem))


def chi_square(counts, cells):
    expected = sum(counts.values()) / cells
    return sum((counts[cell] - expected) ** 2 / expected for cell in range(cells))


plans = st.builds(
    Rendering,
    shuffle=st.booleans(),
    labels=st.sampled_from([*LABEL_STYLES, "random"]),
    keep=st.none() | st.tuples(st.integers(2, 4), st.integers(4, 7)),
    none_of_the_above=st.none() | st.floats(0, 1),
)
texts = st.text("abcdeIV123 ", min_size=1, max_size=3).filter(str.strip)
questions = st.builds(
    lambda options, gold: Problem("?", "ABCDEFG"[gold % len(options)], {"options": options}),
    st.lists(st.sampled_from(["sun", "moon", "star", "None of these", "comet", "4", "II", "Both"]),
             min_size=2, max_size=7, unique=True),
    st.integers(0, 100),
)  # fmt: skip


@given(plans, questions, st.integers(0, 2**32), st.integers(1, 6))
def test_whatever_is_drawn_the_right_content_is_asked_under_a_label_of_its_own(
    plan, problem, seed, count
):
    views = plan.views(problem, np.random.default_rng(seed), count)
    [gold] = text_of_gold(problem)
    assert len(views) == count
    for view in views:
        options, labels = view.metadata["options"], labels_of(view)
        assert (view.id, view.prompt) == (problem.id, problem.prompt)
        assert len(options) == len(labels) == len(set(labels)) >= 2
        assert view.answer in labels
        asked = text_of_gold(view)[0]
        assert asked == gold or (asked == NONE_OF_THE_ABOVE and gold not in options)
        order = view.metadata["rendering"]["order"]
        source = problem.metadata["options"]
        assert [NONE_OF_THE_ABOVE if i == ADDED else source[i] for i in order] == list(options)
        assert as_asked(problem, json.loads(canonical_json(view.metadata["rendering"]))) == view
    assert len({frozenset(view.metadata["options"]) for view in views}) == 1
    assert views == plan.views(problem, np.random.default_rng(seed), count)
    assert views[0] == plan.views(problem, np.random.default_rng(seed), 1)[0]


@pytest.mark.parametrize("size", [3, 4, 5])
def test_the_place_of_the_right_option_is_even_over_draws(size):
    problem = Problem("?", "A", {"options": OPTIONS[:size]})
    rng = np.random.default_rng(5)
    counts = Counter(golds_of(Rendering().views(problem, rng)[0])[0] for _ in range(3000))
    assert chi_square(counts, size) < CHI_SQUARE[size - 1]


def test_the_place_is_even_in_every_view_of_a_group_and_for_every_option():
    rng = np.random.default_rng(6)
    draws = [Rendering().views(COLOUR, rng, 3) for _ in range(2000)]
    for view in range(3):
        for option in range(5):
            orders = (d[view].metadata["rendering"]["order"] for d in draws)
            counts = Counter(order.index(option) for order in orders)
            assert chi_square(counts, 5) < CHI_SQUARE[4]


def test_no_option_keeps_its_place_in_two_views_as_long_as_there_are_places():
    for seed in range(50):
        orders = [view.metadata["rendering"]["order"] for view in ask(seed=seed, count=5)]
        for place in range(5):
            assert len({order[place] for order in orders}) == 5
    orders = [view.metadata["rendering"]["order"] for view in ask(count=12)]
    assert len(orders) == 12


def test_without_shuffling_the_order_is_the_questions_own():
    [view] = ask(shuffle=False)
    assert view.metadata["options"] == OPTIONS
    assert view.answer == "C"


@pytest.mark.parametrize(
    ("style", "labels"),
    [
        ("letters", ("A", "B", "C", "D", "E")),
        ("numbers", ("1", "2", "3", "4", "5")),
        ("roman", ("I", "II", "III", "IV", "V")),
    ],
)
def test_labels_come_in_three_styles(style, labels):
    [view] = ask(labels=style)
    assert labels_of(view) == labels
    assert view.answer == labels[view.metadata["options"].index("green")]
    assert view.metadata["rendering"]["labels"] == style


def test_random_labels_draw_each_style_about_as_often():
    rng = np.random.default_rng(1)
    plan = Rendering(labels="random")
    styles = Counter(
        LABEL_STYLES.index(plan.views(COLOUR, rng)[0].metadata["rendering"]["labels"])
        for _ in range(1500)
    )
    assert chi_square(styles, 3) < CHI_SQUARE[2]


def test_a_question_with_labels_of_its_own_keeps_them_under_letters():
    problem = Problem("?", "Q", {"options": ("red", "blue"), "labels": ("P", "Q")})
    for seed in range(8):
        [view] = ask(problem, seed)
        assert labels_of(view) == ("P", "Q")
        assert text_of_gold(view) == ("blue",)


@pytest.mark.parametrize(
    ("options", "style", "used"),
    [
        (("2", "1", "5"), "numbers", "letters"),
        (("II", "I", "x"), "roman", "letters"),
        (("4", "I", "x"), "numbers", "numbers"),  # no option is called 4
    ],
)
def test_labels_that_an_option_reads_give_way_to_another_style(options, style, used):
    [view] = ask(Problem("?", "A", {"options": options}), labels=style, shuffle=False)
    assert view.metadata["rendering"]["labels"] == used
    assert view.metadata["options"] == options


def test_where_every_style_is_read_by_an_option_the_own_order_is_asked():
    problem = Problem("?", "A", {"options": ("A", "1", "I")})
    asked = [ask(problem, seed, labels="random")[0] for seed in range(40)]
    for view in asked:
        pairs = list(zip(labels_of(view), view.metadata["options"], strict=True))
        assert all(text not in labels_of(view) or text == label for label, text in pairs)
        assert text_of_gold(view) == ("A",)
    assert ("A", "1", "I") in {view.metadata["options"] for view in asked}


def test_blood_groups_are_asked_without_ambiguity():
    problem = Problem("?", "C", {"options": ("A", "B", "AB", "O")})
    styles = Counter(ask(problem, seed)[0].metadata["rendering"]["labels"] for seed in range(40))
    assert styles["numbers"] > 20  # as letters whenever A and B happen to be called so
    for seed in range(40):
        [view] = ask(problem, seed)
        pairs = dict(zip(labels_of(view), view.metadata["options"], strict=True))
        assert all(pairs.get(text, text) == text for text in ("A", "B"))
        assert text_of_gold(view) == ("AB",)


def test_the_number_of_options_is_drawn_evenly_and_the_right_one_always_stays():
    rng = np.random.default_rng(2)
    plan = Rendering(keep=(2, 4))
    sizes, dropped = Counter(), Counter()
    for _ in range(1500):
        [view] = plan.views(COLOUR, rng)
        order = view.metadata["rendering"]["order"]
        assert text_of_gold(view) == ("green",)
        sizes[len(order) - 2] += 1
        dropped.update(place for place in range(5) if place not in order)
    assert chi_square(sizes, 3) < CHI_SQUARE[2]
    assert set(dropped) == {0, 1, 3, 4}
    assert min(dropped.values()) > 0.9 * max(dropped.values())


def test_more_options_than_there_are_is_all_of_them():
    assert len(ask(keep=(9, 12))[0].metadata["options"]) == 5


def test_none_of_the_above_is_right_in_its_share_of_draws_and_wrong_in_the_others():
    rng = np.random.default_rng(3)
    plan = Rendering(none_of_the_above=0.25)
    right = 0
    for _ in range(2000):
        [view] = plan.views(COLOUR, rng)
        options = view.metadata["options"]
        assert options[-1] == NONE_OF_THE_ABOVE
        is_right = "green" not in options
        assert text_of_gold(view) == ((NONE_OF_THE_ABOVE,) if is_right else ("green",))
        assert len(options) == (5 if is_right else 6)
        right += is_right
    assert 430 < right < 570  # 500 expected, deviation 19


@pytest.mark.parametrize(
    ("options", "gold"),
    [
        (("red", "blue", "Both A and B", "green"), "C"),
        (("I only", "II only", "I and II only"), "B"),
    ],
)
def test_a_question_whose_options_name_others_is_asked_as_it_is(options, gold):
    problem = Problem("?", gold, {"options": options})
    for seed in range(10):
        [view] = ask(problem, seed, labels="roman", keep=(2, 2), none_of_the_above=1.0)
        assert view.metadata["options"] == options
        assert (view.answer, labels_of(view)[0]) == (gold, "A")


def test_all_of_the_above_stays_last_and_nothing_is_dropped():
    problem = Problem("?", "D", {"options": ("red", "blue", "green", "All of the above")})
    seen = set()
    for seed in range(40):
        [view] = ask(problem, seed, labels="numbers", keep=(2, 3), none_of_the_above=0.5)
        assert view.metadata["options"][-1] == "All of the above"
        assert view.answer == "4"
        seen.add(view.metadata["options"])
    assert len(seen) == 6


def test_several_right_options_stay_together_and_stay_right():
    problem = Problem("?", ("A", "C"), {"options": OPTIONS, "multiple": True})
    for seed in range(30):
        [view] = ask(problem, seed, labels="numbers", keep=(2, 4), none_of_the_above=1.0)
        assert set(text_of_gold(view)) == {"red", "green"}
        assert isinstance(view.answer, tuple)
        assert list(view.answer) == sorted(view.answer, key=int)
        assert NONE_OF_THE_ABOVE not in view.metadata["options"]


def test_a_question_without_a_right_option_stays_without():
    [view] = ask(Problem("?", None, {"options": OPTIONS}))
    assert view.answer is None


def test_an_unusable_question_is_not_asked():
    with pytest.raises(UnusableChoiceError, match=r"problem q9: .*names no option"):
        ask(Problem("?", "Z", {"options": OPTIONS}, id="q9"))


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"labels": "greek"}, "labels='greek' is not one of letters, numbers, roman, random"),
        ({"keep": (1, 3)}, r"keep=\(1, 3\): .*the fewest is at least 2"),
        ({"keep": (4, 3)}, "give the fewest and the most"),
        ({"keep": 3}, "keep=3: "),
        ({"keep": (2, 3.5)}, "give the fewest"),
        ({"none_of_the_above": 1.5}, "the share of draws in"),
        ({"none_of_the_above": True}, "the share of draws in"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(plan, message):
    with pytest.raises(ValueError, match=message):
        Rendering(**plan)


@pytest.mark.parametrize(
    "rendering",
    [
        {},
        {"labels": "letters"},
        {"labels": "greek", "order": [0, 1]},
        {"labels": "letters", "order": [0, 5]},
        {"labels": "letters", "order": [0, 0]},
        {"labels": "letters", "order": [0]},
        {"labels": "letters", "order": "01"},
    ],
)
def test_what_is_no_rendering_of_the_question_is_refused(rendering):
    with pytest.raises(DataError, match=r"problem q1: .*is no rendering of its 5 options"):
        as_asked(COLOUR, rendering)


def test_roman_numerals_reach_as_far_as_there_can_be_options():
    numerals = [roman(n) for n in range(1, 28)]
    assert numerals[3::5] == ["IV", "IX", "XIV", "XIX", "XXIV"]
    assert len(set(numerals)) == 27
