"""The options told again are never an answer, whatever their texts say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonenv.answer_format import AnswerFormat
from reasonenv.checkers import ChoiceJudge, extract_choice
from reasonenv.types import Problem

SETS = [
    ["no", "yes"],
    ["slow erosion", "quick erosion"],
    ["Sydney", "Canberra", "Melbourne", "Perth"],
    ["abcd", "bcda", "cdab", "dabc"],
    ["The answer is B", "B is correct", "I choose C", "None of these"],
    ["12", "21", "112", "221"],
    ["The red book is the third from the left", "The red book is third", "the blue book"],
    ["x + 1", "x - 1", "\\frac{1}{2}", "1/3", "(a)"],
    [f"planet {number}" for number in range(12)],
    ["Both A and C", "only B", "A or B", "all"],
]
ROMAN = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"]
LINES = [
    "{a}. {b}",
    "{a}) {b}",
    "({a}) {b}",
    "{a}: {b}",
    "**{a}.** {b}",
    "- {a}. {b}",
    "{b}",
    "{a}",
]
JOINS = ["\n", "\n\n", ", ", "; ", " ", " or ", " | ", "\n- "]
AROUND = [
    "{}",
    "{}",
    "Options:\n{}",
    "<answer>{}</answer>",
    "<answer>\n{}\n</answer>",
    "Answer: {}",
    "\\boxed{{{}}}",
    "**{}**",
]
drawn = st.tuples(
    st.sampled_from(SETS).flatmap(lambda texts: st.tuples(st.just(texts), st.permutations(texts))),
    st.sampled_from([None, "numbers", "roman", "small"]),
    st.sampled_from(LINES),
    st.sampled_from(JOINS),
    st.sampled_from(AROUND),
)


def names_of(texts, style):
    count = len(texts)
    if style == "numbers" and not any(text.isdigit() for text in texts):
        return [str(number) for number in range(1, count + 1)]
    return {"roman": ROMAN, "small": [*"abcdefghijkl"]}.get(style, [*"ABCDEFGHIJKL"])[:count]


@given(drawn)
def test_all_options_in_any_order_and_form_choose_none(case):
    (texts, order), style, line, join, around = case
    names = names_of(texts, style)
    told = join.join(line.format(a=names[texts.index(text)], b=text) for text in order)
    found = extract_choice(around.format(told), texts, labels=names)
    assert found.letter is None, (told, found)


@pytest.mark.parametrize("texts", SETS)
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("format", [None, AnswerFormat()])
def test_all_options_in_the_answer_place_are_paid_for_no_gold(texts, line, format):
    told = "\n".join(line.format(a=a, b=b) for a, b in zip("ABCDEFGHIJKL", texts, strict=False))
    for reply in (told, AnswerFormat().render(told, "Hm.")):
        for gold in "ABCDEFGHIJKL"[: len(texts)]:
            verdict = ChoiceJudge(format=format)(Problem("?", gold, {"options": texts}), reply)
            assert not verdict.correct


CITIES = ["Sydney", "Canberra", "Melbourne", "Perth"]
LIST = "A. Sydney\nB. Canberra\nC. Melbourne\nD. Perth"


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        (f"Which is the capital?\n{LIST}", None),
        (f"{LIST}\n\nI am not sure.", None),
        (f"{LIST}\n\nAnswer:", None),
        (f"{LIST}\n\nAnswer: B", "B"),
        (f"{LIST}\n\nB. Canberra", "B"),
        (f"{LIST}\n\nIt is Canberra.", "B"),
        (LIST.replace("Canberra", "Canberra ✅"), "B"),
        ("Sydney\nPerth", None),
        ("Sydney or Perth", None),
        ("B\nC", None),
        ("Answer: b\nc", None),
        ("A, B, C, D", None),
        ("Answer: D", "D"),
        ("Canberra", "B"),
    ],
)
def test_what_stands_beside_the_list_still_counts(reply, letter):
    assert extract_choice(reply, CITIES).letter == letter


def test_a_sum_that_the_question_asks_for_is_no_answer():
    told = "(A) 214, (B) 304, (C) 314, (D) 642"
    options = ["214", "304", "314", "642"]
    assert extract_choice(f"Find the exact answer: 942 / 3\n\n{told}", options).letter is None


def test_an_options_own_text_is_still_that_option():
    assert extract_choice("Answer: ABDC", ["ABCD", "ABDC", "ACBD"]).letter == "B"
    assert extract_choice("Answer: A, B", ["A, B", "A, C", "B, C"]).letter == "A"
    assert extract_choice("no", ["no", "yes"]).letter == "A"
    assert extract_choice("A. no", ["no", "yes"]).letter == "A"


def test_where_several_options_are_allowed_all_may_be_chosen():
    found = extract_choice("Answer: A, B, C, D", CITIES, multiple=True)
    assert found.letters == ("A", "B", "C", "D")
    assert extract_choice(LIST, CITIES, multiple=True).letters == ()


def test_with_roman_labels_the_pronoun_is_no_label():
    for reply in ("I am not sure.", "I think it could be anything.", "Hm.\n\nI don't know."):
        assert extract_choice(reply, CITIES, labels=ROMAN[:4]).letter is None
    assert extract_choice("I", CITIES, labels=ROMAN[:4]).letter == "I"
