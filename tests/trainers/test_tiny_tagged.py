"""The tagged tiny model: what it is taught, and the tokenizer that carries it."""

import numpy as np
import pytest

pytest.importorskip("torch")

from reasonenv.checkers.code import extract_program
from reasonenv.problems.base import ProceduralProblems
from reasonenv.problems.one_liners import OneLiners
from reasonenv.problems.procedural import Arithmetic
from reasonenv.trainers import tiny
from reasonenv.trainers.tiny import tagged

N = 400


@pytest.fixture(scope="module")
def tokenizer():
    return tagged.tagged_tokenizer(0)


def completions(generator, write):
    source = ProceduralProblems(generator, split="train", seed=3, size=N)
    rng = np.random.default_rng(5)
    return [(source[i], write(source[i], rng)) for i in range(N)]


@pytest.mark.parametrize("tag", ["<reasoning>", "</reasoning>", "<answer>", "</answer>"])
def test_a_tag_of_the_study_is_one_token_and_survives_decoding(tokenizer, tag):
    ids = tokenizer(f"a{tag}1")["input_ids"]
    assert len(ids) == 3
    assert tokenizer.decode(ids, skip_special_tokens=True) == f"a{tag}1"


def test_digits_are_single_tokens_and_any_text_round_trips(tokenizer):
    assert len(tokenizer("12345")["input_ids"]) == 5
    for text in ("x² ≤ √2, 加\n\t a  b", "def f(x):\n    return x[::-1]"):
        assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_reasoned_completions_take_20_to_60_tokens_of_reasoning(tokenizer):
    for generator, write in (
        (Arithmetic(), tagged.sum_completion),
        (OneLiners(parts=2), tagged.function_completion),
    ):
        lengths = [
            len(tokenizer(text.partition("</reasoning>")[0])["input_ids"])
            for _, text in completions(generator, write)
            if "</reasoning>" in text and "guess" not in text
        ]
        assert np.mean([15 <= length <= 64 for length in lengths]) > 0.95


def test_sums_that_are_reasoned_are_right_far_more_often_than_guesses():
    made = completions(Arithmetic(), tagged.sum_completion)
    right = {True: [], False: []}
    for problem, text in made:
        answer = tagged.FORMAT.extract(text)
        if answer is not None:
            right["guess" in text].append(answer == problem.answer)
    assert np.mean(right[True]) < 0.5 < 0.75 < np.mean(right[False]) < 0.98


def test_functions_parse_and_are_the_solution_about_half_of_the_time():
    made = completions(OneLiners(parts=2), tagged.function_completion)
    found = [extract_program(text, p.metadata["entry_point"]).program for p, text in made]
    assert np.mean([program is not None for program in found]) > 0.9  # tags may be missing
    same = [
        program is not None and program.strip() == p.metadata["solution"].strip()
        for (p, _), program in zip(made, found, strict=True)
    ]
    assert 0.35 < np.mean(same) < 0.7


def test_some_completions_leave_a_tag_out():
    for _, write, generator in (
        (0, tagged.sum_completion, Arithmetic()),
        (1, tagged.function_completion, OneLiners(parts=2)),
    ):
        whole = [
            all(text.count(f"<{t}>") == text.count(f"</{t}>") == 1 for t in tagged.FORMAT.tags)
            for _, text in completions(generator, write)
        ]
        assert 0.75 < np.mean(whole) < 0.95


def test_the_model_can_be_made_and_learns(tokenizer):
    model, made = tiny.make("tagged", steps=2)
    assert model.config.vocab_size == len(made)
    assert made.get_vocab() == tokenizer.get_vocab()
