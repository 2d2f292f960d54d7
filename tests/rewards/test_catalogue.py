"""What every term of the catalogue holds to, whatever it reads."""

import inspect
import pickle

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reasonenv.rewards import TERMS, Correct, from_config, parse
from reasonenv.types import Status
from tests.rewards.strategies import EVIDENCE, groups

ENDPOINT = "'http://127.0.0.1:9/v1', 'judge'"

# Formulas that make each term, with default arguments and with others.
MADE = {
    "AllPassed": ["AllPassed()"],
    "AnswerDiversity": ["AnswerDiversity()"],
    "AnswerPresent": ["AnswerPresent()", "AnswerPresent(name='given')"],
    "Complexity": ["Complexity()", "Complexity(free=0)"],
    "Correct": ["Correct()", "Correct(2.0, chance=0.25)", "Correct(-1.5)"],
    "CosineLength": [
        "CosineLength(512)",
        "CosineLength(100, 2.0, 1.0, -10, 0, exceed=-10)",
    ],
    "Format": ["Format('answer')", "Format('reasoning', 'answer', name='laid_out')"],
    "FormatRegex": [
        "FormatRegex('think_answer')",
        r"FormatRegex('<answer>[^<]*</answer>\\s*', name='shape')",
    ],
    "FractionPassed": ["FractionPassed()"],
    "JudgeModel": [],  # asks a server: see test_judge_model
    "KimiLength": ["KimiLength()"],
    "L1Exact": ["L1Exact(300)", "L1Exact(50, alpha=0.01, most=0.25)"],
    "L1Max": ["L1Max(300)", "L1Max(50, alpha=0.01, delta=0)"],
    "LanguageConsistency": [f"LanguageConsistency('{code}')" for code in ("en", "ja", "ru")],
    "LazyLength": ["LazyLength(100)", "LazyLength(0, reach=1)"],
    "NgramDiversity": ["NgramDiversity()", "NgramDiversity(1, unit='character')"],
    "NumericCloseness": ["NumericCloseness()", "NumericCloseness(width=2, most=1)"],
    "NumericPresent": ["NumericPresent()"],
    "Overlong": ["Overlong(512, cache=128)"],
    "RarityWeightedTests": ["RarityWeightedTests()", "RarityWeightedTests(gamma=3, share=1)"],
    "ReasoningPresent": ["ReasoningPresent()", "ReasoningPresent('think')"],
    "Repetition": ["Repetition()", "Repetition(1, unit='character')"],
    "Score": ["Score()"],
    "ShortestCorrect": ["ShortestCorrect()"],
    "StepCount": ["StepCount()", "StepCount(enough=1)"],
    "Syntax": ["Syntax()"],
    "TagCount": ["TagCount('answer')", "TagCount('reasoning', 'answer', name='tags')"],
    "XMLCount": ["XMLCount('answer')", "XMLCount('reasoning', 'answer', decay=0.5, name='xml')"],
}
FORMULAS = [formula for made in MADE.values() for formula in made]
ALL = [parse(formula) for formula in FORMULAS]
JUDGE = f"JudgeModel({ENDPOINT}, best=5, only_solved=True)"
OTHERS_TEST = {"ValidOption", "ChanceCorrected", "LetterTextAgree", "PermutationConsistency"} | {
    "ExplanationPresent", "Abstention",
}  # fmt: skip


def test_every_registered_term_is_made_here_or_in_its_own_test():
    assert set(TERMS) - OTHERS_TEST == set(MADE)


@settings(max_examples=120, deadline=None)
@given(groups())
def test_no_value_leaves_the_declared_range(group):
    for term in ALL:
        for judged, value in zip(group, term(group).total, strict=True):
            if not judged.verdict.status.is_evidence:
                assert np.isnan(value)
                continue
            low, high = term.range(judged.verdict.status is Status.CORRECT)
            assert low - 1e-9 <= value <= high + 1e-9, term


@settings(max_examples=60, deadline=None)
@given(groups(EVIDENCE), st.randoms(use_true_random=False))
def test_permuting_a_group_permutes_its_values(group, random):
    order = list(range(len(group)))
    random.shuffle(order)
    for term in ALL:
        there, here = term([group[i] for i in order]).total, term(group).total[order]
        np.testing.assert_allclose(there, here, atol=1e-12, err_msg=repr(term))


@settings(max_examples=60, deadline=None)
@given(groups(EVIDENCE))
def test_a_member_alone_earns_the_same_unless_the_term_says_that_it_compares(group):
    for term in ALL:
        if not term.needs_group:
            alone = [term([judged]).total[0] for judged in group]
            np.testing.assert_allclose(alone, term(group).total, err_msg=repr(term))


@settings(max_examples=60, deadline=None)
@given(groups())
def test_a_member_that_is_not_scored_changes_no_other_members_value(group):
    scored = [i for i, judged in enumerate(group) if judged.verdict.status.is_evidence]
    for term in ALL:
        without = term([group[i] for i in scored]).total
        np.testing.assert_array_equal(without, term(group).total[scored], err_msg=repr(term))


@pytest.mark.parametrize("formula", [*FORMULAS, JUDGE])
def test_terms_travel_as_formula_config_and_pickle(formula):
    term = parse(formula)
    through_yaml = from_config(yaml.safe_load(yaml.safe_dump(term.to_config())))
    for twin in (through_yaml, parse(repr(term)), pickle.loads(pickle.dumps(term))):
        assert twin == term
        assert hash(twin) == hash(term)
        assert repr(twin) == repr(term)
        assert twin.range(True) == term.range(True)
        assert twin.range(False) == term.range(False)


@pytest.mark.parametrize("formula", [*FORMULAS, JUDGE])
def test_terms_compose(formula):
    term = parse(formula)
    if term.label == "correct":
        return
    composed = Correct(3.0) + 0.5 * term
    assert composed.range(True).high == 3.0 + 0.5 * term.range(True).high


@pytest.mark.parametrize("name", sorted(set(MADE)))
def test_each_docstring_tells_formula_range_potential_blind_spots_and_source(name):
    told = " ".join(inspect.getdoc(TERMS[name]).split())
    for part in ("Formula", "Range", "ot potential-based", "hat it cannot see", "Source", ">>>"):
        assert part in told, f"{name}: {part}"
