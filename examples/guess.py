"""An environment of several turns: `reasonenv check examples/guess.py:acme/Guess-v0`.

A number is guessed; each wrong guess is answered by "too low" or "too high". The learner trains on
it as on any other: each turn's answers are judged at once, and what the environment says is masked
out of the loss.
"""

import re

import reasonenv
from reasonenv import Problem, ReasoningEnv, Status, Verdict


def judge(problem, completion):
    """Decide on the last whole number of a completion."""
    numbers = re.findall(r"\d+", completion)
    if not numbers:
        return Verdict(Status.NO_ANSWER)
    if int(numbers[-1]) == int(problem.answer):
        return Verdict(Status.CORRECT, 1.0, numbers[-1])
    return Verdict(Status.INCORRECT, 0.0, numbers[-1])


class Guess(ReasoningEnv):
    """A number between two others, which follow from the question, is found by guessing."""

    answer_is = "guess, one number"

    def __init__(self, *args, max_turns=5, **kwargs):
        super().__init__(*args, max_turns=max_turns, **kwargs)

    def load_problems(self, split, data):
        starts = range(0, 50) if split == "train" else range(50, 60)
        return [
            Problem(f"Guess my number: it is between {i} and {i + 15}.", str(i + j))
            for i in starts
            for j in (1, 6, 8, 13)
        ]

    def make_judge(self):
        return judge

    def feedback(self, judged):
        said, number = judged.verdict.answer, judged.rollout.problem.answer
        if said is None:
            return super().feedback(judged)
        return "too low" if int(said) < int(number) else "too high"


reasonenv.register("acme/Guess-v0", Guess)
