"""Reward functions as people write them for TRL, and a term of another package."""

from dataclasses import dataclass

from reasonenv.rewards import Range, Term


def is_gold(completions, answer, **columns):
    return [float(text == gold) for text, gold in zip(completions, answer, strict=True)]


def of_level(completions, level):
    return level


def roles(prompts, completions):
    return [float(isinstance(c, list) and c[0]["role"] == "assistant") for c in completions]


def nothing(completions, **columns):
    return [None for _ in completions]


def fails(completions, **columns):
    return [1 / 0]


@dataclass(frozen=True, repr=False)
class Loud(Term):
    marks: tuple[str, ...] = ("!",)

    def measure(self, group, context):
        return [float(one.rollout.text.endswith(self.marks)) for one in group]

    def range(self, correct):
        return Range(0.0, 1.0)
