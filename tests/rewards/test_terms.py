"""Each term's formula, case by case."""

import json
from pathlib import Path

import numpy as np
import pytest

from reasonenv.errors import RewardError
from reasonenv.rewards import LanguageConsistency, parse
from reasonenv.rewards.language import LANGUAGES
from reasonenv.types import Judged, Problem, Rollout, Status, Verdict

FOLDER = Path(__file__).parent.parent / "data" / "rewards"


def rows(name):
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


CASES = rows("terms.jsonl")


def member(
    text="", status="incorrect", answer=None, gold="4", n_tokens=10, prefill="", target=None
):
    metadata = {} if target is None else {"target_tokens": target}
    problem = Problem("?", gold, metadata)
    verdict = Verdict(Status(status), 1.0 if status == "correct" else 0.0, answer)
    return Judged(Rollout(problem, text, n_tokens=n_tokens, prefill=prefill), verdict)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_term_pays_what_its_formula_says(case):
    group = [member(**one) for one in case["members"]]
    wanted = [np.nan if value is None else value for value in case["values"]]
    np.testing.assert_allclose(parse(case["formula"])(group).total, wanted, atol=1e-9)


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("XMLCount()", "takes tag names"),
        ("XMLCount('a', decay=-1)", "decay is a finite number at least 0"),
        ("ReasoningPresent('')", "takes a tag's name"),
        ("StepCount(enough=0)", "enough is a whole number of at least 1"),
        ("StepCount(enough=1.5)", "enough is a whole number"),
        ("Repetition(0)", "n is a whole number"),
        ("Repetition(unit='line')", "unit is 'word' or 'character'"),
        ("NgramDiversity(unit=3)", "unit is 'word' or 'character'"),
        ("LanguageConsistency('eng')", "no language 'eng'; did you mean `en`"),
        ("LanguageConsistency(['en'])", "no language"),
        ("CosineLength(0)", "limit is a whole number"),
        ("CosineLength(9, 'a')", "right_short is a finite number"),
        ("L1Exact(0)", "target is a whole number"),
        ("L1Exact(9, alpha=0)", "alpha is a finite number above 0"),
        ("L1Max(9, delta=2)", "delta is a finite number at least 0 and at most 1"),
        ("LazyLength(-1)", "tolerance is a finite number at least 0"),
        ("LazyLength(1, reach=0)", "reach is a finite number above 0"),
        ("NumericCloseness(width=0)", "width is a finite number above 0"),
        ("NumericCloseness(most=1.5)", "most is a finite number at least 0 and at most 1"),
        ("Correct(chance=1)", "chance is below 1"),
        ("Correct(chance=-0.1)", "chance is a finite number at least 0"),
        ("FormatRegex('(')", "no regular expression"),
        ("FormatRegex(3)", "a pattern is a text"),
    ],
)
def test_impossible_arguments_are_refused_with_what_is_valid(formula, said):
    with pytest.raises(RewardError, match=said):
        parse(formula)


def test_a_target_length_that_nobody_gave_is_an_error_that_names_the_problem():
    one = member()
    with pytest.raises(RewardError, match=f"{one.rollout.problem.id} has none.*target_tokens"):
        parse("L1Max()")([one])


def test_terms_read_very_long_completions_in_linear_time():
    group = [
        member("<reasoning>" * 100_000 + "x " * 100_000),
        member("1. a\n- " * 150_000),
        member("等" * 1_000_000),
        member("\\" * 500_000 + "<" * 500_000),
    ]
    for formula in (
        "XMLCount('reasoning', 'answer')",
        "ReasoningPresent()",
        "StepCount(enough=1000000)",
        "Repetition()",
        "LanguageConsistency()",
        "FormatRegex('think_answer')",
        "NgramDiversity()",
    ):
        parse(formula)(group)  # a quadratic scan would run into the suite's time-out


def test_a_gold_of_any_kind_is_compared_or_left_alone():
    for gold in (100, 100.0, "100"):
        assert parse("NumericCloseness()")([member(answer="95", gold=gold)]).total[0] == 0.25
    for gold in (10**300, float("nan"), float("inf"), None, ("100",), True):
        assert parse("NumericCloseness()")([member(answer="95", gold=gold)]).total[0] == 0.0


def test_each_language_is_told_from_every_other():
    texts = {row["language"]: row["text"] for row in rows("languages.jsonl")}
    assert set(texts) == set(LANGUAGES)
    for language in LANGUAGES:
        for spoken, text in texts.items():
            value = LanguageConsistency(language)([member(text)]).total[0]
            if language == spoken or (language, spoken) == ("ja", "zh"):  # kanji alone are Japanese
                assert value >= 0.85, (language, spoken)
            else:
                assert value <= 0.4, (language, spoken)
