"""Rewards as formulas and configs: what is read, and what is refused with a reason."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonenv.errors import RewardError
from reasonenv.rewards import Correct, Format, TagCount, from_config, gate, parse, solved
from reasonenv.rewards.config import TERMS

DATA = Path(__file__).parent.parent / "data" / "rewards"


def table(name):
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


@pytest.mark.parametrize("case", table("bad_formulas.jsonl"), ids=lambda case: case["formula"][:40])
def test_what_is_no_formula_is_refused_with_the_reason(case):
    with pytest.raises(RewardError) as caught:
        parse(case["formula"])
    assert case["says"] in str(caught.value)


@pytest.mark.parametrize("case", table("formulas.jsonl"), ids=lambda case: case["formula"])
def test_formulas_are_read(case):
    assert repr(parse(case["formula"])) == case["reads_as"]


@pytest.mark.parametrize("case", table("bad_configs.jsonl"), ids=lambda c: json.dumps(c["config"]))
def test_what_is_no_config_is_refused_with_the_reason(case):
    with pytest.raises(RewardError) as caught:
        from_config(case["config"])
    assert case["says"] in str(caught.value)


DEEP = {
    "brackets": "(" * 5000 + "Correct()" + ")" * 5000,
    "minus": "-" * 50_000 + "Correct()",
    "gates": "gate(" * 80 + "Correct()" + ", when=solved)" * 80 + " * Score()" * 60,
    "sum": " + ".join(["Correct()"] * 20_000),
    "some hundred": " * ".join(["Score()"] * 900),
    "list": f"Correct({'[' * 90}{']' * 90})",
    "digits": "1" * 6000 + " * Correct()",
    "long number": "1" * 400 + " * Correct()",
}


@pytest.mark.parametrize("formula", DEEP.values(), ids=DEEP)
def test_a_monstrous_formula_is_an_error_and_no_crash(formula):
    with pytest.raises(RewardError) as caught:
        parse(formula)
    assert len(str(caught.value)) < 1000


def test_a_monstrous_config_is_an_error_and_no_crash():
    config = {"term": "Correct"}
    for _ in range(50_000):
        config = {"scale": 1.0, "of": config}
    with pytest.raises(RewardError, match="at most 100 deep"):
        from_config(config)


@given(st.text(max_size=40))
def test_any_text_is_a_reward_or_a_reward_error(text):
    with contextlib.suppress(RewardError):
        parse(text)


@given(st.text("Corect()+-*0.5'a, =gwhnsvd[]{}_\\\n", max_size=40))
def test_any_near_formula_is_a_reward_or_a_reward_error(text):
    with contextlib.suppress(RewardError):
        parse(text)


def test_nothing_in_a_formula_is_executed(tmp_path):
    file = tmp_path / "pwned"
    for formula in (
        f"__import__('pathlib').Path({str(file)!r}).touch()",
        f"Correct(open({str(file)!r}, 'w'))",
        f"Correct(name=open({str(file)!r}, 'w').name)",
        f"gate(open({str(file)!r}, 'w'), when=solved)",
    ):
        with pytest.raises(RewardError):
            parse(formula)
    assert not file.exists()


def test_a_term_in_the_catalogue_is_made_with_its_arguments():
    assert from_config({"term": "Correct", "value": 2}) == Correct(2)
    assert from_config({"term": "TagCount", "tags": ["a", "b"], "name": "x"}) == TagCount(
        "a", "b", name="x"
    )
    assert from_config({"sum": ["Correct()", {"scale": 0.5, "of": "Format('a')"}]}) == (
        Correct() + 0.5 * Format("a")
    )
    assert from_config({"gate": "Format('a')", "when": "solved"}) == gate(Format("a"), when=solved)
    assert from_config(0.5) == from_config({"constant": 0.5}) == parse("0.5")
    reward = Correct()
    assert from_config(reward) is reward


def test_the_catalogue_names_its_terms():
    assert all(TERMS[name].__name__ == name and TERMS[name].__doc__ for name in TERMS)
