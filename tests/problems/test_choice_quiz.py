"""The quiz: one right option, wrong ones that differ, and the same question always the same."""

import re

import numpy as np
import pytest

from reasonenv.errors import DataError
from reasonenv.problems import Quiz, load
from reasonenv.problems.choice_quiz import _GROUPS, QUIZ_KINDS
from reasonenv.problems.choices import check_choice

OPTIONS = [(kind, level, n) for kind in QUIZ_KINDS for level in (1, 2, 3) for n in (2, 4, 8)]


def drawn(count=150, **options):
    problems = load("quiz", size=count, **options)
    return [problems[i] for i in range(count)]


@pytest.mark.parametrize(("kind", "level", "n"), OPTIONS)
def test_every_question_can_be_asked_and_has_as_many_options_as_wanted(kind, level, n):
    for problem in drawn(60, kinds=[kind], level=level, options=n):
        check_choice(problem)
        assert len(problem.metadata["options"]) == n


def right(problem):
    return problem.metadata["options"]["ABCDEFGH".index(problem.answer)]


@pytest.mark.parametrize("level", [1, 2, 3])
def test_the_gold_of_a_sum_is_its_sum(level):
    for problem in drawn(kinds="sum", level=level):
        a, b = map(int, re.findall(r"\d+", problem.prompt))
        assert int(right(problem)) == a + b


@pytest.mark.parametrize("level", [1, 2, 3])
def test_the_gold_of_an_order_has_that_rank(level):
    for problem in drawn(kinds="order", level=level, options=5):
        asked = re.fullmatch(r"Which is the (\w+).* numbers (.*)\?", problem.prompt)
        wanted, numbers = asked.groups()
        ranked = sorted(numbers.split(", "), key=float)
        place = {"largest": -1, "smallest": 0, "middle": len(ranked) // 2}[wanted]
        assert right(problem) == ranked[place]


@pytest.mark.parametrize("level", [1, 2, 3])
def test_the_odd_word_is_of_another_group_than_all_others(level):
    for problem in drawn(kinds="odd", level=level):
        group = {w: name for name, words in _GROUPS.items() for w in words}
        rest = {group[word] for word in problem.metadata["options"] if word != right(problem)}
        assert len(rest) == 1
        assert group[right(problem)] not in rest


def test_no_word_is_in_two_groups():
    words = [word for group in _GROUPS.values() for word in group]
    assert len(words) == len(set(words))


@pytest.mark.parametrize("level", [1, 2, 3])
def test_the_gold_of_a_letter_stands_at_its_place(level):
    places = "first second third fourth fifth sixth seventh eighth".split()  # noqa: SIM905
    for problem in drawn(kinds="letter", level=level):
        asked = re.search(r"is the (\w+)( from the end)? .*'(\w+)'", problem.prompt)
        place, end, word = asked.groups()
        index = -1 - places.index(place) if end else places.index(place)
        assert right(problem) == f"the letter {word[index]}"


def test_the_same_question_always_has_the_same_options():
    seen = {}
    for problem in drawn(600, kinds=["letter"]):
        assert seen.setdefault(problem.id, problem) == problem
    assert len(seen) < 600


def test_train_and_test_share_no_question():
    ids = [{load("quiz", split, size=200)[i].id for i in range(200)} for split in ("train", "test")]
    assert not ids[0] & ids[1]


def test_the_place_of_the_gold_is_even_in_the_questions_themselves():
    letters = [problem.answer for problem in {p.id: p for p in drawn(1200)}.values()]
    counts = np.array([letters.count(letter) for letter in "ABCD"])
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 16.3  # chi-square, 3 df, 0.1 %


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": ["sums"]}, "kinds are any of sum, order, odd, letter"),
        ({"kinds": []}, "kinds are any of"),
        ({"level": 4}, "level is 1, 2 or 3, got 4"),
        ({"options": 1}, "options is from 2 to 8, got 1"),
        ({"options": 9}, "options is from 2 to 8, got 9"),
        ({"brief": True}, "only sums have a brief form"),
        ({"kind": "sum"}, "did you mean `kinds`"),
    ],
)
def test_what_is_not_valid_is_refused(options, message):
    with pytest.raises(DataError, match=message):
        load("quiz", **options)


def test_a_brief_sum_is_what_the_tiny_model_reads():
    problem = Quiz(kinds="sum", brief=True)(np.random.default_rng(0))
    assert re.fullmatch(r"\d+\+\d+=", problem.prompt)
