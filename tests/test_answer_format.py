"""The layout of completions: instruction, rendering and extraction come from one object."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonenv.answer_format import AnswerFormat

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "answer_format.jsonl").read_text().splitlines()
]
LAYOUTS = [
    AnswerFormat(),
    AnswerFormat(reasoning=None),
    AnswerFormat("final", "think"),
    AnswerFormat(None, boxed=True),
    AnswerFormat(None, None, boxed=True),
]
ANSWER = st.text("abc 0123456789+-*/=()\\frac.,é漢\n", max_size=20)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_last_answer_in_the_demanded_place_counts(case):
    layout = AnswerFormat(None, None, boxed=True) if case.get("boxed") else AnswerFormat()
    assert layout.extract(case["text"]) == case["answer"]


@pytest.mark.parametrize("layout", LAYOUTS, ids=repr)
@given(ANSWER, ANSWER)
def test_what_a_layout_renders_it_extracts(layout, answer, reasoning):
    assert layout.extract(layout.render(answer, reasoning)) == answer.strip()


@pytest.mark.parametrize("layout", LAYOUTS, ids=repr)
@given(st.text("<>/{}\\ answer boxed", max_size=60))
def test_extraction_takes_any_text(layout, text):
    found = layout.extract(text)
    assert found is None or found in text


@pytest.mark.parametrize("layout", LAYOUTS, ids=repr)
def test_the_instruction_names_every_tag(layout):
    said = layout.prompt_instruction("number")
    assert all(f"<{tag}></{tag}>" in said for tag in layout.tags)
    assert ("\\boxed{}" in said) == layout.boxed
    assert "number" in said


def test_an_instruction_of_ones_own_is_used_as_it_is():
    assert AnswerFormat(instruction="").prompt_instruction() == ""
    assert AnswerFormat(instruction="Be brief.").prompt_instruction() == "Be brief."


@pytest.mark.parametrize(
    "fields",
    [
        {"answer": "a b"},
        {"answer": "<a>"},
        {"answer": ""},
        {"answer": "a\n"},
        {"reasoning": "1a"},
        {"answer": None},
        {"boxed": True},
        {"answer": "think", "reasoning": "think"},
    ],
    ids=repr,
)
def test_a_layout_that_cannot_be_is_refused(fields):
    with pytest.raises(ValueError, match="tag"):
        AnswerFormat(**fields)
