"""Terms for multiple choice, on verdicts as a judge of choices gives them."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonenv.errors import RewardError
from reasonenv.problems.choice_rendering import Rendering
from reasonenv.problems.choices import labels_of
from reasonenv.rewards import (
    Abstention,
    ChanceCorrected,
    Correct,
    ExplanationPresent,
    LetterTextAgree,
    PermutationConsistency,
    ValidOption,
    from_config,
    score_groups,
)
from reasonenv.rewards.choice import CHOICE_TERMS, chosen
from reasonenv.types import Judged, Problem, Rollout, Status, Verdict

CITIES = ("Sydney", "Canberra", "Perth", "New Perth")
CAPITAL = Problem("Which is it?", "B", {"options": CITIES}, id="capital")


def said(answer=None, text="", status=None, *, problem=CAPITAL, span=None, group=""):
    """Return a completion that a judge read `answer` (a label, or None) in."""
    if status is None:
        right = answer is not None and answer == problem.answer
        status = "correct" if right else "no_answer" if answer is None else "incorrect"
    score = 1.0 if status == "correct" else 0.0
    detail = {} if span is None else {"span": span}
    verdict = Verdict(Status(status), score, answer, detail)
    return Judged(Rollout(problem, text, group), verdict)


def values(term, *group):
    return term(list(group)).total.tolist()


@pytest.mark.parametrize("term", CHOICE_TERMS)
def test_each_term_survives_text_config_and_pickling(term):
    node = term()
    assert from_config(repr(node)) == node
    assert from_config(node.to_config()) == node
    assert pickle.loads(pickle.dumps(node)) == node
    assert "Formula" in term.__doc__
    assert "ource: " in term.__doc__


@pytest.mark.parametrize("term", CHOICE_TERMS)
def test_each_term_says_which_problem_has_no_options(term):
    if term is Abstention:
        return  # it reads the reply alone
    sums = Problem("1+1=", "2", id="sum7")
    group = [
        said("A", "text", "incorrect", problem=sums),
        said("B", "t", "incorrect", problem=sums),
    ]
    with pytest.raises(RewardError, match=r"problem sum7 has no options.*use it with ChoiceEnv"):
        term()(group)


letters = st.sampled_from(["A", "B", "D", "Z", None, "A, B", "2", ""])
texts = st.text(max_size=60) | st.sampled_from(
    ["I don't know", "<answer>Perth</answer>", "Canberra, so B", "skip"]
)
spans = st.none() | st.tuples(st.integers(-5, 80), st.integers(-5, 80))


@given(st.lists(st.tuples(letters, texts, spans), min_size=1, max_size=5))
def test_whatever_is_said_every_term_stays_in_its_range(members):
    group = [said(answer, text, span=span) for answer, text, span in members]
    for term in CHOICE_TERMS:
        values(term(), *group)  # a value out of range is an error


# ValidOption


@pytest.mark.parametrize(
    ("answer", "status", "paid"),
    [
        ("A", "incorrect", 1.0),
        ("B", "correct", 1.0),
        ("d", "incorrect", 1.0),
        ("E", "incorrect", 0.0),
        (None, "no_answer", 0.0),
        (None, "malformed", 0.0),
        ("A, C", "incorrect", 1.0),
        ("A, E", "incorrect", 0.0),
    ],
)
def test_an_option_that_was_asked_is_paid(answer, status, paid):
    assert values(ValidOption(), said(answer, "x", status)) == [paid]


def test_labels_are_those_of_the_draw():
    asked = Problem("?", "2", {"options": CITIES, "labels": ("1", "2", "3", "4")})
    group = [said("4", problem=asked), said("D", problem=asked)]
    assert values(ValidOption(), *group) == [1.0, 0.0]
    assert [chosen(one) for one in group] == [(3,), ()]


def test_a_label_with_a_blank_is_one_label():
    asked = Problem("?", "no 2", {"options": ("x", "y"), "labels": ("no 1", "no 2")})
    assert chosen(said("No 2", problem=asked)) == (1,)


# ChanceCorrected


@pytest.mark.parametrize("m", [2, 3, 4, 10, 26])
def test_guessing_earns_nothing_on_average_however_many_options_were_asked(m):
    labels = [chr(ord("A") + i) for i in range(m)]
    problem = Problem("?", "B", {"options": tuple(f"text {i}" for i in range(m))})
    earned = values(ChanceCorrected(), *(said(label, problem=problem) for label in labels))
    assert sum(earned) == pytest.approx(0.0, abs=1e-12)
    assert max(earned) == 1.0
    assert min(earned) == pytest.approx(-1 / (m - 1))


def test_m_is_the_number_of_options_that_this_draw_asked():
    rng = np.random.default_rng(0)
    for size in (2, 3):
        [asked] = Rendering(keep=(size, size)).views(CAPITAL, rng)
        wrong = next(label for label in labels_of(asked) if label != asked.answer)
        assert values(ChanceCorrected(), said(wrong, problem=asked)) == [-1 / (size - 1)]


def test_missing_and_malformed_answers_cost_what_a_wrong_one_does():
    group = [said("A"), said(None), said(None, status="malformed")]
    assert values(ChanceCorrected(), *group) == [-1 / 3] * 3


def test_with_several_right_options_a_guess_is_a_subset():
    problem = Problem("?", ("A", "B"), {"options": ("x", "y", "z"), "multiple": True})
    assert values(ChanceCorrected(), said("A", status="incorrect", problem=problem)) == [-1 / 6]


# LetterTextAgree


@pytest.mark.parametrize(
    ("answer", "text", "paid"),
    [
        ("B", "The capital is Canberra.\n<answer>B</answer>", 1.0),
        ("B", "the capital is CANBERRA, so: B", 1.0),
        ("B", "Not Sydney but Canberra: B", 1.0),
        ("B", "Not Canberra but Sydney: B", 0.0),
        ("A", "It is Sydney: A", 1.0),  # wrong, but of one mind
        ("B", "<answer>B</answer>", 0.0),
        ("C", "New Perth is newest: C", 0.0),  # the longer option is named, not the shorter
        ("D", "New Perth is newest: D", 1.0),
        ("C", "New Perth or Perth? Perth: C", 1.0),
        ("B", "Canberran politics: B", 0.0),
        ("B", "Canberra. " + "x" * 600 + " B", 0.0),  # too far back
        (None, "Canberra", 0.0),
    ],
)
def test_the_last_option_text_before_the_answer_must_be_the_chosen_one(answer, text, paid):
    assert values(LetterTextAgree(), said(answer, text)) == [paid]


def test_what_stands_after_the_answering_line_does_not_count():
    text = "Sydney it is. Answer: A\nCanberra is a city, too."
    assert values(LetterTextAgree(), said("A", text, span=(14, 23))) == [1.0]
    assert values(LetterTextAgree(), said("A", text)) == [0.0]  # no span: up to the end


def test_the_text_in_the_answering_statement_counts():
    assert values(LetterTextAgree(), said("B", "Answer: B) Canberra", span=(0, 10))) == [1.0]


def test_numbers_are_words():
    problem = Problem("?", "A", {"options": ("1,000", "-5", "5")})
    texts = {"A": "so it is 1,000: A", "B": "so it is -5: B", "C": "so it is -5: C"}
    group = [said(label, text, problem=problem) for label, text in texts.items()]
    assert values(LetterTextAgree(), *group) == [1.0, 1.0, 0.0]


# PermutationConsistency


def views(count=4):
    return Rendering().views(CAPITAL, np.random.default_rng(1), count)


def choosing(view, text):
    label = labels_of(view)[view.metadata["options"].index(text)] if text else None
    return said(label, problem=view, group="g")


def test_agreeing_on_content_under_other_letters_is_paid():
    group = [choosing(view, "Perth") for view in views()]
    assert len({one.verdict.answer for one in group}) == 4
    assert values(PermutationConsistency(), *group) == [1.0] * 4


def test_one_letter_for_all_orders_is_not():
    group = [said("A", problem=view) for view in views()]
    assert values(PermutationConsistency(), *group) == [0.0] * 4


def test_members_of_the_same_view_do_not_count_for_each_other():
    first, second, *_ = views()
    group = [choosing(first, "Perth"), choosing(first, "Perth"), choosing(second, "Sydney")]
    assert values(PermutationConsistency(), *group) == [0.0] * 3
    group[2] = choosing(second, "Perth")
    assert values(PermutationConsistency(), *group) == [1.0] * 3


def test_the_share_of_others_that_agree_is_paid_and_all_of_them_when_strict():
    group = [
        choosing(v, t) for v, t in zip(views(), ["Perth", "Perth", "Sydney", None], strict=True)
    ]
    assert values(PermutationConsistency(), *group) == pytest.approx([1 / 3, 1 / 3, 0, 0])
    assert values(PermutationConsistency(strict=True), *group) == [0.0] * 4
    group = [choosing(view, "Perth") for view in views(2)]
    assert values(PermutationConsistency(strict=True), *group) == [1.0, 1.0]


def test_one_view_for_all_pays_nothing():
    group = [choosing(views()[0], "Perth")] * 3
    assert values(PermutationConsistency(), *group) == [0.0] * 3


def test_views_of_one_item_are_one_group_and_scored_together():
    group = [choosing(view, "Canberra") for view in views()]
    scores = score_groups(Correct() + PermutationConsistency(), group)
    assert scores.total.tolist() == [2.0] * 4


# ExplanationPresent

REASONS = "It was founded so that neither rival would win, halfway in between them."


@pytest.mark.parametrize(
    ("text", "paid"),
    [
        (f"<reasoning>{REASONS}</reasoning>\n<answer>B</answer>", 1.0),
        ("<reasoning></reasoning>\n<answer>B</answer>", 0.0),
        ("<reasoning>because because because because because</reasoning> so B", 0.0),
        ("Sydney Canberra Perth New Perth: Sydney? Canberra? Perth? it is", 0.0),
        ("", 0.0),
        ("一 二 三 四 五 六 七 八", 1.0),
    ],
)
def test_enough_words_of_its_own_explain(text, paid):
    assert values(ExplanationPresent(), said("B", text)) == [paid]


def test_the_answering_statement_is_no_explanation():
    answer = f"Answer: B, {REASONS}"
    text = "Short.\n" + answer
    assert values(ExplanationPresent(), said("B", text, span=(7, len(text)))) == [0.0]
    assert values(ExplanationPresent(words=1), said("B", text, span=(7, len(text)))) == [1.0]


# Abstention


@pytest.mark.parametrize(
    "text",
    [
        "<answer>I don't know</answer>",
        "<answer>I don’t know.</answer>",
        "Hard to tell.\n<answer> I do not know </answer>",
        "\\boxed{\\text{unknown}}",
        "**Answer:** unsure",
        "Let me see.\nI am not sure.",
        "Skip",
        "<answer>I abstain",
        "Sydney? Perth?\n\nI cannot answer this.",
    ],
)
def test_an_open_abstention_is_credited(text):
    assert values(Abstention(0.2), said(None, text)) == [0.2]


@pytest.mark.parametrize(
    ("answer", "status", "text"),
    [
        (None, "no_answer", ""),
        (None, "no_answer", "<answer></answer>"),
        (None, "no_answer", "I don't know whether it is Sydney or Perth."),
        (None, "no_answer", "I don't know.\nLet me think about it"),
        (None, "no_answer", "<answer>I don't know</answer> <answer>hm</answer>"),
        (None, "malformed", "<answer>I don't know</answer>"),
        ("A", "incorrect", "<answer>A</answer> I don't know"),
        ("B", "correct", "I don't know\n<answer>B</answer>"),
    ],
)
def test_anything_else_is_not(answer, status, text):
    assert values(Abstention(0.2), said(answer, text, status)) == [0.0]


def test_abstaining_stands_between_wrong_and_right():
    reward = Correct() + Abstention(0.3)
    group = [said("A", "A"), said(None, "I don't know"), said("B", "B")]
    assert reward(group).total.tolist() == [0.0, 0.3, 1.0]
    assert reward.warnings() == ()


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("Abstention(1.0)", "0 < credit < 1"),
        ("Abstention(0)", "0 < credit < 1"),
        ("LetterTextAgree(0)", "reads a number of characters, got 0"),
        ("LetterTextAgree(2.5)", "got 2.5"),
        ("ExplanationPresent(0)", "needs a number of words, got 0"),
        ("PermutationConsistency(strict=1)", "strict is true or false"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(formula, message):
    with pytest.raises(RewardError, match=message):
        from_config(formula)
