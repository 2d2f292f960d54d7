"""Terms from functions."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from reasonenv.errors import RewardError
from reasonenv.rewards import Correct, Range, from_config, gate, solved, term

IMPORTABLE = str(Path(__file__).parent / "importable")


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(IMPORTABLE)


@pytest.fixture
def some_terms():
    import some_terms

    return some_terms


def test_a_function_of_one_rollout_is_a_term(some_terms, judged):
    reward = Correct() + 0.1 * some_terms.polite
    scores = reward([judged("4, please"), judged("4")])
    assert scores.total.tolist() == [1.1, 1.0]
    assert scores.terms["polite"].tolist() == [1.0, 0.0]
    assert repr(reward) == "Correct() + 0.1 * term('some_terms:polite')"
    assert reward.range(correct=False) == Range(0.0, 0.1)


def test_a_name_of_ones_own_is_what_is_logged(some_terms, judged):
    assert list((Correct() + some_terms.brief)([judged("x")]).parts) == ["correct", "short"]


def test_a_function_term_pickles_and_has_a_config(some_terms):
    reward = Correct() + gate(0.1 * some_terms.polite, when=solved) + some_terms.brief
    assert pickle.loads(pickle.dumps(reward)) == reward
    config = json.loads(json.dumps(reward.to_config()))
    assert config["sum"][1]["gate"]["of"] == {"term": "some_terms:polite"}
    assert from_config(config) == reward


def test_a_pickled_function_term_is_found_in_another_process(some_terms):
    data = pickle.dumps(0.5 * some_terms.polite)
    code = f"import pickle; print(pickle.loads({data!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join([IMPORTABLE, *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "0.5 * term('some_terms:polite')"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("leaves_its_range", r"term leaves_its_range = .* returned 1.5 .* range there is \[0, 1\]"),
        ("is_nan", "term is_nan = .* returned nan"),
        ("returns_nothing", "term returns_nothing = .* returned nan"),
        ("returns_text", "term returns_text = .* returned .*'much'"),
    ],
)
def test_a_function_that_misbehaves_is_named(some_terms, judged, name, says):
    reward = Correct() + 0.5 * getattr(some_terms, name)
    with pytest.raises(RewardError, match=says):
        reward([judged("x"), judged("y")])


@pytest.mark.parametrize(
    "bounds", [(1, 0), (0, float("inf")), (float("nan"), 1), (0,), (0, 1, 2), 1, ("a", "b"), None]
)
def test_a_range_is_two_finite_numbers_in_order(bounds):
    with pytest.raises(RewardError, match=r"a range is \(low, high\)"):
        term(range=bounds)


def test_a_term_that_cannot_be_found_again_is_an_error_when_it_is_loaded(some_terms):
    @term(range=(0, 1))
    def local(judged):
        return 0.0

    for load in (
        lambda: pickle.loads(pickle.dumps(local)),
        lambda: from_config(local.to_config()),
        lambda: from_config({"term": "some_terms:missing"}),
    ):
        with pytest.raises(RewardError, match="no reward term at"):
            load()
    with pytest.raises(RewardError, match=r"decorate it with @term\(range="):
        from_config({"term": "some_terms:undecorated"})


def test_a_bare_function_in_a_sum_says_how_to_wrap_it(some_terms):
    with pytest.raises(RewardError, match=r"wrap a function with @term\(range="):
        Correct() + some_terms.undecorated
