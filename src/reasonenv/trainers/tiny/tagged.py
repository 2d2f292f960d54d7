"""The skill of `tagged`: sums and one-line functions, with reasoning, in the study's tags.

Each completion is drawn from a mixture that leaves something to learn to every kind of reward:

* *reasoning*: spelled out (20 to 60 tokens), spelled out and checked (longer, no more right), or a
  bare guess (short, and mostly wrong);
* *answers*: steps of sums slip, and programs differ from the solution in one number or letter, or
  return a constant;
* *layout*: tags are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from reasonenv.answer_format import AnswerFormat
from reasonenv.problems.base import ProceduralProblems
from reasonenv.problems.one_liners import OneLiners
from reasonenv.trainers.tiny.sums import slip, sum_pool
from reasonenv.trainers.tiny.supervised import render_prompt
from reasonenv.trainers.tiny.tokens import learn_tokenizer
from reasonenv.types import Problem

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

__all__ = ["FORMAT", "function_completion", "sum_completion", "tagged_texts", "tagged_tokenizer"]

FORMAT = AnswerFormat(instruction="")
"""The study's tags; the prompt does not ask for them."""

VOCABULARY = 512
POOL = 6_000  # draws of each task; about 1,300 functions of two parts are distinct

GUESS_RATE = 0.3  # of completions that do not reason
CHECK_RATE = 0.3  # of those that reason and check
STEP_SLIP_RATE = 0.05  # of digits in a reasoned sum
TRIVIAL_RATE = 0.15  # of programs that return a constant
NEAR_MISS_RATE = 0.3  # of the others that differ in one number or letter
GUESSED_MISS_RATE = 0.7  # the same where the completion does not reason
TAGLESS_RATE = 0.15  # of completions that leave a tag out, or two

_CONSTANT = re.compile(r"(?<!\w)(?:\d+|'[a-z]')(?!\w)")


def sum_completion(problem: Problem, rng: np.random.Generator) -> str:
    """Return a completion for a sum such as `47+85=`."""
    if rng.random() < GUESS_RATE:
        return _layout(slip(problem.answer, rng), "guess", rng)
    left, right = map(int, re.findall(r"\d+", str(problem.prompt))[:2])
    units = slip(str(left % 10 + right % 10), rng, STEP_SLIP_RATE)
    carry, write = divmod(int(units), 10)
    tens = slip(str(left // 10 + right // 10 + carry), rng, STEP_SLIP_RATE)
    answer = str(int(f"{tens}{write}"))
    text = f"units {left % 10}+{right % 10}={units}, write {write} carry {carry}; "
    text += f"tens {left // 10}+{right // 10}+{carry}={tens}"
    if rng.random() < CHECK_RATE:
        text += f"; so {answer}; check {answer}-{right}; yes {answer}"
    return _layout(answer, text, rng)


def function_completion(problem: Problem, rng: np.random.Generator) -> str:
    """Return a completion for a task of `OneLiners`."""
    header, _, body = problem.metadata["solution"].partition("\n    return ")
    task = str(problem.prompt).partition("`. ")[2].partition(" For example")[0]
    guesses = rng.random() < GUESS_RATE
    if rng.random() < TRIVIAL_RATE:
        body = str(rng.choice(["0", "[]", "''", "None"]))
    elif rng.random() < (GUESSED_MISS_RATE if guesses else NEAR_MISS_RATE):
        body = _near_miss(body.strip(), rng)
    program = f"{header}\n    return {body.strip()}"
    return _layout(program, "guess" if guesses else task.lower(), rng)


def _near_miss(body: str, rng: np.random.Generator) -> str:
    """Return an expression with one of its numbers or letters changed."""
    places = list(_CONSTANT.finditer(body))
    if not places:
        return body
    place = places[int(rng.integers(len(places)))]
    old = place.group()
    new = str(int(old) + int(rng.integers(1, 4))) if old.isdigit() else f"'{_letter(rng)}'"
    return body[: place.start()] + new + body[place.end() :]


def _letter(rng: np.random.Generator) -> str:
    return chr(ord("a") + int(rng.integers(26)))


def _layout(answer: str, reasoning: str, rng: np.random.Generator) -> str:
    """Return reasoning and answer in their tags, some of which are left out at times."""
    text = FORMAT.render(answer, reasoning)
    if rng.random() < TAGLESS_RATE:
        lost = ("</reasoning>\n",) if rng.random() < 0.5 else ("<answer>", "</answer>")
        for tag in lost:
            text = text.replace(tag, "")
    return text


@lru_cache(maxsize=2)
def _pools(seed: int) -> tuple[tuple[list[Problem], Callable[..., str]], ...]:
    source = ProceduralProblems(OneLiners(parts=2), split="train", seed=seed, size=POOL)
    functions = {problem.id: problem for problem in map(source.__getitem__, range(POOL))}
    return (
        (sum_pool(seed, POOL), sum_completion),
        (list(functions.values()), function_completion),
    )


def tagged_tokenizer(seed: int) -> PreTrainedTokenizerFast:
    """Return a tokenizer learned from what the model is taught, with the study's tags."""
    rng = np.random.default_rng(seed)
    tags = re.compile("|".join(f"</?{tag}>" for tag in FORMAT.tags))
    pools = _pools(seed)
    texts = [str(problem.prompt) for pool, _ in pools for problem in pool]
    texts += [tags.sub("", write(problem, rng)) for pool, write in pools for problem in pool]
    return learn_tokenizer(texts, VOCABULARY)


def tagged_texts(
    tokenizer: PreTrainedTokenizerFast, seed: int, batch_size: int, total: int
) -> Iterator[Sequence[tuple[str, str]]]:
    """Yield batches of prompts with completions: of sums and of functions, turn by turn.

    The pools do not depend on `total`, since the tokenizer is learned from them.
    """
    del total
    rng = np.random.default_rng(seed)
    pools = _pools(seed)
    while True:
        for pool, write in pools:
            chosen = [pool[i] for i in rng.integers(len(pool), size=batch_size)]
            yield [(render_prompt(tokenizer, one), write(one, rng)) for one in chosen]
