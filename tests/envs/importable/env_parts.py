"""Judges and environments at a module's top level, as pickling and registration need them."""

import random
import threading
import time
from dataclasses import dataclass

import numpy as np

from reasonenv import MathEnv, Problem, ReasoningEnv
from reasonenv.types import Status, Verdict

SUMS = [Problem(f"{i}+{i}=", str(2 * i)) for i in range(1, 31)]


@dataclass(frozen=True)
class Tagged:
    """Right if the tagged answer equals the gold."""

    concurrency: int = 1

    def __call__(self, problem, completion):
        from reasonenv.answer_format import AnswerFormat

        answer = AnswerFormat().extract(completion)
        if answer is None:
            return Verdict(Status.NO_ANSWER)
        right = answer == problem.answer
        return Verdict(
            Status.CORRECT if right else Status.INCORRECT, float(right), answer, {"how": "text"}
        )


class Raising:
    """A checker that fails."""

    def __call__(self, problem, completion):
        raise OSError("the checker's disk is full")


class RaisesOnBoom(Tagged):
    """A checker that fails on one word."""

    def __call__(self, problem, completion):
        if "boom" in completion:
            raise OSError("boom")
        return super().__call__(problem, completion)


class AcceptsAll:
    """A judge that pays anything."""

    def __call__(self, problem, completion):
        return Verdict(Status.CORRECT, 1.0, completion)


class AnswerInGold(Tagged):
    """The bug: the empty answer is in every gold."""

    def __call__(self, problem, completion):
        verdict = super().__call__(problem, completion)
        right = verdict.answer is not None and verdict.answer in problem.answer
        return Verdict(Status.CORRECT if right else Status.INCORRECT, float(right))


class GoldInAnswer(Tagged):
    """The bug: a list of everything holds every gold."""

    def __call__(self, problem, completion):
        verdict = super().__call__(problem, completion)
        right = problem.answer in (verdict.answer or "")
        return Verdict(Status.CORRECT if right else Status.INCORRECT, float(right))


class NeverRight:
    """A judge that cannot read the gold."""

    def __call__(self, problem, completion):
        return Verdict(Status.INCORRECT)


class Meeting:
    """A judge each of whose calls waits until `parties` calls are under way, or gives up."""

    concurrency = 32

    def __init__(self, parties):
        self.barrier = threading.Barrier(parties)

    def __call__(self, problem, completion):
        self.barrier.wait(timeout=30)
        return Verdict(Status.CORRECT, 1.0, completion)


class Counting:
    """A judge that notes how many of its calls were ever under way at once."""

    def __init__(self, concurrency):
        self.concurrency = concurrency
        self.lock = threading.Lock()
        self.now = self.most = self.calls = 0

    def __call__(self, problem, completion):
        with self.lock:
            self.now += 1
            self.calls += 1
            self.most = max(self.most, self.now)
        time.sleep(0.01)
        with self.lock:
            self.now -= 1
        return Verdict(Status.CORRECT, 1.0, completion)


def by_split(split):
    return SUMS[:20] if split == "train" else SUMS[20:]


def words(text):
    return len(text.split())


class Sums(ReasoningEnv):
    """Small sums."""

    kind = "sums"
    description = "Doubles of small numbers."

    def load_problems(self, split, data):
        return by_split(split) if data is None else super().load_problems(split, data)

    def make_judge(self):
        return Tagged()


class GlobalNumpy(Sums):
    """Seeds numpy's global state with a constant."""

    def reset(self, *, seed=None, options=None):
        np.random.seed(0)
        return super().reset(seed=seed, options=options)


class GlobalRandom(Sums):
    """Draws from the random module's global state."""

    def reset(self, *, seed=None, options=None):
        random.random()
        return super().reset(seed=seed, options=options)


class Unseeded(Sums):
    """Draws its problem from a generator of its own."""

    def reset(self, *, seed=None, options=None):
        picked = SUMS[np.random.default_rng().integers(20)]
        return super().reset(seed=seed, options={"problem_id": picked.id})


class OneProblem(Sums):
    """Asks the same whatever the seed."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed, options={"problem_id": SUMS[0].id})


class Unpicklable(Sums):
    """Holds a lambda as its judge."""

    def make_judge(self):
        return lambda problem, completion: Tagged()(problem, completion)


class NoGold(MathEnv):
    """Knows no reference completion for even numbered problems."""

    def gold_completion(self, problem):
        return None if SUMS.index(problem) % 2 else super().gold_completion(problem)


class BadExtraction(Sums):
    """Renders its golds where its judge does not look."""

    def gold_completion(self, problem):
        return f"The answer is {problem.answer}."


class NoisyInfo(Sums):
    """Puts a clock into its info."""

    def step(self, action):
        *rest, info = super().step(action)
        return *rest, {**info, "seconds": time.perf_counter()}
