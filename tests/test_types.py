"""The nouns: problems, verdicts, rollouts."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonenv.types import (
    Cost,
    FrozenDict,
    Problem,
    Rollout,
    Status,
    Verdict,
    canonical_json,
    freeze,
    thaw,
)

TEXT = st.text(max_size=8)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXT, PLAIN, max_size=5), st.randoms())
def test_a_problems_id_depends_on_content_and_not_on_the_order_of_its_keys(metadata, random):
    items = list(metadata.items())
    random.shuffle(items)
    one, other = Problem("p", "a", metadata), Problem("p", "a", dict(items))
    assert one == other
    assert one.id == other.id
    assert hash(one) == hash(other)
    assert len(one.id) == 16


def test_a_problems_id_changes_with_each_of_its_fields():
    base = ("p", "a", {"k": 1})
    others = [("q", "a", {"k": 1}), ("p", "b", {"k": 1}), ("p", "a", {"k": 2}), ("p", 1, {"k": 1})]
    ids = {Problem(*args).id for args in [base, *others]}
    assert len(ids) == 5
    assert Problem("p", "1").id != Problem("p", 1).id
    assert Problem("p", "a", id="mine").id == "mine"


def test_a_problems_id_is_the_same_in_every_process():
    code = (
        "from reasonenv.types import Problem; import numpy as np;"
        "print(Problem('p', {'b', 'a', 'c'}, {'x': {'s', 't', 'u'}, 'n': np.int64(3)}).id)"
    )
    ids = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(ids) == 1


def test_what_has_no_content_needs_an_id_of_its_own():
    with pytest.raises(ValueError, match="give it an id="):
        Problem("p", lambda x: x)
    with pytest.raises(ValueError, match="give it an id="):
        Problem("p", object())
    assert Problem("p", object(), id="mine").id == "mine"


def test_numbers_of_numpy_count_as_the_numbers_they_are():
    assert Problem("p", np.int64(3)).id == Problem("p", 3).id
    assert Problem("p", np.arange(3)).id == Problem("p", [0, 1, 2]).id
    many = np.zeros(5000)
    other = many.copy()
    other[2500] = 1.0  # which repr() would not show
    assert canonical_json(many) != canonical_json(other)


@given(PLAIN)
def test_what_is_frozen_has_the_json_text_of_what_it_was(value):
    assert canonical_json(freeze({"a": value})) == canonical_json({"a": value})


@given(PLAIN)
def test_freezing_reaches_every_level_and_thawing_undoes_it(value):
    frozen = freeze(value)

    def check(item):
        assert not isinstance(item, list | dict | set)
        if isinstance(item, FrozenDict):
            for inner in item.values():
                check(inner)
        elif isinstance(item, tuple):
            for inner in item:
                check(inner)

    check(frozen)
    assert thaw(frozen) == value
    hash(frozen)


def test_a_problem_is_frozen_at_every_level():
    problem = Problem([{"role": "user", "content": "hi"}], {"tests": [1]}, {"a": [{"b": {1}}]})
    with pytest.raises(AttributeError):
        problem.prompt = "x"
    with pytest.raises(TypeError):
        problem.metadata["a"] = 1
    with pytest.raises(TypeError):
        problem.prompt[0]["role"] = "system"
    assert problem.answer["tests"] == (1,)
    assert problem.metadata["a"][0]["b"] == frozenset({1})


@given(st.dictionaries(TEXT, PLAIN, max_size=3))
def test_problems_survive_pickle_and_copy(metadata):
    problem = Problem("p", metadata, metadata)
    for twin in (pickle.loads(pickle.dumps(problem)), copy.deepcopy(problem)):
        assert twin == problem
        assert twin.id == problem.id
        assert {twin, problem} == {problem}


def test_equal_mappings_have_equal_hashes():
    for left, right in (({"a": 1}, {"a": 1.0}), ({"a": True}, {"a": 1}), ({"b": ()}, {"b": []})):
        assert FrozenDict(left) == FrozenDict(right)
        assert hash(FrozenDict(left)) == hash(FrozenDict(right))


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("score", [-0.1, 0.0, 0.5, 1.0, 1.1, float("nan"), float("inf")])
def test_a_score_of_one_and_correct_go_together(status, score):
    valid = 0 <= score <= 1 and (score == 1) == (status is Status.CORRECT)
    if valid:
        assert Verdict(status, score).score == score
    else:
        with pytest.raises(ValueError, match="score"):
            Verdict(status, score)


def test_a_status_may_be_given_as_text_and_must_be_one():
    assert Verdict("correct", 1.0).correct is True
    assert Verdict("incorrect", 0.5).status is Status.INCORRECT
    with pytest.raises(ValueError, match="right"):
        Verdict("right", 1.0)


def test_only_evidence_says_whether_an_answer_is_correct():
    said = {s: Verdict(s, float(s is Status.CORRECT)).correct for s in Status}
    assert said.pop(Status.CORRECT) is True
    assert [s for s, correct in said.items() if correct is None] == [
        Status.CHECKER_ERROR,
        Status.CHECKER_TIMEOUT,
        Status.SANDBOX_UNAVAILABLE,
    ]
    assert [s for s, correct in said.items() if correct is False] == [
        Status.INCORRECT,
        Status.NO_ANSWER,
        Status.MALFORMED,
    ]


def test_what_a_verdict_cost_is_no_part_of_it():
    cheap = Verdict("incorrect", 0.0, "4", {"rung": ["a"]}, Cost(0.1))
    dear = Verdict("incorrect", 0.0, "4", {"rung": ("a",)}, Cost(9.0, 3.0, 100))
    assert cheap == dear
    assert hash(cheap) == hash(dear)
    assert pickle.loads(pickle.dumps(dear)).cost == dear.cost


def test_judges_read_the_prefill_before_the_completion():
    assert Rollout(Problem("p", "a"), "x</think>", prefill="<think>").text == "<think>x</think>"
